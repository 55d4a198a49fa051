//! Profiles: where time went, or another quantity, by call stack.
//!
//! A [`ProfileBuilder`] gets all events of a trace in the order of time, and makes a [`Profile`], which can be written in the formats of the Firefox
//! Profiler, speedscope and pprof, and as folded stacks. What is left out is counted: [`Counts`].

mod builder;
mod firefox;
mod folded;
mod markers;
mod pprof;
mod speedscope;
mod waits;

pub use builder::ProfileBuilder;
pub use markers::Marker;
pub use waits::Wait;

use crate::frame::{Frame, FrameCounts};
use etw_layouts_trace::UnboundStacks;
use etw_layouts_trace::etl::FileTime;
use std::io::{self, Write};
use std::sync::Arc;

/// What the samples of a profile are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Samples of the timer (PerfInfo/SampleProf). The value of a sample is the interval of the timer.
    Samples,
    /// Times at which a thread did not run, between two context switches (Thread/CSwitch). The value is the time.
    Waits,
    /// Events with a call stack. The value is the number in this field, or 1.
    Events(Option<String>),
}

/// Samples with their call stacks. Times are nanoseconds since the start of the trace.
#[derive(Debug)]
#[non_exhaustive]
pub struct Profile {
    /// What the samples are.
    pub subject: Subject,
    /// System time of the start.
    pub start: FileTime,
    /// The interval of the timer, for samples.
    pub interval: Interval,
    /// The processes of [`threads`](Self::threads).
    pub processes: Vec<Process>,
    /// The threads of [`samples`](Self::samples) and [`markers`](Self::markers).
    pub threads: Vec<Thread>,
    /// Different frames.
    pub frames: Vec<Arc<Frame>>,
    /// Different call stacks. Those of callers come before those of the functions that they call.
    pub stacks: Vec<StackNode>,
    /// The samples, in the order of time.
    pub samples: Vec<Sample>,
    /// What else happened.
    pub markers: Vec<Marker>,
    /// The waits, for [`Subject::Waits`]: one for each sample.
    pub waits: Vec<Wait>,
    /// What is in the profile, and what is left out.
    pub counts: Counts,
}

/// The interval of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// The trace states it for the first sample, in nanoseconds.
    Stated(u64),
    /// The trace does not state it: 1 ms, the default of Windows, is assumed.
    Assumed,
}

/// A process of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Its identifier; `None` for threads whose process is not known.
    pub id: Option<u32>,
    /// File name of its image; `None` if the trace does not state it.
    pub name: Option<Arc<str>>,
    /// Its start, if it is in the trace.
    pub start: Option<u64>,
    /// Its end, if it is in the trace.
    pub end: Option<u64>,
}

/// A thread of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thread {
    /// Index of its process.
    pub process: u32,
    /// Its identifier.
    pub id: u32,
    /// Its name (description), if the trace states one.
    pub name: Option<Arc<str>>,
}

/// A function in the call stack of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StackNode {
    /// Index of the call stack of the caller; `None` for the outermost frame.
    pub parent: Option<u32>,
    /// Index of the frame.
    pub frame: u32,
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// Its time.
    pub time: u64,
    /// Index of its thread.
    pub thread: u32,
    /// Index of its call stack; `None` if the trace has none.
    pub stack: Option<u32>,
    /// Nanoseconds, or the value of the field.
    pub value: u64,
}

/// Numbers of events. `events` is the sum of `samples` and of all that is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events of the subject in the trace: samples; context switches; or all events that match the filter.
    pub events: u64,
    /// Samples in the profile.
    pub samples: u64,
    /// Left out because they do not match the filter.
    pub filtered: u64,
    /// Left out because the idle thread ran, or was switched to.
    pub idle: u64,
    /// Left out because the thread is not known.
    pub without_thread: u64,
    /// Left out because the wait began before the first context switch of the thread in the trace.
    pub without_start: u64,
    /// Left out because the event does not have the field, or no number in it.
    pub without_value: u64,
    /// Left out because the event has no call stack.
    pub without_stack: u64,
    /// Samples in the profile whose event has no call stack. Samples of the timer then have the sampled address alone.
    pub without_callers: u64,
    /// Waits that did not end in the trace. They are no context switches, so they are not part of the sum.
    pub unfinished: u64,
    /// Context switches from a thread that neither waits, nor is ready, nor ended: the start of its next wait is not known.
    pub other_states: u64,
    /// States of threads, names and garbage collections that were dropped to limit memory.
    pub dropped: u64,
    /// The parts of call stacks that belong to no event of the trace, by the reason.
    pub unbound_stacks: UnboundStacks,
    /// The frames of all stacks, by what is known of them.
    pub frames: FrameCounts,
}

/// The format of a written profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// JSON of the Firefox Profiler: times, threads, markers. It has inlined functions, but no source lines.
    Firefox,
    /// JSON of speedscope: a profile for each thread, with source lines.
    Speedscope,
    /// A message of pprof: sums by thread and call stack, with source lines. It is not compressed.
    Pprof,
    /// A line for each process, thread and call stack, with the sum, for flame graphs.
    Folded,
}

impl Profile {
    /// Writes the profile. Returns the number of samples whose value the format cannot represent; they have its largest value instead: 2,147,483,647
    /// for Firefox, 2^63 - 1 for pprof. Up to 65,536 larger values of a Firefox profile are written as several samples.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self, format: Format, out: &mut impl Write) -> io::Result<u64> {
        match format {
            Format::Firefox => firefox::write(self, out),
            Format::Speedscope => speedscope::write(self, out).map(|()| 0),
            Format::Pprof => pprof::write(self, out),
            Format::Folded => folded::write(self, out).map(|()| 0),
        }
    }

    /// The frames of a stack, the innermost first.
    pub fn frames_of(&self, stack: Option<u32>) -> impl Iterator<Item = &Arc<Frame>> {
        self.nodes(stack).filter_map(|node| self.frames.get(node.frame as usize))
    }

    fn nodes(&self, stack: Option<u32>) -> impl Iterator<Item = StackNode> {
        let node = |stack: Option<u32>| self.stacks.get(stack? as usize).copied();
        std::iter::successors(node(stack), move |before| node(before.parent))
    }

    /// What a sample counts in formats that have one number: 1 for samples of the timer, else its value.
    fn weight(&self, sample: &Sample) -> u64 {
        if self.subject == Subject::Samples { 1 } else { sample.value }
    }

    /// Whether values are bytes, by the name of the field.
    fn is_bytes(&self) -> bool {
        let Subject::Events(Some(field)) = &self.subject else { return false };
        let field = field.to_ascii_lowercase();
        ["size", "bytes", "amount"].iter().any(|part| field.contains(part))
    }

    /// The name of a process.
    fn process_name(&self, process: &Process) -> String {
        match (&process.name, process.id) {
            (Some(name), Some(id)) => format!("{name} ({id})"),
            (None, Some(id)) => format!("process {id}"),
            (Some(name), None) => name.to_string(),
            (None, None) => "unknown process".to_owned(),
        }
    }

    /// The name of a thread.
    fn thread_name(&self, thread: &Thread) -> String {
        match &thread.name {
            Some(name) => format!("{name} ({})", thread.id),
            None => format!("thread {}", thread.id),
        }
    }
}
