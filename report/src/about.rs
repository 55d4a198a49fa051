//! What a trace is, in numbers and in sentences.

use crate::diagnostics::Diagnostics;
use crate::files::{FileFacts, FilesBuilder, Gap, arguments};
use crate::processes::Processes;
use crate::providers::Providers;
use crate::table::{Table, title};
use crate::text::shortened;
use etw_layouts_answers::top::{Slots, What};
use etw_layouts_trace::etl::text::Several;
use etw_layouts_trace::etl::{DiagnosticKind, FileTime, LogFile};
use etw_layouts_trace::{Session, Trace, TraceFile};
use serde::Serialize;

/// What a trace is.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct About {
    /// Sentences for a reader: what the trace is, what is lost or damaged, and what it can answer.
    pub sentences: Vec<String>,
    /// Indices of the sentences that state that something is missing or doubtful.
    pub warnings: Vec<usize>,
    /// Its files.
    pub files: Vec<FileFacts>,
    /// Number of further files.
    pub more_files: usize,
    /// The files as arguments of commands.
    pub arguments: String,
    /// Size of all files, in bytes.
    pub bytes: u64,
    /// Its sessions.
    pub sessions: Vec<SessionFacts>,
    /// Number of further sessions.
    pub more_sessions: usize,
    /// Number of events.
    pub events: u64,
    /// Number of events that have a schema.
    pub decoded: u64,
    /// Number of events that the sessions lost, as the headers state.
    pub events_lost: u64,
    /// Number of buffers that the sessions lost, as the headers state.
    pub buffers_lost: u64,
    /// Number of buffers that the headers of closed files count, and that are not in the files.
    pub buffers_missing: u64,
    /// Number of buffers with the flag EVENTS_LOST.
    pub buffers_with_events_lost: u64,
    /// Number of buffers with the flag BUFFER_LOST.
    pub buffers_with_buffer_lost: u64,
    /// Number of files that were not closed, so that their headers state no losses.
    pub unclosed: usize,
    /// Number of diagnostics, without those for information and those that are not known.
    pub diagnostics: u64,
    /// Number of diagnostics that are not known to be damage or for information, because there are more than a trace keeps.
    pub unknown_diagnostics: u64,
}

/// A session of a trace.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionFacts {
    /// Name of the session.
    pub name: String,
    /// Name of the computer, if the trace states it.
    pub host: Option<String>,
    /// Version of Windows, such as `10.0.19041`.
    pub windows: String,
    /// Pointer size, in bytes.
    pub pointer_size: u32,
    /// Number of processors.
    pub processors: u32,
    /// When the computer was started, if the header states it.
    pub boot_utc: Option<String>,
    /// Start, if the header states it.
    pub start_utc: Option<String>,
    /// End, if the header states it.
    pub end_utc: Option<String>,
    /// Local time at the start is UTC plus this value, in minutes.
    pub time_zone_minutes: i64,
}

/// A second, in units of 100 ns.
const SECOND: i64 = 10_000_000;

/// Maximum number of files and of sessions in a report.
const MAX_FILES: usize = 50;

