//! The files of a trace: their times, and their names in commands.

use crate::text::shortened;
use etw_layouts_answers::top::is_header;
use etw_layouts_trace::etl::FileTime;
use etw_layouts_trace::{Event, Trace, TraceFile};
use serde::Serialize;

/// A file of a trace.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FileFacts {
    /// Name.
    pub name: String,
    /// Size, in bytes.
    pub bytes: u64,
    /// Time of its first event; `None` without events. Events that describe the session do not count.
    pub first_utc: Option<String>,
    /// Time of its last event.
    pub last_utc: Option<String>,
}

/// A time without events that is so long that the files are hardly of one recording.
pub(crate) struct Gap {
    /// The last event before it, and the first one after it.
    pub times: (FileTime, FileTime),
    /// The time that all files cover, in units of 100 ns.
    pub covered: u64,
}

/// Collects the times of files.
pub(crate) struct FilesBuilder {
    times: Vec<Option<(FileTime, FileTime)>>,
}

/// An hour, in units of 100 ns.
const HOUR: u64 = 36_000_000_000;

impl FilesBuilder {
    pub fn new(trace: &Trace) -> Self {
        Self { times: vec![None; trace.files().len()] }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        let Some(time) = event.relative_time().filter(|_| !is_header(&event.header())) else { return };
        let times = self.times[event.file_index()].get_or_insert((time, time));
        *times = (times.0.min(time), times.1.max(time));
    }

    /// The first files, at most `max`.
    pub fn facts(&self, trace: &Trace, max: usize) -> Vec<FileFacts> {
        let utc = |time: FileTime| time.rfc3339().to_string();
        let facts = |(file, times): (&TraceFile, &Option<(FileTime, FileTime)>)| FileFacts {
            name: shortened(file.name()),
            bytes: file.length(),
            first_utc: times.map(|times| utc(times.0)),
            last_utc: times.map(|times| utc(times.1)),
        };
        trace.files().iter().zip(&self.times).take(max).map(facts).collect()
    }

    /// The longest time between files, if it is longer than an hour and than ten times the time that all files cover.
    pub fn gap(&self) -> Option<Gap> {
        let mut times: Vec<_> = self.times.iter().flatten().copied().collect();
        times.sort_unstable();
        let (mut covered, mut longest, mut end) = (0, 0, times.first()?.0);
        let mut gap = None;
        for (first, last) in times {
            let length = u64::try_from(first.0.saturating_sub(end.0)).unwrap_or_default();
            if length > longest {
                (longest, gap) = (length, Some((end, first)));
            }
            covered += u64::try_from(last.0.saturating_sub(end.max(first).0)).unwrap_or_default();
            end = end.max(last);
        }
        gap.filter(|_| longest > HOUR && longest / 10 > covered).map(|times| Gap { times, covered })
    }
}

/// Maximum number of files that commands name.
const MAX_ARGUMENTS: usize = 4;

/// The files as arguments of commands; `FILE` if there are many, or if shells do not agree how to write a name.
pub(crate) fn arguments(trace: &Trace) -> String {
    let files = trace.files();
    let all: Option<Vec<_>> = files.iter().map(|file| argument(file.name())).collect();
    let all = all.filter(|all| all.len() <= MAX_ARGUMENTS).map(|all| all.join(" "));
    all.unwrap_or_else(|| if files.len() == 1 { "FILE".into() } else { "FILE…".into() })
}

/// A text as a word of a command; `None` if shells do not agree how to write it.
pub(crate) fn argument(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+=:/".contains(c);
    // In double quotes. PowerShell also ends these at typographic quotation marks, bash reads two backslashes as one, and Windows can convert U+02BA and
    // other modifier letters to quotation marks.
    let is_modifier = |c: char| ('\u{2b0}'..='\u{2ff}').contains(&c);
    let is_letter = |c: char| c.is_alphanumeric() && !is_modifier(c);
    let is_quotable = |c: char| is_plain(c) || is_letter(c) || " \\@()[],;#~&'".contains(c);
    if name.is_empty() || name.len() > 200 || name.starts_with('-') || name.ends_with('\\') || name.contains("\\\\") {
        return None;
    }
    name.chars().all(is_quotable).then(|| if name.chars().all(is_plain) { name.to_owned() } else { format!("\"{name}\"") })
}
