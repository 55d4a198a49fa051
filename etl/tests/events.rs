//! What a test compares of an event.

use etw_layouts_etl::{ByTime, Event, HeaderType, Scratch, Trace};

/// An event, with all that is its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub processor: u16,
    pub time: Option<i64>,
    pub header_type: HeaderType,
    pub items: Vec<(u16, Vec<u8>)>,
    pub payload: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Seen {
    pub fn of(event: &Event<'_>, processor: u16) -> Self {
        Self {
            processor,
            time: event.time_stamp(),
            header_type: event.header_type(),
            items: event.items().map(|item| (item.ty.0, item.data.to_vec())).collect(),
            payload: event.payload().to_vec(),
            bytes: event.bytes().to_vec(),
        }
    }
}

/// All events in file order; findings are failures.
pub fn in_file(trace: &Trace<'_>) -> Vec<Seen> {
    let mut scratch = Scratch::default();
    let mut events = Vec::new();
    for buffer in trace.buffers() {
        let buffer = buffer.unwrap();
        for event in buffer.image(&mut scratch).events() {
            events.push(Seen::of(&event.unwrap(), buffer.head().processor()));
        }
    }
    events
}

/// All events in the order of time; findings are failures. Whether they are decompressed ahead makes no difference.
pub fn in_time(trace: &Trace<'_>) -> Vec<Seen> {
    let all = |order: &mut ByTime<'_>| {
        let mut events = Vec::new();
        while let Some(timed) = order.next_event() {
            let timed = timed.unwrap();
            events.push(Seen::of(&timed.event, timed.processor));
        }
        events
    };
    let events = all(&mut trace.by_time());
    assert!(events == trace.by_time_ahead(all), "the order of time is another if buffers are decompressed ahead");
    let times: Vec<_> = events.iter().filter_map(|event| event.time).collect();
    assert!(times.is_sorted());
    events
}
