//! Which threads run, and which do not, by context switches.

use crate::pending::Pending;
use etw_layouts_trace::Event;
use etw_layouts_trace::kernel::maps;
use etw_layouts_trace::kernel::thread::{CSwitch, ReadyThread};

/// The running thread of each processor, and the threads that do not run. `R` is what is known of the thread that made another one ready.
#[derive(Debug)]
pub(crate) struct ThreadStates<R> {
    /// The thread that runs on each processor of a session, and since which tick.
    running: Pending<(usize, u16), (u32, i64)>,
    /// Threads that do not run, by session.
    stopped: Pending<(usize, u32), Stopped<R>>,
    other_states: u64,
}

/// A thread that does not run.
#[derive(Debug)]
pub(crate) struct Stopped<R> {
    /// The tick at which it stopped running; `None` if that was before the trace.
    pub since: Option<i64>,
    /// Whether it waits. Otherwise another thread preempted it, and it is ready to run.
    pub is_waiting: bool,
    /// Why it stopped running: a number of `KWAIT_REASON`.
    pub reason: i8,
    /// The tick at which it was made ready, if an event ReadyThread states it.
    pub ready: Option<(i64, R)>,
}

/// What a context switch ends.
pub(crate) struct Switched<R> {
    /// The thread that ran on the processor since the previous switch, and the tick of that switch; `None` for the first switch of a processor.
    pub ran: Option<(u32, i64)>,
    /// The new thread, which did not run before; `None` if its stop is not known, and for the idle thread.
    pub stopped: Option<Stopped<R>>,
}

/// The thread that runs on each processor that has nothing to do.
pub(crate) const IDLE: u32 = 0;

/// States of `KTHREAD_STATE`. A thread in transition waits for its kernel stack to be read from the paging file.
const READY: i8 = 1;
const STANDBY: i8 = 3;
const TERMINATED: i8 = 4;
const WAITING: i8 = 5;
const TRANSITION: i8 = 6;
const DEFERRED_READY: i8 = 7;
const GATE_WAIT: i8 = 8;
const WAITING_FOR_PROCESS_IN_SWAP: i8 = 9;

impl<R> Default for ThreadStates<R> {
    fn default() -> Self {
        Self { running: Pending::default(), stopped: Pending::default(), other_states: 0 }
    }
}

impl<R> ThreadStates<R> {
    /// Adds a context switch: the old thread stops running, and the new one begins.
    pub fn switch(&mut self, event: &Event<'_>, switch: &CSwitch<'_>) -> Switched<R> {
        let (session, tick) = (event.session_index(), event.tick());
        let (old, new) = (switch.old_thread_id(), switch.new_thread_id());
        let ran = self.running.insert((session, event.processor()), (new, tick));
        let stopped = if new == IDLE { None } else { self.stopped.remove(&(session, new)) };
        if old != IDLE {
            // An identifier of a thread that ended can be that of another thread later.
            self.stopped.remove(&(session, old));
            let is_waiting = match switch.old_thread_state() {
                WAITING | TRANSITION | GATE_WAIT | WAITING_FOR_PROCESS_IN_SWAP => Some(true),
                READY | STANDBY | DEFERRED_READY => Some(false),
                TERMINATED => None,
                _ => {
                    self.other_states += 1;
                    None
                }
            };
            if let Some(is_waiting) = is_waiting {
                let stopped = Stopped { since: Some(tick), is_waiting, reason: switch.old_thread_wait_reason(), ready: None };
                self.stopped.insert((session, old), stopped);
            }
        }
        Switched { ran, stopped }
    }

    /// Adds that a thread became ready. The first of several such events made it ready; a preempted thread is ready already.
    pub fn ready(&mut self, event: &Event<'_>, ready: &ReadyThread<'_>, by: R) {
        let key = (event.session_index(), ready.t_thread_id());
        match self.stopped.get_mut(&key) {
            Some(stopped) if stopped.is_waiting => _ = stopped.ready.get_or_insert((event.tick(), by)),
            Some(_) => {}
            None => {
                // It began to wait before the trace.
                let stopped = Stopped { since: None, is_waiting: true, reason: 0, ready: Some((event.tick(), by)) };
                self.stopped.insert(key, stopped);
            }
        }
    }

    /// The thread that runs on the processor of an event.
    pub fn running(&self, event: &Event<'_>) -> Option<u32> {
        self.running.get(&(event.session_index(), event.processor())).map(|(thread, _)| *thread)
    }

    /// The number of processors.
    pub fn processors(&self) -> u64 {
        self.running.len() as u64
    }

    /// The threads that stopped in the trace and did not run again.
    pub fn unfinished(&self) -> impl Iterator<Item = &Stopped<R>> {
        self.stopped.values().filter(|stopped| stopped.since.is_some())
    }

    /// The number of context switches from a thread in a state in which it neither waits, nor is ready, nor ended.
    pub fn other_states(&self) -> u64 {
        self.other_states
    }

    pub fn dropped(&self) -> u64 {
        self.running.dropped() + self.stopped.dropped()
    }
}

/// The name of a reason, such as `WrQueue`.
pub(crate) fn reason(reason: i8) -> String {
    let known =
        u64::try_from(reason).ok().and_then(|reason| maps::KWAIT_REASON.entries.iter().find(|(value, _)| *value == reason));
    known.map_or_else(|| format!("reason {reason}"), |(_, name)| (*name).to_owned())
}
