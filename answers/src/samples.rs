//! Samples of what processors ran.

use etw_layouts_trace::etl::{Event, Schemas};
use etw_layouts_trace::kernel::perfinfo::SampleProf;

/// The sampled instruction, if the event is a sample of the timer.
pub(crate) fn instruction(event: &Event<'_>) -> Option<u64> {
    // PERFINFO_LOG_TYPE_SAMPLED_PROFILE; other headers have the GUID of the class.
    if event.hook().is_some_and(|hook| hook != 0x0F2E) {
        return None;
    }
    Some(event.get::<SampleProf<'_>>(Schemas::BUILT_IN)?.instruction_pointer())
}
