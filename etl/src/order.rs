//! Events in time order: a merge of one stream per processor, and of overlapping buffers within each stream.

mod lane;
mod queue;
mod stream;
#[cfg(test)]
mod tests;
mod tournament;

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::records::EventRecord;
use queue::Queues;
use std::ops::Range;
use stream::{Shared, Stream};
use tournament::Tournament;

/// The events of a trace in time order. The events of a buffer are sorted and merged with those of the next buffers of the same
/// processor, at most four at once, while their times overlap. In files that Windows writes, events are never further out of order. In a
/// damaged or edited file, an event that is further out of order is returned at its position in the file, with [`OrderedEvent::late`] set.
///
/// For each processor two buffers are decompressed at a time, up to four if their times overlap. Memory does not depend on the size of
/// the file, but on the distance within it between buffers of the same time; see the crate documentation.
#[derive(Debug)]
pub struct ByTime<'a> {
    streams: Vec<Stream<'a>>,
    /// The stream with the earliest event.
    earliest: Tournament,
    /// Whether the earliest event has not been returned yet.
    fresh: bool,
    /// The streams that have not reached their next events yet.
    moving: Range<usize>,
    /// The search for diagnostics of buffer headers, and the number of those not returned yet.
    damaged: (Buffers<'a>, u64),
    shared: Shared<'a>,
    /// The latest time so far.
    latest: u64,
    clock: Clock,
}

/// An event with the properties of its buffer.
#[derive(Clone, Copy, Debug)]
pub struct OrderedEvent<'s> {
    /// The event.
    pub event: Event<'s>,
    /// The processor that wrote it.
    pub processor: u16,
    /// Index of its buffer within the file, from 0.
    pub buffer: u32,
    /// Offset of its buffer within the file, in bytes.
    pub buffer_offset: u64,
    /// The number of clock ticks by which this event is earlier than an event returned before it; 0 if it is in order.
    pub late: u64,
}

impl<'a> ByTime<'a> {
    pub(crate) fn new(buffers: &Buffers<'a>, clock: Clock) -> Self {
        let queues = Queues::new(buffers);
        Self {
            streams: (0..queues.len()).map(Stream::new).collect(),
            earliest: Tournament::new(queues.len()),
            fresh: true,
            moving: 0..queues.len(),
            damaged: (buffers.clone(), queues.diagnostics),
            shared: Shared::new(queues),
            latest: 0,
            clock,
        }
    }

    /// The next event; `None` at the end. It borrows memory that the iterator reuses for the following event: the fastest way to read a
    /// trace with compressed buffers. Diagnostics about headers of buffers come first, others when their buffers are reached.
    pub fn next_event(&mut self) -> Option<Result<OrderedEvent<'_>, Diagnostic>> {
        if let Some(diagnostic) = self.go_on() {
            return Some(Err(diagnostic));
        }
        let lane = &self.streams.get(self.earliest.winner())?.lane;
        let event = lane.event()?;
        self.fresh = false;
        let late = self.latest.saturating_sub(key(lane.time));
        self.latest = self.latest.max(key(lane.time));
        Some(Ok(OrderedEvent {
            event,
            processor: lane.processor,
            buffer: lane.place.index,
            buffer_offset: lane.place.offset,
            late,
        }))
    }

    /// The time stamp of the event that the next call of [`next_event`](Self::next_event) returns, or a diagnostic before it; used to
    /// merge several traces. An event without a time has the time stamp of the previous one.
    pub fn next_stamp(&mut self) -> Option<Result<i64, Diagnostic>> {
        if let Some(diagnostic) = self.go_on() {
            return Some(Err(diagnostic));
        }
        let lane = &self.streams.get(self.earliest.winner())?.lane;
        lane.event().map(|_| Ok(lane.time))
    }

    /// Advances to the next event, or to a diagnostic before it.
    #[inline]
    fn go_on(&mut self) -> Option<Diagnostic> {
        if !self.fresh {
            self.advance();
            self.fresh = true;
        }
        if self.moving.is_empty() { None } else { self.advance_streams() }
    }

    /// Advances the stream of the current event.
    #[inline]
    fn advance(&mut self) {
        let current = self.earliest.winner();
        let Some(stream) = self.streams.get_mut(current) else { return };
        match stream.next_in_buffer() {
            true => self.earliest.set(current, key(stream.lane.time)),
            false => self.moving = current..current + 1,
        }
    }

    /// Advances streams to their next events, up to a diagnostic.
    fn advance_streams(&mut self) -> Option<Diagnostic> {
        while self.damaged.1 > 0 {
            self.damaged.1 -= 1;
            if let Some(diagnostic) = self.damaged.0.find_map(Result::err) {
                return Some(diagnostic);
            }
        }
        while let Some(stream) = self.streams.get_mut(self.moving.start).filter(|_| !self.moving.is_empty()) {
            match stream.next(&mut self.shared) {
                Ok(true) => self.earliest.set(self.moving.start, key(stream.lane.time)),
                Ok(false) => self.earliest.set(self.moving.start, u64::MAX),
                Err(diagnostic) => return Some(diagnostic),
            }
            self.moving.start += 1;
        }
        None
    }
}

impl<'a> Iterator for ByTime<'a> {
    type Item = Result<EventRecord<'a>, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        let late = match self.next_event()? {
            Ok(timed) => timed.late,
            Err(diagnostic) => return Some(Err(diagnostic)),
        };
        let lane = &self.streams.get(self.earliest.winner())?.lane;
        Some(Ok(EventRecord::new(&lane.event()?, lane.in_file(), &self.clock, (lane.processor, lane.place), late)))
    }
}

/// A time as a sort key; the key of a stream without further events is greater than any time.
fn key(time: i64) -> u64 {
    (time as u64 ^ 1 << 63).min(u64::MAX - 1)
}
