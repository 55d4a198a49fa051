//! Marks that programs set in a trace.

use crate::text::shortened;
use etw_layouts_answers::top::Slots;
use etw_layouts_trace::etl::text::Several;
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::perfinfo::SampleProf;
use etw_layouts_trace::{Event, EventKind, kind};
use serde::Serialize;

/// Marks in the order of time.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Marks {
    /// The first marks.
    pub marks: Vec<Mark>,
    /// Number of further marks.
    pub more: u64,
}

/// A mark: PerfInfo/Mark, which `xperf -m` and other programs write.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Mark {
    /// Its time since the start, in units of 100 ns.
    pub time: i64,
    /// Its text.
    pub text: String,
}

/// Maximum number of marks.
const MAX_MARKS: usize = 200;

/// PERFINFO_LOG_TYPE_MARK of the class PerfInfo.
const MARK: EventKind = (SampleProf::CLASS, 34);

/// Collects marks.
pub(crate) struct MarksBuilder {
    slots: Slots,
    marks: Marks,
}

impl MarksBuilder {
    pub fn new(slots: Slots) -> Self {
        Self { slots, marks: Marks::default() }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        if kind(&event.header()) != Some(MARK) {
            return;
        }
        let (Some(time), true) = (event.relative_time(), self.marks.marks.len() < MAX_MARKS) else {
            self.marks.more += 1;
            return;
        };
        let text = event.decode().and_then(|decoded| Some(decoded.get("Message")?.to_string())).unwrap_or_default();
        self.marks.marks.push(Mark { time: time.0.saturating_sub(self.slots.start.0), text: shortened(&text) });
    }

    pub fn finish(self, reduced: &mut Vec<String>) -> Marks {
        if self.marks.more > 0 {
            reduced.push(format!("{} left out after the first {MAX_MARKS}.", Several(self.marks.more, "mark")));
        }
        self.marks
    }
}
