//! `carve`.

use crate::input::plain;
use crate::object::object;
use crate::output::file_progress::FileProgress;
use crate::output::stop::{Done, Stop, finished};
use crate::output::{Escaped, Format, Grouped, Output, Several, no_table, reported};
use etw_layouts_cli::{Error, NewFile, Outcome, no_folder, no_stdout, unreadable};
use etw_layouts_etl::carve::{Completeness, Entry, Session, find, sessions};
use serde::Serialize;
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Find trace buffers in files of any kind, and write them as trace files. Exit with status 1 if anything is damaged or missing, or if
/// nothing is found.
///
/// Searches disk images, page files, memory and truncated traces for the headers of trace buffers, at offsets that are multiples of 512
/// and directly after other buffers. Folders are searched with all their files. A buffer is reported if its header is consistent and its
/// first event is whole: `whole` (all events and the unused space are intact), `events` (all events are intact, the space after them is
/// not) or `damaged` (the first events are intact). `in use` means that the session had not written the buffer yet.
///
/// Buffers with the same session number, form and size are written to one file, NUMBER-SESSION.etl; those that belong to a log file header
/// by their time as well, with that header. The report has a line for each file and for each buffer. Copies of a buffer are reported, but
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
    /// Files of any kind, or folders whose files are searched.
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

pub fn run(args: &Args, out: Option<&mut Output>) -> Result<Outcome, Error> {
    match out {
        Some(out) => run_on(args, out),
        None => reported(args.format, run_on(args, &mut Output::new(args.format))),
    }
}

fn run_on(args: &Args, out: &mut Output) -> Result<Outcome, Error> {
    let files = files(&args.files, out);
    let result = carve(args, &files, out);
    finished(result, files.len(), out)
}

fn carve(args: &Args, files: &[PathBuf], out: &mut Output) -> Result<Done, Stop> {
    fs::create_dir_all(&args.output).map_err(|error| Stop::Input(no_folder(&args.output, &error)))?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let (mut done, mut all) = (Done::default(), Vec::new());
    for (source, path) in files.iter().enumerate() {
        let mut buffers = 0_u64;
        let mut report = |found| {
            buffers += 1;
            all.push((source, found));
        };
        let scan = open(path).and_then(|file| {
            let progress = FileProgress::new(&names[source]);
            progress.expect(file.metadata()?.len());
            find(Counted { file, progress }, if args.unaligned { 8 } else { 512 }, &mut report)
        });
        match scan {
            Ok(scan) => {
                let skipped =
                    if scan.skipped > 0 { format!(", {} not examined", Several(scan.skipped, "header")) } else { String::new() };
                done.add(if scan.skipped > 0 { Outcome::Differs } else { Outcome::Good });
                out.write_line(
                    format_args!(
                        "{}: {} in {} bytes{skipped}",
                        Escaped(&names[source]),
                        Several(buffers, "buffer"),
                        Grouped(scan.bytes)
                    ),
                    &object! { file: &names[source], bytes: scan.bytes, buffers: buffers, headers_not_examined: scan.skipped },
                )?;
            }
            Err(error) => {
                done.unusable += 1;
                out.refused(&names[source], &unreadable(&error));
            }
        }
    }
    let sessions = sessions(all);
    if sessions.is_empty() {
        done.add(Outcome::Differs);
        return Ok(done);
    }
    for (number, session) in (1..).zip(&sessions) {
        let name = session.log_file.as_ref().map_or_else(|| format!("logger-{}", session.logger), |log| log.logger_name.clone());
        let path = args.output.join(format!("{number}-{}.etl", plain(&name)));
        let output = path.display().to_string();
        match write(session, files, &path) {
            Ok(bytes) => {
                let carved = Carved::new(session, &names, &output, bytes);
                done.add(if carved.is_intact() { Outcome::Good } else { Outcome::Differs });
                out.line(&carved)?;
            }
            Err(why) => return Err(Stop::Output(io::Error::other(format!("{}: {why}", Escaped(&output))))),
        }
    }
    Ok(done)
}

/// The files of all paths; those of folders by name, without links.
fn files(paths: &[PathBuf], out: &Output) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        match fs::read_dir(path) {
            Ok(entries) if path.is_dir() => {
                let mut inner: Vec<_> =
                    entries.flatten().filter(|entry| entry.file_type().is_ok_and(|ty| !ty.is_symlink())).collect();
                inner.sort_by_key(fs::DirEntry::file_name);
                let inner: Vec<_> = inner.iter().map(fs::DirEntry::path).collect();
                let before = found.len();
                found.extend(files(&inner, out));
                out.searched(&path.display().to_string(), "file", found.len() - before);
            }
            _ => found.push(path.clone()),
        }
    }
    found
}

fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return Err(io::Error::other("standard input cannot be read twice; write it to a file"));
    }
    File::open(path)
}

/// Writes a session, and returns the number of bytes.
fn write(session: &Session, files: &[PathBuf], path: &Path) -> Result<u64, String> {
    let new = NewFile::create(path)?;
    let mut open: Option<(usize, File)> = None;
    let mut read = |source: usize, offset: u64, length: usize| {
        let mut file = match open.take().filter(|(open, _)| *open == source) {
            Some((_, file)) => file,
            None => File::open(&files[source])?,
        };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(length as u64).read_to_end(&mut bytes)?;
        open = Some((source, file));
        Ok(bytes)
    };
    let mut out = BufWriter::new(new.file());
    let written = session
        .write(&mut out, &mut read)
        .and_then(|written| out.flush().map(|()| written))
        .map_err(|error| error.to_string())?;
    drop(out);
    new.finish()?;
    Ok(written.bytes)
}

/// A file that reports its progress.
struct Counted {
    file: File,
    progress: FileProgress,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
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
    /// The number of buffers that the log file header states; `None` if it states none.
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
    fn new(session: &'a Session, names: &'a [String], output: &'a str, bytes: u64) -> Self {
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
            stated_buffers: log.map(|log| log.buffers_written).filter(|stated| *stated > 0),
            found: session.buffers.iter().map(|entry| Line::new(entry, names)).collect(),
        }
    }

    fn is_intact(&self) -> bool {
        let is_complete = self.stated_buffers.is_none_or(|stated| stated as usize == self.buffers);
        self.has_log_file_header && self.whole == self.buffers && is_complete
    }
}

impl<'a> Line<'a> {
    fn new(Entry { source, found, copy }: &Entry, names: &'a [String]) -> Self {
        Self {
            file: &names[*source],
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
            copy_of_file: copy.map(|copy| &*names[copy.source]),
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
                if let Some(stated) = stated.filter(|stated| *stated as usize != self.buffers) {
                    write!(f, "; its log file header states {}", Several(stated.into(), "buffer"))?;
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
