//! What can make two groups of traces incomparable: other computers, and other sets of events.

use crate::object::object;
use crate::output::{Escaped, Output};
use etw_layouts_answers::top::Answer;
use etw_layouts_trace::Trace;
use std::collections::BTreeSet;

/// On what, and how, the runs of a group were recorded.
#[derive(Default)]
pub struct Setup {
    processors: BTreeSet<u32>,
    /// Intervals of the timer that takes samples, in units of 100 ns, at the start of each session; without samples, it does not matter.
    intervals: BTreeSet<Option<u32>>,
    builds: BTreeSet<u32>,
    pointer_sizes: BTreeSet<u32>,
    /// The questions of `top` for which there are events.
    recorded: BTreeSet<&'static str>,
}

impl Setup {
    /// Adds a run, with its answers to questions.
    pub fn add<'a>(&mut self, trace: &Trace, answers: impl Iterator<Item = &'a Answer>) {
        for log in trace.files().iter().map(|file| file.log_file()) {
            self.processors.insert(log.processors);
            self.builds.insert(log.build);
            self.pointer_sizes.insert(log.pointer_size);
        }
        let recorded: Vec<_> = answers.filter(|answer| answer.relevant > 0).map(|answer| answer.what.name()).collect();
        if recorded.contains(&"cpu") {
            self.intervals.extend(trace.sessions().iter().map(|session| session.timer_interval()));
        }
        self.recorded.extend(recorded);
    }

    /// Prints a note for each difference to the runs of the second group.
    pub fn differences(&self, after: &Self, out: &Output) {
        let note = |property: &str, before: String, after: String, why: &str| {
            if before != after {
                let note = format!("{property}: {before} before, {after} after; {why}");
                let document = object! { note: &note, property: property, before: before, after: after };
                out.say(format_args!("note: {}", Escaped(&note)), &document);
            }
        };
        let bits = |sizes: &BTreeSet<u32>| list(sizes.iter().map(|size| format!("{} bits", size.saturating_mul(8))));
        let numbers = |numbers: &BTreeSet<u32>| list(numbers.iter().map(u32::to_string));
        let rates = "amounts are of all processors together, and not divided by their number";
        note("other number of processors", numbers(&self.processors), numbers(&after.processors), rates);
        if !self.intervals.is_empty() && !after.intervals.is_empty() {
            let why = "compare times, such as --measure ms, not numbers of samples";
            note("other interval of samples", intervals(&self.intervals), intervals(&after.intervals), why);
        }
        note("other build of Windows", numbers(&self.builds), numbers(&after.builds), "functions and modules can differ");
        note("other pointer size", bits(&self.pointer_sizes), bits(&after.pointer_sizes), "functions and sizes can differ");
        let only = |one: &Self, other: &Self| list(one.recorded.difference(&other.recorded).map(|what| (*what).to_owned()));
        let why = "recording more kinds of events takes more time itself";
        note("questions that only one side answers", only(self, after), only(after, self), why);
    }
}

fn intervals(intervals: &BTreeSet<Option<u32>>) -> String {
    let interval = |interval: &Option<u32>| match interval {
        Some(interval) => format!("{} ms", f64::from(*interval) / 1e4),
        None => "not stated".to_owned(),
    };
    list(intervals.iter().map(interval))
}

/// The values, separated by commas.
fn list(values: impl Iterator<Item = String>) -> String {
    let values: Vec<_> = values.collect();
    if values.is_empty() { "none".to_owned() } else { values.join(", ") }
}
