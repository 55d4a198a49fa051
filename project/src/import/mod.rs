//! The import of builds into specs.
//!
//! [`plan()`] computes new spec texts from spec texts and symbol tables. The result is verified against the tables before anything is
//! written, and rejected if it does not verify.

mod admitted;
mod align;
mod ascent;
mod checked;
mod enter;
mod explain;
mod fill;
mod first_image;
mod images;
mod left_out;
mod missing;
mod pass;
mod place;
mod plan;
mod renamed;
mod rows;
mod shared;
mod step;
#[cfg(test)]
mod tests;
mod texts;
mod types;
mod unions;

pub use checked::{Refused, checked, verified};
pub use first_image::first_image;
pub use images::Border;
pub use plan::{Input, Plan, plan};
pub use rows::build_on_axis;
pub use texts::{MARK, Texts};

use self::admitted::{Admitted, admitted};
use self::checked::accepted;
use self::images::Images;

use crate::change::{Changes, Lock};
use crate::project::Project;
use crate::tables::{self, BuildTable, Stated};
use crate::{Error, facts, registry, verify};
use etw_layouts_codegen::axis::Build;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::nearest;
use etw_layouts_symbols::Wanted;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The tables of an import, read.
pub struct Import {
    /// The current spec texts.
    pub texts: Texts,
    /// The builds that the specs already have from these symbols.
    pub known: Vec<String>,
    /// Number of images that are new to the facts; `None` if the import has no images.
    pub images: Option<usize>,
    /// The reason for each type that is omitted because specs cannot define it.
    pub left_out: BTreeSet<String>,
    /// Tables with a possibly wrong build, and tables that verify no layout.
    pub notes: Vec<String>,
    shipped: Vec<BuildTable>,
    new: Vec<BuildTable>,
    seen: Images,
    wanted: Wanted,
    added: Vec<String>,
    folder: String,
}

/// What to import.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The symbol files, or folders of symbol files.
    pub symbols: &'a [PathBuf],
    /// The build that the user states for a symbol file.
    pub stated: &'a Stated,
    /// Structures to add.
    pub added: &'a [String],
    /// Whether the user confirms builds that are new although their facts equal those of another build.
    pub is_confirmed: bool,
}

/// Reads the tables of an import.
///
/// # Errors
///
/// Symbol files cannot be read, have a wrong or doubtful build, contradict each other or the facts, or lack types to add.
pub fn prepare(project: &Project, layouts: &Layouts, request: &Request) -> Result<Import, Error> {
    let &Request { symbols, stated, added, is_confirmed } = request;
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
    let (read, new): (Vec<_>, Vec<_>) = new.into_iter().partition(BuildTable::is_partial);
    let Admitted { mut new, known, mut notes } = admitted(layouts, new, &shipped, &all, is_confirmed)?;
    let is_bare = |table: &&BuildTable| !table.types.keys().any(|name| names.contains(&name.as_str()) || all.contains(name));
    let bare = new.iter().filter(is_bare).filter(|_| wanted != Wanted::All).map(|table| {
        format!(
            "{}-{}: note: {} contains no structure of the specs; the build is added without evidence for its layouts",
            table.label, table.arch, table.source
        )
    });
    notes.extend(bare);
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
        added: added.to_vec(),
        folder: specs.display().to_string().replace('\\', "/"),
    })
}

impl Import {
    /// Plans the import, and verifies the result against every table; `None` if nothing is new.
    ///
    /// # Errors
    ///
    /// As [`checked()`]; or images that the result contradicts.
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
        let plan = plan(&Input { texts, known: shipped, new: &new, added, folder })?;
        let of_images = || seen.verified(&plan.layouts, &verify::names(&plan.layouts, None)?, &registry::of(shipped));
        let result = verified(&plan.layouts, shipped, &new).and_then(|()| of_images());
        // The table of a border does not belong to an examined build.
        let is_new = |build: &Build| new.iter().take(self.new.len()).any(|table| table.build == *build);
        let mut same = plan.same;
        same.values_mut().for_each(|builds| builds.retain(is_new));
        same.retain(|_, builds| !builds.is_empty());
        Ok(Some(accepted(Plan { same, borders, ..plan }, added, result)?))
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
        let generated = project.generated.map_or(Ok(Vec::new()), |generate| generate(&plan.layouts, &registry, &changes))?;
        let count = generated.len();
        changes.extend(generated);
        lock.replace(changes)?;
        Ok(count)
    }
}

/// Error for a type to add that no table has.
fn missing(name: &str, tables: &[BuildTable]) -> Error {
    let all: BTreeSet<&str> = tables.iter().flat_map(|table| table.types.keys().map(String::as_str)).collect();
    let meant = nearest(name, all.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let files: BTreeSet<&str> = tables.iter().map(|table| table.source.as_str()).collect();
    let (files, count) = (files.into_iter().collect::<Vec<_>>().join(", "), all.len());
    format!("cannot add {name}: no such type among the {count} types of {files}{meant}").into()
}

/// The changes of spec files.
fn changes(root: &Path, before: &Texts, plan: &Plan) -> Changes {
    let new = plan.texts.iter().filter(|(path, text)| before.get(*path) != Some(text));
    let gone = before.keys().filter(|path| !plan.texts.contains_key(*path));
    let all = new.map(|(path, text)| (path, Some(text.clone().into_bytes()))).chain(gone.map(|path| (path, None)));
    all.map(|(path, text)| (root.join(path), text)).collect()
}
