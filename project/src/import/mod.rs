//! The import of builds into specs.
//!
//! [`plan()`] computes new spec texts from spec texts and symbol tables. The result is verified against the tables before anything is
//! written, and rejected if it does not verify.

mod admitted;
mod align;
mod ascent;
mod enter;
mod explain;
mod fill;
mod first_image;
mod images;
mod left_out;
mod pass;
mod place;
mod plan;
mod regroup;
mod rows;
mod shared;
mod step;
#[cfg(test)]
mod tests;
mod texts;
mod types;
mod unions;

pub use first_image::first_image;
pub use images::Border;
pub use plan::{Input, Plan, plan};
pub use rows::kernel_of;
pub use texts::{MARK, Texts};

use self::admitted::new_tables;
use self::images::Images;
use crate::lock::Lock;
use crate::project::Project;
use crate::replace::Changes;
use crate::tables::{self, BuildTable, Stated};
use crate::verify::{Checked, label};
use crate::{Error, facts, registry, verify};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::nearest;
use etw_layouts_symbols::{Rules, Wanted};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The tables of an import, read.
pub struct Import<'a> {
    /// The current spec texts.
    pub texts: Texts,
    /// The builds that the specs already have from these symbols.
    pub known: Vec<String>,
    /// Number of images that are new to the facts; `None` if the import has no images.
    pub images: Option<usize>,
    /// The reason for each type that is omitted because specs cannot define it.
    pub left_out: BTreeSet<String>,
    /// Tables with a possibly wrong label: each has the same facts as an earlier or later build.
    pub notes: Vec<String>,
    shipped: Vec<BuildTable>,
    new: Vec<BuildTable>,
    seen: Images,
    wanted: Wanted,
    added: &'a [String],
    folder: String,
}

/// Reads the tables of an import.
///
/// # Errors
///
/// Symbol files cannot be read, belong to a build that the specs have from other symbols, or lack types to add.
pub fn prepare<'a>(
    project: &Project,
    layouts: &Layouts,
    symbols: &[PathBuf],
    stated: &Stated,
    added: &'a [String],
) -> Result<Import<'a>, Error> {
    let (specs, _) = project.folders()?;
    let names = verify::names(layouts, None)?;
    let wanted = |added: &[String]| match names.is_empty() && added.is_empty() {
        true => Wanted::All,
        false => verify::wanted(layouts, &names.iter().copied().chain(added.iter().map(String::as_str)).collect::<Vec<_>>()),
    };
    let axis = &layouts.spec.axis;
    stated.one_kernel(axis)?;
    let files = tables::files(symbols)?;
    let read = |wanted: &Wanted| -> Result<Vec<BuildTable>, Error> {
        let read = files.par_iter().map(|file| tables::read(file, axis, wanted, stated));
        Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    let mut new = read(&wanted(added))?;
    if let Some(name) = added.iter().find(|name| !new.iter().any(|table| table.types.contains_key(*name))) {
        return Err(missing(name, &read(&Wanted::All)?));
    }
    // Embedded types are requested by name, because builds may have them without embedding them.
    let mut all = added.to_vec();
    loop {
        let more: Vec<String> = fill::unspecified(&names, new.iter(), &all).into_iter().collect();
        if more.len() <= all.len() {
            break;
        }
        new = read(&wanted(&more))?;
        all = more;
    }
    let wanted = wanted(&all);
    let shipped = project.tables(axis, &wanted)?;
    let mut known = Vec::new();
    let (read, new): (Vec<_>, Vec<_>) = new.into_iter().partition(BuildTable::is_partial);
    let mut new = new_tables(layouts, new, &shipped, &all, &mut known)?;
    let notes = new.iter().filter_map(|table| {
        let other = label::facts_equal(table, shipped.iter().chain(&new))?;
        Some(format!(
            "{}-{}: note: facts equal those of {:#}; check whether the build is right",
            table.label, table.arch, other.build
        ))
    });
    let is_bare = |table: &&BuildTable| !table.types.keys().any(|name| names.contains(&name.as_str()) || all.contains(name));
    let bare = new.iter().filter(is_bare).filter(|_| wanted != Wanted::All).map(|table| {
        format!(
            "{}-{}: note: {} contains no structure of the specs; the build is added without evidence for its layouts",
            table.label, table.arch, table.source
        )
    });
    let notes = notes.chain(bare).collect();
    let of_images = !read.is_empty();
    let seen = match of_images {
        true => Images::of(axis, project.images(axis, &wanted)?, read),
        false => Images { all: Vec::new(), new: Vec::new() },
    };
    let images = of_images.then_some(seen.new.len());
    let left_out = match wanted {
        Wanted::All => left_out::leave_out(&mut new, &layouts.spec),
        _ => BTreeSet::new(),
    };
    if let Some(table) = new.iter().find(|table| table.types.is_empty()).filter(|_| wanted == Wanted::All) {
        return Err(format!("{}: contains no type that a spec can define", table.source).into());
    }
    let texts = layouts.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    Ok(Import {
        texts,
        known,
        images,
        left_out,
        notes,
        shipped,
        new,
        seen,
        wanted,
        added,
        folder: specs.display().to_string().replace('\\', "/"),
    })
}

