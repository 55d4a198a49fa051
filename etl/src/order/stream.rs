//! The events of one processor.

use super::lane::Lane;
use super::pool::{Job, Pool};
use super::queue::Queues;
use crate::buffer::{Buffer, Scratch};
use crate::finding::{Finding, What};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the decompressed buffers of all processors may take at once, one of each: 1 GiB.
const MOST: usize = 1 << 30;

/// How many buffers of each processor are decompressed ahead by another thread, at most.
const AHEAD: usize = 4;

/// How many buffers of each processor are merged, at most.
///
/// A session stamps an event and finds it a place in two steps. Whatever comes between them brings stamps and places out of step: an
/// interrupt that logs itself displaces an event by a few places, and into the next buffer where that one was full; a thread that loses
/// the processor comes back after a quantum, in which a busy session fills a buffer or two. Files keep little of it: in none of
/// 21 real ones, with 380,000 events, is one earlier than that before it, in its buffer or in the one before. So four are more than a session
/// needs, and with so many, a few wild stamps, each of which keeps its buffer open, do not undo the order.
const WINDOW: usize = 4;

/// What the streams of a trace share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    queues: Queues<'a>,
    /// Who decompresses ahead.
    pool: Option<Arc<Pool<'a>>>,
    /// Bytes that a buffer of each stream may take together.
    pub(super) most: usize,
    /// Bytes of a buffer of each stream. Findings hang on it, so that it must not hang on what is ahead.
    held: usize,
    /// Bytes of the buffers beside these. The order hangs on it, so that it must not hang on who decompresses.
    beside: usize,
    /// Bytes of what another thread decompresses.
    ahead: usize,
}

impl<'a> Shared<'a> {
    pub(super) fn new(queues: Queues<'a>, pool: Option<Arc<Pool<'a>>>) -> Self {
        Self { queues, pool, most: MOST, held: 0, beside: 0, ahead: 0 }
    }

    /// How many bytes the merged buffers may take; as many again are for the buffers that another thread decompresses.
    fn more(&self) -> usize {
        self.most / 4
    }
}

/// A buffer that is still to be read.
#[derive(Debug)]
struct Ahead<'a> {
    buffer: Buffer<'a>,
    /// Who decompresses it, and bytes that it takes at most.
    job: Option<(Arc<Job<'a>>, usize)>,
}

