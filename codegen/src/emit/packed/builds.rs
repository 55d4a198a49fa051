//! The version axis and the examined builds of a table.

use super::sections::{Sections, number};
use crate::axis::{Arch, Axis, Build};
use crate::layouts::Layouts;
use crate::registry::{Registry, Seen, WitnessKind};
use etw_layouts_runtime::packed::format::{self, NONE};
use std::collections::BTreeMap;

/// Adds the version axis, and the examined builds with their files, their facts and the addresses of their global variables.
pub fn builds(layouts: &Layouts, registry: &Registry, out: &mut Sections) -> Result<(), String> {
    let axis = &layouts.spec.axis;
    let mut examined: Vec<_> = registry.kernels.iter().map(|seen| (axis.canonical(seen.build), seen)).collect();
    examined.sort_by_key(|(build, seen)| (*build, seen.arch, seen.witness));
    let numbers = Numbers::new(axis, &examined, out)?;
    numbers.axis(axis, out)?;
    for name in layouts.spec.globals.keys() {
        let name = out.name(name);
        out.add(&format::Variable { name })?;
    }
    for witness in &registry.witnesses {
        let kind = match witness.kind {
            WitnessKind::Symbols => 0,
            WitnessKind::Converted => 1,
            WitnessKind::Images => 2,
            other => return Err(format!("unknown kind of facts {other:?}: update the writer of tables")),
        };
        let name = out.name(&witness.name);
        out.add(&format::Witness { name, kind })?;
    }
    numbers.examined(&examined, out)
}

/// The index of each number of a build.
struct Numbers(BTreeMap<[u32; 3], u16>);

impl Numbers {
    fn new(axis: &Axis, examined: &[(Build, &Seen)], out: &mut Sections) -> Result<Self, String> {
        let kernels = axis.kernels.iter().flat_map(|kernel| kernel.same.iter().chain([&kernel.build]));
        let updates = axis.updates.iter().flat_map(|update| &update.kernels);
        let without = axis.updates.iter().flat_map(|update| &update.without).copied();
        let all = kernels.chain(updates).chain(examined.iter().map(|(build, _)| build)).map(|build| build.number);
        let mut numbers: BTreeMap<_, _> = all.chain(without).map(|number| (number, 0)).collect();
        for (index, (&[major, minor, build], own)) in numbers.iter_mut().enumerate() {
            out.add(&format::Number { major, minor, build })?;
            *own = number("builds", index)?;
        }
        Ok(Self(numbers))
    }

    fn axis(&self, axis: &Axis, out: &mut Sections) -> Result<(), String> {
        let mask = |architectures: &[Arch]| architectures.iter().fold(0, |mask, arch| mask | 1 << *arch as u8);
        for kernel in &axis.kernels {
            let record = format::Kernel {
                number: self.0[&kernel.build.number],
                revision: kernel.build.revision,
                label: out.name(&axis.versions[kernel.version].label),
                architectures: mask(&kernel.architectures),
                same_count: number("identical builds", kernel.same.len())?,
                same: self.list(kernel.same.iter().copied(), out)?,
            };
            out.add(&record)?;
        }
        for update in &axis.updates {
            let without = update.without.iter().map(|&number| Build { number, revision: 0 });
            let record = format::Update {
                name: out.name(&update.name),
                architectures: mask(update.architectures.as_deref().unwrap_or_default()),
                kernel_count: number("builds of an update", update.kernels.len())?,
                without_count: number("builds without an update", update.without.len())?,
                kernels: self.list(update.kernels.iter().copied().chain(without), out)?,
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

    fn examined(&self, examined: &[(Build, &Seen)], out: &mut Sections) -> Result<(), String> {
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
            let record = format::Seen {
                number: self.0[&build.number],
                revision: build.revision,
                arch: seen.arch as u8,
                global_count: number("global variables", seen.globals.len())?,
                globals,
                witness: number("sets of facts", seen.witness)?,
                pdb,
                image,
            };
            out.add(&record)?;
        }
        Ok(())
    }
}

/// The places of the builds that have a key, sorted by the key.
fn sorted<K: Ord>(examined: &[(Build, &Seen)], key: impl Fn(&Seen) -> Option<K>) -> Vec<(K, usize)> {
    let mut keyed: Vec<_> = examined.iter().enumerate().filter_map(|(place, (_, seen))| Some((key(seen)?, place))).collect();
    keyed.sort();
    keyed
}
