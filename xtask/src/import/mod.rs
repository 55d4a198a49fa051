//! `cargo xtask import`.
//!
//! [`plan()`] computes spec texts from spec texts and symbol tables, in stages:
//!
//! - `rows`: the new kernels enter the version axis. What specs say by open ranges and labels now covers them too.
//! - `tree`: each spec file as entries with their places in the text. `prune` takes imported kernels out of what they say.
//! - `derive`, `fit`, `nesting`, `types`: each table in turn, oldest first, gives its members to entries, new ones
//!   where none suits.
//! - `edit`, `pieces`, `scope`, `write`: the texts that no longer say what is so are changed, and only those; `write` has the
//!   new entries.
//! - `repair`: alignments that symbols do not tell.
//!
//! The outcome is resolved like any spec set and held against the tables before a byte is written. What does not verify
//! is refused.

mod derive;
mod edit;
mod fit;
mod nesting;
mod pieces;
mod plan;
mod prune;
mod repair;
mod report;
mod rows;
mod scope;
mod splice;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod write;

pub use plan::{Input, Plan, Texts, plan};

use crate::replace::{Changes, replace};
use crate::tables::{self, Stated, Table};
use crate::{Error, Outcome, generate, project, snapshot, verify};
use etw_layouts_codegen::axis::{Arch, Axis, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::Wanted;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Enter the layouts of new Windows builds into the specs, from their kernels' symbols.
///
/// Compares each symbol file with the specs and edits specs/*.toml where it differs, keeping all else as it is: ranges are
/// closed or split, members, bits, constants and types added, the build entered in windows.toml. Adds the reduced tables to
/// tests/snapshots and writes the generated crate anew. If a layout is known already, only the build is recorded.
///
/// Several files in any order, at once or one after the other, give the same specs. Nothing is written unless the outcome
/// verifies. What symbols cannot tell is marked in the specs with `# import:` and listed. If the specs define no structure
/// yet, every type of the file is entered, or with --add only some.
///
///     cargo xtask import --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///     cargo xtask import ntkrnlmp.pdb --build 10.0.26100.3915 --arch x64 --dry-run
///     cargo xtask import symbols/
///
/// Exit status: 0 done, or nothing to do; 2 unusable input, or symbols that the specs cannot express.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of them: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), or snapshots
    /// (.facts).
    #[arg(required_unless_present = "image", value_name = "SYMBOLS")]
    symbols: Vec<PathBuf>,
    /// The build of a symbol file that does not tell it, such as 10.0.26100.3915.
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
    /// Specify a structure that no spec has yet. Repeatable.
    #[arg(long, value_name = "STRUCTURE")]
    add: Vec<String>,
    /// Write nothing; print the change as a diff.
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let layouts = project::layouts()?;
    let (symbols, stated) = match &args.image {
        None => (args.symbols.clone(), Stated { build: args.build.clone(), arch: args.arch.as_deref().and_then(Arch::parse) }),
        Some(image) => {
            let (pdb, build, arch) = tables::from_image(image, args.symbol_path.as_deref())?;
            (vec![pdb], Stated { build: Some(build.to_string()), arch: Some(arch) })
        }
    };
    let names = verify::names(&layouts, None)?;
    let wanted = match names.is_empty() && args.add.is_empty() {
        true => Wanted::All,
        false => names.iter().map(|name| (*name).to_owned()).chain(args.add.iter().cloned()).collect(),
    };
    let axis = &layouts.spec.axis;
    let files = tables::files(&symbols)?;
    if args.build.is_some() && files.len() > 1 {
        return Err("--build is said of one symbol file; import the others without it".into());
    }
    let read = |path: &PathBuf| tables::read(path, axis, &wanted, &stated);
    let new = files.par_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let snapshots = project::root().join(project::SNAPSHOTS);
    let known = tables::files(std::slice::from_ref(&snapshots)).unwrap_or_default();
    let known = known.par_iter().map(|path| tables::read(path, axis, &wanted, &Stated::default()));
    let known: Vec<_> = known.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let new = news(&layouts, &known, new.into_iter().flatten().collect())?;
    if new.is_empty() {
        anstream::println!("nothing to import");
        return Ok(Outcome::Good);
    }
    let texts: Texts = layouts.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    let input = Input { texts: &texts, known: &known, new: &new, added: &args.add, folder: project::SPECS };
    let plan = checked(&input)?;
    anstream::print!("{}", report::summary(&texts, &plan));
    if args.dry_run {
        anstream::print!("{}", report::diff(&texts, &plan.texts));
        return Ok(Outcome::Good);
    }
    let mut changes = changes(&texts, &plan);
    changes.extend(snapshot::added(new, &plan.layouts.spec.axis, &wanted, &snapshots)?);
    let generated = generate::changes(&plan.layouts)?;
    let count = generated.len();
    changes.extend(generated);
    replace(&changes)?;
    anstream::println!(
        "{count} generated files written or removed; `cargo xtask verify` and `cargo test --workspace` prove the rest"
    );
    Ok(Outcome::Good)
}

