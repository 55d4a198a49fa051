//! `save`.

use super::merged::Loaded;
use crate::carried::{self, Carried};
use crate::input::{Files, Opened};
use crate::output::file_progress::FileProgress;
use crate::output::line::Origin;
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use crate::output::{Escaped, Grouped, Output, Several, no_table};
use crate::selection::Wanted;
use etw_layouts_cli::{NewFile, Outcome, no_stdout, unreadable};
use etw_layouts_etl::wire::BUFFER_HEADER;
use etw_layouts_etl::write::{Error, Relog};
use etw_layouts_etl::{Buffer, BufferHeader, Clock, DecodedBuffer, Diagnostic, Filter, LogFile, Scratch, Trace};
use etw_layouts_trace::{self as trace, BytesSource, FileSource, Needs, Options, TraceFile};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Copy matching events to a new trace file. Exit with status 1 if there are diagnostics.
///
/// The events that the matching ones need are copied too, so that the new file says the same about them: schemas of their
/// providers; start and rundown events of their processes, threads and images; names of their files and .NET methods; their
/// call stacks; the configuration of the system. With --exact, and for a stream, only matching events are copied.
///
/// The new file keeps the log file header of the input. Events are copied byte for byte, in their original order.
/// Corrupt events are left out and reported on standard error. Events of different processors are written to
/// different buffers of full size, so a file with few events can be large; use --compress to make it smaller.
///
/// Several inputs are merged into one file if they are from the same boot of the same system and use the same
/// clock, such as the parts of one session. Their buffers are merged by time. Other combinations are rejected.
/// Several inputs are read into memory, and can have up to 4 GiB together.
///
/// While it is written, the new file has the name NAME.PID.part, where PID is the process ID of etw. It is renamed
/// when it is complete. Existing files are not overwritten. If no event matches, the new file contains only the log
/// file header, a note is printed, and the exit status is 0.
///
/// In JSON, `read` is the number of events in the input, including the log file header; `saved` is the number of
/// copied events that match, `needed` that of the events copied for them; `skipped` is the number of events that could not be copied, by reason.
///
///     etw etl save --provider PROCESS -o processes.etl trace.etl
///     etw etl save --from 1.5 --to 2 --compress -o moment.etl trace.etl
///     etw etl save -o whole.etl part-1.etl part-2.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Write the new file to this path, which must not exist.
    #[arg(short, long, value_name = "FILE", value_parser = no_stdout())]
    output: PathBuf,
    /// Compress the buffers of the new file. Windows 8 and later can read compressed buffers.
    #[arg(long)]
    compress: bool,
    /// Copy only matching events, without the events that they need.
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

/// Saves the events of one file.
pub fn one(args: &Args, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let mut part = Part::new((0, source.name), source.progress.clone(), args);
    let path = source.path;
    // Schemas decide only which events are saved.
    let mut carried = Carried::of_file(source.name, source.path, out);
    let own = carried.library.clone();
    let mut buffers = source.reader()?;
    let (new, target) = begin(args)?;
    let mut writing = Writing::new(args, &new, &target, buffers.log_file(), own)?;
    if path.is_file() {
        let file = FileSource::open(path).map_err(|error| Stop::Input(unreadable(&error)))?;
        writing.find_needs(args, vec![TraceFile::new(part.saved.file, file)])?;
    }
    while let Some(buffer) = buffers.next()? {
        if let Some(decoded) = buffer.as_ref().ok().filter(|_| args.wanted.asks_for_names()) {
            decoded.events().flatten().for_each(|event| carried.see(&event));
        }
        writing.buffer(buffer.as_ref(), &mut part, out)?;
    }
    drop(buffers);
    carried.end(out);
    writing.finish()?;
    end(args, new, &target, vec![part], out)
}