impl Import<'_> {
    /// Plans the import, and verifies the result against every table; `None` if nothing is new.
    ///
    /// # Errors
    ///
    /// As [`checked`].
    pub fn plan(&self) -> Result<Option<Plan>, Error> {
        let Self { texts, shipped, seen, added, folder, .. } = self;
        let mut new = self.new.clone();
        let mut borders = Vec::new();
        if self.images.is_some() {
            // Borders from images depend on the layouts on both sides, which may be new.
            let input = Input { texts, known: shipped, new: &new, added, folder };
            let layouts = plan(&input)?.layouts;
            let tables;
            (borders, tables) = seen.borders(&layouts, &verify::names(&layouts, None)?)?.into_iter().unzip();
            new.extend::<Vec<_>>(tables);
        }
        if new.is_empty() && seen.new.is_empty() {
            return Ok(None);
        }
        let plan = checked(&Input { texts, known: shipped, new: &new, added, folder })?;
        seen.verified(&plan.layouts, &verify::names(&plan.layouts, None)?, &registry::of(shipped))?;
        // The table of a border does not belong to an examined build.
        let is_new = |build: &Build| new.iter().take(self.new.len()).any(|table| table.build == *build);
        let mut same = plan.same;
        same.values_mut().for_each(|builds| builds.retain(is_new));
        same.retain(|_, builds| !builds.is_empty());
        Ok(Some(Plan { same, borders, ..plan }))
    }

    /// Writes the planned specs, facts and generated files. Returns the number of changed generated files. The lock must have
    /// been taken before the specs were read.
    ///
    /// # Errors
    ///
    /// Files cannot be written.
    pub fn write(&self, project: &Project, lock: Lock, plan: &Plan) -> Result<usize, Error> {
        let (_, facts) = project.folders()?;
        let mut changes = changes(&project.root, &self.texts, plan);
        let (new, registry) = facts::added(
            [&self.new[..], &self.seen.new].concat(),
            &plan.layouts.spec.axis,
            &self.wanted,
            &project.root.join(facts),
        )?;
        changes.extend(new);
        let generated = project.generated.map_or(Ok(Vec::new()), |generate| generate(&plan.layouts, &registry))?;
        let count = generated.len();
        changes.extend(generated);
        lock.replace(changes)?;
        Ok(count)
    }
}

/// Plans an import, and verifies the result against every table.
///
/// # Errors
///
/// Errors of [`plan()`], and all differences that `verify` reports.
pub fn checked(input: &Input) -> Result<Plan, Error> {
    let plan = plan(input)?;
    let added = input.added.join(", ");
    let help = if added.is_empty() { String::new() } else { format!("; if {added} cannot be imported, add it by hand") };
    verified(&plan.layouts, input.known, input.new).map_err(|error| format!("{error}{help}"))?;
    Ok(plan)
}

/// Error for a type to add that no table has.
fn missing(name: &str, tables: &[BuildTable]) -> Error {
    let all: BTreeSet<&str> = tables.iter().flat_map(|table| table.types.keys().map(String::as_str)).collect();
    let meant = nearest(name, all.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let files: BTreeSet<&str> = tables.iter().map(|table| table.source.as_str()).collect();
    let (files, count) = (files.into_iter().collect::<Vec<_>>().join(", "), all.len());
    format!("cannot add {name}: no such type among the {count} types of {files}{meant}").into()
}

/// Verifies the layouts against every table.
///
/// # Errors
///
/// All differences that `verify` reports.
pub fn verified(layouts: &Layouts, known: &[BuildTable], new: &[BuildTable]) -> Result<(), Error> {
    let names = verify::names(layouts, None)?;
    let replaced = |table: &&BuildTable| {
        new.iter().any(|other| (other.build, other.arch, &other.producer) == (table.build, table.arch, &table.producer))
    };
    let tables = known.iter().filter(|table| !replaced(table)).chain(new);
    let compared = |table: &BuildTable| Ok(Checked { build: table.label.clone(), ..verify::compared(layouts, &names, table)? });
    let checked = tables.map(compared).collect::<Result<Vec<_>, Error>>()?;
    let mut differences: Vec<_> = checked.iter().flat_map(differences).collect();
    differences.extend(verify::claims(layouts, &names, &checked).iter().map(|claim| format!("  {}", claim.line())));
    match differences.is_empty() {
        true => Ok(()),
        false => Err(refused(differences)),
    }
}

/// Maximum number of differences listed per structure: a member that moved also moves the following ones.
const SHOWN: usize = 3;

fn differences(checked: &Checked) -> Vec<String> {
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

/// Error for symbols that cannot be imported, with the remaining differences.
fn refused(differences: Vec<String>) -> Error {
    let about = "cannot import: the result does not verify; nothing was written";
    let help = "check that the folder of facts is complete, or add the build by hand: its row in windows.toml, its symbols in the folder of facts, and the differences that `verify` then prints";
    format!("{about}. Remaining differences:\n{}\n{help}", differences.join("\n")).into()
}

/// The changes of spec files.
fn changes(root: &Path, before: &Texts, plan: &Plan) -> Changes {
    let new = plan.texts.iter().filter(|(path, text)| before.get(*path) != Some(text));
    let gone = before.keys().filter(|path| !plan.texts.contains_key(*path));
    let all = new.map(|(path, text)| (path, Some(text.clone()))).chain(gone.map(|path| (path, None)));
    all.map(|(path, text)| (root.join(path), text)).collect()
}
