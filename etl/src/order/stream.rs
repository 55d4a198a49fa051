//! The events of one processor.

use super::queue::Queues;
use crate::buffer::{Buffer, Scratch};
use crate::finding::{Finding, Place, What};
use crate::walk::{Extent, step, usual};
use crate::wire::{BUFFER_HEADER, Generation};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};

/// What the decompressed buffers of all processors may take at once: 1 GiB.
const MOST: usize = 1 << 30;

/// How many jobs the helper can have before it. Those that another thread has done meanwhile hold memory until the helper gets to
/// them, and more than a few to do gain nothing, as there is one helper.
pub(super) const JOBS: usize = 16;

/// Who decompresses ahead, as long as it is there.
pub(super) type Helper<'a> = Weak<SyncSender<Job<'a>>>;

/// What the streams of a trace share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    queues: Queues<'a>,
    helper: Helper<'a>,
    /// Bytes that all streams hold. Findings hang on it, so that it must not hang on the helper.
    held: usize,
    /// Bytes of what is decompressed ahead.
    ahead: usize,
}

/// A buffer to decompress.
#[derive(Debug)]
pub(super) struct Job<'a> {
    buffer: Buffer<'a>,
    scratch: Scratch,
    taken: Arc<AtomicBool>,
    done: SyncSender<Done>,
}

type Done = (Scratch, Result<(), What>);

impl<'a> Shared<'a> {
    pub(super) fn new(queues: Queues<'a>, helper: Helper<'a>) -> Self {
        Self { queues, helper, held: 0, ahead: 0 }
    }
}

impl Job<'_> {
    /// Decompresses the buffer, unless that is not needed any more.
    pub(super) fn work(mut self) {
        if !self.taken.swap(true, Ordering::Relaxed) {
            let result = self.buffer.decompress(&mut self.scratch);
            // Whether anyone still waits for it does not matter.
            let _ = self.done.send((self.scratch, result));
        }
    }
}

/// The buffer after the one at hand.
#[derive(Debug)]
struct Ahead<'a> {
    buffer: Buffer<'a>,
    job: Option<Waiting>,
}

/// A job that was given away.
#[derive(Debug)]
struct Waiting {
    taken: Arc<AtomicBool>,
    done: Receiver<Done>,
    /// Bytes that it takes at most.
    held: usize,
}

impl Waiting {
    /// What came out, or nothing if nobody has begun with it, and nobody will.
    fn finish(self) -> Option<Done> {
        // Where both can take it, the other thread is the slower one, and this one had better do it than wait.
        if self.taken.swap(true, Ordering::Relaxed) { self.done.recv().ok() } else { None }
    }
}

/// The events of one processor.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    /// Which of the queues is its own.
    queue: usize,
    ahead: Option<Ahead<'a>>,
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
            ahead: None,
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
        let next = self.ahead.take().or_else(|| shared.queues.next(self.queue).map(|buffer| Ahead { buffer, job: None }));
        let Some(Ahead { buffer, job }) = next else {
            self.scratch = Scratch::default();
            shared.held -= std::mem::take(&mut self.held);
            return Ok(false);
        };
        let head = buffer.head();
        (self.processor, self.place) = (head.processor(), buffer.place());
        (self.generation, self.at) = (buffer.generation(), BUFFER_HEADER);
        let mut spare = Scratch::default();
        let fault = match head.is_compressed() {
            false => {
                let (end, fault) = buffer.valid_end();
                self.slice = Some(&buffer.bytes()[..end]);
                fault
            }
            true => {
                let more = buffer.room().saturating_sub(self.held);
                let done = job.and_then(|job| {
                    shared.ahead -= job.held;
                    job.finish()
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

    /// Has the next buffer decompressed while the events of this one are given out.
    fn look_ahead(&mut self, scratch: Scratch, shared: &mut Shared<'a>) {
        let Some(helper) = shared.helper.upgrade() else { return };
        let Some(buffer) = shared.queues.next(self.queue) else { return };
        let held = buffer.room().max(self.held);
        let fits = shared.held + shared.ahead + held <= MOST;
        let mut job = None;
        if buffer.head().is_compressed() && fits {
            let (sender, done) = sync_channel(1);
            let taken = Arc::new(AtomicBool::new(false));
            if helper.try_send(Job { buffer, scratch, taken: taken.clone(), done: sender }).is_ok() {
                shared.ahead += held;
                job = Some(Waiting { taken, done, held });
            }
        }
        self.ahead = Some(Ahead { buffer, job });
    }
}
