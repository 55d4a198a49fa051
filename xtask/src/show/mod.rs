//! `cargo xtask show`.

pub mod history;
mod json;
pub mod members;
mod table;

use crate::names::{Among, names};
use crate::{Error, Format, Outcome, columns, project};
use etw_layouts_codegen::Choice;
use etw_layouts_codegen::axis::{self, TargetSet};
use etw_layouts_codegen::layouts::Layouts;

/// Show the layout of a structure, or the constants of an enumeration or of a set of flags.
///
/// Offsets and sizes are in bytes, bits count from the lowest of their unit. A build that is not on the version axis is
/// shown as the nearest earlier kernel. Without --build and --arch it is the newest kernel that has the structure, on x64.
///
///     cargo xtask show WMI_BUFFER_HEADER
///     cargo xtask show WMI_LOGGER_CONTEXT --build 10.0.19041.1415 --arch x86 --format json
///     cargo xtask show ETW_BUFFER_FLAG --build 6.1
///     cargo xtask show WMI_LOGGER_CONTEXT --history
///     cargo xtask show WMI_LOGGER_CONTEXT.BufferSize --history
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Its name; with --history also STRUCTURE.MEMBER.
    structure: String,
    /// A build or label: 10.0.19041.1415, 10.0.19041, 1709, 6.1, 5.1.2600-sp3.
    #[arg(long)]
    build: Option<String>,
    /// The architecture.
    #[arg(long, value_parser = ["x86", "x64"])]
    arch: Option<String>,
    /// The life of its members over all versions: where each appears, moves, is retyped, disappears.
    #[arg(long, conflicts_with = "build")]
    history: bool,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let layouts = project::layouts()?;
    let arch = args.arch.as_deref().and_then(axis::Arch::parse);
    if args.history {
        let history = history::of(&layouts, &args.structure, arch)?;
        match args.format {
            Format::Text => anstream::print!("{}", history.text(&layouts)),
            Format::Json => anstream::println!("{}", history.json(&layouts)?),
        }
        return Ok(Outcome::Good);
    }
    if let Some((structure, member)) = args.structure.split_once('.') {
        return Err(format!("`{member}` is shown with all of {structure}; its life over the versions, with --history").into());
    }
    let choice = choose(&layouts, &args.structure, args.build.as_deref(), arch)?;
    if let Some(note) = &choice.note {
        anstream::eprintln!("note: {note}");
    }
    match args.format {
        Format::Text => anstream::print!("{}", text(&layouts, &args.structure, choice.target, columns::terminal())?),
        Format::Json => anstream::println!("{}", json(&layouts, &args.structure, choice.target)?),
    }
    Ok(Outcome::Good)
}

/// A structure at a target, to read. Documentation wraps at `width`, if it is given.
///
/// # Errors
///
/// The specs have no such structure at that target.
pub fn text(layouts: &Layouts, name: &str, target: usize, width: Option<usize>) -> Result<String, Error> {
    exists(layouts, name, target)?;
    Ok(table::text(layouts, name, target, width))
}

/// A structure at a target, as one JSON document.
///
/// # Errors
///
/// The specs have no such structure at that target.
pub fn json(layouts: &Layouts, name: &str, target: usize) -> Result<String, Error> {
    exists(layouts, name, target)?;
    json::document(layouts, name, target)
}

fn exists(layouts: &Layouts, name: &str, target: usize) -> Result<(), Error> {
    names(layouts, Among::All, Some(name))?;
    if layouts.get(target, name).is_some() {
        return Ok(());
    }
    let (axis, has) = (&layouts.spec.axis, has(layouts, name));
    Err(format!("{name} does not exist in {}; it exists in {}", axis.target_name(target), axis.describe(&has)).into())
}

/// The targets that have a structure.
fn has(layouts: &Layouts, name: &str) -> TargetSet {
    let mut set = TargetSet::default();
    for (target, _) in layouts.by_target.iter().enumerate().filter(|(_, types)| types.contains_key(name)) {
        set.insert(target);
    }
    set
}

/// The target that the user asks for, or the newest that has the structure.
fn choose(layouts: &Layouts, name: &str, build: Option<&str>, arch: Option<axis::Arch>) -> Result<Choice, Error> {
    let axis = &layouts.spec.axis;
    // Before a build is held against it.
    names(layouts, Among::All, Some(name))?;
    let architectures = arch.map_or(vec![axis::Arch::X64, axis::Arch::X86], |arch| vec![arch]);
    if let Some(build) = build {
        let found: Vec<_> = architectures.iter().map(|&arch| axis.find_build(build, arch)).collect();
        let first = found.iter().position(Result::is_ok).unwrap_or(0);
        return Ok(found.into_iter().nth(first).ok_or("no architecture")??);
    }
    let newest = |&arch: &axis::Arch| has(layouts, name).iter().filter(|&t| axis.targets[t].arch == arch).last();
    let target = architectures.iter().find_map(newest);
    let target = target.ok_or_else(|| format!("{name} exists in {} only", axis.describe(&has(layouts, name))))?;
    let note = format!("taken at {}, the newest that has it; others with --build and --arch", axis.target_name(target));
    Ok(Choice { target, note: Some(note) })
}