impl About {
    pub(crate) fn new(
        trace: &Trace,
        slots: Slots,
        (of_files, providers, processes): (&FilesBuilder, &Providers, &Processes),
        diagnostics: &Diagnostics,
        tables: &[Table],
    ) -> Self {
        let files = trace.files();
        let (events_lost, buffers_lost) = LogFile::lost(files.iter().map(TraceFile::log_file));
        let losses = trace.losses();
        let session =
            |session: &Session| session.files().first().and_then(|file| files.get(*file)).map(|file| facts(session, file));
        let mut about = Self {
            sentences: Vec::new(),
            warnings: Vec::new(),
            files: of_files.facts(trace, MAX_FILES),
            more_files: files.len().saturating_sub(MAX_FILES),
            arguments: arguments(trace),
            bytes: files.iter().map(TraceFile::length).sum(),
            sessions: trace.sessions().iter().take(MAX_FILES).filter_map(session).collect(),
            more_sessions: trace.sessions().len().saturating_sub(MAX_FILES),
            events: providers.events,
            decoded: providers.decoded,
            events_lost,
            buffers_lost,
            buffers_missing: missing(trace),
            buffers_with_events_lost: losses.buffers_with_events_lost,
            buffers_with_buffer_lost: losses.buffers_with_buffer_lost,
            unclosed: files.iter().filter(|file| file.log_file().end_time == 0).count(),
            diagnostics: diagnostics.damage,
            unknown_diagnostics: diagnostics.unknown,
        };
        let gap = of_files.gap().map(|gap| apart(&gap));
        let is_complete = about.is_complete();
        let sentences = [
            (Some(about.range(trace, slots)), false),
            (gap, true),
            (Some(about.losses()), !is_complete),
            (processes.crashes(), true),
            (Some(about.damage()), about.diagnostics + about.unknown_diagnostics > 0),
            (Some(about.coverage()), false),
            (Some(answered(tables)), false),
        ];
        for (sentence, is_warning) in sentences.into_iter().filter_map(|(sentence, is_warning)| Some((sentence?, is_warning))) {
            about.warnings.extend(is_warning.then_some(about.sentences.len()));
            about.sentences.push(sentence);
        }
        about
    }

    fn range(&self, trace: &Trace, slots: Slots) -> String {
        let end = trace.last_time().map_or(slots.start, |last| last.max(slots.start));
        let length = duration(end.0.abs_diff(slots.start.0));
        let is_known = trace.files().iter().all(|file| file.clock().is_known());
        let recorded = match &self.sessions[..] {
            [one] if self.more_sessions == 0 => {
                let host = one.host.as_ref().map_or(String::new(), |host| format!(" on {host}"));
                let processors = Several(one.processors.into(), "processor");
                let windows = if is_known { &one.windows } else { "of an unknown version" };
                format!("recorded{host} with Windows {windows} ({}-bit, {processors})", one.pointer_size * 8)
            }
            sessions => format!("of {}", Several((sessions.len() + self.more_sessions) as u64, "session")),
        };
        let times = match is_known {
            true => format!("from {} to {} (UTC)", second(slots.start), second(end)),
            false => "at unknown times".to_owned(),
        };
        let range = format!("{} in {length}, {recorded}, {times}.", Several(self.events, "event"));
        let [file] = trace.files() else { return range };
        let before = slots.start.0.saturating_sub(file.log_file().start_time);
        if file.log_file().start_time == 0 || before < SECOND {
            return range;
        }
        format!(
            "{range} Times below count from the first event, {:.3} s after the start of the session, from which --from and --to count.",
            before as f64 / SECOND as f64
        )
    }

    /// Whether no loss is known.
    fn is_complete(&self) -> bool {
        self.events_lost + self.buffers_lost + self.buffers_missing + self.flagged() == 0
    }

    /// The number of buffers before which events were lost.
    fn flagged(&self) -> u64 {
        self.buffers_with_events_lost + self.buffers_with_buffer_lost
    }

    fn losses(&self) -> String {
        let sessions = if self.sessions.len() + self.more_sessions == 1 { "session" } else { "sessions" };
        let flagged = self.flagged();
        let mut losses = Vec::new();
        if self.events_lost + self.buffers_lost > 0 {
            let (events, buffers) = (Several(self.events_lost, "event"), Several(self.buffers_lost, "buffer"));
            losses.push(format!("The {sessions} lost {events} and {buffers}, as the headers state."));
        }
        if self.buffers_missing > 0 {
            let are = if self.buffers_missing == 1 { "is" } else { "are" };
            let missing = Several(self.buffers_missing, "buffer");
            losses.push(format!("{missing} {are} missing from the files, with all events in them."));
        }
        if flagged > 0 {
            losses.push(format!("Events were lost before {}.", Several(flagged, "buffer")));
        }
        let more = if losses.is_empty() {
            ""
        } else {
            losses.push("All sums can be too small.".into());
            "more "
        };
        if self.unclosed > 0 {
            let files =
                if self.unclosed == 1 { "a file was".into() } else { format!("{} were", Several(self.unclosed as u64, "file")) };
            losses.push(format!(
                "It is not known whether {more}events were lost: {files} not closed, and only a closed file has the number of lost events."
            ));
        }
        if losses.is_empty() { format!("The {sessions} lost no events.") } else { losses.join(" ") }
    }

