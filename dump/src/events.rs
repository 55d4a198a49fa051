//! The events of a session in the order of time.

use crate::finding::{Finding, What, find};
use crate::session::Session;
use etw_layouts_etl::Event;

/// An event of a session, with what its buffer tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'a> {
    /// The event.
    pub event: Event<'a>,
    /// When, in units of 100 ns since 1601; `None` if it has no time of its own.
    pub time: Option<i64>,
    /// The processor that wrote it.
    pub processor: u16,
    /// The place of its buffer among those of the session, from 0.
    pub buffer: u32,
}

/// The events of sessions in the order of time, each with the place of its session among them, and what is wrong in their buffers. Those of
/// one session keep the order that [`Session::events`] gives.
pub fn by_time<'s>(sessions: &'s [Session<'_>]) -> (Vec<(usize, Timed<'s>)>, Vec<Finding>) {
    let (mut all, mut findings) = (Vec::new(), Vec::new());
    for (number, session) in sessions.iter().enumerate() {
        let (events, found) = session.events();
        findings.extend(found);
        let mut last = i64::MIN;
        all.extend(events.into_iter().map(|event| {
            last = event.time.unwrap_or(last);
            (last, number, event)
        }));
    }
    all.sort_by_key(|(time, ..)| *time);
    (all.into_iter().map(|(_, session, event)| (session, event)).collect(), findings)
}

impl Session<'_> {
    /// Its events in the order of time, and what is wrong in its buffers. Events of the same time keep the order of their processors;
    /// one without a time keeps its place after the one before it.
    pub fn events(&self) -> (Vec<Timed<'_>>, Vec<Finding>) {
        let clock = (self.has_rate && self.has_reference()).then(|| self.to_clock());
        let mut findings = Vec::new();
        let mut events = Vec::new();
        for (buffer, number) in self.buffers.iter().zip(0..) {
            let mut last = i64::MIN;
            for event in buffer.events(self.producer.generation()) {
                match event {
                    Ok(event) => {
                        let time = clock.zip(event.time_stamp()).map(|(clock, stamp)| clock.system_time(stamp));
                        last = event.time_stamp().unwrap_or(last);
                        events.push((last, Timed { event, time, processor: buffer.processor, buffer: number }));
                    }
                    Err(finding) => {
                        find(&mut findings, buffer.place(finding.offset), What::Event(finding.what));
                    }
                }
            }
        }
        events.sort_by_key(|(stamp, event)| (*stamp, event.processor));
        (events.into_iter().map(|(_, event)| event).collect(), findings)
    }
}
