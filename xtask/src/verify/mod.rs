//! `cargo xtask verify`.

mod count;
pub mod ours;
pub mod report;

use crate::names::{self, Among};
use crate::tables::{self, Stated, Table};
use crate::{Error, Format, Outcome, errata, project};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{Rules, Wanted, compare};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use report::{Checked, Finding, Report, Standing};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Hold the layouts of the specs against symbol data.
///
/// Without --symbols, against the reduced tables that ship in tests/snapshots. A table of a build that is not on the version
/// axis is compared with the layouts of the nearest earlier kernel.
///
///     cargo xtask verify
///     cargo xtask verify --symbols symbols/ --only WMI_LOGGER_CONTEXT
///     cargo xtask verify --symbols ntkrnlmp.json.xz --build 10.0.19041.1415 --arch x64 --format json
///     cargo xtask verify --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///
/// Exit status: 0 nothing differs, 1 something differs, 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A symbol file, or a folder of them: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), or snapshots
    /// (.facts). Repeatable.
    #[arg(long, value_name = "PATH")]
    symbols: Vec<PathBuf>,
    /// The build of a symbol file whose name does not tell it, such as 10.0.19041.1415.
    #[arg(long, requires = "symbols")]
    build: Option<String>,
    /// The architecture, where the file does not tell it.
    #[arg(long, requires = "symbols", value_parser = ["x86", "x64"])]
    arch: Option<String>,
    /// A kernel, such as ntoskrnl.exe: it tells build and architecture, and its PDB is looked up along the symbol path.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["symbols", "build", "arch"])]
    image: Option<PathBuf>,
    /// Where PDBs are, as the debuggers write it: folders, srv*CACHE*URL, cache*FOLDER, between `;`. By default the value of
    /// _NT_SYMBOL_PATH. What is downloaded without a CACHE is kept in target/symbols.
    #[arg(long, value_name = "PATH", requires = "image")]
    symbol_path: Option<String>,
    /// Compare one structure only.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let layouts = project::layouts()?;
    let stated = Stated { build: args.build.clone(), arch: args.arch.as_deref().and_then(Arch::parse) };
    let (symbols, stated) = match &args.image {
        None => (args.symbols.clone(), stated),
        Some(image) => {
            let (pdb, build, arch) = tables::from_image(image, args.symbol_path.as_deref())?;
            (vec![pdb], Stated { build: Some(build.to_string()), arch: Some(arch) })
        }
    };
    let report = report(&layouts, args.only.as_deref(), &symbols, &stated)?;
    match args.format {
        Format::Text => anstream::print!("{}", report.text(true)),
        Format::Json => anstream::println!("{}", report.json()?),
    }
    Ok(if report.differs() { Outcome::Differs } else { Outcome::Good })
}

/// Holds all layouts against the shipped tables.
///
/// # Errors
///
/// Specs or tables that cannot be read.
pub fn shipped() -> Result<Report, Error> {
    report(&project::layouts()?, None, &[], &Stated::default())
}

fn report(layouts: &Layouts, only: Option<&str>, symbols: &[PathBuf], stated: &Stated) -> Result<Report, Error> {
    let names = names(layouts, only)?;
    let ships = [project::root().join(project::SNAPSHOTS)];
    let paths = if symbols.is_empty() { &ships } else { symbols };
    let mut checked = check(layouts, &names, &tables::files(paths)?, stated)?;
    let mut claimed = Vec::new();
    if symbols.is_empty() {
        shorten(&mut checked);
        claimed = claims(layouts, &names, &checked);
    }
    let summary = count::summary(layouts, &names, only.is_none(), &checked);
    let errata = errata::list(layouts, only);
    Ok(Report::new(checked, claimed, errata, summary))
}

/// The structures and enumerations to compare: all, or one.
///
/// # Errors
///
/// A name that no spec has.
pub fn names<'a>(layouts: &'a Layouts, only: Option<&str>) -> Result<Vec<&'a str>, Error> {
    names::names(layouts, Among::Symbols, only)
}

