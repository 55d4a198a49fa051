//! Kernels of which something is written, a file each.

use super::confidence::Confidence;
use super::write::{Text, write};
use crate::target;
use crate::{Error, Outcome, print};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::{Pdb, Registry, Seen};
use etw_layouts_project::evidence::{by_build, by_pdb};
use etw_layouts_project::names::{Among, name};
use etw_layouts_project::{Choice, Project};
use std::path::PathBuf;

/// Kernels, and what of them.
#[derive(clap::Args)]
pub struct Kernels {
    /// BUILD-ARCH, such as 1709-x64, early-6.0-x86, 10.0.19041.1415-x64; or `all` for all that are known.
    #[arg(required_unless_present = "pdb", value_name = "TARGET")]
    targets: Vec<String>,
    /// In place of a target: the kernel with this PDB, as GUID-AGE. Repeatable.
    #[arg(long, value_name = "GUID-AGE")]
    pdb: Vec<String>,
    /// One structure only, and what it needs.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Folder for the files, one for each target, with its name; or, for a single target, a file with the ending of its kind (.h). Files of
    /// other content are not overwritten. Without it the file of a single target is printed.
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
}

impl Kernels {
    /// Writes what a function makes of each kernel, of one structure if only that is asked for.
    pub(super) fn write(
        &self,
        project: &Project,
        among: Among,
        extension: &str,
        text: impl Fn(&Kernel) -> String,
    ) -> Result<Outcome, Error> {
        let layouts = project.layouts()?;
        let axis = &layouts.spec.axis;
        let registry = project.registry(axis)?;
        let only = self.only.as_deref().map(|only| name(&layouts, among, only)).transpose()?;
        let has = |target: usize| only.is_none_or(|only| layouts.get(target, only).is_some());
        let mut texts = Vec::new();
        let mut add = |name: String, pdb: Option<&Seen>| -> Result<(), Error> {
            let choice = Choice::of(&layouts, &registry, axis.find(&name)?, only);
            if let Some(only) = only.filter(|_| !has(choice.target())) {
                let label = choice.label(axis);
                return Err(format!("{only} does not exist in {label}; `etw list {only}` tells where it does").into());
            }
            let kernel = Kernel { layouts: &layouts, registry: &registry, choice, only, pdb };
            texts.push(Text { name: format!("{name}.{extension}"), text: text(&kernel) });
            Ok(())
        };
        for wanted in &self.pdb {
            let seen = with_pdb(&registry, wanted)?;
            add(format!("{}-{}", seen.build, seen.arch), Some(seen))?;
        }
        for wanted in &self.targets {
            let names: Vec<_> = match wanted.as_str() {
                "all" => (0..axis.targets.len()).filter(|&target| has(target)).map(|target| axis.target_name(target)).collect(),
                name => vec![name.to_owned()],
            };
            names.into_iter().try_for_each(|name| add(name, None))?;
        }
        write(&texts, self.output.as_deref())
    }
}

/// A kernel of which something is written.
pub struct Kernel<'a> {
    pub layouts: &'a Layouts,
    registry: &'a Registry,
    pub choice: Choice,
    /// The structure that alone is asked for.
    pub only: Option<&'a str>,
    /// The kernel whose PDB was named.
    pdb: Option<&'a Seen>,
}