    fn damage(&self) -> String {
        let known = match self.diagnostics {
            0 if self.unknown_diagnostics > 0 => "It is not known whether the files have damage.".into(),
            0 => "The files have no damage.".into(),
            count => format!(
                "The files have {}: parts of them cannot be read, or are not as the format requires.",
                Several(count, "diagnostic")
            ),
        };
        match self.unknown_diagnostics {
            0 => known,
            unknown => format!("{known} Only the number of {} is known.", Several(unknown, "further diagnostic")),
        }
    }

    fn coverage(&self) -> String {
        let without = self.events - self.decoded.min(self.events);
        match without {
            0 => "All events have a schema, so their fields are known.".into(),
            without => format!(
                "{:.1} % of the events have a schema; the fields of {} are not known.",
                // Rounded down, so that 100 % means all.
                (self.decoded as f64 / self.events as f64 * 1000.0).floor() / 10.0,
                Several(without, "event")
            ),
        }
    }
}

/// Which questions a trace can answer. Any trace has events.
fn answered(tables: &[Table]) -> String {
    let all = What::all().filter(|what| *what != What::Events);
    let (yes, no): (Vec<_>, Vec<_>) = all.partition(|what| tables.iter().any(|table| table.what == what.name()));
    let list = |questions: &[What]| questions.iter().map(|what| title(*what)).collect::<Vec<_>>().join(", ");
    match (yes.is_empty(), no.is_empty()) {
        (_, true) => "It has the events to answer all questions of this report.".into(),
        (true, false) => {
            "It has no events about processor time, waits, disks, files, networks or .NET; below are the events to record.".into()
        }
        _ => format!("It has events about {}; not about {}.", list(&yes), list(&no)),
    }
}

/// The number of buffers that closed files count and do not have.
fn missing(trace: &Trace) -> u64 {
    let missing = trace.diagnostics().iter().map(|(_, diagnostic)| match diagnostic.kind {
        DiagnosticKind::BuffersWritten { stated, read } => u64::from(stated.saturating_sub(read)),
        _ => 0,
    });
    missing.sum()
}

/// A warning about files of different times.
fn apart(gap: &Gap) -> String {
    let (from, to) = gap.times;
    format!(
        "The files are of different times: none has an event from {} to {}, and all files together cover {}. Numbers for the whole trace are correct, but the \
         time line shows little; make a report of each file.",
        second(from),
        second(to),
        duration(gap.covered)
    )
}

fn facts(session: &Session, file: &TraceFile) -> SessionFacts {
    let log = file.log_file();
    let utc = |time: i64| (time != 0).then(|| FileTime(time).rfc3339().to_string());
    let [major, minor, ..] = log.version;
    SessionFacts {
        name: shortened(&log.logger_name),
        host: session.host().map(shortened),
        windows: format!("{major}.{minor}.{}", log.build),
        pointer_size: log.pointer_size,
        processors: log.processors,
        boot_utc: utc(log.boot_time),
        start_utc: utc(log.start_time),
        end_utc: utc(log.end_time),
        time_zone_minutes: log.utc_offset(log.start_time).minutes,
    }
}

/// A time to the second.
fn second(time: FileTime) -> String {
    let text = time.rfc3339().to_string();
    text.split('.').next().unwrap_or(&text).replace('T', " ")
}

/// A length of time in units of 100 ns, as text.
fn duration(length: u64) -> String {
    const DAY: f64 = 86_400.0;
    let seconds = length as f64 / 1e7;
    // Short traces show microseconds.
    let decimals = if seconds < 1.0 { 6 } else { 3 };
    if seconds < 2.0 * DAY { format!("{seconds:.decimals$} s") } else { format!("{:.1} days", seconds / DAY) }
}
