//! The data of a report, and how it is made from a trace.

use crate::about::About;
use crate::diagnostics::Diagnostics;
use crate::files::FilesBuilder;
use crate::marks::{Marks, MarksBuilder};
use crate::processes::Processes;
use crate::providers::{Providers, ProvidersBuilder};
use crate::stacks::{Stacks, StacksBuilder};
use crate::table::{MAX_SLOTS, Table, Unanswered};
use etw_layouts_answers::Functions;
use etw_layouts_answers::top::{Key, Slots, TopBuilder, What};
use etw_layouts_trace::{Error, Trace};
use serde::Serialize;

/// Maximum number of slots of time.
pub const SLOTS: u32 = 240;

/// Options of a report.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Names of functions in call stacks; by default only those of .NET methods.
    pub functions: Functions,
}

impl Options {
    /// Options with the names of functions.
    #[must_use]
    pub fn new(functions: Functions) -> Self {
        Self { functions }
    }
}

/// A report of a trace: plain data, which [`page`](Self::page) shows. Times are in units of 100 ns since the start, and amounts of time are in units of 100 ns.
///
/// `slots` in its parts has, for each slot with an amount, the number of the slot and then the amounts.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What the trace is.
    pub about: About,
    /// System time of the start of the first slot, in units of 100 ns since 1601.
    pub start: i64,
    /// The same as text.
    pub start_utc: String,
    /// Length of a slot, in units of 100 ns.
    pub slot_width: u64,
    /// Number of slots.
    pub slot_count: u32,
    /// Answers to questions.
    pub tables: Vec<Table>,
    /// Questions that the trace cannot answer.
    pub unanswered: Vec<Unanswered>,
    /// Marks that programs set.
    pub marks: Marks,
    /// Processes.
    pub processes: Processes,
    /// Call stacks of the samples of the profiler.
    pub stacks: Stacks,
    /// Providers and their events.
    pub providers: Providers,
    /// Diagnostics of the files.
    pub diagnostics: Diagnostics,
    /// What the report leaves out, as sentences with counts.
    pub reduced: Vec<String>,
}

/// Further tables. The last one is for the list of processes.
const MORE: [(What, &[Key]); 3] =
    [(What::Cpu, &[Key::Module]), (What::Disk, &[Key::Device, Key::Event]), (What::Events, &[Key::Process])];

/// The keys of the first table of a question: the keys of `etw etl top`, keys for reading and writing, and keys for the causes of pauses.
fn keys(what: What) -> &'static [Key] {
    match what {
        What::Disk | What::Files => &[Key::Process, Key::File, Key::Event],
        What::Gc => &[Key::Process, Key::Reason, Key::Generation, Key::Cause],
        _ => what.default_keys(),
    }
}

impl Report {
    /// Reads the events of a trace once, in the order of time.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn new(trace: &Trace, options: &Options) -> Result<Self, Error> {
        let slots = Slots::new(trace, SLOTS)?;
        let mut top = TopBuilder::new(trace, &[], Some(slots));
        for (what, keys) in What::all().map(|what| (what, keys(what))).chain(MORE) {
            top.ask(what, keys, &options.functions);
        }
        let mut stacks = StacksBuilder::new(trace, slots, &options.functions);
        let mut providers = ProvidersBuilder::new(trace, slots);
        let mut marks = MarksBuilder::new(slots);
        let mut files = FilesBuilder::new(trace);
        let events = trace.events();
        let is_ordered = events.is_ordered();
        for event in events {
            let event = event?;
            top.add(&event)?;
            stacks.add(&event)?;
            providers.add(&event);
            marks.add(&event);
            files.add(&event);
        }
        let mut answers = top.finish();
        let by_process = answers.pop();
        let mut reduced = Vec::new();
        if !is_ordered {
            reduced.push(
                "Buffers are so far out of order that only parts of the trace are sorted: waits and pauses can be wrong.".into(),
            );
        }
        let processes = Processes::new(trace, slots, by_process.as_ref(), &mut reduced);
        let without_events = answers.iter().filter(|answer| answer.relevant == 0 && answer.keys == keys(answer.what));
        let unanswered = without_events.map(|answer| Unanswered::new(answer.what)).collect();
        answers.retain(|answer| answer.relevant > 0);
        // Without events of processes, there is no list of processes.
        answers.extend(by_process.filter(|_| processes.processes.is_empty()));
        let slots_each = MAX_SLOTS / answers.len().max(1);
        let tables: Vec<_> = answers.iter().map(|answer| Table::new(answer, slots_each, &mut reduced)).collect();
        let (stacks, providers, marks) =
            (stacks.finish(&mut reduced), providers.finish(&mut reduced), marks.finish(&mut reduced));
        let diagnostics = Diagnostics::new(trace);
        Ok(Self {
            about: About::new(trace, slots, (&files, &providers, &processes), &diagnostics, &tables),
            start: slots.start.0,
            start_utc: slots.start.rfc3339().to_string(),
            slot_width: slots.width,
            slot_count: slots.count,
            tables,
            unanswered,
            marks,
            processes,
            stacks,
            providers,
            diagnostics,
            reduced,
        })
    }
}