/// The events of one processor.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    /// Which of the queues is its own.
    queue: usize,
    ahead: VecDeque<Ahead<'a>>,
    /// The buffer whose event is at hand.
    pub(super) lane: Lane<'a>,
    /// Buffers that were read too, as their events can be of times before those of this one.
    others: Vec<Lane<'a>>,
    /// The earliest time in these.
    limit: i64,
    /// Buffers whose events were given out, for their memory.
    spare: Vec<Lane<'a>>,
    /// How many buffers were read.
    count: u64,
    /// The time of the last event of the last one.
    last: i64,
    is_at_end: bool,
    /// Bytes of its largest buffer so far: no scratch of this stream has more, whatever of it is in use.
    held: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(queue: usize) -> Self {
        Self {
            queue,
            ahead: VecDeque::new(),
            lane: Lane::new(),
            others: Vec::new(),
            limit: i64::MAX,
            spare: Vec::new(),
            count: 0,
            last: i64::MIN,
            is_at_end: false,
            held: 0,
        }
    }

    /// Goes to the next event of the same buffer; `false` if there may be an earlier one, or what follows is not a usual one.
    #[inline]
    pub(super) fn next_in_buffer(&mut self) -> bool {
        self.lane.advance() && self.lane.time < self.limit
    }

    /// Goes to the event at hand or the next, and to the next buffers; `false` at the end. After a finding it has to be called again.
    pub(super) fn next(&mut self, shared: &mut Shared<'a>) -> Result<bool, Finding> {
        loop {
            if !self.lane.settle()? {
                if !self.next_buffer(shared)? {
                    return Ok(false);
                }
                continue;
            }
            while self.is_open() && self.read(false, shared)? {}
            let other = self.first_of_others();
            match other.filter(|other| self.others[*other].key() < self.lane.key()) {
                Some(other) => std::mem::swap(&mut self.lane, &mut self.others[other]),
                None => {
                    self.limit = other.map_or(i64::MAX, |other| self.others[other].time);
                    return Ok(true);
                }
            }
        }
    }

    /// Which of the other buffers has the earliest event.
    fn first_of_others(&self) -> Option<usize> {
        (0..self.others.len()).min_by_key(|other| self.others[*other].key())
    }

    /// Whether the next buffer can have events of times before those of the buffers at hand: until one is read that has none.
    fn is_open(&self) -> bool {
        if self.is_at_end || self.others.len() + 1 >= WINDOW {
            return false;
        }
        let lanes = || self.others.iter().chain([&self.lane]);
        let newest = lanes().max_by_key(|lane| lane.number);
        let before = lanes().filter(|lane| lane.number < self.count).map(|lane| lane.latest).max();
        newest
            .filter(|newest| newest.number == self.count)
            .is_none_or(|newest| before.is_none_or(|before| newest.earliest < before))
    }

    /// Leaves the buffer at hand, whose events were all given out.
    fn next_buffer(&mut self, shared: &mut Shared<'a>) -> Result<bool, Finding> {
        if self.others.is_empty() && !self.read(true, shared)? {
            (self.lane, self.spare) = (Lane::new(), Vec::new());
            shared.held -= std::mem::take(&mut self.held);
            return Ok(false);
        }
        let Some(next) = self.first_of_others() else { return Ok(true) };
        let mut next = self.others.swap_remove(next);
        let left = std::mem::replace(&mut self.lane, Lane::new());
        // What the stream holds in any case is that of one buffer.
        shared.beside -= match left.beside {
            0 => std::mem::take(&mut next.beside),
            beside => beside,
        };
        self.lane = next;
        self.spare.push(left);
        Ok(true)
    }

    /// Reads the next buffer, and leaves it for later if it is not the only one and there is no memory for it; whether there was one.
    fn read(&mut self, is_only: bool, shared: &mut Shared<'a>) -> Result<bool, Finding> {
        let next = self.ahead.pop_front().or_else(|| shared.queues.next(self.queue).map(|buffer| Ahead { buffer, job: None }));
        let Some(Ahead { buffer, job }) = next else {
            self.is_at_end = true;
            return Ok(false);
        };
        let is_compressed = buffer.is_compressed();
        let room = if is_compressed { buffer.room() } else { 0 };
        if !is_only && shared.beside + room > shared.more() {
            self.ahead.push_front(Ahead { buffer, job });
            return Ok(false);
        }
        let mut lane = self.spare.pop().unwrap_or_else(Lane::new);
        let mut spare = Scratch::default();
        let (slice, fault) = match is_compressed {
            false => {
                let (end, fault) = buffer.valid_end();
                (Some(&buffer.bytes()[..end]), fault)
            }
            true => {
                let more = room.saturating_sub(self.held);
                let done = job.zip(shared.pool.as_ref()).map(|((job, held), pool)| {
                    shared.ahead -= held;
                    pool.finish(&job)
                });
                if shared.held + more > shared.most {
                    return Err(buffer.finding(What::Memory));
                }
                (self.held, shared.held) = (self.held + more, shared.held + more);
                let result = match done {
                    Some((scratch, result)) => {
                        spare = std::mem::replace(&mut lane.scratch, scratch);
                        result
                    }
                    None => buffer.decompress(&mut lane.scratch),
                };
                (None, result.err())
            }
        };
        match lane.begin(&buffer, slice, self.last) {
            Some(last) => {
                self.count += 1;
                (lane.number, self.last) = (self.count, last);
                if !is_only {
                    lane.beside = room;
                    shared.beside += room;
                }
                self.others.push(lane);
            }
            None => self.spare.push(lane),
        }
        self.look_ahead(spare, shared);
        fault.map_or(Ok(true), |what| Err(buffer.finding(what)))
    }

    /// Has the next buffers decompressed while the events of those at hand are given out.
    fn look_ahead(&mut self, mut scratch: Scratch, shared: &mut Shared<'a>) {
        let Some(pool) = shared.pool.clone() else { return };
        // What is not compressed, or has to wait, needs nobody to look behind it.
        while self.ahead.len() < AHEAD && self.ahead.back().is_none_or(|last| last.job.is_some()) {
            let Some(buffer) = shared.queues.next(self.queue) else { return };
            let held = buffer.room().max(self.held);
            let mut job = None;
            if buffer.is_compressed() && shared.ahead + held <= shared.more() {
                job = pool.give(buffer, std::mem::take(&mut scratch)).map(|job| (job, held));
            }
            if job.is_some() {
                shared.ahead += held;
            }
            self.ahead.push_back(Ahead { buffer, job });
        }
    }
}
