//! Exports a part.

use super::Args;
use super::files::Files;
use super::hashing::Hashing;
use super::plan::{self, Source};
use super::record::{Exported, Record, Session};
use super::state::State;
use crate::etl::traces::{Opened, Reported};
use crate::output::{Format, Output};
use etw_layouts_cli::unreadable;
use etw_layouts_table::{self as table, Counts, Error, Merge, Rows};
use etw_layouts_trace::TraceFile;
use indicatif::ProgressBar;

/// The result of a part.
pub struct Done {
    /// `None` if no trace could be read.
    pub record: Option<Record>,
    /// Traces that cannot be read, which are reported.
    pub unusable: usize,
}

/// Why a part is not complete.
enum Failed {
    /// The trace with this index cannot be read.
    Input(usize, String),
    Output(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Output(error)
    }
}

/// Exports a part with a number of threads, and leaves out traces that cannot be read. The traces are read once together, so that the files of one
/// session share what they say about it; then the rows of each trace are written.
///
/// # Errors
///
/// The dataset cannot be written.
pub fn export(args: &Args, part: &plan::Part, state: &State, threads: usize, bar: &ProgressBar) -> Result<Done, Error> {
    let mut work = Work { args, bar, threads, out: Output::new(Format::Text), unusable: 0 };
    let mut sources = part.traces.clone();
    loop {
        match work.part(part, &sources, state) {
            Ok(None) => {
                state.unstage(&part.name)?;
                return Ok(Done { record: None, unusable: work.unusable });
            }
            Ok(Some(record)) => {
                state.commit(&record)?;
                return Ok(Done { record: Some(record), unusable: work.unusable });
            }
            Err(Failed::Output(error)) => return Err(error),
            // A trace that changes while it is read must not leave rows: the part is restarted without it.
            Err(Failed::Input(index, why)) => work.refuse(&sources.remove(index), &why),
        }
    }
}

struct Work<'a> {
    args: &'a Args,
    bar: &'a ProgressBar,
    threads: usize,
    out: Output,
    unusable: usize,
}

/// A trace whose start was read.
struct Begun<'s> {
    source: &'s Source,
    /// Its index in the part.
    index: usize,
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
        for (index, source) in sources.iter().enumerate() {
            let bytes = Hashing::open(&source.path, self.bar).map_err(|error| unreadable(&error));
            let file = bytes.and_then(|bytes| {
                let file = TraceFile::new(source.name.clone(), bytes.clone());
                file.map(|file| (bytes, file)).map_err(|error| unreadable(error.cause()))
            });
            match file {
                Ok((bytes, file)) => {
                    begun.push(Begun { source, index, bytes });
                    files.push(file);
                }
                Err(why) => self.refuse(source, &why),
            }
        }
        (begun, files)
    }

    /// The record of a part; `None` if no trace can be read.
    fn part(&mut self, part: &plan::Part, sources: &[Source], state: &State) -> Result<Option<Record>, Failed> {
        let (begun, files) = self.begin(sources);
        let reported = files.iter().map(|file| Reported::beside(file.name(), self.bar, &self.out)).collect();
        let opened = Opened::with(files, reported, &self.args.wanted.schemas, &self.out, |_| {});
        let mut opened = opened.map_err(|_| Failed::Output(std::io::Error::other("a trace cannot be read").into()))?;
        self.unusable += opened.unusable;
        let staging = state.stage(&part.name).map_err(|error| Failed::Output(error.into()))?;
        let mut files = Files::new(staging, &part.name, self.args.file_format());
        let (mut merge, mut exported, mut numbers) = (Merge::default(), Vec::new(), Vec::new());
        for (number, begun) in begun.iter().enumerate() {
            if !opened.files[number].is_readable {
                continue;
            }
            exported.push(self.trace(number, begun, &mut opened, &mut merge, &mut files)?);
            numbers.push(number);
        }
        merge.rest(|batch| files.write_last(&batch).map_err(Failed::Output))?;
        let rows: Vec<_> =
            exported.iter().zip(numbers).map(|(trace, number)| trace.row(opened.trace.files()[number].log_file())).collect();
        if !rows.is_empty() {
            files.write_last(&table::traces(&rows).map_err(Error::from)?)?;
        }
        let files = files.finish().map_err(Failed::Output)?;
        let record =
            Record { part: part.name.clone(), options: state.options.clone(), traces: exported, files, is_broken: false };
        Ok((!record.traces.is_empty()).then_some(record))
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
            reported.diagnostics(number, &part, &self.out);
            let mut batches = part.batches.into_iter();
            batches.try_for_each(|batch| merge.add(batch, |batch| files.write(&batch).map_err(Failed::Output)))
        });
        let is_ordered = is_ordered.map_err(|failed| match failed {
            Failed::Output(Error::Trace(error)) => Failed::Input(begun.index, unreadable(error.cause())),
            failed => failed,
        })?;
        let hash = begun.bytes.finish().map_err(|error| Failed::Input(begun.index, unreadable(&error)))?;
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
