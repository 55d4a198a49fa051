//! The verification of layouts against symbol data.

pub mod condensed;
mod count;
mod found;
pub mod label;
mod mismatch;
pub mod ours;
pub mod partly;
mod variables;
mod wholly;

pub use found::{Checked, Comparison, Outcome, Report, Summary};
pub use mismatch::{Mismatch, MismatchKind};
pub use variables::Variables;
pub use wholly::{against, compared, names, wanted};

use self::found::All;
use self::wholly::{asked, comparisons};
use crate::project::Project;
use crate::registry;
use crate::tables::{self, BuildTable, Foreign, Stated, SymbolFile};
use crate::{Error, Several, errata, events};
use etw_layouts_codegen::axis::{PerTarget, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_symbols::Types;
use etw_layouts_symbols::compare::Status;
use rayon::prelude::*;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Verifies all layouts against the facts of the project.
///
/// # Errors
///
/// The specs or facts cannot be read.
pub fn shipped(project: &Project, layouts: &Layouts) -> Result<Report, Error> {
    report(project, layouts, None, &[], &Stated::default(), &|_| ())
}

/// Verifies the layouts of all structures or of one against symbol files or, if none is named, against the facts of the project.
/// `progress` is called for each file that is read, with the number of files.
///
/// # Errors
///
/// The specs do not have the structure, or symbol files cannot be read.
pub fn report(
    project: &Project,
    layouts: &Layouts,
    only: Option<&str>,
    symbols: &[PathBuf],
    stated: &Stated,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Report, Error> {
    let names = names(layouts, only)?;
    let files = if symbols.is_empty() { project.fact_files()? } else { tables::files(symbols)? };
    let is_shipped = symbols.is_empty();
    let registry = OnceLock::new();
    let registry = || -> Result<&Registry, Error> {
        let read = registry.get_or_init(|| project.registry(&layouts.spec.axis).map_err(|error| error.to_string()));
        Ok(read.as_ref().map_err(Clone::clone)?)
    };
    let label = |table: &BuildTable, checked: &Checked| -> Result<Vec<TargetId>, Error> {
        let seen = registry()?;
        let own = Path::new(&table.source).file_name().and_then(|name| name.to_str()).filter(|_| is_shipped);
        Ok(label::facts_of(layouts, seen, own, table, checked))
    };
    let variables = |table: &BuildTable, target: TargetId| -> Result<Variables, Error> {
        // The facts are no evidence for themselves.
        let facts = if is_shipped { None } else { Some(registry()?) };
        Ok(Variables::of(layouts, facts, table, target))
    };
    let mut all = check(layouts, &names, &files, stated, (&label, &variables), progress)?;
    let seen = if is_shipped { &all.registry } else { registry()? };
    all.tables.iter_mut().for_each(|table| table.pdb_of = label::pdb_of(&layouts.spec.axis, seen, table));
    all.images = partly::compared(layouts, &names, &all.of_images, seen);
    all.left_out = all.of_images.len() - all.images.len();
    let mut claimed = Vec::new();
    if is_shipped {
        all.tables.iter_mut().chain(&mut all.images).for_each(|table| table.source = project.shown(Path::new(&table.source)));
        claimed = claims(layouts, &names, &all.tables);
    }
    let summary = count::summary(layouts, &names, only.is_none(), &all.tables);
    let errata = errata::list(layouts, only);
    let registry = if is_shipped { mem::take(&mut all.registry) } else { registry()?.clone() };
    let mut report = Report::new(registry, all, claimed, errata, summary);
    if is_shipped && only.is_none() {
        report.events = events::verify(&layouts.spec, &project.statements()?);
    }
    Ok(report)
}

/// Finds the targets with the layouts of a table that differs from its own target.
type Label<'a> = dyn Fn(&BuildTable, &Checked) -> Result<Vec<TargetId>, Error> + Sync + 'a;

/// Compares the global variables of a table with those of a target.
type Place<'a> = dyn Fn(&BuildTable, TargetId) -> Result<Variables, Error> + Sync + 'a;

/// Compares each table. Returns the comparisons, and the files for other machines.
fn check(
    layouts: &Layouts,
    names: &[&str],
    files: &[SymbolFile],
    stated: &Stated,
    (label, variables): (&Label, &Place),
    progress: &(dyn Fn(usize) + Sync),
) -> Result<All, Error> {
    // All types are read, so that a table without the selected structure is not mistaken for that of another program.
    let all = self::names(layouts, None)?;
    let wanted = wanted(layouts, &all);
    // There are hundreds of tables, but only a few dozen targets.
    let ours: PerTarget<OnceLock<Types>> = layouts.spec.axis.targets.ids().map(|_| OnceLock::new()).collect();
    let compared = |table: &BuildTable| -> Result<Checked, Error> {
        let asked = asked(layouts, table)?;
        let ours = ours[asked.target].get_or_init(|| ours::types(layouts, asked.target, names));
        let structures = comparisons(layouts, names, table, asked.target, ours);
        Ok(Checked::new(table, asked, structures))
    };
    let one = |file: &SymbolFile| -> Result<All, Error> {
        let read = tables::read(file, &layouts.spec.axis, &wanted, stated)?;
        progress(files.len());
        let is_specified = |table: &BuildTable| {
            let spec = &layouts.spec;
            table.holds().any(|name| spec.definitions.contains_key(name))
                || table.is_partial() && table.globals.keys().any(|name| spec.globals.contains_key(name))
        };
        if !read.iter().all(is_specified) {
            return Err(format!(
                "{}: contains no type of the specs; check that it is the symbol file of a Windows kernel",
                file.path().display()
            )
            .into());
        }
        let registry = registry::of(&read);
        let (of_images, tables): (Vec<_>, Vec<_>) = read.into_iter().partition(BuildTable::is_partial);
        let labelled = |table: &BuildTable| -> Result<Checked, Error> {
            let checked = compared(table)?;
            let facts_of = if checked.differs() { label(table, &checked)? } else { Vec::new() };
            let variables = variables(table, checked.asked.target)?;
            Ok(Checked { facts_of, variables, ..checked })
        };
        let tables = tables.iter().map(labelled).collect::<Result<_, _>>()?;
        Ok(All { tables, of_images, registry, ..All::default() })
    };
    let results: Vec<_> = files.par_iter().map(one).collect();
    let mut all = All::default();
    let (mut errors, mut registries) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(All { tables, of_images, registry, .. }) => {
                registries.push(registry);
                all.tables.extend(tables);
                all.of_images.extend(of_images);
            }
            Err(error) if error.is::<Foreign>() && files.len() > 1 => all.skipped.push(error.to_string()),
            Err(error) => errors.push(error),
        }
    }
    match errors.is_empty() {
        true => Ok(All { registry: registry::merged(registries), ..all }),
        false => Err(Several(errors).into()),
    }
}

