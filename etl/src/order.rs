//! Events in the order of time: a merge of one stream a processor, and in each of buffers whose times overlap.

mod lane;
mod pool;
mod queue;
mod stream;
#[cfg(test)]
mod tests;
mod tournament;

use crate::buffers::Buffers;
use crate::event::Event;
use crate::finding::Finding;
use pool::Pool;
use queue::Queues;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use stream::{Shared, Stream};
use tournament::Tournament;

/// The events of a trace in the order of time. Those of a buffer are sorted, and merged with those of the next ones of the same
/// processor, up to four, as long as their times overlap. Sessions leave no event further from its place; one of a damaged or
/// hand-made file comes where it is found, and [`Timed::late`] says so.
///
/// Of each processor two buffers are decompressed at a time, up to four if their times overlap, and four more if that is done ahead;
/// memory does not grow with the file, but with how far apart in it buffers of the same time lie (the crate's page tells how much).
#[derive(Debug)]
pub struct ByTime<'a> {
    streams: Vec<Stream<'a>>,
    /// Whose event is the earliest.
    earliest: Tournament,
    /// Whether the earliest event is still to be given out.
    fresh: bool,
    /// The streams that are still on their way to their next events.
    moving: Range<usize>,
    /// Where findings about the headers of buffers are still to be found, and how many.
    damaged: (Buffers<'a>, u64),
    shared: Shared<'a>,
    /// The latest time so far.
    latest: u64,
}

/// An event, with what its buffer tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'s> {
    /// The event.
    pub event: Event<'s>,
    /// The processor that wrote it.
    pub processor: u16,
    /// The place of its buffer among those of the file, from 0.
    pub buffer: u32,
    /// Where its buffer begins in the file, in bytes.
    pub buffer_offset: u64,
    /// By how much its time stamp is earlier than that of an event which came before, and 0 if it is not.
    pub late: u64,
}

/// Gives the events to `work`, while another thread decompresses ahead. If there can be none, this one does it.
pub(crate) fn ahead<'a, T>(buffers: &Buffers<'a>, work: impl FnOnce(&mut ByTime<'a>) -> T) -> T {
    thread::scope(|scope| {
        // `work` may put another in the place of what it gets and keep that for longer: it then goes on alone. The thread ends too if
        // `work` panics.
        let pool = Closed(Arc::default());
        let helper = pool.0.clone();
        let thread = thread::Builder::new().spawn_scoped(scope, move || helper.work());
        work(&mut ByTime::with(buffers, thread.is_ok().then(|| pool.0.clone())))
    })
}

/// A pool that is closed at the end.
struct Closed<'a>(Arc<Pool<'a>>);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<'a> ByTime<'a> {
    pub(crate) fn new(buffers: &Buffers<'a>) -> Self {
        Self::with(buffers, None)
    }

    fn with(buffers: &Buffers<'a>, pool: Option<Arc<Pool<'a>>>) -> Self {
        let queues = Queues::new(buffers);
        Self {
            streams: (0..queues.len()).map(Stream::new).collect(),
            earliest: Tournament::new(queues.len()),
            fresh: true,
            moving: 0..queues.len(),
            damaged: (buffers.clone(), queues.findings),
            shared: Shared::new(queues, pool),
            latest: 0,
        }
    }

    /// The next event; `None` at the end. What is wrong with the headers of buffers comes first, other findings when their buffers
    /// are reached.
    pub fn next_event(&mut self) -> Option<Result<Timed<'_>, Finding>> {
        if let Some(finding) = self.go_on() {
            return Some(Err(finding));
        }
        let lane = &self.streams.get(self.earliest.winner())?.lane;
        let event = lane.event()?;
        self.fresh = false;
        let late = self.latest.saturating_sub(key(lane.time));
        self.latest = self.latest.max(key(lane.time));
        Some(Ok(Timed { event, processor: lane.processor, buffer: lane.place.index, buffer_offset: lane.place.offset, late }))
    }

    /// The time stamp of the event that [`next_event`](Self::next_event) gives next, or a finding that comes before it: for a merge of
    /// several traces. An event without a time has that of the one before it.
    pub fn next_stamp(&mut self) -> Option<Result<i64, Finding>> {
        if let Some(finding) = self.go_on() {
            return Some(Err(finding));
        }
        let lane = &self.streams.get(self.earliest.winner())?.lane;
        lane.event().map(|_| Ok(lane.time))
    }

    /// Goes to the next event, or to a finding before it.
    #[inline]
    fn go_on(&mut self) -> Option<Finding> {
        if !self.fresh {
            self.advance();
            self.fresh = true;
        }
        if self.moving.is_empty() { None } else { self.settle() }
    }

    /// Leaves the event at hand.
    #[inline]
    fn advance(&mut self) {
        let current = self.earliest.winner();
        let Some(stream) = self.streams.get_mut(current) else { return };
        match stream.next_in_buffer() {
            true => self.earliest.set(current, key(stream.lane.time)),
            false => self.moving = current..current + 1,
        }
    }

    /// Brings streams to their next events, up to a finding.
    fn settle(&mut self) -> Option<Finding> {
        while self.damaged.1 > 0 {
            self.damaged.1 -= 1;
            if let Some(finding) = self.damaged.0.find_map(Result::err) {
                return Some(finding);
            }
        }
        while let Some(stream) = self.streams.get_mut(self.moving.start).filter(|_| !self.moving.is_empty()) {
            match stream.next(&mut self.shared) {
                Ok(true) => self.earliest.set(self.moving.start, key(stream.lane.time)),
                Ok(false) => self.earliest.set(self.moving.start, u64::MAX),
                Err(finding) => return Some(finding),
            }
            self.moving.start += 1;
        }
        None
    }
}

/// A time as a key; a stream that has no more events has one beyond.
fn key(time: i64) -> u64 {
    (time as u64 ^ 1 << 63).min(u64::MAX - 1)
}
