//! `carve`.

use crate::input::{Input, Kind, each, find_all, plain};
use crate::object::object;
use crate::output::file_progress::FileProgress;
use crate::output::stop::{Done, Stop, finished};
use crate::output::{Escaped, Format, Grouped, Output, Several, no_table, reported};
use etw_layouts_cli::{Error, NewFile, Outcome, no_folder, no_stdout, unreadable};
use etw_layouts_etl::carve::{Completeness, Entry, Scan, Session, find, sessions};
use etw_layouts_trace::{FileSource, Sequential, Source};
use serde::Serialize;
use std::fmt::{self, Display};
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Find trace buffers in files of any kind, and write them as trace files. Exit with status 1 if anything is damaged or missing, or if
/// nothing is found.
///
/// Searches disk images, page files, memory and truncated traces for the headers of trace buffers, at offsets that are multiples of 512
/// and directly after other buffers. Folders are searched with all their files. A pipe is copied to a
/// temporary file first. A buffer is reported if its header is consistent and its
/// first event is whole: `whole` (all events and the unused space are intact), `events` (all events are intact, the space after them is
/// not) or `damaged` (the first events are intact). `in use` means that the session had not written the buffer yet.
///
/// Buffers with the same session number, form and size are written to one file, NUMBER-SESSION.etl. If their times are those of a log file
/// header that was found, they are written with it. The report has a line for each file and for each buffer. Copies of a buffer are reported, but
/// written once. In damaged buffers, an event that other bytes may have overwritten is left out.
///
/// Without its log file header, the clock of a session is unknown: the new file has a header that states no clock, and its events have no
/// times. `etw etl info` and `etw etl events` report this as `no-times`.
///
/// Buffers in memory are contiguous only in virtual memory; in raw physical memory and page files, a buffer ends at the end of its first
/// page (4 KiB). Convert raw memory to a crash dump, for example with Volatility, and use `etw dump`.
///
///     etw etl carve disk.img -o traces
///     etw etl info traces
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    /// Files of any kind, disks, folders whose files are searched, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the trace files to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR", value_parser = no_stdout())]
    output: PathBuf,
    /// Search at all offsets that are multiples of 8. This is slower.
    #[arg(long)]
    unaligned: bool,
    /// Output format
    ///
    /// In JSON, each line is one object: a new trace file with `found`, the list of its buffers, or a searched file. `offset` is an offset
    /// in the searched file, `time_stamp` a value of the session's clock.
    #[arg(long, value_enum, default_value_t = Format::Text, verbatim_doc_comment)]
    format: Format,
}

/// The files that are found in folders.
const ANY: Kind = Kind { ending: None, name: "file" };

pub fn run(args: &Args, out: Option<&mut Output>) -> Result<Outcome, Error> {
    match out {
        Some(out) => run_on(args, out),
        None => reported(args.format, run_on(args, &mut Output::new(args.format))),
    }
}

fn run_on(args: &Args, out: &mut Output) -> Result<Outcome, Error> {
    let inputs = find_all(&args.files, &ANY, out);
    let result = carve(args, &inputs, out);
    finished(result, inputs.len(), out)
}

fn carve(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let no_folder = |error| Stop::Input(no_folder(&args.output, &error));
    fs::create_dir_all(&args.output).map_err(no_folder)?;
    if fs::read_dir(&args.output).map_err(no_folder)?.next().is_some() {
        return Err(Stop::Input(format!("{}: not empty; name a new folder", Escaped(&args.output.display().to_string()))));
    }
    let (mut found, mut sources) = (Vec::new(), Vec::new());
    let mut done = each(inputs, out, |input, out| {
        let mut source = input.source(out).map_err(Stop::Input)?;
        if !source.is_copy() {
            // More files than a process can have open.
            source = source.reopened(input.path()?);
        }
        let progress = FileProgress::new(&input.name);
        progress.expect(source.length());
        let number = sources.len();
        sources.push((&*input.name, source));
        let stream = Counted { stream: Sequential::new(&sources[number].1), progress };
        let mut buffers = 0_u64;
        let scan = find(stream, if args.unaligned { 8 } else { 512 }, &mut |buffer| {
            buffers += 1;
            found.push((number, buffer));
        });
        let Scan { bytes, skipped, .. } = scan.map_err(|error| Stop::Input(unreadable(&error)))?;
        let beyond = if skipped > 0 { format!(", {} not examined", Several(skipped, "header")) } else { String::new() };
        out.write_line(
            format_args!("{}: {} in {} bytes{beyond}", Escaped(&input.name), Several(buffers, "buffer"), Grouped(bytes)),
            &object! { file: &input.name, bytes: bytes, buffers: buffers, headers_not_examined: skipped },
        )?;
        Ok(if skipped > 0 { Outcome::Differs } else { Outcome::Good })
    })?;
    let sessions = sessions(found);
    if sessions.is_empty() {
        done.add(Outcome::Differs);
    }
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    for (number, session) in (1..).zip(&sessions) {
        let name = session.log_file.as_ref().map_or_else(|| format!("logger-{}", session.logger), |log| log.logger_name.clone());
        let path = args.output.join(format!("{number}-{}.etl", plain(&name)));
        let output = path.display().to_string();
        let bytes = match write(session, &sources, &path) {
            Ok(bytes) => bytes,
            Err(why) => {
                done.unusable += 1;
                out.refused(&output, &why);
                continue;
            }
        };
        let carved = Carved::new(session, &names, &output, bytes);
        done.add(if carved.is_intact() { Outcome::Good } else { Outcome::Differs });
        out.line(&carved)?;
    }
    Ok(done)
}

