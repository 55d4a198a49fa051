//! The version axis and the examined builds of a table.

use super::sections::{Sections, number};
use crate::axis::{Arch, Axis, Build};
use crate::layouts::Layouts;
use crate::registry::{ExaminedBuild, FactsKind, Registry};
use etw_layouts_runtime::packed::format::{self, NONE};
use std::collections::BTreeMap;

/// Adds the version axis, and the examined builds with their files, their facts and the addresses of their global variables.
pub fn builds(layouts: &Layouts, registry: &Registry, out: &mut Sections) -> Result<(), String> {
    let axis = &layouts.spec.axis;
    let mut examined: Vec<_> = registry.builds.iter().map(|seen| (axis.canonical(seen.build), seen)).collect();
    examined.sort_by_key(|(build, seen)| (*build, seen.arch, seen.facts_file));
    let numbers = Numbers::new(axis, &examined, out)?;
    numbers.axis(axis, out)?;
    for name in layouts.spec.globals.keys() {
        let name = out.name(name);
        out.add(&format::Variable { name })?;
    }
    for facts_file in &registry.facts_files {
        let kind = match facts_file.kind {
            FactsKind::Symbols => 0,
            FactsKind::Converted => 1,
            FactsKind::Images => 2,
            other => return Err(format!("unknown kind of facts {other:?}: update the writer of tables")),
        };
        let name = out.name(&facts_file.name);
        out.add(&format::FactsFile { name, kind })?;
    }
    numbers.examined(&examined, out)
}

/// The index of each number of a build.
struct Numbers(BTreeMap<[u32; 3], u16>);

impl Numbers {
    fn new(axis: &Axis, examined: &[(Build, &ExaminedBuild)], out: &mut Sections) -> Result<Self, String> {
        let revisions = axis
            .revisions
            .iter()
            .flat_map(|revision| revision.shared.iter().map(|shared| &shared.build).chain([&revision.build]));
        let updates = axis.updates.iter().flat_map(|update| &update.revisions);
        let without = axis.updates.iter().flat_map(|update| &update.without).copied();
        let all = revisions.chain(updates).chain(examined.iter().map(|(build, _)| build)).map(|build| build.number);
        let mut numbers: BTreeMap<_, _> = all.chain(without).map(|number| (number, 0)).collect();
        for (index, (&[major, minor, build], own)) in numbers.iter_mut().enumerate() {
            out.add(&format::Number { major, minor, build })?;
            *own = number("builds", index)?;
        }
        Ok(Self(numbers))
    }

    fn axis(&self, axis: &Axis, out: &mut Sections) -> Result<(), String> {
        let mask = |architectures: &[Arch]| architectures.iter().fold(0, |mask, arch| mask | 1 << *arch as u8);
        for revision in &axis.revisions {
            let record = format::Revision {
                number: self.0[&revision.build.number],
                revision: revision.build.revision,
                label: out.name(axis.releases[revision.release].label()),
                architectures: mask(&revision.architectures),
                shared_count: number("builds with the kernel of another one", revision.shared.len())?,
                shared: self.list(revision.shared.iter().map(|shared| shared.build), out)?,
            };
            out.add(&record)?;
        }
        for update in &axis.updates {
            let without = update.without.iter().map(|&number| Build { number, revision: 0 });
            let record = format::Update {
                name: out.name(&update.name),
                architectures: mask(update.architectures.as_deref().unwrap_or_default()),
                revision_count: number("builds of an update", update.revisions.len())?,
                without_count: number("builds without an update", update.without.len())?,
                revisions: self.list(update.revisions.iter().copied().chain(without), out)?,
            };
            out.add(&record)?;
        }
        Ok(())
    }

    /// Adds a list of builds; returns the index of the first.
    fn list(&self, builds: impl Iterator<Item = Build>, out: &mut Sections) -> Result<u32, String> {
        let first = out.count::<format::Build>()?;
        for build in builds {
            out.add(&format::Build { number: self.0[&build.number], revision: build.revision })?;
        }
        Ok(first)
    }

    fn examined(&self, examined: &[(Build, &ExaminedBuild)], out: &mut Sections) -> Result<(), String> {
        let pdbs = sorted(examined, |seen| seen.pdb.as_ref().map(|pdb| (pdb.guid.as_u128(), pdb.age)));
        let images = sorted(examined, |seen| seen.image.as_ref().map(|image| (image.time_stamp, image.size)));
        let (mut pdb_of, mut image_of) = (vec![NONE; examined.len()], vec![NONE; examined.len()]);
        for ((guid, age), seen) in pdbs {
            let index = out.add(&format::Pdb { guid, age, seen: number("examined builds", seen)? })?;
            pdb_of[seen] = number("PDBs", index as usize)?;
        }
        for ((time_stamp, size), seen) in images {
            let index = out.add(&format::Image { time_stamp, size, seen: number("examined builds", seen)? })?;
            image_of[seen] = number("images", index as usize)?;
        }
        for ((build, seen), (pdb, image)) in examined.iter().zip(pdb_of.into_iter().zip(image_of)) {
            let globals = out.count::<format::Global>()?;
            for (name, &address) in &seen.globals {
                let address = u32::try_from(address).map_err(|_| format!("address {address:#x} of {name} exceeds 4 GB"))?;
                let name = out.name(name);
                out.add(&format::Global { name, address })?;
            }
            let record = format::ExaminedBuild {
                number: self.0[&build.number],
                revision: build.revision,
                arch: seen.arch as u8,
                global_count: number("global variables", seen.globals.len())?,
                globals,
                facts_file: number("facts files", seen.facts_file)?,
                pdb,
                image,
            };
            out.add(&record)?;
        }
        Ok(())
    }
}

/// The places of the builds that have a key, sorted by the key.
fn sorted<K: Ord>(examined: &[(Build, &ExaminedBuild)], key: impl Fn(&ExaminedBuild) -> Option<K>) -> Vec<(K, usize)> {
    let mut keyed: Vec<_> = examined.iter().enumerate().filter_map(|(place, (_, seen))| Some((key(seen)?, place))).collect();
    keyed.sort();
    keyed
}
