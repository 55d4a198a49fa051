//! The events of a session in time order.

use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::session::DumpSession;
use etw_layouts_etl::Event;

/// An event of a session, with the properties of its buffer.
#[derive(Clone, Copy, Debug)]
pub struct TimedEvent<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Time in units of 100 ns since 1601; `None` if the event has no time of its own.
    pub time: Option<i64>,
    /// The processor that wrote it.
    pub processor: u16,
    /// Index of its buffer within the session, from 0.
    pub buffer: u32,
}

/// The events of several sessions in time order, each with the index of its session, and the diagnostics of their buffers. Events
/// of one session keep the order of [`DumpSession::events`].
pub fn by_time<'s>(sessions: &'s [DumpSession<'_>]) -> (Vec<(usize, TimedEvent<'s>)>, Vec<Diagnostic>) {
    let (mut all, mut diagnostics) = (Vec::new(), Vec::new());
    for (number, session) in sessions.iter().enumerate() {
        let (events, found) = session.events();
        diagnostics.extend(found);
        let mut last = i64::MIN;
        all.extend(events.into_iter().map(|event| {
            last = event.time.unwrap_or(last);
            (last, number, event)
        }));
    }
    all.sort_by_key(|(time, ..)| *time);
    (all.into_iter().map(|(_, session, event)| (session, event)).collect(), diagnostics)
}

impl DumpSession<'_> {
    /// The events in time order, and the diagnostics of the buffers. Events with equal times are ordered by processor; an event
    /// without a time keeps its position after the previous one.
    pub fn events(&self) -> (Vec<TimedEvent<'_>>, Vec<Diagnostic>) {
        let clock = (self.has_rate() && self.has_reference()).then(|| self.to_clock());
        let mut diagnostics = Vec::new();
        let mut events = Vec::new();
        for (buffer, number) in self.buffers.iter().zip(0..) {
            for event in buffer.keyed_events(self.producer.generation()) {
                match event {
                    Ok((key, event)) => {
                        let time = clock.zip(event.time_stamp()).map(|(clock, stamp)| clock.system_time(stamp));
                        events.push((key, TimedEvent { event, time, processor: buffer.processor, buffer: number }));
                    }
                    Err(diagnostic) => {
                        report(&mut diagnostics, buffer.place(diagnostic.offset), DiagnosticKind::Event(diagnostic.kind));
                    }
                }
            }
        }
        events.sort_by_key(|(key, event)| (*key, event.processor));
        (events.into_iter().map(|(_, event)| event).collect(), diagnostics)
    }
}
