//! Input files as traces.

use super::messages;
use super::symbols::PdbSearch;
use crate::input::{Input, kind};
use crate::output::file_progress::FileProgress;
use crate::output::stop::{Done, Stop};
use crate::output::tally::{Tally, is_of_file};
use crate::output::{Grouped, Interrupt, Output, Several};
use crate::schemas::SchemaOptions;
use crate::selection::Wanted;
use crate::wpp::WppMessages;
use etw_layouts_cli::{Outcome, unreadable};
use etw_layouts_etl::{Diagnostic, Filter, LogFile};
#[cfg(feature = "table")]
use etw_layouts_table::Part;
use etw_layouts_trace::{FileSource, Notice, Options, Source, Trace, TraceFile, group};
use indicatif::ProgressBar;
use std::io;
use std::sync::Arc;

/// A file whose start was read.
pub struct File {
    file: TraceFile,
    progress: Arc<FileProgress>,
}

/// Files that can be read.
pub struct Files {
    pub files: Vec<File>,
    /// The number of files that cannot be read, which were reported.
    pub unusable: usize,
}

/// A trace of one or more files.
pub struct Opened {
    pub trace: Trace,
    pub files: Vec<Reported>,
    /// The messages of WPP, from the files that the user named and from the PDBs that the trace names.
    pub messages: Arc<WppMessages>,
    /// The number of files that cannot be read to their end, which were reported.
    pub unusable: usize,
}

/// What was reported about a file.
pub struct Reported {
    pub name: String,
    pub tally: Tally,
    /// The progress bar, which is hidden while something is printed.
    progress: ProgressBar,
    /// Whether it could be read to its end.
    pub is_readable: bool,
    /// Whether a diagnostic reports damage of the file; payloads that schemas do not decode to the end are no damage.
    pub is_damaged: bool,
}

/// The number of files that are kept open. If there are more, each is opened for each read.
const OPEN: usize = 256;

/// The number of schemas that cannot be used to report for each trace.
const SCHEMAS: usize = 8;

impl Files {
    /// Reads the start of each file.
    pub fn open(inputs: &[Input], out: &Output) -> Self {
        let mut files = Vec::new();
        for input in inputs {
            match open(input, inputs.len() > OPEN, out) {
                Ok(file) => files.push(file),
                Err(why) => out.refused(&input.name, &why),
            }
        }
        Self { unusable: inputs.len() - files.len(), files }
    }

    /// The files of each session.
    pub fn by_session(self) -> Vec<Vec<File>> {
        let numbers = group(self.files.iter().map(|file| &file.file));
        let mut sessions: Vec<_> = Vec::new();
        for (file, number) in self.files.into_iter().zip(numbers) {
            if sessions.len() <= number {
                sessions.resize_with(number + 1, Vec::new);
            }
            sessions[number].push(file);
        }
        sessions
    }
}

impl File {
    pub fn log_file(&self) -> &LogFile {
        self.file.log_file()
    }
}

fn open(input: &Input, reopens: bool, out: &Output) -> Result<File, String> {
    let path = match input.path() {
        Ok(path) => path,
        Err(Stop::Input(why)) => return Err(why),
        Err(_) => return Err("cannot be read".into()),
    };
    let progress = Arc::new(FileProgress::new(&input.name));
    if out.is_terminal {
        progress.hide();
    }
    let mut source = input.source(out)?;
    if reopens && !source.is_copy() {
        source = source.reopened(path);
    }
    let mut head = vec![0; usize::try_from(source.length().min(kind::HEAD)).unwrap_or_default()];
    source.read_at(0, &mut head).map_err(|error| unreadable(&error))?;
    if let Some(why) = kind::no_trace(&head) {
        return Err(why);
    }
    progress.expect(2 * source.length());
    let source = Tracked { source, progress: progress.clone(), interrupt: out.interrupt.clone() };
    let file = TraceFile::new(input.name.clone(), source).map_err(|error| unreadable(error.cause()))?;
    Ok(File { file, progress })
}

/// A source that shows progress, and can be interrupted.
#[derive(Debug)]
struct Tracked {
    source: FileSource,
    progress: Arc<FileProgress>,
    interrupt: Option<Interrupt>,
}

impl Source for Tracked {
    fn length(&self) -> u64 {
        self.source.length()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        if let Some(Interrupt(check)) = &self.interrupt {
            check(bytes.len())?;
        }
        self.progress.add(bytes.len() as u64);
        self.source.read_at(offset, bytes)
    }

    fn growth(&self) -> u64 {
        self.source.growth()
    }
}

impl Opened {
    /// Opens all inputs as one trace and reads them once; `None` if none of them can be read. Inputs that cannot be read are reported and counted.
    pub fn of_inputs(inputs: &[Input], schemas: &SchemaOptions, out: &Output) -> Result<(Done, Option<Self>), Stop> {
        let files = Files::open(inputs, out);
        let mut done = Done { unusable: files.unusable, ..Done::default() };
        if files.files.is_empty() {
            return Ok((done, None));
        }
        let opened = Self::read(files.files, schemas, out)?;
        done.unusable += opened.unusable;
        Ok((done, Some(opened)))
    }

    /// Reads the files once, and reports their diagnostics.
    pub fn read(files: Vec<File>, schemas: &SchemaOptions, out: &Output) -> Result<Self, Stop> {
        Self::read_with(files, schemas, &mut None, out)
    }