/// Checks the claims of the specs about public symbols against the shipped tables. A structure that is claimed to be absent from
/// public symbols must be in no table. Any other structure must be in a table of each target that has tables, or in one of an
/// older and one of a newer target. This does not apply to specs that do not define their own versions.
pub fn claims(layouts: &Layouts, names: &[&str], checked: &[Checked]) -> Vec<Mismatch> {
    let axis = &layouts.spec.axis;
    let mut found = Vec::new();
    let checked: Vec<_> = checked.iter().filter(|table| !table.is_labelled_wrongly()).collect();
    let tables_of = |target| checked.iter().copied().filter(|table| table.is_of(axis, target)).collect::<Vec<_>>();
    let of_target: PerTarget<_> = axis.targets.ids().map(tables_of).collect();
    for definition in names.iter().filter_map(|name| layouts.spec.definitions.get(*name)) {
        let name = &definition.name.value;
        let place = Some(layouts.spec.sources.place(definition.name.span));
        let holds = |table: &&&Checked| {
            let outcome = table.structures.get(name).map(|compared| compared.outcome);
            matches!(outcome, Some(Outcome::Compared(Status::Equal | Status::Differs)))
        };
        let holder = |target: TargetId| of_target[target].iter().find(holds);
        // Symbols contain a type only while the program uses it. A type in older and newer builds also exists in those between.
        let between = |target: TargetId| {
            let own = |other: TargetId| axis.targets[other].arch == axis.targets[target].arch && holder(other).is_some();
            axis.targets.ids().any(|other| other < target && own(other))
                && axis.targets.ids().any(|other| other > target && own(other))
        };
        for target in definition.scope.iter() {
            let seen = !of_target[target].is_empty();
            let holder = holder(target);
            let reason = layouts.unverifiable(name, target);
            let wrong = match (reason, holder) {
                (None, None) if seen && !axis.is_standard && !between(target) => {
                    "no symbol table of its builds contains it; add `unverifiable`, or facts that contain it".to_owned()
                }
                (Some(_), Some(table)) => format!("the table of {}-{} contains it", table.build, table.arch),
                _ => continue,
            };
            let stated = reason.map_or_else(|| "no `unverifiable`".to_owned(), |reason| format!("`unverifiable`: {reason}"));
            let spec = format!("{name} {}: {stated}", axis.target_name(target));
            found.push(Mismatch::claim(spec, wrong, place.clone()));
        }
    }
    for table in checked {
        let taken = axis.revision_of(table.asked.target);
        if !table.asked.is_of_build(axis) {
            let (spec, symbols) = match table.asked.is_of_other_build(axis) {
                true => {
                    (format!("no [[release]] for the build of {}-{}", table.build, table.arch), "a table of it exists".to_owned())
                }
                false => {
                    (format!("{} is the first of its build", taken.build), format!("{}-{} is earlier", table.build, table.arch))
                }
            };
            found.push(Mismatch::claim(spec, symbols, Some(layouts.spec.sources.place(taken.span))));
        }
        let unspecified = table.structures.iter().filter(|(_, compared)| compared.outcome == Outcome::Unspecified);
        for (name, _) in unspecified {
            let place = layouts.spec.definitions.get(name).map(|d| layouts.spec.sources.place(d.name.span));
            let spec = format!("{name} not at {}-{}", table.build, table.arch);
            found.push(Mismatch::claim(spec, "a table contains it".into(), place));
        }
    }
    found
}
