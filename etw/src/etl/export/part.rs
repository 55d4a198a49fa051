//! Exports a part.

use super::Args;
use super::files::{Failed, Files};
use super::hashing::Hashing;
use super::plan::{self, Source};
use super::record::{Exported, Record, Session};
use super::state::State;
use crate::etl::traces::{Opened, Reported};
use crate::output::{Format, Output};
use etw_layouts_cli::{Outcome, unreadable};
use etw_layouts_etl::Diagnostic;
use etw_layouts_table::{self as table, Counts, Error, Merge, Rows};
use etw_layouts_trace::TraceFile;
use indicatif::ProgressBar;
use std::sync::atomic::{AtomicBool, Ordering};

/// The result of a part.
#[derive(Default)]
pub struct Done {
    /// `None` if no trace could be exported.
    pub record: Option<Record>,
    /// Traces that cannot be exported, which are reported.
    pub unusable: usize,
}

/// Exports a part with a number of threads, and leaves out traces that cannot be exported. The traces are read once together, so that the files of
/// one session share what they say about it; then the rows of each trace are written. With `--strict`, the first diagnostic of any part sets
/// `is_stopped`, and the part is not exported.
pub fn export(
    args: &Args,
    part: &plan::Part,
    state: &State,
    threads: usize,
    bar: &ProgressBar,
    is_stopped: &AtomicBool,
) -> Result<Done, Error> {
    let mut out = Output::new(Format::Text);
    out.is_detailed = args.diagnostics;
    let mut work = Work { args, bar, threads, out, is_stopped, unusable: 0, has_rest: false };
    let record = match work.part(part, state) {
        Ok(record) => Some(record).filter(|record| !record.traces.is_empty()),
        Err(Failed::Output(error)) => return Err(error),
        Err(_) => None,
    };
    let record = match record {
        // A trace that changes while it is read must not leave rows.
        Some(record) if work.has_rest => Some(state.commit_known(&record)?),
        Some(record) => {
            state.commit(&record)?;
            Some(record)
        }
        None => {
            state.unstage(&part.name)?;
            None
        }
    };
    Ok(Done { record, unusable: work.unusable })
}

struct Work<'a> {
    args: &'a Args,
    bar: &'a ProgressBar,
    threads: usize,
    out: Output,
    is_stopped: &'a AtomicBool,
    unusable: usize,
    /// Whether the files can have rows of a trace that could not be exported.
    has_rest: bool,
}

/// A trace whose start was read.
struct Begun<'s> {
    source: &'s Source,
    bytes: Hashing,
}

