//! Times at which threads did not run.

use etw_layouts_trace::Event;
use etw_layouts_trace::etl::Schemas;
use etw_layouts_trace::kernel::maps;
use etw_layouts_trace::kernel::thread::{CSwitch, ReadyThread};
use std::collections::HashMap;

/// A time at which a thread did not run: from the context switch to another thread until the next one to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// Index of the thread.
    pub thread: u32,
    /// When the thread stopped running.
    pub start: u64,
    /// When the thread ran again.
    pub end: u64,
    /// Why it stopped running: a number of KWAIT_REASON.
    pub reason: i8,
    /// When it became ready to run; `None` if no event says so, as for a thread that was preempted.
    pub ready: Option<u64>,
    /// Index of the thread that made it ready; `None` also if that is the idle thread, such as in an interrupt.
    pub ready_by: Option<u32>,
    /// Index of the call stack that made it ready.
    pub ready_stack: Option<u32>,
}

/// Which threads run, and which do not.
#[derive(Debug, Default)]
pub(super) struct Switches {
    /// By session and thread.
    waiting: HashMap<(usize, u32), Wait>,
    /// By session and processor.
    running: HashMap<(usize, u16), u32>,
}

/// KTHREAD_STATE of a thread that ended.
const TERMINATED: i8 = 4;

impl Switches {
    /// Adds a context switch at a time. Returns the wait of the new thread; `None` if its start is not in the trace.
    pub fn switch(&mut self, event: &Event<'_>, switch: &CSwitch<'_>, time: u64) -> Option<Wait> {
        let session = event.session_index();
        let (old, new) = (switch.old_thread_id(), switch.new_thread_id());
        self.running.insert((session, event.processor()), new);
        let wait = self.waiting.remove(&(session, new)).map(|wait| Wait { end: time, start: wait.start.min(time), ..wait });
        if old != 0 && switch.old_thread_state() != TERMINATED {
            let reason = switch.old_thread_wait_reason();
            let begun = Wait { thread: 0, start: time, end: time, reason, ready: None, ready_by: None, ready_stack: None };
            self.waiting.insert((session, old), begun);
        }
        wait
    }

    /// The thread that made another thread ready, and its process: that of the header, or else the one that runs on the processor.
    pub fn readying(&self, event: &Event<'_>) -> (Option<u32>, Option<u32>) {
        let header = event.header();
        let thread = header.thread().filter(|thread| *thread != u32::MAX);
        let thread = thread.or_else(|| self.running.get(&(event.session_index(), event.processor())).copied());
        let process = thread.and_then(|thread| event.session().threads().at(thread, event.tick()));
        (thread, header.process().filter(|process| *process != u32::MAX).or(process))
    }

    /// Adds that a thread became ready, by a thread and a call stack. The first of several such events made it ready.
    pub fn ready(&mut self, event: &Event<'_>, time: u64, by: Option<u32>, stack: Option<u32>) {
        let Some(ready) = event.header().get::<ReadyThread<'_>>(Schemas::BUILT_IN) else { return };
        if let Some(wait) = self.waiting.get_mut(&(event.session_index(), ready.t_thread_id()))
            && wait.ready.is_none()
        {
            (wait.ready, wait.ready_by, wait.ready_stack) = (Some(time), by, stack);
        }
    }

    /// The number of threads that did not run again.
    pub fn unfinished(&self) -> u64 {
        self.waiting.len() as u64
    }
}

/// The name of a reason, such as `WrQueue`.
pub(super) fn reason(reason: i8) -> String {
    let known =
        u64::try_from(reason).ok().and_then(|reason| maps::KWAIT_REASON.entries.iter().find(|(value, _)| *value == reason));
    known.map_or_else(|| format!("reason {reason}"), |(_, name)| (*name).to_owned())
}