/// Saves the events of several files, with their buffers in order of time.
pub fn several(args: &Args, traces: &[(&Loaded<'_>, Trace<'_>)], out: &mut Output) -> Result<Outcome, Stop> {
    let logs: Vec<_> = traces.iter().map(|(_, trace)| trace.log_file()).collect();
    let log = LogFile::join(&logs).map_err(|apart| {
        let [first, other] = [0, apart.file].map(|file| Escaped(traces[file].0.name).to_string());
        Stop::Input(format!(
            "cannot merge {first} and {other}: {apart}; save each file on its own, or print the events of all files with \
             `etw etl events --order time`"
        ))
    })?;
    let mut parts = Vec::with_capacity(traces.len());
    for (index, (file, _)) in traces.iter().enumerate() {
        parts.push(Part::new((index, file.name), Rc::new(FileProgress::new(file.name)), args));
    }
    let (new, target) = begin(args)?;
    let names: Vec<_> = traces.iter().map(|(file, _)| file.name).collect();
    let own = carried::of_traces(&names, traces.iter().map(|(_, trace)| trace), out);
    let mut writing = Writing::new(args, &new, &target, &log, own)?;
    writing
        .find_needs(args, traces.iter().map(|(file, _)| TraceFile::new(file.name, BytesSource(file.bytes.clone()))).collect())?;
    let mut files: Vec<_> = traces.iter().map(|(_, trace)| trace.buffers().peekable()).collect();
    let mut scratch = Scratch::default();
    // The first file with a buffer, by properties that buffers of different contents do not share.
    let mut seen = HashMap::new();
    loop {
        // Header buffers come first; diagnostics keep their position.
        let key = |buffer: &Result<Buffer<'_>, Diagnostic>| match buffer {
            Ok(buffer) if buffer.index() > 0 => buffer.header().time_stamp,
            _ => i64::MIN,
        };
        let first = files.iter_mut().enumerate().filter_map(|(file, buffers)| Some((key(buffers.peek()?), file))).min();
        let Some((_, file)) = first else { break };
        match files[file].next() {
            Some(Ok(buffer)) => {
                let BufferHeader { time_stamp, sequence, context, logger, offset, size, .. } = *buffer.header();
                let known = *seen.entry((time_stamp, sequence, context, logger, offset, size)).or_insert(file);
                if known != file && buffer.index() > 0 {
                    *parts[file].copies.entry(names[known]).or_default() += 1;
                }
                writing.buffer(Ok(&buffer.decode(&mut scratch)), &mut parts[file], out)?;
            }
            Some(Err(diagnostic)) => writing.buffer(Err(&diagnostic), &mut parts[file], out)?,
            None => {}
        }
    }
    writing.finish()?;
    end(args, new, &target, parts, out)
}

/// The new file, and its name as given by the user.
fn begin(args: &Args) -> Result<(NewFile, String), Stop> {
    let name = args.output.display().to_string();
    let new = NewFile::create(&args.output).map_err(|why| unwritable(&name, &why))?;
    Ok((new, name))
}

/// The state of the new file.
struct Writing<'a> {
    target: &'a str,
    relog: Relog<&'a File>,
    clock: Clock,
    filter: Filter,
    /// The events that matching ones need; `None` if only matching events are copied.
    needs: Option<Needs>,
}

impl<'a> Writing<'a> {
    /// Begins the file; `own` are the schemas that the traces carry.
    fn new(args: &Args, new: &'a NewFile, target: &'a str, log: &LogFile, own: Option<Arc<[u8]>>) -> Result<Self, Stop> {
        let relog = Relog::new(new.file(), log, args.compress).map_err(|error| unwritable(target, &error))?;
        let schemas = args.wanted.schemas.of_trace(log, own);
        Ok(Self { target, relog, clock: log.to_clock(), filter: args.wanted.filter(log.start_time, &schemas), needs: None })
    }

    /// Finds the events that matching ones need, unless all events match, or only matching ones are copied.
    fn find_needs(&mut self, args: &Args, files: Vec<Result<TraceFile, trace::Error>>) -> Result<(), Stop> {
        if args.exact || args.wanted.is_all() {
            return Ok(());
        }
        let failed = |error: trace::Error| Stop::Input(unreadable(error.cause()));
        let files = files.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        let trace = trace::Trace::new(files, Options::new().schemas(args.wanted.schemas.of_any())).map_err(failed)?;
        let is_match = |event: &trace::Event<'_>| self.filter.takes(&event.header(), event.processor(), &self.clock);
        self.needs = Some(trace.needs(is_match).map_err(failed)?);
        Ok(())
    }

    fn finish(self) -> Result<(), Stop> {
        self.relog.finish().map(drop).map_err(|error| unwritable(self.target, &error))
    }

    /// Adds the matching events of a buffer.
    fn buffer(&mut self, buffer: Result<&DecodedBuffer<'_>, &Diagnostic>, part: &mut Part<'_>, out: &Output) -> Result<(), Stop> {
        let decoded = match buffer {
            Ok(decoded) => decoded,
            Err(diagnostic) => {
                part.diagnostic(diagnostic, out);
                return Ok(());
            }
        };
        let origin = Origin::of(decoded.buffer());
        for event in decoded.events() {
            let event = match event {
                Ok(event) => event,
                Err(diagnostic) => {
                    part.diagnostic(&diagnostic, out);
                    continue;
                }
            };
            if let Some(kind) = event.fault() {
                part.diagnostic(&origin.diagnostic(&event, kind), out);
            }
            // The log file header is counted separately, because a corrupt buffer can hide it.
            let is_log_file = decoded.buffer().index() == 0 && event.offset() as usize == BUFFER_HEADER;
            part.saved.read += u64::from(!is_log_file);
            let is_match = self.filter.takes(&event, origin.processor, &self.clock);
            let is_needed = |needs: &Needs| needs.contains(part.index, decoded.buffer().index(), &event);
            if !is_match && !self.needs.as_ref().map_or(Ok(false), is_needed)? {
                continue;
            }
            match self.relog.push(&event, decoded.buffer()) {
                Ok(is_added) => *(if is_match { &mut part.saved.saved } else { &mut part.saved.needed }) += u64::from(is_added),
                Err(error @ (Error::Io(_) | Error::Failed)) => return Err(unwritable(self.target, &error)),
                // A corrupt or handmade file can have a version that no Windows release has.
                Err(error) => *part.saved.skipped.entry(error.to_string()).or_default() += 1,
            }
        }
        Ok(())
    }
}