impl Kernel<'_> {
    /// What a file is of, and how sure that is where it is one structure.
    pub fn note(&self) -> String {
        let (axis, choice) = (&self.layouts.spec.axis, &self.choice);
        let what = choice.note(axis).unwrap_or_else(|| match self.only {
            Some(_) => format!("{}: {}", choice.label(axis), choice.sentence(axis)),
            None => choice.label(axis),
        });
        target::named(axis, choice, &what)
    }

    /// How sure each type in a file is.
    pub fn confidence(&self) -> Confidence {
        Confidence::of(self.layouts, self.registry, &self.choice, self.only)
    }

    /// The one kernel that was named, if addresses of its global variables are known, and what states them; or else why there are none. They
    /// are those of one PDB, or of the only known image of a build and architecture.
    pub fn placed(&self) -> Result<(&Seen, String), String> {
        let axis = &self.layouts.spec.axis;
        let (asked, arch) = (&self.choice.asked, axis.targets[self.choice.target()].arch);
        let is_placed = |seen: &&Seen| seen.pdb.is_some() && !seen.globals.is_empty();
        let unknown = "the addresses of global variables of this kernel are not known: its PDB can be entered with `etw import`";
        if let Some(seen) = self.pdb {
            return Some(seen).filter(is_placed).map(of_pdb).ok_or_else(|| unknown.to_owned());
        }
        let (build, _) = asked.name.rsplit_once('-').unwrap_or_default();
        if build.split('.').filter(|number| number.parse::<u32>().is_ok()).count() != 4 {
            return Err(
                "addresses of global variables are those of one PDB: name a build with its revision, or a PDB with --pdb".into(),
            );
        }
        if asked.is_before_its_build(axis) {
            return Err(unknown.into());
        }
        let is_it = |seen: &&Seen| seen.arch == arch && axis.canonical(seen.build) == axis.canonical(asked.build);
        let mut own: Vec<&Seen> = self.registry.kernels.iter().filter(is_it).filter(is_placed).collect();
        own.dedup_by(|one, other| one.pdb == other.pdb);
        match own[..] {
            [] => self.by_build().unwrap_or_else(|| Err(unknown.into())),
            [seen] => Ok(of_pdb(seen)),
            _ => {
                let pdbs: Vec<_> = own.iter().filter_map(|seen| seen.pdb.as_ref()).map(named).collect();
                Err(format!("addresses of global variables are those of one PDB: choose with --pdb one of {}", pdbs.join(", ")))
            }
        }
    }

    /// The kernel that was named, in a table of images that names only its build and architecture. `None` if no table has it.
    fn by_build(&self) -> Option<Result<(&Seen, String), String>> {
        let (axis, asked) = (&self.layouts.spec.axis, &self.choice.asked);
        let arch = axis.targets[self.choice.target()].arch;
        let mut names = self.layouts.spec.globals.keys();
        let (seen, images) = names.find_map(|name| by_build(self.registry, axis, asked.build, arch, name))?;
        let (build, count) = (format!("{:#}-{arch}", seen.build), seen.globals.len());
        Some(match images {
            ..=1 => Ok((
                seen,
                format!("{count} symbols of {build}, from a table that names only build and architecture, not the PDB"),
            )),
            _ => Err(format!("{images} images of {build} are known, and a table has addresses of one without naming it")),
        })
    }
}

/// The kernel with a PDB.
fn with_pdb<'a>(registry: &'a Registry, wanted: &str) -> Result<&'a Seen, Error> {
    let parsed = wanted.rsplit_once('-').and_then(|(guid, age)| {
        let digits: String = guid.chars().filter(|c| !matches!(c, '{' | '}' | '-')).collect();
        let is_guid = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some((u128::from_str_radix(&digits, 16).ok().filter(|_| is_guid)?, age.parse::<u32>().ok()?))
    });
    let Some((guid, age)) = parsed else {
        let help = "write the 32 hexadecimal digits of its GUID, `-` and its age, as in 3177d310-00ba-7590-ded3-35936c93e374-1";
        return Err(format!("--pdb {wanted}: {help}").into());
    };
    let help = "`etw export offsets` lists them all; a PDB can be entered with `etw import`";
    Ok(by_pdb(registry, guid, age).ok_or_else(|| format!("--pdb {wanted}: no kernel with this PDB was seen; {help}"))?)
}

/// A kernel, and that symbols of its PDB state the addresses.
fn of_pdb(seen: &Seen) -> (&Seen, String) {
    let pdb = seen.pdb.as_ref().map(named).unwrap_or_default();
    (seen, format!("symbols of PDB {pdb}"))
}

/// A PDB as `--pdb` takes it.
fn named(pdb: &Pdb) -> String {
    format!("{}-{}", print::guid(pdb.guid), pdb.age)
}
