//! The events of one processor.

use super::pool::{Job, Pool};
use super::queue::Queues;
use crate::buffer::{Buffer, Scratch};
use crate::finding::{Finding, Place, What};
use crate::walk::{Extent, step, usual};
use crate::wire::{BUFFER_HEADER, Generation};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the decompressed buffers of all processors may take at once: 1 GiB.
const MOST: usize = 1 << 30;

/// How many buffers of each processor are decompressed ahead at most.
const AHEAD: usize = 4;

/// What the streams of a trace share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    queues: Queues<'a>,
    /// Who decompresses ahead.
    pool: Option<Arc<Pool<'a>>>,
    /// Bytes that all streams hold. Findings hang on it, so that it must not hang on what is ahead.
    held: usize,
    /// Bytes of what is decompressed ahead.
    ahead: usize,
}

impl<'a> Shared<'a> {
    pub(super) fn new(queues: Queues<'a>, pool: Option<Arc<Pool<'a>>>) -> Self {
        Self { queues, pool, held: 0, ahead: 0 }
    }
}

/// A buffer after the one at hand.
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
    generation: Generation,
    /// The buffer at hand, if it is not decompressed.
    slice: Option<&'a [u8]>,
    scratch: Scratch,
    /// Bytes of its largest buffer so far: no scratch of this stream has more, whatever of it is in use.
    held: usize,
    pub(super) at: usize,
    pub(super) extent: Option<Extent>,
    /// Of the event at hand, or the last before it that has one.
    pub(super) time: i64,
    pub(super) processor: u16,
    pub(super) place: Place,
}

impl<'a> Stream<'a> {
    pub(super) fn new(queue: usize) -> Self {
        Self {
            queue,
            ahead: VecDeque::new(),
            generation: Generation::V6_1,
            slice: Some(&[]),
            scratch: Scratch::default(),
            held: 0,
            at: 0,
            extent: None,
            time: i64::MIN,
            processor: 0,
            place: Place::default(),
        }
    }

    /// What is left of the buffer, from the event on.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.slice.unwrap_or(&self.scratch.0).get(self.at..).unwrap_or(&[])
    }

    /// Goes to the next event of the same buffer; `false` if what follows is not a usual one.
    #[inline]
    pub(super) fn next_in_buffer(&mut self) -> bool {
        let Some(extent) = self.extent.take() else { return false };
        self.at += extent.space();
        match usual(self.rest()) {
            Some(next) => {
                self.found(next);
                true
            }
            None => false,
        }
    }

    #[inline]
    fn found(&mut self, extent: Extent) {
        self.extent = Some(extent);
        self.time = extent.event(self.rest(), 0).time_stamp().unwrap_or(self.time);
    }

    /// Goes to the event at hand or the next, and to the next buffers; `false` at the end. After a finding it has to be called again.
    pub(super) fn next(&mut self, shared: &mut Shared<'a>) -> Result<bool, Finding> {
        loop {
            match step(self.rest(), self.generation) {
                Ok(Some(extent)) => {
                    self.found(extent);
                    return Ok(true);
                }
                Ok(None) => {
                    if !self.next_buffer(shared)? {
                        return Ok(false);
                    }
                }
                Err(fault) => {
                    let at = self.at as u32;
                    self.at = self.at.saturating_add(fault.space);
                    return Err(self.place.finding(at, fault.what));
                }
            }
        }
    }

    fn next_buffer(&mut self, shared: &mut Shared<'a>) -> Result<bool, Finding> {
        self.slice = Some(&[]);
        let next = self.ahead.pop_front().or_else(|| shared.queues.next(self.queue).map(|buffer| Ahead { buffer, job: None }));
        let Some(Ahead { buffer, job }) = next else {
            self.scratch = Scratch::default();
            shared.held -= std::mem::take(&mut self.held);
            return Ok(false);
        };
        let head = buffer.head();
        (self.processor, self.place) = (head.processor(), buffer.place());
        (self.generation, self.at) = (buffer.generation(), BUFFER_HEADER);
        let mut spare = Scratch::default();
        let fault = match buffer.is_compressed() {
            false => {
                let (end, fault) = buffer.valid_end();
                self.slice = Some(&buffer.bytes()[..end]);
                fault
            }
            true => {
                let more = buffer.room().saturating_sub(self.held);
                let done = job.zip(shared.pool.as_ref()).map(|((job, held), pool)| {
                    shared.ahead -= held;
                    pool.finish(&job)
                });
                match shared.held + more > MOST {
                    true => Some(What::Memory),
                    false => {
                        (self.held, shared.held) = (self.held + more, shared.held + more);
                        let result = match done {
                            Some((scratch, result)) => {
                                spare = std::mem::replace(&mut self.scratch, scratch);
                                result
                            }
                            None => buffer.decompress(&mut self.scratch),
                        };
                        self.slice = None;
                        result.err()
                    }
                }
            }
        };
        self.look_ahead(spare, shared);
        fault.map_or(Ok(true), |what| Err(buffer.finding(what)))
    }

    /// Has the next buffers decompressed while the events of this one are given out.
    fn look_ahead(&mut self, mut scratch: Scratch, shared: &mut Shared<'a>) {
        let Some(pool) = shared.pool.clone() else { return };
        // What is not compressed, or has to wait, needs nobody to look behind it.
        while self.ahead.len() < AHEAD && self.ahead.back().is_none_or(|last| last.job.is_some()) {
            let Some(buffer) = shared.queues.next(self.queue) else { return };
            let held = buffer.room().max(self.held);
            let fits = shared.held + shared.ahead + held <= MOST;
            let mut job = None;
            if buffer.is_compressed() && fits {
                job = pool.give(buffer, std::mem::take(&mut scratch)).map(|job| (job, held));
            }
            if job.is_some() {
                shared.ahead += held;
            }
            self.ahead.push_back(Ahead { buffer, job });
        }
    }
}
