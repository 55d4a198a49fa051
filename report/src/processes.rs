//! The processes of a trace.

use crate::text::{digits, json_size, shortened, shortened_to};
use etw_layouts_answers::top::{Answer, KeyValue, Slots};
use etw_layouts_trace::etl::codes;
use etw_layouts_trace::etl::text::Grouped;
use etw_layouts_trace::{Known, Moment, Process, ProcessIndex, Trace};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Processes in the order of their start, session by session.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Processes {
    /// The processes.
    pub processes: Vec<ProcessFacts>,
    /// Number of further processes.
    pub more: usize,
    /// Number of all events, also those without a process.
    pub events: u64,
}

/// A process.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ProcessFacts {
    /// Identifier.
    pub id: u32,
    /// Index of its session.
    pub session: usize,
    /// Index of the process that created it, among the processes of the report.
    pub parent: Option<usize>,
    /// Identifier of the process that created it.
    pub parent_id: Option<u32>,
    /// File name of the image.
    pub image: Option<String>,
    /// Command line.
    pub command_line: Option<String>,
    /// Its user: a security identifier.
    pub user: Option<String>,
    /// The name of a well-known user, such as `NT AUTHORITY\SYSTEM`.
    pub user_name: Option<String>,
    /// Start, in units of 100 ns since the start of the report; `None` if no event states its time.
    pub start: Option<i64>,
    /// End; `None` if no event states its time.
    pub end: Option<i64>,
    /// Whether an event states that it ended, maybe at an unknown time.
    pub has_ended: bool,
    /// Exit code.
    pub exit_status: Option<u32>,
    /// The name of an exit code that an unhandled exception leaves, such as `STATUS_ACCESS_VIOLATION`.
    pub exit_status_name: Option<&'static str>,
    /// Number of its events.
    pub events: u64,
    /// The number of events by slot; `None` if the process is too small to have them in the report.
    pub slots: Option<Vec<u64>>,
}

/// Maximum number of processes.
const MAX_PROCESSES: usize = 300;

/// Maximum length of a command line, in bytes of JSON; that of all command lines; and the length of each when this limit is reached.
const MAX_COMMAND_LINE: usize = 32 << 10;
const ALL_COMMAND_LINES: usize = 256 << 10;
const MIN_COMMAND_LINE: usize = 240;

/// The lowest exit code that is an error of the system.
const ERROR: u32 = 0xC000_0000;

/// Maximum number of processes in a sentence.
const MAX_CRASHES: usize = 5;

/// Limit of the numbers of events by slot, in bytes of JSON.
const MAX_SLOTS: usize = 96 << 10;

impl Processes {
    /// The processes of a trace, with the number of events of each.
    pub(crate) fn new(trace: &Trace, slots: Slots, by_process: Option<&Answer>, reduced: &mut Vec<String>) -> Self {
        let rows = by_process.iter().flat_map(|answer| &answer.rows).filter_map(|row| match row.keys.first()? {
            KeyValue::Process { index: (session, Some(index)), .. } => Some(((*session, *index), row)),
            _ => None,
        });
        let rows: HashMap<_, _> = rows.collect();
        let events = |key: &(usize, ProcessIndex)| rows.get(key).and_then(|row| row.amounts.first()).copied().unwrap_or(0);
        let sessions = trace.sessions().iter().enumerate();
        let all = sessions
            .flat_map(|(number, session)| session.processes().iter().map(move |(index, process)| ((number, index), process)));
        let mut kept: Vec<(_, &Process)> = all.collect();
        let more = kept.len().saturating_sub(MAX_PROCESSES);
        if more > 0 {
            reduced.push(format!(
                "Processes: {MAX_PROCESSES} of {}, with the most events; `etw etl processes` prints all.",
                Grouped(kept.len() as u64)
            ));
            let mut order: Vec<_> = kept.iter().map(|(key, _)| (std::cmp::Reverse(events(key)), *key)).collect();
            order.sort_unstable();
            let keys: BTreeSet<_> = order.into_iter().take(MAX_PROCESSES).map(|(_, key)| key).collect();
            kept.retain(|(key, _)| keys.contains(key));
        }
        let places: HashMap<_, _> = kept.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let (mut left, mut lines_left) = (MAX_SLOTS, ALL_COMMAND_LINES);
        let facts = |((session, index), process): &((usize, ProcessIndex), &Process)| {
            let time = |known: &Option<Known<Moment>>| Some(known.as_ref()?.value.time()?.0.saturating_sub(slots.start.0));
            let text = |text: Option<&str>| text.map(shortened);
            let row = rows.get(&(*session, *index));
            // The amounts are the number of events and their size.
            let counts =
                row.and_then(|row| row.slots.as_ref()).map(|slots| slots.chunks_exact(3).flat_map(|slot| [slot[0], slot[1]]));
            let counts = counts.map(Iterator::collect).filter(|counts: &Vec<u64>| {
                let size = counts.iter().map(|number| digits(*number)).sum();
                let fits = size <= left;
                left = left.checked_sub(size).unwrap_or(left);
                fits
            });
            ProcessFacts {
                id: process.id,
                session: *session,
                parent: process.parent.and_then(|parent| places.get(&(*session, parent)).copied()),
                parent_id: process.parent_id.as_ref().map(|parent| parent.value),
                image: text(process.image()),
                command_line: process.command_line().map(|line| {
                    let short = shortened_to(line, MAX_COMMAND_LINE.min(lines_left));
                    lines_left = lines_left.saturating_sub(json_size(&short)).max(MIN_COMMAND_LINE);
                    short
                }),
                user: text(process.user()),
                user_name: process.user().and_then(codes::sid).map(Into::into),
                start: time(&process.start),
                end: time(&process.end),
                has_ended: process.end.is_some(),
                exit_status: process.exit_status.as_ref().map(|status| status.value),
                exit_status_name: process.exit_status.as_ref().and_then(|status| codes::exit_status(status.value)),
                events: events(&(*session, *index)),
                slots: if row.is_some() { counts } else { Some(Vec::new()) },
            }
        };
        let processes: Vec<_> = kept.iter().map(facts).collect();
        let events = by_process.and_then(|answer| answer.totals.first()).copied().unwrap_or(0);
        Self { processes, more, events }
    }
    /// A sentence on the processes that an error ended.
    pub(crate) fn crashes(&self) -> Option<String> {
        let ended = self.processes.iter().filter_map(|process| {
            let name = process.exit_status_name.filter(|_| process.exit_status >= Some(ERROR))?;
            Some(format!("{} ({}) with {name}", process.image.as_deref().unwrap_or("process"), process.id))
        });
        let ended: Vec<_> = ended.collect();
        let more = match ended.len().saturating_sub(MAX_CRASHES) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let first = ended.get(..ended.len().min(MAX_CRASHES)).filter(|first| !first.is_empty())?;
        Some(format!("Ended by an error: {}{more}.", first.join(", ")))
    }
}