fn check(layouts: &Layouts, names: &[&str], files: &[PathBuf], stated: &Stated) -> Result<Vec<Checked>, Error> {
    // All of them, so that a table that lacks the one structure to compare is not taken for one of another program.
    let all = self::names(layouts, None)?;
    let wanted: Wanted = all.iter().copied().collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let bar = ProgressBar::new(files.len() as u64).with_style(style).with_message("symbol files");
    let one = |path: &PathBuf| -> Result<Vec<Checked>, Error> {
        let read = tables::read(path, &layouts.spec.axis, &wanted, stated)?;
        bar.inc(1);
        if !read.iter().all(|table| all.iter().any(|name| table.types.contains_key(*name))) {
            return Err(format!("{}: holds none of the specified types; is it a kernel's?", path.display()).into());
        }
        read.iter().map(|table| compared(layouts, names, table)).collect()
    };
    let results: Vec<_> = files.par_iter().map(one).collect();
    bar.finish_and_clear();
    let mut checked = Vec::new();
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(tables) => checked.extend(tables),
            Err(error) => errors.push(error.to_string()),
        }
    }
    match errors.is_empty() {
        true => Ok(checked),
        false => Err(errors.join("\nerror: ").into()),
    }
}

/// Compares a table with the layouts of its kernel.
///
/// # Errors
///
/// A kernel that is older than the whole version axis.
pub fn compared(layouts: &Layouts, names: &[&str], table: &Table) -> Result<Checked, Error> {
    let axis = &layouts.spec.axis;
    let choice = axis.find_build(&table.build.to_string(), table.arch).map_err(|e| format!("{}: {e}", table.source))?;
    let ours = ours::types(layouts, choice.target, names);
    let reports = compare(&ours, &table.types, Rules::for_producer(&table.producer));
    let mut standings: BTreeMap<String, Standing> = BTreeMap::new();
    for report in reports {
        let place = |member: &str| ours::place(layouts, choice.target, &report.name, member);
        let differences: Vec<_> = report.differences.iter().map(|d| Finding::new(d, place(&d.member))).collect();
        let status = report.status.as_str();
        let standing = Standing { status, equal: report.equal, accepted: report.accepted, differences };
        standings.insert(report.name, standing);
    }
    for name in names.iter().filter(|name| table.types.contains_key(**name) && !ours.contains_key(**name)) {
        standings.insert((*name).to_owned(), Standing::unspecified());
    }
    Ok(Checked {
        source: table.source.clone(),
        build: table.build.to_string(),
        arch: table.arch.to_string(),
        target: choice.target,
        note: choice.note,
        structures: standings,
    })
}

/// The specs say where symbol data confirms a structure; the shipped tables have to bear that out, both ways.
pub fn claims(layouts: &Layouts, names: &[&str], checked: &[Checked]) -> Vec<Finding> {
    let axis = &layouts.spec.axis;
    let mut found = Vec::new();
    for definition in names.iter().filter_map(|name| layouts.spec.definitions.get(*name)) {
        let name = &definition.name.value;
        let place = Some(layouts.spec.sources.place(definition.name.span));
        for target in definition.scope.iter() {
            let of_target = checked.iter().filter(|c| c.target == target && c.note.is_none());
            let standings = of_target.filter_map(|c| c.structures.get(name));
            let has = |status: Status| standings.clone().any(|s| s.status == status.as_str());
            let exact = has(Status::Equal) || has(Status::Differs);
            let claim = layouts.why_not(name, target);
            let wrong = match claim {
                _ if layouts.get(target, name).is_none() => "the specs have it, and no layout came of it",
                None if !exact => "the specs have it confirmed by symbol data, and no table holds it",
                Some(_) if exact => "the specs have it beyond symbol data, and a table holds it",
                _ => continue,
            };
            let spec = format!("{name} {}: {}", axis.target_name(target), claim.map_or("verified", |why| why.text()));
            found.push(Finding::claim(spec, wrong.into(), place.clone()));
        }
    }
    for table in checked {
        let of = |what: &str| format!("{what} {}-{}", table.build, table.arch);
        let kernel = || layouts.spec.sources.place(axis.kernels[axis.targets[table.target].kernel].span);
        found.extend(table.note.as_ref().map(|note| Finding::claim(of("no kernel"), note.clone(), Some(kernel()))));
        let unspecified = table.structures.iter().filter(|(_, standing)| standing.status == Standing::UNSPECIFIED);
        for (name, _) in unspecified {
            let place = layouts.spec.definitions.get(name).map(|d| layouts.spec.sources.place(d.name.span));
            found.push(Finding::claim(of(&format!("{name} not at")), "a table holds it".into(), place));
        }
    }
    found
}

/// Shipped tables are named from the root.
fn shorten(checked: &mut [Checked]) {
    let root = project::root();
    for table in checked {
        if let Ok(short) = PathBuf::from(&table.source).strip_prefix(&root) {
            table.source = short.display().to_string().replace('\\', "/");
        }
    }
}
