//! `cargo xtask etl check`.

use super::{Files, Format, Found, Progress, with_trace};
use crate::{Error, Outcome};
use etw_layouts_etl::check::check_along;
use std::io::Write;

/// Hold trace files against every rule of the format. Exit status 1 if one is broken.
///
///     cargo xtask etl check trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    input: Files,
}

pub fn run(args: &Args, out: &mut impl Write) -> Result<Outcome, Error> {
    let mut outcome = Outcome::Good;
    for path in &args.input.files {
        with_trace(path, |name, trace| {
            let (mut count, mut result) = (0u64, Ok(()));
            let progress = Progress::new(name, trace)?;
            check_along(trace, &mut |offset| progress.at(offset), &mut |finding| {
                count += 1;
                if result.is_ok() {
                    result = progress.beside(|| match args.input.format {
                        Format::Text => writeln!(out, "{name}: {finding}"),
                        Format::Json => serde_json::to_string(&Found::new(Some(name), &finding))
                            .map_err(Into::into)
                            .and_then(|line| writeln!(out, "{line}")),
                    });
                }
            });
            drop(progress);
            result?;
            if count > 0 {
                outcome = Outcome::Differs;
            }
            if matches!(args.input.format, Format::Text) {
                writeln!(out, "{name}: {count} findings")?;
            }
            Ok(())
        })?;
    }
    Ok(outcome)
}
