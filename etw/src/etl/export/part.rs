//! Exports a part.

use super::Args;
use super::files::Files;
use super::hashing::Hashing;
use super::plan::{self, Source};
use super::record::{Exported, Record};
use super::state::State;
use crate::carried;
use crate::output::tally::Tally;
use crate::output::{Format, Output};
use etw_layouts_cli::unreadable;
use etw_layouts_etl::{Diagnostic, DiagnosticKind};
use etw_layouts_schemas::trace::{Collector, Place};
use etw_layouts_table::{Encoder, Error, Index, MEMORY, Order, Rows, Seen};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

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
    /// The trace with this index is damaged: sorting by time yields a different number of events.
    Order(usize),
    Output(Error),
}

/// Errors of the second pass over a trace, except write errors.
impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Input(0, error.to_string())
    }
}

/// Exports a part, and leaves out traces that cannot be read.
///
/// # Errors
///
/// The dataset cannot be written.
pub fn export(args: &Args, part: &plan::Part, state: &State, bar: &ProgressBar) -> Result<Done, Error> {
    let mut traces = part.traces.clone();
    let mut unusable = 0;
    loop {
        if traces.is_empty() {
            state.unstage(&part.name)?;
            return Ok(Done { record: None, unusable });
        }
        match (Work { args, bar, out: Output::new(Format::Text) }).part(part, &traces, state) {
            Ok(record) => {
                state.commit(&record)?;
                return Ok(Done { record: Some(record), unusable });
            }
            Err(Failed::Output(error)) => return Err(error),
            Err(Failed::Order(index)) => traces[index].in_file_order = true,
            // A trace that cannot be read to its end must not leave rows: the part is restarted without it.
            Err(Failed::Input(index, why)) => {
                let source = traces.remove(index);
                unusable += 1;
                bar.suspend(|| Output::new(Format::Text).refused(&source.name, &why));
            }
        }
    }
}

struct Work<'a> {
    args: &'a Args,
    bar: &'a ProgressBar,
    out: Output,
}

impl Work<'_> {
    fn part(&self, part: &plan::Part, traces: &[Source], state: &State) -> Result<Record, Failed> {
        let options = self.args.table_options();
        let staging = state.stage(&part.name).map_err(|error| Failed::Output(error.into()))?;
        let mut files = Files::new(staging, &part.name, self.args.file_format());
        let mut encoder = Encoder::new(options);
        let mut exported = Vec::new();
        for (index, source) in traces.iter().enumerate() {
            exported.push(self.trace(source, &mut encoder, &mut files).map_err(|failed| match failed {
                Failed::Input(_, why) => Failed::Input(index, why),
                Failed::Order(_) => Failed::Order(index),
                failed @ Failed::Output(_) => failed,
            })?);
        }
        while let Some(batch) = encoder.rest().map_err(|error| Failed::Output(error.into()))? {
            files.write(&batch).map_err(Failed::Output)?;
        }
        let files = files.finish().map_err(Failed::Output)?;
        Ok(Record { part: part.name.clone(), options: state.options.clone(), traces: exported, files })
    }

    fn trace(&self, source: &Source, encoder: &mut Encoder, files: &mut Files) -> Result<Exported, Failed> {
        let unread = |error: &std::io::Error| Failed::Input(0, unreadable(error));
        let open = || File::open(&source.path).map_err(|error| unread(&error));
        let mut found = Found { work: self, name: &source.name, tally: Tally::default(), is_damaged: false };
        let mut collector = Collector::default();
        let mut hashing = Hashing::new(open()?, self.bar);
        let index = Index::read(BufReader::with_capacity(1 << 18, &mut hashing), |seen| match seen {
            Seen::Event(event, place) => {
                let at = Place { file: 0, buffer: place.buffer, buffer_offset: place.buffer_offset, offset: place.offset };
                collector.add(event, at);
                if let Some(kind) = event.fault() {
                    let (buffer, buffer_offset, offset) = (place.buffer, place.buffer_offset, place.offset);
                    found.diagnostic(&Diagnostic { buffer, buffer_offset, offset, kind });
                }
            }
            Seen::Diagnostic(diagnostic) => found.diagnostic(&diagnostic),
        });
        let index = Arc::new(index.map_err(|error| unread(&error))?);
        let hash = hashing.finish().map_err(|error| unread(&error))?;
        let own = self.bar.suspend(|| carried::library(&[&source.name], collector.finish(), &self.out));
        let schemas = self.args.wanted.schemas.of_trace(index.log_file(), own);
        let filter = self.args.wanted.filter(index.log_file().start_time, &schemas);
        let order = if source.in_file_order { Order::File } else { self.args.table_options().order };
        let rows = Rows {
            source: Counting { file: open()?, bar: self.bar },
            name: source.name.clone(),
            index: index.clone(),
            schemas,
            filter,
            order,
            memory: MEMORY,
        };
        let counts = rows.read::<Failed>(
            encoder,
            |batch| files.write(&batch).map_err(Failed::Output),
            |diagnostic| found.diagnostic(&diagnostic),
        )?;
        if counts.events != index.events() {
            return Err(match order {
                Order::Time => Failed::Order(0),
                Order::File => {
                    Failed::Input(0, "the file changed while it was read; export it again when nothing writes to it".into())
                }
            });
        }
        let is_ordered = counts.is_ordered && !source.in_file_order;
        if !is_ordered {
            let note = "rows are not in the order of time: the file is damaged, or its buffers are too far out of order; sort by the column `time`";
            self.bar.suspend(|| self.out.refused(&source.name, &format!("note: {note}")));
        }
        found.end();
        Ok(Exported {
            trace: source.name.clone(),
            host: index.host().map(str::to_owned),
            size: source.size,
            modified: source.modified,
            hash,
            events: counts.events,
            rows: counts.rows,
            is_ordered,
            diagnostics: found.tally.counts().map(|(kind, count)| (kind.to_owned(), count)).collect(),
            is_damaged: found.is_damaged,
        })
    }
}

/// The diagnostics of a trace.
struct Found<'w, 'a> {
    work: &'w Work<'a>,
    name: &'w str,
    tally: Tally,
    /// Whether a diagnostic reports damage of the file; payloads that schemas do not decode to the end are no damage.
    is_damaged: bool,
}

impl Found<'_, '_> {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.is_damaged |= diagnostic.is_damage() && !matches!(diagnostic.kind, DiagnosticKind::Fields(_));
        if let Some(note) = self.tally.add(Some(self.name), diagnostic) {
            self.work.bar.suspend(|| self.work.out.aside(&note));
        }
    }

    fn end(&self) {
        for note in self.tally.more(Some(self.name)) {
            self.work.bar.suspend(|| self.work.out.aside(&note));
        }
    }
}

/// A file that shows progress.
struct Counting<'b> {
    file: File,
    bar: &'b ProgressBar,
}

impl Read for Counting<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.bar.inc(count as u64);
        Ok(count)
    }
}

impl Seek for Counting<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}
