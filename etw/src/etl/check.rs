//! `check`.

use super::traces::Reported;
use crate::input::{Files, Opened};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use crate::output::{Escaped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::Diagnostic;
use etw_layouts_etl::check::Check;

/// Check trace files for format errors. Exit with status 1 if a file has one.
///
/// Checks the log file header, the buffers and the event headers. Payloads are not decoded: to check them, use
/// `etw etl events --payload fields`. A file without diagnostics can still be incomplete or forged. The last line
/// for each file has the number of diagnostics; in JSON, the number is `diagnostics_total`.
///
///     etw etl check trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table), mut_arg("diagnostics", |all| all.hide(true)))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
}

pub fn run(source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let (name, progress) = (source.name, source.progress.bar());
    let mut buffers = source.reader()?;
    Reported::new(name, out).without_start(buffers.log_file(), out);
    let (mut tally, mut result) = (Tally::default(), Ok(()));
    let mut found = |diagnostic: Diagnostic| {
        let line = tally.add(Some(name), &diagnostic).filter(|_| result.is_ok());
        if let Some(line) = line {
            result = progress.suspend(|| out.line(&line));
        }
    };
    let mut check = Check::new(buffers.log_file(), &mut found);
    while let Some(buffer) = buffers.next()? {
        match buffer {
            Ok(decoded) => check.buffer(&decoded),
            Err(diagnostic) => check.damage(diagnostic),
        }
    }
    check.end();
    result?;
    drop((buffers, progress));
    for line in tally.more(Some(name)) {
        out.line(&line)?;
    }
    let total = tally.total();
    out.write_line(
        format_args!("{}: {}", Escaped(name), Several(total, "diagnostic")),
        &object! { file: name, diagnostics_total: total },
    )?;
    Ok(tally.outcome())
}
