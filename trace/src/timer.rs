//! The interval of the timer that takes samples of the processors.

use etw_layouts::events::TypedEvent;
use etw_layouts::events::perfinfo::{CollectionEnd, CollectionStart, SampleProf, SetInterval};
use etw_layouts_etl::{Event, Schemas};

/// The intervals of the timer that an event states, in units of 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerInterval {
    /// Before the event.
    pub before: u32,
    /// From the event on.
    pub after: u32,
}

/// The profile source that is the timer (`ProfileTime` of `KPROFILE_SOURCE`).
const TIMER: u32 = 0;

impl TimerInterval {
    /// The intervals in an event PerfInfo/SetInterval, CollectionStart or CollectionEnd; `None` for other events and for other profile sources.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let is_candidate = match event.hook() {
            Some(hook) => matches!(hook, 0x0F48..=0x0F4A),
            None => event.provider() == Some(SampleProf::CLASS),
        };
        if !is_candidate {
            return None;
        }
        let schemas = Schemas::BUILT_IN;
        let set = event.get::<SetInterval<'_>>(schemas).map(|set| (set.source(), set.old_interval(), set.new_interval()));
        let start = || event.get::<CollectionStart<'_>>(schemas).map(|start| (start.source(), 0, start.new_interval()));
        let end = || event.get::<CollectionEnd<'_>>(schemas).map(|end| (end.source(), 0, end.new_interval()));
        let (source, before, after) = set.or_else(start).or_else(end)?;
        let is_stated = source == TIMER && after > 0;
        is_stated.then_some(Self { before: if before == 0 { after } else { before }, after })
    }
}
