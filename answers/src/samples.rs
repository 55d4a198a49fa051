//! Samples of what processors ran.

use etw_layouts_trace::etl::{Event, Schemas};
use etw_layouts_trace::kernel::perfinfo::{CollectionEnd, CollectionStart, SampleProf, SetInterval};

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

/// The interval of the timer before and after an event that states it, in units of 100 ns.
pub(crate) fn interval(event: &Event<'_>) -> Option<(u32, u32)> {
    let schemas = Schemas::BUILT_IN;
    let set = event.get::<SetInterval<'_>>(schemas).map(|set| (set.source(), set.old_interval(), set.new_interval()));
    let start =
        || event.get::<CollectionStart<'_>>(schemas).map(|start| (start.source(), start.new_interval(), start.new_interval()));
    let end = || event.get::<CollectionEnd<'_>>(schemas).map(|end| (end.source(), end.new_interval(), end.new_interval()));
    let (source, old, new) = set.or_else(start).or_else(end)?;
    (source == TIMER && new > 0).then_some((if old == 0 { new } else { old }, new))
}
