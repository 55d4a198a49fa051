//! Events in the order of time: a merge of one stream a processor.

mod queue;
mod stream;
mod tournament;

use crate::event::Event;
use crate::finding::Finding;
use crate::trace::Buffers;
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::thread;
use stream::{Shared, Stream};
use tournament::Tournament;

/// The events of a trace in the order of time. Of each processor one buffer is decompressed at a time, and one more if that is
/// done ahead; memory does not grow with the file, unless the buffers of a processor lie in it in no order of time.
#[derive(Debug)]
pub struct ByTime<'a> {
    streams: Vec<Stream<'a>>,
    /// Whose event is the earliest.
    earliest: Tournament,
    /// Whether the earliest event is still to be given out.
    fresh: bool,
    shared: Shared<'a>,
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
    pub offset: u64,
}

/// Gives the events to `work`, while another thread decompresses ahead. If there can be none, this one does it.
pub(crate) fn ahead<'a, T>(buffers: &Buffers<'a>, work: impl FnOnce(&mut ByTime<'a>) -> T) -> T {
    thread::scope(|scope| {
        let (helper, jobs) = channel::<stream::Job<'a>>();
        // The thread ends with the last sender. `work` may put another in the place of what it gets and keep that for longer, so
        // that this must be the only one.
        let helper = Arc::new(helper);
        let thread = thread::Builder::new().spawn_scoped(scope, move || jobs.into_iter().for_each(stream::Job::work));
        let shared = Shared::new(thread.map_or_else(|_| Weak::new(), |_| Arc::downgrade(&helper)));
        work(&mut ByTime::with(buffers, shared))
    })
}

impl<'a> ByTime<'a> {
    pub(crate) fn new(buffers: &Buffers<'a>) -> Self {
        Self::with(buffers, Shared::new(Weak::new()))
    }

    fn with(buffers: &Buffers<'a>, mut shared: Shared<'a>) -> Self {
        let queues = queue::queues(buffers, |finding| shared.findings.push_back(finding));
        let streams: Vec<_> = queues.into_iter().map(Stream::new).collect();
        let earliest = Tournament::new(streams.len());
        let mut new = Self { streams, earliest, fresh: true, shared };
        for stream in 0..new.streams.len() {
            new.next_of(stream);
        }
        new
    }

    /// The next event; `None` at the end. A finding comes when its buffer is reached.
    pub fn next_event(&mut self) -> Option<Result<Timed<'_>, Finding>> {
        if !self.fresh {
            self.advance();
            self.fresh = true;
        }
        if !self.shared.findings.is_empty() {
            return self.shared.findings.pop_front().map(Err);
        }
        let stream = self.streams.get(self.earliest.winner())?;
        let record = stream.record?;
        self.fresh = false;
        Some(Ok(Timed {
            event: record.event(stream.rest(), stream.at as u32),
            processor: stream.processor,
            buffer: stream.index,
            offset: stream.offset,
        }))
    }

    /// Goes to the next event.
    #[inline]
    fn advance(&mut self) {
        let current = self.earliest.winner();
        let Some(stream) = self.streams.get_mut(current) else { return };
        match stream.next_in_buffer() {
            true => self.earliest.set(current, key(stream.time)),
            false => self.next_of(current),
        }
    }

    /// Brings a stream to its next event, over findings and to the next buffers.
    fn next_of(&mut self, index: usize) {
        let Some(stream) = self.streams.get_mut(index) else { return };
        match stream.next(&mut self.shared) {
            true => self.earliest.set(index, key(stream.time)),
            false => self.earliest.set(index, u64::MAX),
        }
    }
}

/// A time as a key; a stream that has no more events has one beyond.
fn key(time: i64) -> u64 {
    (time as u64 ^ 1 << 63).min(u64::MAX - 1)
}
