//! The events of one processor.

use super::lane::Lane;
use super::queue::Queues;
use crate::buffer::Buffer;
use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// Memory limit for decompressed buffers, counting one buffer per processor: 1 GiB.
const MOST: usize = 1 << 30;

/// Maximum number of buffers per processor that are merged.
///
/// A session writes the time stamp of an event and reserves its space in two steps. An interruption between them makes the order of
/// time stamps differ from the order of positions. An interrupt that logs events itself moves an event by a few positions, or into
/// the next buffer if the current one was full. A preempted thread resumes after a quantum, in which a busy session fills one or two
/// buffers. In 21 real files with 380,000 events, no event is earlier than its predecessor in the same or the previous buffer. Four
/// buffers are therefore more than a session needs, and a few invalid time stamps, each of which keeps its buffer open, do not affect
/// the order of other events.
const WINDOW: usize = 4;

/// State shared by the streams of a trace.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    queues: Queues<'a>,
    /// Limit of `reserved`.
    pub(super) most: usize,
    /// The sum of the largest buffers of all streams, in bytes.
    reserved: usize,
    /// Bytes of additional buffers.
    beside: usize,
}

impl<'a> Shared<'a> {
    pub(super) fn new(queues: Queues<'a>) -> Self {
        Self { queues, most: MOST, reserved: 0, beside: 0 }
    }

    /// Limit of the bytes of additional buffers.
    fn more(&self) -> usize {
        self.most / 4
    }
}

/// The events of one processor.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    /// Index of the stream's queue.
    queue: usize,
    /// A buffer that waits for memory.
    waiting: Option<Buffer<'a>>,
    /// The buffer of the current event.
    pub(super) lane: Lane<'a>,
    /// Other open buffers. They can have events earlier than those of the current buffer.
    others: Vec<Lane<'a>>,
    /// The earliest time in the other buffers.
    limit: i64,
    /// Finished buffers, kept for their memory.
    spare: Vec<Lane<'a>>,
    /// Number of buffers read.
    count: u64,
    /// Time of the last event of the most recent buffer.
    last: i64,
    is_at_end: bool,
    /// Size in bytes of the largest buffer so far. No scratch of this stream is larger.
    reserved: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(queue: usize) -> Self {
        Self {
            queue,
            waiting: None,
            lane: Lane::new(),
            others: Vec::new(),
            limit: i64::MAX,
            spare: Vec::new(),
            count: 0,
            last: i64::MIN,
            is_at_end: false,
            reserved: 0,
        }
    }

    /// Advances to the next event of the same buffer; `false` if there may be an earlier one, or the next item is not a usual
    /// event.
    #[inline]
    pub(super) fn next_in_buffer(&mut self) -> bool {
        self.lane.advance() && self.lane.time < self.limit
    }

    /// Advances to the next event, across buffers; `false` at the end. After a diagnostic it has to be called again.
    pub(super) fn next(&mut self, shared: &mut Shared<'a>) -> Result<bool, Diagnostic> {
        loop {
            if !self.lane.make_current()? {
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

    /// Index of the other buffer with the earliest event.
    fn first_of_others(&self) -> Option<usize> {
        (0..self.others.len()).min_by_key(|other| self.others[*other].key())
    }

    /// Whether the next buffer can have events earlier than those of the open buffers: true while the most recent buffer overlaps an
    /// earlier one.
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

    /// Replaces the current buffer, after all its events were returned.
    fn next_buffer(&mut self, shared: &mut Shared<'a>) -> Result<bool, Diagnostic> {
        if self.others.is_empty() && !self.read(true, shared)? {
            (self.lane, self.spare) = (Lane::new(), Vec::new());
            shared.reserved -= std::mem::take(&mut self.reserved);
            return Ok(false);
        }
        let Some(next) = self.first_of_others() else { return Ok(true) };
        let mut next = self.others.swap_remove(next);
        let left = std::mem::replace(&mut self.lane, Lane::new());
        // The stream always has memory for one buffer, which does not count as additional.
        shared.beside -= match left.beside {
            0 => std::mem::take(&mut next.beside),
            beside => beside,
        };
        self.lane = next;
        self.spare.push(left);
        Ok(true)
    }

    /// Reads the next buffer; returns whether there was one. Defers it if memory is short and it is not the only one.
    fn read(&mut self, is_only: bool, shared: &mut Shared<'a>) -> Result<bool, Diagnostic> {
        let Some(buffer) = self.waiting.take().or_else(|| shared.queues.next(self.queue)) else {
            self.is_at_end = true;
            return Ok(false);
        };
        let is_compressed = buffer.is_compressed();
        let room = if is_compressed { buffer.room() } else { 0 };
        if !is_only && shared.beside + room > shared.more() {
            self.waiting = Some(buffer);
            return Ok(false);
        }
        let mut lane = self.spare.pop().unwrap_or_else(Lane::new);
        let (slice, fault) = match is_compressed {
            false => {
                let (end, fault) = buffer.valid_end();
                (Some(&buffer.bytes()[..end]), fault)
            }
            true => {
                let more = room.saturating_sub(self.reserved);
                if shared.reserved + more > shared.most {
                    return Err(buffer.diagnostic(DiagnosticKind::Memory));
                }
                (self.reserved, shared.reserved) = (self.reserved + more, shared.reserved + more);
                (None, buffer.decompress(&mut lane.scratch).err())
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
        fault.map_or(Ok(true), |kind| Err(buffer.diagnostic(kind)))
    }
}