/// One of the input files.
struct Part<'a> {
    /// Its index.
    index: usize,
    saved: SaveResult<'a>,
    tally: Tally,
    progress: Rc<FileProgress>,
    /// The number of buffers with the same header as a buffer of another file, by the name of that file.
    copies: BTreeMap<&'a str, u64>,
}

impl<'a> Part<'a> {
    fn new((index, name): (usize, &'a str), progress: Rc<FileProgress>, args: &Args) -> Self {
        let output = args.output.display().to_string();
        let saved =
            SaveResult { file: name, output, read: 1, saved: 0, needed: 0, bytes: 0, skipped: BTreeMap::new(), is_last: false };
        Self { index, saved, tally: Tally::default(), progress, copies: BTreeMap::new() }
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &Output) {
        if let Some(line) = self.tally.add(Some(self.saved.file), diagnostic) {
            self.progress.beside(|| out.aside(&line));
        }
    }
}

/// Completes the new file and reports its content.
fn end(args: &Args, new: NewFile, target: &str, parts: Vec<Part<'_>>, out: &mut Output) -> Result<Outcome, Stop> {
    let bytes = new.file().metadata().map_err(|error| unwritable(target, &error))?.len();
    new.finish().map_err(|why| unwritable(target, &why))?;
    let mut outcome = Outcome::Good;
    let (read, matching) = parts.iter().fold((0, 0), |(read, matching), Part { saved, .. }| {
        (read + saved.read, matching + saved.saved + saved.skipped.values().sum::<u64>())
    });
    let count = parts.len();
    for Part { index, mut saved, tally, progress, copies } in parts {
        (saved.bytes, saved.is_last) = (bytes, index + 1 == count);
        for line in tally.more(Some(saved.file)) {
            progress.beside(|| out.aside(&line));
        }
        for (of, buffers) in copies {
            out.aside(&Copies { file: saved.file, kind: "buffer-copy", buffers, of });
            outcome = Outcome::Differs;
        }
        if !saved.skipped.is_empty() || tally.outcome() == Outcome::Differs {
            outcome = Outcome::Differs;
        }
        drop(progress);
        out.line(&saved)?;
    }
    if matching == 0 {
        none_matches(read, &args.wanted, out);
    }
    Ok(outcome)
}

/// The diagnostic for buffers of a file that another file has too.
#[derive(Serialize)]
struct Copies<'a> {
    file: &'a str,
    kind: &'static str,
    buffers: u64,
    of: &'a str,
}

impl Display for Copies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, buffers, of) = (Escaped(self.file), Several(self.buffers, "buffer"), Escaped(self.of));
        write!(f, "{file}: {buffers} with the same header as in {of}: their events are in the new file twice; leave out one file")
    }
}

fn unwritable(target: &str, error: &dyn Display) -> Stop {
    Stop::Output(io::Error::other(format!("{}: {error}", Escaped(target))))
}

/// The result.
#[derive(Serialize)]
struct SaveResult<'a> {
    file: &'a str,
    output: String,
    /// Events of the input, including the log file header.
    read: u64,
    /// Matching events of the new file, without its log file header.
    saved: u64,
    /// Events of the new file that they need.
    needed: u64,
    /// The size of the new file.
    bytes: u64,
    /// The number of events that could not be copied, by reason.
    skipped: BTreeMap<String, u64>,
    /// Whether this is the result for the last input.
    #[serde(skip)]
    is_last: bool,
}

impl Display for SaveResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, output) = (Escaped(self.file), Escaped(&self.output));
        let (saved, all) = (Grouped(self.saved), Several(self.read - 1, "event"));
        write!(f, "{output}: {saved} of {all} of {file}")?;
        if self.needed > 0 {
            write!(f, ", and {} that they need", Several(self.needed, "event"))?;
        }
        if self.is_last {
            write!(f, ", and the log file header; {} bytes", Grouped(self.bytes))?;
        }
        for (why, count) in &self.skipped {
            write!(f, "\n  {} not copied: {why}", Grouped(*count))?;
        }
        Ok(())
    }
}
