//! Samples of what processors ran.

use etw_layouts_trace::etl::{Event, Schemas};
use etw_layouts_trace::kernel::perfinfo::{CollectionEnd, CollectionStart, SampleProf, SetInterval};
use etw_layouts_trace::{Error, Trace};

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

/// The profile source that is the timer (`ProfileTime` of `KPROFILE_SOURCE`).
const TIMER: u32 = 0;

/// The current interval of the timer in each session, in units of 100 ns.
#[derive(Debug)]
pub(crate) struct Intervals(Vec<Option<u32>>);

impl Intervals {
    /// The intervals at the start of each session. The event that states one can follow samples.
    pub fn new(trace: &Trace) -> Result<Self, Error> {
        let mut intervals = vec![None; trace.sessions().len()];
        for event in trace.events() {
            if intervals.iter().all(Option::is_some) {
                break;
            }
            let event = event?;
            if let Some((old, _)) = interval(&event.header()) {
                intervals[event.session_index()].get_or_insert(old);
            }
        }
        Ok(Self(intervals))
    }

    /// Reads the event of a session. Returns whether it states the interval.
    pub fn add(&mut self, event: &Event<'_>, session: usize) -> bool {
        let stated = interval(event);
        if let Some((_, new)) = stated {
            self.0[session] = Some(new);
        }
        stated.is_some()
    }

    /// The interval in a session; `None` if no event states it.
    pub fn get(&self, session: usize) -> Option<u32> {
        self.0[session]
    }
}

/// The interval of the timer before and after an event that states it, in units of 100 ns.
fn interval(event: &Event<'_>) -> Option<(u32, u32)> {
    let schemas = Schemas::BUILT_IN;
    let set = event.get::<SetInterval<'_>>(schemas).map(|set| (set.source(), set.old_interval(), set.new_interval()));
    let start =
        || event.get::<CollectionStart<'_>>(schemas).map(|start| (start.source(), start.new_interval(), start.new_interval()));
    let end = || event.get::<CollectionEnd<'_>>(schemas).map(|end| (end.source(), end.new_interval(), end.new_interval()));
    let (source, old, new) = set.or_else(start).or_else(end)?;
    (source == TIMER && new > 0).then_some((if old == 0 { new } else { old }, new))
}
