//! `save`.

use super::input::stem;
use super::{Content, DumpDiagnostic, Files, diagnostics};
use crate::input::{Input, plain};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{Escaped, Output, Several, no_table};
use etw_layouts_cli::{NewFile, Outcome, no_folder, no_stdout};
use etw_layouts_dump::{DumpSession, SaveSummary};
use std::fs;
use std::path::{Path, PathBuf};

/// Save each session in crash dumps as a trace file. Exit with status 1 if there are diagnostics.
///
/// A trace file is named after the dump, the number and the name of the session: minidump-10-EventLog-System.etl. Its
/// log file header is built from the session and the dump; its events are copied byte for byte. Tools that read
/// trace files can read it. Existing files are not overwritten.
///
///     etw dump save -o traces minidump.dmp
///     etw etl events --order time traces
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Write the trace files to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR", value_parser = no_stdout())]
    output: PathBuf,
}

pub fn run(args: &Args, input: &Input, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    fs::create_dir_all(&args.output).map_err(|error| Stop::Input(no_folder(&args.output, &error)))?;
    let mut diagnostics = content.diagnostics.clone();
    let mut refused = 0;
    for session in content.sessions.iter() {
        diagnostics.extend(session.events().1.into_iter().map(DumpDiagnostic::Dump));
        let path = args.output.join(format!("{}-{}-{}.etl", stem(input), session.logger_id, plain(session.name())));
        let output = path.display().to_string();
        match write(session, &path) {
            Ok(SaveSummary { buffers, events }) => {
                let counts = (Several(buffers as u64, "buffer"), Several(events as u64, "event"));
                out.write_line(
                    format_args!("{}: {}, {}", Escaped(&output), counts.0, counts.1),
                    &object! {
                        file: &input.name,
                        session: session.name(),
                        logger_id: session.logger_id,
                        output: &output,
                        buffers: buffers,
                        events: events,
                    },
                )?;
            }
            Err(why) => {
                refused += 1;
                out.refused(&output, &why);
            }
        }
    }
    diagnostics::aside(&input.name, &diagnostics, out);
    match refused {
        0 => Ok(diagnostics::outcome(&diagnostics)),
        _ => Err(Stop::Input(format!("{refused} of {} sessions could not be saved", content.sessions.len()))),
    }
}

/// Writes a session. Removes a file that cannot be completed.
fn write(session: &DumpSession<'_>, path: &Path) -> Result<SaveSummary, String> {
    let new = NewFile::create(path)?;
    let saved = session.save(new.file()).map_err(|error| error.to_string())?;
    new.finish()?;
    Ok(saved)
}
