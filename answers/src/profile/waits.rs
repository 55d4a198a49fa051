//! Times at which threads did not run.

use etw_layouts_trace::Party;

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
    /// When it became ready to run; `None` if no event states it, and for a thread that was preempted.
    pub ready: Option<u64>,
    /// Index of the thread that made it ready; `None` also if that is the idle thread, such as in an interrupt.
    pub ready_by: Option<u32>,
    /// Index of the call stack that made it ready.
    pub ready_stack: Option<u32>,
}

/// What made a thread ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readied {
    /// The thread, with its process; `None` for the idle thread.
    pub by: Option<Party>,
    /// Index of the call stack.
    pub stack: Option<u32>,
}
