//! The process of each thread at each time.

mod seen;

use crate::deferred::Deferred;
use crate::specified::{is_of_manifest, kernel, kernel_process, number};
use etw_layouts::events::FieldPlace;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::{Event, Schemas, Uuid};
use seen::Seen;

/// Collects the threads of a session: from the start, end and rundown events of threads, and from the thread and the process in the headers of all
/// other events. Events can be added in any order.
///
/// Memory: 32 bytes for each start, end and rundown event of a thread, at most 2,097,152 of them; 56 bytes for each run of events in which a thread
/// has the same process, at most 1,048,576 of them, and 64 bytes for each thread that has one; 32 MiB of events of
/// Microsoft-Windows-Kernel-Process. What exceeds this is dropped, and the table is not [complete](ThreadTable::is_complete).
#[derive(Clone, Debug, Default)]
pub struct Threads {
    facts: Vec<Fact>,
    seen: Seen,
    deferred: Deferred,
    is_full: bool,
}

/// The process of each thread at each time.
#[derive(Clone, Debug, Default)]
pub struct ThreadTable {
    /// In the order of threads and time. Each is valid until the next one of the thread.
    spans: Vec<Span>,
    is_complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    thread: u32,
    process: u32,
    from: i64,
}

/// What an event states about a thread.
#[derive(Clone, Copy, Debug)]
struct Fact {
    tick: i64,
    thread: u32,
    process: u32,
    change: Change,
}

/// A change of a thread, or its existence. At the same time, an end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    End,
    Start,
    Exists,
    /// Seen in the header of an event.
    Seen {
        last: i64,
    },
}

/// Maximum number of start, end and rundown events.
const MAX_FACTS: usize = 1 << 21;

impl Threads {
    /// Adds an event with its time stamp.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, tick: i64) {
        if let (Some(thread), Some(process)) = (event.thread(), event.process())
            && !is_identity(event)
        {
            self.seen.add(thread, process, tick);
        }
        if is_of_manifest(event) {
            if matches!(kernel_process(event), Some(3 | 4)) {
                self.deferred.add(event, tick);
            }
        } else if matches!(event.opcode(), Some(1..=4)) {
            self.add_kernel(event, tick);
        }
    }

    fn add_kernel(&mut self, event: &Event<'_>, tick: i64) {
        let Some(found) = kernel(event).filter(|found| found.schema.provider == "Thread") else { return };
        let pointers = event.pointer_size().unwrap_or(PointerSize::Bits64);
        let read = |place: Option<FieldPlace>| Some(place?.read(event.payload(), pointers)? as u32);
        let (Some(thread), Some(process)) = (read(found.who.about.thread), read(found.who.about.process)) else { return };
        let change = match found.schema.event {
            "Start" => Change::Start,
            "End" => Change::End,
            _ => Change::Exists,
        };
        self.keep(Fact { tick, thread, process, change });
    }

    fn keep(&mut self, fact: Fact) {
        if self.facts.len() < MAX_FACTS {
            self.facts.push(fact);
        } else {
            self.is_full = true;
        }
    }

    /// The threads. `schemas` are those of the session: they decode the events of Microsoft-Windows-Kernel-Process.
    #[must_use]
    pub fn finish(mut self, schemas: &Schemas) -> ThreadTable {
        let deferred = std::mem::take(&mut self.deferred);
        for (tick, event) in deferred.events() {
            let Some(decoded) = event.decode(schemas) else { continue };
            let id = |name| number(&decoded.fields, &[name]).map(|id| id as u32);
            let (Some(thread), Some(process)) = (id("ThreadID"), id("ProcessID")) else { continue };
            let change = if event.id() == Some(3) { Change::Start } else { Change::End };
            self.keep(Fact { tick, thread, process, change });
        }
        let Self { mut facts, mut seen, is_full, .. } = self;
        facts.extend(seen.runs().map(|(thread, run)| Fact {
            tick: run.first,
            thread,
            process: run.process,
            change: Change::Seen { last: run.last },
        }));
        let is_complete = !(is_full || seen.is_full() || deferred.is_full());
        facts.sort_unstable_by_key(|fact| (fact.thread, fact.tick, fact.change, fact.process));
        let spans = facts.chunk_by(|one, other| one.thread == other.thread).flat_map(spans).collect();
        ThreadTable { spans, is_complete }
    }
}

/// Identities of images, which a merge adds to a trace.
const IMAGE_ID: Uuid = Uuid::from_u128(0xb3e675d7_2554_4f18_830b_2762732560de);

/// Whether an event states the identity of an image. Its header has the thread that merged the trace, and the process of the image.
fn is_identity(event: &Event<'_>) -> bool {
    event.hook().is_none() && event.provider() == Some(IMAGE_ID)
}

/// The processes of a thread, from its facts in time order. An event that shows a running thread does not show when the thread started. Its
/// process is therefore assumed from the end of the last known interval.
fn spans(facts: &[Fact]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    // Whether start, end and rundown events say that the thread is running: then headers say nothing more.
    let mut is_running = false;
    // The first time stamp for which nothing is known.
    let mut unknown = i64::MIN;
    for Fact { tick, thread, process, change } in facts.iter().copied() {
        let last = match change {
            Change::Seen { .. } if is_running => continue,
            Change::Seen { last } => last,
            _ => tick,
        };
        if spans.last().is_none_or(|span| span.process != process) {
            let from = if change == Change::Start { tick } else { unknown.min(tick) };
            spans.push(Span { thread, process, from });
        }
        unknown = last.saturating_add(1);
        is_running = matches!(change, Change::Start | Change::Exists);
    }
    spans
}

impl ThreadTable {
    /// The process of a thread at a time stamp. A thread that ended keeps its process until another thread has its identifier: events can name it after
    /// its end. Thread 0 is the idle thread of each processor, in process 0.
    #[inline]
    #[must_use]
    pub fn at(&self, thread: u32, tick: i64) -> Option<u32> {
        if thread == 0 {
            return Some(0);
        }
        let after = self.spans.partition_point(|span| (span.thread, span.from) <= (thread, tick));
        let span = self.spans.get(after.checked_sub(1)?)?;
        (span.thread == thread).then_some(span.process)
    }

    /// Number of intervals.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no intervals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether all threads are in the table. If not, limits of memory were reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}
