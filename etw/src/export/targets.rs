//! Exports that write one file for each target.

use super::confidence::Confidence;
use super::write::{Output, write};
use crate::target;
use crate::{Error, Outcome, no_stdout};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::{ExaminedBuild, Pdb, Registry};
use etw_layouts_project::evidence::{by_build, by_pdb};
use etw_layouts_project::names::{Among, name};
use etw_layouts_project::{Choice, Project};
use std::path::PathBuf;
use uuid::Uuid;

/// The targets to export, and the selection of structures.
#[derive(clap::Args)]
pub struct TargetOptions {
    /// Target as BUILD-ARCH, such as 1709-x64, early-6.0-x86 or 10.0.19041.1415-x64; or `all` for all known targets.
    #[arg(required_unless_present = "pdb", value_name = "TARGET")]
    targets: Vec<String>,
    /// Select the target by the PDB of its kernel, written GUID-AGE. Repeatable.
    #[arg(long, value_name = "GUID-AGE")]
    pdb: Vec<String>,
    /// Write only this structure and the types that it depends on.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Write one file per target to DIR, or a single target to FILE, which needs the extension of the format (such as .h). A file with
    /// other content is not overwritten. By default, print a single target to standard output.
    #[arg(short, long, value_name = "DIR|FILE", value_parser = no_stdout())]
    output: Option<PathBuf>,
}

impl TargetOptions {
    /// Writes the content that a function returns for each target.
    pub(super) fn write<C: Into<Vec<u8>>>(
        &self,
        project: &Project,
        among: Among,
        extension: &str,
        content: impl Fn(&ExportTarget) -> C,
    ) -> Result<Outcome, Error> {
        let layouts = project.shared_layouts()?;
        let axis = &layouts.spec.axis;
        let registry = project.registry(axis)?;
        let only = self.only.as_deref().map(|only| name(&layouts, among, only)).transpose()?;
        let has = |target: TargetId| only.is_none_or(|only| layouts.get(target, only).is_some());
        let mut outputs = Vec::new();
        let mut add = |name: String, pdb: Option<&ExaminedBuild>| -> Result<(), Error> {
            let choice = Choice::of(&layouts, &registry, axis.find(&name)?, only);
            if let Some(only) = only.filter(|_| !has(choice.target())) {
                return Err(target::absent(&layouts, &choice, only));
            }
            let kernel = ExportTarget { layouts: &layouts, registry: &registry, choice, only, pdb };
            outputs.push(Output { name: format!("{name}.{extension}"), content: content(&kernel).into() });
            Ok(())
        };
        for wanted in &self.pdb {
            let seen = with_pdb(&registry, wanted)?;
            add(format!("{}-{}", seen.build, seen.arch), Some(seen))?;
        }
        for wanted in &self.targets {
            let names: Vec<_> = match wanted.as_str() {
                "all" => axis.targets.ids().filter(|&target| has(target)).map(|target| axis.target_name(target)).collect(),
                name => vec![name.to_owned()],
            };
            names.into_iter().try_for_each(|name| add(name, None))?;
        }
        write(&outputs, self.output.as_deref())
    }
}

/// A target to export.
pub struct ExportTarget<'a> {
    pub layouts: &'a Layouts,
    registry: &'a Registry,
    pub choice: Choice,
    /// The only structure to write, if one is selected.
    pub only: Option<&'a str>,
    /// The examined build whose PDB was selected.
    pdb: Option<&'a ExaminedBuild>,
}

