//! `header`.

use crate::target::{Target, target};
use crate::{Error, Format, Outcome, print};
use etw_layouts_codegen::Choice;
use etw_layouts_codegen::emit::c;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Project;
use etw_layouts_project::names::{Among, name};
use serde::Serialize;

/// Print the C header of a target: declarations, and assertions that a compiler for the Microsoft ABI checks.
///
/// The first comment says how sure they are for the kernel that is named. One that nobody has seen takes the declarations of another.
///
///     etw header 1709-x64 > layouts.h
///     clang -target x86_64-pc-windows-msvc -fsyntax-only layouts.h
///     etw header 10.0.19041.1415-x64 --only WMI_BUFFER_HEADER
///
/// `cargo xtask header` is the same on the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// BUILD-ARCH: 1709-x64, 2004-arm64, early-6.0-x86, 10.0.19041.1415-x64, 5.1.2600-sp3-x86.
    target: String,
    /// Declare one structure only, and what it embeds.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// The header, or one JSON document that has it as a text.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    target: Target<'a>,
    header: String,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let (registry, asked) = (project.registry(&layouts.spec.axis)?, layouts.spec.axis.find(&args.target)?);
    let only = args.only.as_deref().map(|only| name(&layouts, Among::Symbols, only)).transpose()?;
    let choice = Choice::of(&layouts, &registry, asked, only);
    let header = text(&layouts, &choice, only)?;
    match args.format {
        Format::Text => print::print(&header)?,
        Format::Json => print::json(&Document { target: target(&layouts.spec.axis, &choice), header })?,
    }
    Ok(Outcome::Good)
}

/// The header of all structures, or of one and what it embeds. The first line is a comment that says how sure they are.
///
/// # Errors
///
/// The specs have no such structure at the target.
pub fn text(layouts: &Layouts, choice: &Choice, only: Option<&str>) -> Result<String, Error> {
    let axis = &layouts.spec.axis;
    let label = choice.label(axis);
    let comment = choice.note(axis).unwrap_or_else(|| format!("{label}: {}", choice.standing));
    let comment = format!("/* {comment}. */\n");
    let Some(only) = only else { return Ok(comment + &c::header(layouts, choice.target())) };
    if layouts.get(choice.target(), only).is_none() {
        return Err(format!("{only} does not exist in {label}").into());
    }
    Ok(comment + &c::header_of(layouts, choice.target(), [only]))
}