/// Plans an import, and holds the outcome against every table.
///
/// # Errors
///
/// What [`plan()`] refuses, and whatever `verify` would find.
pub fn checked(input: &Input) -> Result<Plan, Error> {
    let plan = plan(input)?;
    verified(&plan.layouts, input.known, input.new)?;
    Ok(plan)
}

/// The tables of kernels that the specs do not have from symbols yet, or have by an import. Specs without a structure have none.
fn news(layouts: &Layouts, shipped: &[Table], tables: Vec<Table>) -> Result<Vec<Table>, Error> {
    let axis = &layouts.spec.axis;
    let names = verify::names(layouts, None)?;
    let mut new: BTreeMap<(Build, Arch), Table> = BTreeMap::new();
    for table in tables {
        let table = Table { build: rows::kernel_of(table.build, axis), ..table };
        let name = format!("{}-{}", table.build, table.arch);
        if known(axis, &table) && !names.is_empty() {
            let checked = verify::compared(layouts, &names, &table)?;
            if let Some(finding) = checked.structures.values().flat_map(|standing| &standing.differences).next() {
                let line = finding.line();
                let source = &table.source;
                return Err(format!("{source}: the specs have {name} from other symbols, and these differ: {line}").into());
            }
            anstream::println!("{name}: known already");
        } else if let Some((twin, ty)) = shipped.iter().find_map(|twin| Some((twin, other(twin, &table)?))) {
            let (source, twin) = (&table.source, &twin.source);
            let help = "say another --build; or, if what was imported is wrong, take that back with git first";
            return Err(
                format!("{source}: {name} was imported from other symbols, in {twin}, where `{ty}` differs. {help}").into()
            );
        } else if let Some(twin) = new.get(&(table.build, table.arch)) {
            if twin.types != table.types {
                return Err(format!("{} and {} are both of {name}, and differ; import one", twin.source, table.source).into());
            }
        } else {
            new.insert((table.build, table.arch), table);
        }
    }
    Ok(new.into_values().collect())
}

/// A type that is another in two tables of one kernel, read in the same way.
fn other<'t>(one: &'t Table, two: &Table) -> Option<&'t str> {
    let same = (one.build, one.arch, &one.producer) == (two.build, two.arch, &two.producer);
    let mut types = one.types.iter().filter(|_| same);
    types.find(|(name, ty)| two.types.get(*name).is_some_and(|other| other != *ty)).map(|(name, _)| name.as_str())
}

fn known(axis: &Axis, table: &Table) -> bool {
    let kernel = axis.kernels.iter().find(|kernel| kernel.build == table.build);
    kernel.is_some_and(|kernel| kernel.seen.contains(&table.arch) && !kernel.imported.contains(&table.arch))
}

/// Holds the layouts against every table.
///
/// # Errors
///
/// Whatever `verify` would find.
pub fn verified(layouts: &Layouts, known: &[Table], new: &[Table]) -> Result<(), Error> {
    let names = verify::names(layouts, None)?;
    let replaced = |table: &&Table| {
        new.iter().any(|other| (other.build, other.arch, &other.producer) == (table.build, table.arch, &table.producer))
    };
    let tables = known.iter().filter(|table| !replaced(table)).chain(new);
    let checked = tables.map(|table| verify::compared(layouts, &names, table)).collect::<Result<Vec<_>, _>>()?;
    let mut findings: Vec<_> = checked.iter().flat_map(differences).collect();
    findings.extend(verify::claims(layouts, &names, &checked).iter().map(|claim| format!("  {}", claim.line())));
    match findings.is_empty() {
        true => Ok(()),
        false => Err(refused(findings)),
    }
}

/// How many differences of one structure are listed: when one member is elsewhere, all that follow are.
const SHOWN: usize = 3;

fn differences(checked: &verify::report::Checked) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, standing) in &checked.structures {
        let found = &standing.differences;
        let at = format!("  {}-{}: {name}", checked.build, checked.arch);
        lines.extend(found.iter().take(SHOWN).map(|difference| format!("{at} {}", difference.line())));
        if found.len() > SHOWN {
            lines.push(format!("{at} and {} more", found.len() - SHOWN));
        }
    }
    lines
}

/// Why symbols are not imported, by what would be wrong.
fn refused(findings: Vec<String>) -> Error {
    let about = "import cannot express these symbols in the specs; nothing was written";
    let help = "enter the kernel by hand: its row in specs/windows.toml, its table with `cargo xtask snapshot`, and what `cargo xtask verify` finds then";
    format!("{about}. These are left:\n{}\n{help}", findings.join("\n")).into()
}

/// The specs to be written, the axis first: with it, what an interruption leaves can be read and imported again.
fn changes(before: &Texts, plan: &Plan) -> Changes {
    let root = project::root();
    let new = plan.texts.iter().filter(|(path, text)| before.get(*path) != Some(text));
    let gone = before.keys().filter(|path| !plan.texts.contains_key(*path));
    let mut changes: Vec<_> = new.map(|(path, text)| (path, Some(text.clone()))).chain(gone.map(|path| (path, None))).collect();
    changes.sort_by_key(|(path, _)| !path.ends_with("/windows.toml"));
    changes.into_iter().map(|(path, text)| (root.join(path), text)).collect()
}