impl Work<'_> {
    fn refuse(&mut self, source: &Source, why: &str) {
        self.unusable += 1;
        self.bar.suspend(|| self.out.refused(&source.name, why));
    }

    /// Reads the start of each trace. A trace that cannot be read is reported.
    fn begin<'s>(&mut self, sources: &'s [Source]) -> (Vec<Begun<'s>>, Vec<TraceFile>) {
        let (mut begun, mut files) = (Vec::new(), Vec::new());
        for source in sources {
            let bytes = Hashing::open(&source.path, self.bar).map_err(|error| unreadable(&error));
            let file = bytes.and_then(|bytes| {
                let file = TraceFile::new(source.name.clone(), bytes.clone());
                file.map(|file| (bytes, file)).map_err(|error| unreadable(error.cause()))
            });
            match file {
                Ok((bytes, file)) => {
                    begun.push(Begun { source, bytes });
                    files.push(file);
                }
                Err(why) => self.refuse(source, &why),
            }
        }
        (begun, files)
    }

    /// The record of a part, with the traces that could be exported.
    fn part(&mut self, part: &plan::Part, state: &State) -> Result<Record, Failed> {
        let (begun, files) = self.begin(&part.traces);
        let reported = files.iter().map(|file| Reported::with_bar(file.name(), self.bar, &self.out)).collect();
        let opened = Opened::with(files, reported, &self.args.wanted.schemas, &mut None, &self.out);
        let mut opened = opened.map_err(|_| std::io::Error::other("a trace cannot be read"))?;
        self.unusable += opened.unusable;
        if self.args.strict && opened.outcome() == Outcome::Differs {
            return Err(self.stop());
        }
        let staging = state.stage(&part.name)?;
        let mut files = Files::new(staging, &part.name, self.args.format);
        let (mut merge, mut exported, mut numbers) = (Merge::default(), Vec::new(), Vec::new());
        for (number, begun) in begun.iter().enumerate() {
            if !opened.files[number].is_readable {
                continue;
            }
            match self.trace(number, begun, &mut opened, &mut merge, &mut files) {
                Ok(trace) => {
                    exported.push(trace);
                    numbers.push(number);
                }
                Err(Failed::Input(why)) => {
                    self.has_rest = true;
                    self.refuse(begun.source, &why);
                }
                Err(failed) => return Err(failed),
            }
        }
        merge.rest(|batch| files.write_last(&batch))?;
        let rows: Vec<_> =
            exported.iter().zip(numbers).map(|(trace, number)| trace.row(opened.trace.files()[number].log_file())).collect();
        if !rows.is_empty() {
            files.write_last(&table::traces(&rows).map_err(Error::from)?)?;
        }
        let files = files.finish()?;
        Ok(Record { part: part.name.clone(), options: state.options.clone(), traces: exported, files, is_broken: false })
    }

    fn stop(&self) -> Failed {
        self.is_stopped.store(true, Ordering::Relaxed);
        Failed::Strict
    }

    fn trace(
        &self,
        number: usize,
        begun: &Begun<'_>,
        opened: &mut Opened,
        merge: &mut Merge,
        files: &mut Files,
    ) -> Result<Exported, Failed> {
        let filters = opened.filters(&self.args.wanted);
        let Opened { trace, files: reported, .. } = opened;
        let reported = &mut reported[number];
        let options = self.args.table_options();
        let rows = Rows { trace, file: Some(number), filters: &filters, options, threads: self.threads };
        let mut counts = Counts::default();
        let is_ordered = rows.read::<Failed>(|part| {
            counts.add(part.counts);
            if self.args.strict {
                let is_reason = |diagnostic: &Diagnostic| diagnostic.is_damage() || diagnostic.is_uncovered();
                if let Some((_, first)) = part.diagnostics.iter().find(|(_, diagnostic)| is_reason(diagnostic)) {
                    reported.diagnostic(first, &self.out);
                    reported.end(&self.out);
                    return Err(self.stop());
                }
                if self.is_stopped.load(Ordering::Relaxed) {
                    return Err(Failed::Strict);
                }
            }
            reported.diagnostics(number, &part, &self.out);
            let mut batches = part.batches.into_iter();
            batches.try_for_each(|batch| {
                files.admit(&batch)?;
                Ok(merge.add(batch, |batch| files.write(&batch))?)
            })
        });
        let is_ordered = is_ordered.map_err(|failed| match failed {
            Failed::Output(Error::Trace(error)) if error.file() == begun.source.name => Failed::Input(unreadable(error.cause())),
            Failed::Output(Error::Trace(error)) => Failed::Input(format!("{}: {}", error.file(), unreadable(error.cause()))),
            failed => failed,
        })?;
        let hash = begun.bytes.finish().map_err(|error| Failed::Input(unreadable(&error)))?;
        if !is_ordered {
            let note = "rows are not in the order of time: buffers are too far out of order; sort by the column `time`";
            reported.note(note.into(), &self.out);
        }
        reported.end(&self.out);
        let session = Session::of(trace.files()[number].log_file());
        Ok(Exported {
            path: begun.source.location.clone(),
            session,
            changed: begun.source.changed,
            is_gone: false,
            is_partial: false,
            trace: begun.source.name.clone(),
            host: trace.session_of(number).and_then(|session| session.host()).map(str::to_owned),
            size: begun.source.size,
            modified: begun.source.modified,
            hash,
            events: counts.events,
            rows: counts.rows,
            is_ordered,
            diagnostics: reported.tally.counts().map(|(kind, count)| (kind.to_owned(), count)).collect(),
            is_damaged: reported.is_damaged,
        })
    }
}
