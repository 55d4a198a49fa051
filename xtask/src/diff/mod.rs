//! `cargo xtask diff`.

mod changes;
mod side;
mod text;

pub use changes::{Changes, Entry, Fact, changes};
pub use side::{Side, sides};
pub use text::text;

use crate::{Error, Format, Outcome, project};

/// Show how structures differ between two targets, or between a target and a symbol file.
///
/// A and B are each a target, BUILD-ARCH, or the path of a symbol file, as `verify` reads. Types of two targets are shown as
/// the specs spell them, those of a symbol file as it has them. What public symbol files never hold is not compared with one.
///
///     cargo xtask diff 6.1.7601.0-x64 6.1.7601.24000-x64
///     cargo xtask diff 1709-x64 1803-x64 --only WMI_LOGGER_CONTEXT
///     cargo xtask diff 10.0.19041.1415-x64 ntkrnlmp.json.xz --format json
///
/// Exit status: 0 no difference, 1 something differs, 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// What was: 1709-x64, 10.0.19041.1415-x64, or a symbol file.
    a: String,
    /// What is.
    b: String,
    /// Compare one structure only.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let layouts = project::layouts()?;
    let [a, b] = sides(&layouts, [&args.a, &args.b], args.only.as_deref())?;
    for note in [&a, &b].into_iter().flat_map(|side| &side.notes) {
        anstream::eprintln!("note: {note}");
    }
    let changes = changes(&a, &b);
    match args.format {
        Format::Text => anstream::print!("{}", text(&a, &b, &changes)),
        Format::Json => anstream::println!("{}", serde_json::to_string_pretty(&changes)?),
    }
    Ok(if changes.is_empty() { Outcome::Good } else { Outcome::Differs })
}
