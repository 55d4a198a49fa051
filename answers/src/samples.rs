//! Samples of what processors ran.

use etw_layouts_trace::etl::{Event, Schemas};
use etw_layouts_trace::kernel::perfinfo::SampleProf;
use etw_layouts_trace::{TimerInterval, Trace};

/// The sampled instruction, if the event is a sample of the timer.
pub(crate) fn instruction(event: &Event<'_>) -> Option<u64> {
    // PERFINFO_LOG_TYPE_SAMPLED_PROFILE; other headers have the GUID of the class.
    if event.hook().is_some_and(|hook| hook != 0x0F2E) {
        return None;
    }
    Some(event.get::<SampleProf<'_>>(Schemas::BUILT_IN)?.instruction_pointer())
}

/// The interval of Windows, if no event states another one, in units of 100 ns.
pub(crate) const DEFAULT_INTERVAL: u32 = 10_000;

/// The current interval of the timer in each session, in units of 100 ns.
#[derive(Debug)]
pub(crate) struct Intervals(Vec<Option<u32>>);

impl Intervals {
    /// The intervals at the start of each session.
    pub fn new(trace: &Trace) -> Self {
        Self(trace.sessions().iter().map(|session| session.timer_interval()).collect())
    }

    /// Reads the event of a session. Returns whether it states the interval.
    pub fn add(&mut self, event: &Event<'_>, session: usize) -> bool {
        let stated = TimerInterval::of(event);
        if let Some(TimerInterval { after, .. }) = stated {
            self.0[session] = Some(after);
        }
        stated.is_some()
    }

    /// The interval in a session; `None` if no event states it.
    pub fn get(&self, session: usize) -> Option<u32> {
        self.0[session]
    }
}