/// Writes a session, and returns the number of bytes.
fn write(session: &Session, sources: &[(&str, FileSource)], path: &Path) -> Result<u64, String> {
    let new = NewFile::create(path)?;
    let mut read = |source: usize, offset: u64, length: usize| {
        let (name, source) = &sources[source];
        let left = usize::try_from(source.length().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(left)];
        let read = source.read_at(offset, &mut bytes);
        read.map_err(|error| io::Error::other(format!("{}: {error}", Escaped(name))))?;
        Ok(bytes)
    };
    let mut out = BufWriter::new(new.file());
    let written = session.write(&mut out, &mut read).and_then(|written| out.flush().map(|()| written));
    let written = written.map_err(|error| error.to_string())?;
    drop(out);
    new.finish()?;
    Ok(written.bytes)
}

/// A stream that reports its progress.
struct Counted<R> {
    stream: R,
    progress: FileProgress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(bytes)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// A trace file that was written.
#[derive(Serialize)]
struct Carved<'a> {
    output: &'a str,
    /// The name of the session; `None` without a log file header.
    session: Option<&'a str>,
    logger_id: u16,
    /// Whether the log file header was found. Otherwise clock, times and Windows version are unknown.
    has_log_file_header: bool,
    buffers: usize,
    whole: usize,
    events_only: usize,
    damaged: usize,
    copies: usize,
    /// Events, without the log file header.
    events: u64,
    bytes: u64,
    /// The least number of buffers that the log file header states; `None` if it states none.
    stated_buffers: Option<u32>,
    found: Vec<Line<'a>>,
}

/// A buffer that was found.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    offset: u64,
    completeness: &'static str,
    in_use: bool,
    compressed: bool,
    /// Size in the searched file, in bytes.
    size: u32,
    /// Whole events, with the log file header.
    events: u32,
    processor: u16,
    sequence: i64,
    time_stamp: i64,
    is_log_file_header: bool,
    /// The file and offset of the buffer of which this is a copy. It is not written.
    copy_of_file: Option<&'a str>,
    copy_of_offset: Option<u64>,
    /// Whether the events of both are the same bytes; otherwise, only the sequence number, processor and time stamp are.
    is_same_as_copy: Option<bool>,
}

impl<'a> Carved<'a> {
    fn new(session: &'a Session, names: &[&'a str], output: &'a str, bytes: u64) -> Self {
        let (buffers, events) = session.counts();
        let log = session.log_file.as_ref();
        Self {
            output,
            session: log.map(|log| &*log.logger_name),
            logger_id: session.logger,
            has_log_file_header: log.is_some(),
            buffers,
            whole: session.with(Completeness::Whole),
            events_only: session.with(Completeness::Events),
            damaged: session.with(Completeness::Damaged),
            copies: session.buffers.len() - buffers,
            events,
            bytes,
            stated_buffers: session.stated_buffers(),
            found: session.buffers.iter().map(|entry| Line::new(entry, names)).collect(),
        }
    }

    fn is_intact(&self) -> bool {
        let is_complete = self.stated_buffers.is_none_or(|stated| stated as usize <= self.buffers);
        self.has_log_file_header && self.whole == self.buffers && is_complete
    }
}

impl<'a> Line<'a> {
    fn new(Entry { source, found, copy }: &Entry, names: &[&'a str]) -> Self {
        Self {
            file: names[*source],
            offset: found.offset,
            completeness: match found.completeness {
                Completeness::Whole => "whole",
                Completeness::Events => "events",
                Completeness::Damaged => "damaged",
            },
            in_use: found.in_use,
            compressed: found.format.is_some(),
            size: found.header.size,
            events: found.events,
            processor: found.header.processor(),
            sequence: found.header.sequence,
            time_stamp: found.header.time_stamp,
            is_log_file_header: found.log_file.is_some(),
            copy_of_file: copy.map(|copy| names[copy.source]),
            copy_of_offset: copy.map(|copy| copy.offset),
            is_same_as_copy: copy.map(|copy| copy.is_same),
        }
    }
}

impl Display for Carved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whole, events_only, damaged, copies, .. } = self;
        let (buffers, events) = (Several(self.buffers as u64, "buffer"), Several(self.events, "event"));
        write!(f, "{}: {buffers}, {events}, {} bytes", Escaped(self.output), Grouped(self.bytes))?;
        write!(f, "; {whole} whole, {events_only} with events only, {damaged} damaged; {copies} left out as copies")?;
        match (self.session, self.stated_buffers) {
            (None, _) => {
                write!(f, "\n  session {}; no log file header: clock, times and Windows version are unknown", self.logger_id)?
            }
            (Some(session), stated) => {
                write!(f, "\n  session {} {}", self.logger_id, Escaped(session))?;
                if let Some(stated) = stated.filter(|stated| *stated as usize > self.buffers) {
                    write!(f, "; its log file header states at least {}", Several(stated.into(), "buffer"))?;
                }
            }
        }
        self.found.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = Several(self.events.into(), "event");
        write!(f, "{} at {:#x}: {}, {:#x} bytes, {events}", Escaped(self.file), self.offset, self.completeness, self.size)?;
        write!(f, ", processor {}, sequence {}, time stamp {}", self.processor, self.sequence, self.time_stamp)?;
        for (has, what) in [
            (self.is_log_file_header, "log file header"),
            (self.compressed, "compressed"),
            (self.in_use, "in use when it was copied"),
        ] {
            if has {
                write!(f, ", {what}")?;
            }
        }
        if let (Some(file), Some(offset), Some(is_same)) = (self.copy_of_file, self.copy_of_offset, self.is_same_as_copy) {
            let what = if is_same { "same events as" } else { "same sequence number as" };
            write!(f, ", left out: {what} {} at {offset:#x}", Escaped(file))?;
        }
        Ok(())
    }
}
