//! `check`.

use super::input::{Files, Opened};
use super::output::{Escaped, Format, Output, no_table};
use super::stop::Stop;
use super::tally::Tally;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::Finding;
use etw_layouts_etl::check::Check;
use std::io::Write;

/// Check trace files for format errors. Exit with status 1 if a file has one.
///
///     etw etl check trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
}

pub fn run(source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let (name, progress) = (source.name, source.progress.clone());
    let mut buffers = source.reader()?;
    let (mut tally, mut result) = (Tally::default(), Ok(()));
    let mut found = |finding: Finding| {
        let told = tally.add(Some(name), &finding).filter(|_| result.is_ok());
        if let Some(told) = told {
            result = progress.beside(|| out.line(&told));
        }
    };
    let mut check = Check::new(buffers.log_file(), &mut found);
    while let Some(buffer) = buffers.next()? {
        match buffer {
            Ok(image) => check.image(&image, &mut found),
            Err(finding) => check.damage(finding, &mut found),
        }
    }
    check.end(&mut found);
    result?;
    drop((buffers, progress));
    for told in tally.more(Some(name)) {
        out.line(&told)?;
    }
    if out.format == Format::Text {
        writeln!(out, "{}: {} diagnostics", Escaped(name), tally.total())?;
    }
    Ok(tally.outcome())
}
