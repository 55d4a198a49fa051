//! Decompression ahead, by two threads: that which gives out the events, and one more. Each takes the next buffer that waits, so that
//! neither is idle while there is one; and whoever needs a buffer that the other has begun does another meanwhile.

use crate::buffer::{Buffer, Scratch};
use crate::finding::What;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many buffers can wait.
const JOBS: usize = 64;

/// How often is looked before a thread sleeps: for about as long as it takes to wake one.
const LOOKS: u32 = 2_000;

/// The buffers that wait to be decompressed.
#[derive(Debug, Default)]
pub(super) struct Pool<'a> {
    jobs: Mutex<VecDeque<Arc<Job<'a>>>>,
    /// How many there are, for who looks without the lock.
    count: AtomicUsize,
    is_closed: AtomicBool,
    bell: Bell,
}

/// A buffer to decompress.
#[derive(Debug)]
pub(super) struct Job<'a> {
    buffer: Buffer<'a>,
    /// [`WAITING`], [`TAKEN`] or [`DONE`], for who looks without the lock.
    state: AtomicU8,
    /// Of who has taken the job, and then of who takes what came out.
    done: Mutex<Done>,
    bell: Bell,
}

const WAITING: u8 = 0;
const TAKEN: u8 = 1;
const DONE: u8 = 2;

/// What came out.
pub(super) type Done = (Scratch, Result<(), What>);

impl<'a> Pool<'a> {
    /// Has a buffer decompressed; `None` if that has to be done when it is needed.
    pub(super) fn give(&self, buffer: Buffer<'a>, scratch: Scratch) -> Option<Arc<Job<'a>>> {
        if self.is_closed.load(SeqCst) {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        // Those that were done by who needed them.
        while jobs.front().is_some_and(|job| job.state.load(SeqCst) != WAITING) {
            jobs.pop_front();
        }
        let job = (jobs.len() < JOBS).then(|| {
            let job = Job { buffer, state: AtomicU8::new(WAITING), done: Mutex::new((scratch, Ok(()))), bell: Bell::default() };
            let job = Arc::new(job);
            jobs.push_back(job.clone());
            job
        });
        self.count.store(jobs.len(), SeqCst);
        drop(jobs);
        self.bell.ring();
        job
    }

    /// What came out of a job that was given.
    pub(super) fn finish(&self, job: &Job<'a>) -> Done {
        while !job.work() && job.state.load(SeqCst) != DONE {
            // The other thread has it.
            match self.pop() {
                Some(other) => {
                    other.work();
                }
                None => job.bell.wait(|| job.state.load(SeqCst) == DONE),
            }
        }
        std::mem::replace(&mut *lock(&job.done), (Scratch::default(), Ok(())))
    }

    /// Decompresses what waits and what comes, until the pool is closed.
    pub(super) fn work(&self) {
        while !self.is_closed.load(SeqCst) {
            match self.pop() {
                Some(job) => {
                    job.work();
                }
                None => self.bell.wait(|| self.count.load(SeqCst) > 0 || self.is_closed.load(SeqCst)),
            }
        }
    }

    /// Ends the work. What is decompressed by then can still be had.
    pub(super) fn close(&self) {
        self.is_closed.store(true, SeqCst);
        self.bell.ring();
    }

    fn pop(&self) -> Option<Arc<Job<'a>>> {
        if self.count.load(SeqCst) == 0 {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let job = jobs.pop_front();
        self.count.store(jobs.len(), SeqCst);
        job
    }
}

impl Job<'_> {
    /// Decompresses the buffer; `false` if somebody has begun that.
    fn work(&self) -> bool {
        if self.state.compare_exchange(WAITING, TAKEN, SeqCst, SeqCst).is_err() {
            return false;
        }
        let (scratch, result) = &mut *lock(&self.done);
        *result = self.buffer.decompress(scratch);
        self.state.store(DONE, SeqCst);
        self.bell.ring();
        true
    }
}

/// Wakes a thread that sleeps. Who rings has said before what the other waits for; nobody has to be called in the system if nobody sleeps.
#[derive(Debug, Default)]
struct Bell {
    sleeps: AtomicBool,
    lock: Mutex<()>,
    sound: Condvar,
}

impl Bell {
    fn ring(&self) {
        if self.sleeps.load(SeqCst) {
            // Who has looked and not slept yet has the lock.
            drop(lock(&self.lock));
            self.sound.notify_all();
        }
    }

    fn wait(&self, is_over: impl Fn() -> bool) {
        for _ in 0..LOOKS {
            if is_over() {
                return;
            }
            spin_loop();
        }
        let mut guard = lock(&self.lock);
        self.sleeps.store(true, SeqCst);
        while !is_over() {
            guard = self.sound.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeps.store(false, SeqCst);
    }
}

/// Nothing is left half done behind a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