impl ExportTarget<'_> {
    /// The target of a file and, for a single structure, the confidence in its layout.
    pub fn note(&self) -> String {
        let (axis, choice) = (&self.layouts.spec.axis, &self.choice);
        let what = choice.note(axis).unwrap_or_else(|| match self.only {
            Some(_) => format!("{}: {}", choice.label(axis), choice.sentence(axis)),
            None => choice.label(axis),
        });
        target::named(axis, choice, &what)
    }

    /// The confidence in each type of a file.
    pub fn confidence(&self) -> Confidence {
        Confidence::of(self.layouts, self.registry, &self.choice, self.only)
    }

    /// The selected build if the addresses of its global variables are known, and their source; otherwise the reason why they are not. The
    /// addresses are those of one PDB, or of the only known image of a build and architecture.
    pub fn placed(&self) -> Result<(&ExaminedBuild, String), String> {
        let axis = &self.layouts.spec.axis;
        let (asked, arch) = (&self.choice.asked, axis.targets[self.choice.target()].arch);
        let is_placed = |seen: &&ExaminedBuild| seen.pdb.is_some() && !seen.globals.is_empty();
        let unknown = "the addresses of the global variables of this build are unknown; import its PDB with `etw import`";
        if let Some(seen) = self.pdb {
            return Some(seen).filter(is_placed).map(of_pdb).ok_or_else(|| unknown.to_owned());
        }
        let (build, _) = asked.name.rsplit_once('-').unwrap_or_default();
        if build.split('.').filter(|number| number.parse::<u32>().is_ok()).count() != 4 {
            return Err(
                "addresses of global variables belong to one PDB; name a build with its revision, or a PDB with --pdb".into()
            );
        }
        if asked.is_before_its_build(axis) {
            return Err(unknown.into());
        }
        let is_it = |seen: &&ExaminedBuild| seen.arch == arch && axis.canonical(seen.build) == axis.canonical(asked.build);
        let mut own: Vec<&ExaminedBuild> = self.registry.builds.iter().filter(is_it).filter(is_placed).collect();
        own.dedup_by(|one, other| one.pdb == other.pdb);
        match own[..] {
            [] => self.by_build().unwrap_or_else(|| Err(unknown.into())),
            [seen] => Ok(of_pdb(seen)),
            _ => {
                let pdbs: Vec<_> = own.iter().filter_map(|seen| seen.pdb.as_ref()).map(named).collect();
                Err(format!("addresses of global variables belong to one PDB; select one with --pdb: {}", pdbs.join(", ")))
            }
        }
    }

    /// The entry of the selected build in a table of images that names only build and architecture. `None` if there is none.
    fn by_build(&self) -> Option<Result<(&ExaminedBuild, String), String>> {
        let (axis, asked) = (&self.layouts.spec.axis, &self.choice.asked);
        let arch = axis.targets[self.choice.target()].arch;
        let mut names = self.layouts.spec.globals.keys();
        let (seen, images) = names.find_map(|name| by_build(self.registry, axis, asked.build, arch, name))?;
        let (build, count) = (format!("{:#}-{arch}", seen.build), seen.globals.len());
        Some(match images {
            ..=1 => Ok((
                seen,
                format!("{count} symbols of {build}, from a table that names the build and architecture, but not the PDB"),
            )),
            _ => Err(format!(
                "{images} images of {build} are known, and the table does not name the one that its addresses belong to"
            )),
        })
    }
}

/// The examined build with a PDB.
fn with_pdb<'a>(registry: &'a Registry, wanted: &str) -> Result<&'a ExaminedBuild, Error> {
    let parsed = wanted.rsplit_once('-').and_then(|(guid, age)| Some((guid.parse::<Uuid>().ok()?, age.parse::<u32>().ok()?)));
    let Some((guid, age)) = parsed else {
        let help = "write 32 hexadecimal digits, `-` and the age, as in 3177d310-00ba-7590-ded3-35936c93e374-1";
        return Err(format!("--pdb {wanted}: invalid GUID and age; {help}").into());
    };
    let help = "`etw list --targets` prints the known builds; import the symbols of this PDB with `etw import`";
    Ok(by_pdb(registry, guid, age).ok_or_else(|| format!("--pdb {wanted}: no examined build has this PDB; {help}"))?)
}

/// An examined build, and its PDB as the source of the addresses.
fn of_pdb(seen: &ExaminedBuild) -> (&ExaminedBuild, String) {
    let pdb = seen.pdb.as_ref().map(named).unwrap_or_default();
    (seen, format!("symbols of PDB {pdb}"))
}

/// A PDB as `--pdb` takes it.
fn named(pdb: &Pdb) -> String {
    format!("{}-{}", pdb.guid, pdb.age)
}