    /// Reads the files once, and finds messages of WPP in the PDBs that they name.
    pub fn read_with(
        files: Vec<File>,
        schemas: &SchemaOptions,
        pdbs: &mut Option<PdbSearch>,
        out: &Output,
    ) -> Result<Self, Stop> {
        let reported =
            files.iter().map(|File { file, progress }| Reported { progress: progress.bar(), ..Reported::new(file.name(), out) });
        let reported = reported.collect();
        Self::with(files.into_iter().map(|file| file.file).collect(), reported, schemas, pdbs, out)
    }

    /// Reads files once, and reports their diagnostics.
    pub fn with(
        files: Vec<TraceFile>,
        mut reported: Vec<Reported>,
        schemas: &SchemaOptions,
        pdbs: &mut Option<PdbSearch>,
        out: &Output,
    ) -> Result<Self, Stop> {
        let (mut unusable, mut kept, mut more) = (0, 0, 0);
        let mut known = schemas.messages();
        let options = Options::new().schemas(schemas.of_any()).skip_unreadable().notices(|notice| match notice {
            Notice::Diagnostic { file, diagnostic } => reported[file].diagnostic(&diagnostic, out),
            Notice::Schema { file, diagnostic } if kept < SCHEMAS => {
                kept += 1;
                reported[file].note(diagnostic.to_string(), out);
            }
            Notice::Schema { .. } => more += 1,
            Notice::MoreSchemas { count, .. } => more += count,
            Notice::Unreadable { file, error } => {
                unusable += 1;
                reported[file].is_readable = false;
                reported[file].print(|| out.refused(&reported[file].name, &unreadable(error.cause())));
            }
            Notice::Growth { file, bytes } => {
                let note = format!("{} written while the file was read; they are not read", Several(bytes, "byte"));
                reported[file].note(note, out);
            }
            Notice::Temporary { file, bytes } => {
                let note = format!("positions of names and call stacks are in temporary files of {} bytes", Grouped(bytes));
                reported[file].note(note, out);
            }
            _ => {}
        });
        let options = match pdbs {
            Some(search) => options.find_messages(|sources| messages::find(search, sources, Arc::make_mut(&mut known), out)),
            None => options,
        };
        let trace = Trace::new(files, options);
        // Only payloads that schemas do not cover are found later.
        for Reported { name, tally, progress, .. } in &mut reported {
            tally.take_more(Some(name)).iter().for_each(|line| progress.suspend(|| out.aside(line)));
        }
        let trace = trace?;
        for (file, reported) in trace.files().iter().zip(&reported) {
            reported.without_start(file.log_file(), out);
        }
        for session in trace.sessions() {
            let is_complete = session.processes().is_complete() && session.threads().is_complete();
            if let Some(file) = session.files().first().filter(|_| !is_complete) {
                let note = "more processes or threads than are kept: some events have no process, or no name of it";
                reported[*file].note(note.into(), out);
            }
        }
        if let (count @ 1.., Some(first)) = (more, reported.first()) {
            first.note(format!("{count} more schemas not used"), out);
        }
        Ok(Self { trace, files: reported, messages: known, unusable })
    }

    /// The filter of each file.
    pub fn filters(&self, wanted: &Wanted) -> Vec<Filter> {
        wanted.filters(&self.trace)
    }

    /// Whether any file has diagnostics.
    pub fn outcome(&self) -> Outcome {
        let differs = self.files.iter().any(|file| file.tally.outcome() == Outcome::Differs);
        if differs { Outcome::Differs } else { Outcome::Good }
    }

    /// Reports the counts of the diagnostics that were not printed.
    pub fn end(&self, out: &Output) -> Outcome {
        for file in &self.files {
            file.end(out);
        }
        self.outcome()
    }
}

impl Reported {
    /// Nothing was reported about a file yet.
    pub fn new(name: &str, out: &Output) -> Self {
        let (name, tally) = (name.to_owned(), Tally::new(out.is_detailed));
        Self { name, tally, progress: ProgressBar::hidden(), is_readable: true, is_damaged: false }
    }

    /// The same, with the progress bar of all files.
    #[cfg(feature = "table")]
    pub fn with_bar(name: &str, bar: &ProgressBar, out: &Output) -> Self {
        Self { progress: bar.clone(), ..Self::new(name, out) }
    }

    /// Reports a diagnostic.
    pub fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &Output) {
        self.is_damaged |= is_of_file(diagnostic);
        if let Some(line) = self.tally.add(Some(&self.name), diagnostic) {
            self.print(|| out.aside(&line));
        }
    }

    /// Reports the diagnostics of a part of the rows of the file, which has this index.
    #[cfg(feature = "table")]
    pub fn diagnostics(&mut self, file: usize, part: &Part, out: &Output) {
        part.diagnostics.iter().for_each(|(_, diagnostic)| self.diagnostic(diagnostic, out));
        self.tally.add_rest(file, part);
    }

    fn print(&self, print: impl FnOnce()) {
        self.progress.suspend(print);
    }

    /// Prints a note if the file states no start.
    pub fn without_start(&self, log: &LogFile, out: &Output) {
        if log.start_time == 0 && log.states_times() {
            self.note(
                "no start time in the log file header: times count from 1601-01-01, and only their differences are right".into(),
                out,
            );
        }
    }

    /// Prints a note about the file.
    pub fn note(&self, note: String, out: &Output) {
        self.print(|| out.note(&self.name, &note));
    }

    /// Reports the diagnostics that were not printed yet.
    pub fn end(&self, out: &Output) -> Outcome {
        for line in self.tally.more(Some(&self.name)) {
            self.print(|| out.aside(&line));
        }
        self.tally.outcome()
    }
}
