//! `cargo xtask header`.

use crate::{Error, Outcome, project};
use etw_layouts_codegen::emit::c;

/// Print the C header of a target: declarations, and assertions that a compiler for the Microsoft ABI checks.
///
///     cargo xtask header 1709-x64 > layouts.h
///     clang -target x86_64-pc-windows-msvc -fsyntax-only layouts.h
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// BUILD-ARCH: 1709-x64, early-6.0-x86, 10.0.19041.1415-x64, 5.1.2600-sp3-x86.
    target: String,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let layouts = project::layouts()?;
    let choice = layouts.spec.axis.find(&args.target)?;
    if let Some(note) = choice.note {
        anstream::eprintln!("note: {note}");
    }
    anstream::print!("{}", c::header(&layouts, choice.target));
    Ok(Outcome::Good)
}
