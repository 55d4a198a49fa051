//! `save`.

use super::Done;
use super::symbols::MessageSymbols;
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::object::object;
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::{Escaped, Grouped, Output, Several, no_table};
use crate::selection::Wanted;
use etw_layouts_cli::{NewFile, Outcome, no_stdout};
use etw_layouts_etl::write::Relog;
use etw_layouts_etl::{Filter, LogFile, Schemas};
use etw_layouts_trace::{CopyError, Session};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Copy matching events to a new trace file. Exit with status 1 if there are diagnostics.
///
/// Events that are needed to decode and attribute the matching ones are copied too: the
/// schemas of their providers; start and rundown events of their processes, threads and images; names of their files
/// and .NET methods; their call stacks; the configuration of the system. With --exact, only matching events are copied.
///
/// The new file keeps the log file header of the input. Events are copied byte for byte, in their original order.
/// Corrupt events are left out and reported on standard error. Events of different processors are written to
/// different buffers of full size, so a file with few events can be large; use --compress to make it smaller.
///
/// Messages of WPP are copied without their formats. --symbol-path is for selecting them by their names or values.
///
/// Several inputs are merged into one file if they are from the same boot of the same system and use the same
/// clock, such as the parts of one session. Their buffers are merged by time. Other combinations are rejected.
///
/// While it is written, the new file has the name NAME.PID.part, where PID is the process ID of etw. It is renamed
/// when it is complete. Existing files are not overwritten. If no event matches, the new file contains only the log
/// file header, a note is printed, and the exit status is 0.
///
/// In JSON, `read` is the number of events in the input, including the log file header; `saved` is the number of
/// copied events that match, `needed` that of the events copied for them; `skipped` is the number of events that could
/// not be copied, by reason.
///
///     etw etl save --provider PROCESS -o processes.etl trace.etl
///     etw etl save --from 1.5 --to 2 --compress -o moment.etl trace.etl
///     etw etl save -o whole.etl part-1.etl part-2.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
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
    symbols: MessageSymbols,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

/// Saves the events of all files, with their buffers in the order of time.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let mut pdbs = args.symbols.search_for(&args.wanted).map_err(Stop::Input)?;
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    if done.unusable > 0 || files.files.is_empty() {
        return Ok(done);
    }
    let logs: Vec<_> = files.files.iter().map(|file| file.log_file()).collect();
    let log = LogFile::join(&logs).map_err(|apart| {
        let [first, other] = [0, apart.file].map(|file| Escaped(&inputs[file].name).to_string());
        Stop::Input(format!(
            "cannot merge {first} and {other}: {apart}; save each file on its own, or print the events of all files with \
             `etw etl events --order time`"
        ))
    })?;
    let target = args.output.display().to_string();
    let new = NewFile::create(&args.output).map_err(|why| unwritable(&target, &why))?;
    let mut relog = Relog::new(new.file(), &log, args.compress).map_err(|error| unwritable(&target, &error))?;
    let opened = Opened::read_with(files.files, &args.wanted.schemas, &mut pdbs, out)?;
    if opened.unusable > 0 {
        done.unusable += opened.unusable;
        return Ok(done);
    }
    let saved = copy(args, &opened, log.start_time, &mut relog, &target)?;
    relog.finish().map_err(|error| unwritable(&target, &error))?;
    let bytes = new.file().metadata().map_err(|error| unwritable(&target, &error))?.len();
    new.finish().map_err(|why| unwritable(&target, &why))?;
    done.add(opened.end(out));
    done.add(report(args, saved, bytes, out)?);
    Ok(done)
}

/// Copies the matching events. `start` is the start of the new trace, for relative times.
fn copy<'o>(args: &Args, opened: &'o Opened, start: i64, relog: &mut Relog<&File>, target: &str) -> Result<Vec<Saved<'o>>, Stop> {
    let Opened { trace, files, .. } = opened;
    let schemas = |file| trace.session_of(file).map_or(Schemas::BUILT_IN, Session::schemas);
    let filters: Vec<Filter> = (0..files.len()).map(|file| args.wanted.filter(start, schemas(file))).collect();
    let copied = trace.copy(&filters, !args.exact && !args.wanted.is_all(), relog).map_err(|error| match error {
        CopyError::Read(error) => error.into(),
        CopyError::Write(error) => unwritable(target, &error),
    })?;
    let saved = files.iter().zip(copied).map(|(file, copied)| Saved {
        file: &file.name,
        output: target.to_owned(),
        read: copied.read + 1,
        saved: copied.matching,
        needed: copied.needed,
        skipped: copied.skipped,
        copies: copied.repeated.into_iter().map(|(known, buffers)| (files[known].name.as_str(), buffers)).collect(),
        ..Saved::default()
    });
    Ok(saved.collect())
}

/// Reports the content of the new file.
fn report(args: &Args, mut saved: Vec<Saved<'_>>, bytes: u64, out: &mut Output) -> Result<Outcome, Stop> {
    let (mut outcome, mut read, mut matching) = (Outcome::Good, 0, 0);
    if let Some(last) = saved.last_mut() {
        last.is_last = true;
    }
    for saved in &mut saved {
        saved.bytes = bytes;
        read += saved.read;
        matching += saved.saved + saved.skipped.values().sum::<u64>();
        for (of, buffers) in &saved.copies {
            let (file, count, other) = (Escaped(saved.file), Several(*buffers, "buffer"), Escaped(of));
            out.say(
                format_args!(
                    "{file}: {count} with the same header as in {other}: their events are in the new file twice; leave out one file"
                ),
                &object! { file: saved.file, kind: "buffer-copy", buffers: buffers, of: of },
            );
        }
        if !saved.skipped.is_empty() || !saved.copies.is_empty() {
            outcome = Outcome::Differs;
        }
        out.line(saved)?;
    }
    if matching == 0 {
        none_matches(read, &args.wanted, out);
    }
    Ok(outcome)
}

fn unwritable(target: &str, error: &dyn Display) -> Stop {
    Stop::Output(io::Error::other(format!("{}: {error}", Escaped(target))))
}

/// The result for an input file.
#[derive(Default, Serialize)]
struct Saved<'a> {
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
    /// The number of buffers with the same header as a buffer of another file, by the name of that file.
    #[serde(skip)]
    copies: BTreeMap<&'a str, u64>,
}

impl Display for Saved<'_> {
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
