//! Amounts by slots of time.

use super::what::What;
use etw_layouts_trace::etl::FileTime;
use etw_layouts_trace::{Error, Trace};

/// Slots of equal length that divide the time of a trace. An amount is in the slot of the event that adds it: an interval, such as a wait, is in the slot of
/// its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slots {
    /// System time of the start of the first slot.
    pub start: FileTime,
    /// Length of a slot, in units of 100 ns.
    pub width: u64,
    /// Number of slots.
    pub count: u32,
}

impl Slots {
    /// At most `count` slots from the first event of a trace to the last one. Events that describe a session do not begin the first slot, because some have the
    /// time at which the session was set up. Only if a trace has no other events, they do.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn new(trace: &Trace, count: u32) -> Result<Self, Error> {
        let mut start = None;
        for event in trace.events() {
            let event = event?;
            let Some(time) = event.relative_time() else { continue };
            if !super::is_header(&event.header()) {
                start = Some(time);
                break;
            }
            start.get_or_insert(time);
        }
        let last = trace.last_time();
        let start = start.or(last).unwrap_or(FileTime(0));
        let end = last.unwrap_or(start);
        let duration = u64::try_from(end.0.saturating_sub(start.0)).unwrap_or_default();
        // The last event is in the last slot.
        let width = duration / u64::from(count.max(1)) + 1;
        Ok(Self { start, width, count: (duration / width + 1) as u32 })
    }

    /// The slot of a time. Earlier times are in the first slot, later ones in the last.
    #[must_use]
    pub fn of(&self, time: FileTime) -> u32 {
        let since = u64::try_from(time.0.saturating_sub(self.start.0)).unwrap_or_default();
        u32::try_from(since / self.width.max(1)).unwrap_or(u32::MAX).min(self.count.saturating_sub(1))
    }
}

/// Adds amounts to those of a slot. `sums` has, for each slot with amounts, its number and the measures. Returns whether the slot is new.
pub(super) fn add(what: What, sums: &mut Vec<u64>, slot: u32, amounts: &[u64]) -> bool {
    let (slot, stride) = (u64::from(slot), amounts.len() + 1);
    // Events come in the order of time, so the slot is nearly always the last one.
    let before = sums.chunks_exact(stride).rposition(|sums| sums[0] <= slot);
    let start = before.map_or(0, |index| index * stride);
    if before.is_some() && sums[start] == slot {
        what.combine(&mut sums[start + 1..start + stride], amounts);
        return false;
    }
    let end = before.map_or(0, |_| start + stride);
    sums.splice(end..end, std::iter::once(slot).chain(amounts.iter().copied()));
    true
}
