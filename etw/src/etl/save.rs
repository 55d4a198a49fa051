//! `save`.

use super::input::{Files, Opened};
use super::output::{Escaped, Grouped, Output, Several, create, no_table};
use super::stop::Stop;
use super::tally::Tally;
use super::wanted::Wanted;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::Event;
use etw_layouts_etl::write::{Error, Relog};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Save the events of a trace file that are wanted as a smaller one. Exit status 1 if there are findings.
///
/// The new file has the log file header of the old one, so that times and names stay, and each event as it is. Of the
/// header buffer too only what is wanted is kept, beside the log file header. A circular file becomes a sequential one. What is
/// damaged is left out, and told on the standard error.
///
///     etw etl save --provider PROCESS -o processes.etl trace.etl
///     etw etl save --from 1.5 --to 2 --compress -o moment.etl trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The new file, which must not be there yet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Compress its buffers, which Windows reads from version 8 on.
    #[arg(long)]
    compress: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

pub fn run(args: &Args, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let (name, target) = (source.name, args.output.display().to_string());
    let unwritable = |error: &dyn Display| Stop::Output(io::Error::other(format!("{}: {error}", Escaped(&target))));
    let progress = source.progress.clone();
    let mut buffers = source.reader()?;
    let log = buffers.log_file();
    let (clock, filter) = (log.to_clock(), args.wanted.filter(log.start_time));
    let file = create(&args.output).map_err(|error| unwritable(&error))?;
    let part = Part(Some(&args.output));
    let mut relog = Relog::new(file, log, args.compress).map_err(|error| unwritable(&error))?;
    let mut saved = Saved { file: name, output: &target, read: 0, saved: 0, bytes: 0, refused: BTreeMap::new() };
    let mut tally = Tally::default();
    while let Some(buffer) = buffers.next()? {
        let image = match &buffer {
            Ok(image) => image,
            Err(finding) => {
                if let Some(told) = tally.add(Some(name), finding) {
                    progress.beside(|| out.aside(&told));
                }
                continue;
            }
        };
        let (index, processor) = (image.buffer().index(), image.buffer().head().processor());
        let mut keep = |event: &Event<'_>| match relog.push(event, index, processor) {
            Ok(is_added) => {
                saved.saved += u64::from(is_added);
                Ok(())
            }
            Err(Error::Io(error)) => Err(unwritable(&error)),
            // What no version would write, of a file that is damaged or was made by hand.
            Err(error) => {
                *saved.refused.entry(error.to_string()).or_default() += 1;
                Ok(())
            }
        };
        for event in image.events() {
            match event {
                Ok(event) => {
                    saved.read += 1;
                    if filter.takes(&event, processor, &clock) {
                        keep(&event)?;
                    }
                }
                Err(finding) => {
                    if let Some(told) = tally.add(Some(name), &finding) {
                        progress.beside(|| out.aside(&told));
                    }
                }
            }
        }
    }
    let file = relog.finish().map_err(|error| unwritable(&error))?;
    saved.bytes = file.metadata().map_err(|error| unwritable(&error))?.len();
    part.keep();
    for told in tally.more(Some(name)) {
        progress.beside(|| out.aside(&told));
    }
    drop((buffers, progress));
    let outcome = if saved.refused.is_empty() { tally.outcome() } else { Outcome::Differs };
    out.line(&saved)?;
    Ok(outcome)
}

/// A file that is not whole yet, and goes if it never becomes so.
struct Part<'a>(Option<&'a PathBuf>);

impl Part<'_> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0 {
            // The error that stopped the writing is told; there is nothing to add.
            let _ = fs::remove_file(path);
        }
    }
}

/// What was saved.
#[derive(Serialize)]
struct Saved<'a> {
    file: &'a str,
    output: &'a str,
    /// Events of the file, the log file header among them.
    read: u64,
    /// Events of the new file beside its log file header.
    saved: u64,
    /// Of the new file.
    bytes: u64,
    /// Events that could not be written, by the reason.
    refused: BTreeMap<String, u64>,
}

impl Display for Saved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, output) = (Escaped(self.file), Escaped(self.output));
        // The log file header is an event too, as `events` and `stat` count, and every trace file has it.
        let others = Several(self.read.saturating_sub(1), "other event");
        let (saved, bytes) = (Grouped(self.saved), Grouped(self.bytes));
        write!(f, "{output}: the log file header and {saved} of {others} of {file}, {bytes} bytes")?;
        for (why, count) in &self.refused {
            write!(f, "\n  {} not saved: {why}", Grouped(*count))?;
        }
        Ok(())
    }
}
