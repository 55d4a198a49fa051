//! A module for each build, with Microsoft's names for its types.
//!
//! Types with the same targets are named once, in a private module, their set. Targets of an architecture that have most sets in common import
//! these through another private module, their block. The modules of targets do not import each other: in such a chain, the time that the
//! compiler needs to resolve a name doubles with each link.

use super::Emitter;
use super::docs::braced;
use super::modules::Module;
use super::names::{Taken, module};
use crate::axis::{Arch, TargetId};
use crate::layouts::LayoutId;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Types with the same targets.
struct Set {
    name: String,
    layouts: Vec<LayoutId>,
}

/// Consecutive targets of an architecture, and the sets that all of them have.
struct Block<'a> {
    name: String,
    targets: Vec<TargetId>,
    sets: Vec<&'a str>,
}

impl Emitter<'_> {
    pub(super) fn targets(&self) -> Module {
        let axis = &self.layouts.spec.axis;
        let mut taken = Taken::of(axis.revisions.iter().map(|revision| revision.module.clone()));
        let sets = self.sets(&mut taken);
        let blocks = self.blocks(&sets, &mut taken);
        let mut text = self.header("A module for each build, with a module for each of its architectures.");
        text.push_str(&self.macro_of_sets());
        for Set { name, layouts } in sets.values() {
            let types: Vec<_> = layouts.iter().map(|&id| self.in_set(id)).collect();
            let _ = writeln!(text, "{}", braced(&format!("{name} "), &types, 4));
        }
        text.push_str("}\n");
        for Block { name, sets, .. } in blocks.iter().filter(|block| !block.name.is_empty()) {
            let _ = writeln!(text, "\nmod {name} {{\n{};\n}}", globs("pub use super::", sets, 4));
        }
        // For each architecture, the path of the module where its types changed last, and its sets.
        let mut before: BTreeMap<Arch, (String, Vec<&str>)> = BTreeMap::new();
        for (number, revision) in axis.revisions.iter().enumerate() {
            let targets = axis.targets.iter().filter(|(_, target)| target.revision == number);
            let own = targets.map(|(id, target)| (id, target.arch, imported(&sets, id)));
            let own: Vec<_> = own.filter(|(_, _, sets)| !sets.is_empty()).collect();
            if own.is_empty() {
                continue;
            }
            let (name, release) = (axis.revision_name(number), &axis.releases[revision.release].name);
            let _ = writeln!(text, "\n/// {release}: the types of {name}.\npub mod {} {{", revision.module);
            for (id, arch, sets) in own {
                // The first build of an architecture that follows another one can have the same types as that one.
                let leader = axis.ranges.get(&arch).and_then(|leader| before.get(leader));
                match before.get(&arch).or(leader) {
                    Some((module, old)) if *old == sets => {
                        let alias = if module.ends_with(&format!("::{arch}")) { String::new() } else { format!(" as {arch}") };
                        let _ = writeln!(text, "    #[doc(inline)]\n    pub use super::{module}{alias};");
                    }
                    _ => {
                        let block = blocks.iter().find(|block| block.targets.contains(&id) && !block.name.is_empty());
                        let in_block = |set: &&str| block.is_some_and(|block| block.sets.contains(set));
                        let own = sets.iter().filter(|set| !in_block(set)).copied();
                        let uses: Vec<_> = block.map(|block| block.name.as_str()).into_iter().chain(own).collect();
                        let uses = globs("pub use super::super::", &uses, 8);
                        let _ = writeln!(text, "    /// The types of {name}, on {arch}.\n    pub mod {arch} {{\n{uses};\n    }}");
                        before.insert(arch, (format!("{}::{arch}", revision.module), sets));
                    }
                }
            }
            text.push_str("}\n");
        }
        Module::new("targets", text)
    }

    /// The macro that defines sets. A set has modules, each with its type and Microsoft's name, and with the features that include the type.
    fn macro_of_sets(&self) -> String {
        let cfg = if self.features.is_empty() { "" } else { "#[cfg(any($(feature = $feature),*))] " };
        format!(
            "macro_rules! sets {{\n    \
             ($($set:ident {{$($module:ident $type:ident $name:ident $($feature:literal)*),* $(,)?}})*) => {{$(\n        \
             mod $set {{ $({cfg}pub use super::super::layouts::$module::$type as $name;)* }}\n    )*}};\n}}\n\nsets! {{\n"
        )
    }

    /// A type in a set.
    fn in_set(&self, id: LayoutId) -> String {
        let name = &self.layouts.layouts[id].name;
        let features = self.features.get(name).into_iter().flatten().map(|feature| format!(" {feature:?}"));
        format!("{} {} {name}{}", module(name), self.type_name(id), features.collect::<String>())
    }

    /// The types, grouped by their targets. A set is named after its first type, so that a new build renames few sets.
    fn sets(&self, taken: &mut Taken) -> BTreeMap<Vec<TargetId>, Set> {
        let mut sets = BTreeMap::new();
        for name in self.layouts.spec.definitions.keys().filter(|name| !super::is_macros(&self.layouts.spec.definitions[*name])) {
            let own = self.layouts.layouts.iter().enumerate().filter(|(_, layout)| layout.name == *name);
            for (id, targets) in own.map(|(id, _)| (id, &self.wanted[id])).filter(|(_, targets)| !targets.is_empty()) {
                let new = || Set { name: taken.numbered(format!("with_{}", self.type_name(id))), layouts: Vec::new() };
                sets.entry(targets.iter().collect()).or_insert_with(new).layouts.push(id);
            }
        }
        sets
    }

    /// The blocks of targets. A block ends before a target with which its targets would have too few sets in common.
    fn blocks<'a>(&self, sets: &'a BTreeMap<Vec<TargetId>, Set>, taken: &mut Taken) -> Vec<Block<'a>> {
        let axis = &self.layouts.spec.axis;
        let mut blocks: Vec<Block> = Vec::new();
        for arch in Arch::ALL {
            let mut last: Option<Block> = None;
            for (id, _) in axis.targets.iter().filter(|(_, target)| target.arch == arch) {
                let own = imported(sets, id);
                let common = |block: &Block<'a>| own.iter().filter(|set| block.sets.contains(set)).copied().collect::<Vec<_>>();
                // Of three quarters, the lists of all targets of Windows together are shortest.
                match last.as_mut().map(|block| (common(block), block)) {
                    Some((common, block)) if common.len() * 4 >= own.len() * 3 => {
                        block.sets = common;
                        block.targets.push(id);
                    }
                    _ => {
                        blocks.extend(last.take());
                        last = Some(Block { name: String::new(), targets: vec![id], sets: own });
                    }
                }
            }
            blocks.extend(last);
        }
        // Targets with the same sets are one module, which needs no block.
        let differs = |block: &Block| block.targets.iter().any(|&id| imported(sets, id).len() > block.sets.len());
        for block in blocks.iter_mut().filter(|block| differs(block)) {
            let target = axis.targets[block.targets[0]];
            block.name = taken.numbered(format!("since_{}_{}", axis.revisions[target.revision].module, target.arch));
        }
        blocks
    }
}

/// Imports of all names of some modules.
fn globs(before: &str, modules: &[&str], indent: usize) -> String {
    braced(before, &modules.iter().map(|module| format!("{module}::*")).collect::<Vec<_>>(), indent)
}

/// The sets that a target imports.
fn imported(sets: &BTreeMap<Vec<TargetId>, Set>, target: TargetId) -> Vec<&str> {
    sets.iter().filter(|(targets, _)| targets.contains(&target)).map(|(_, set)| set.name.as_str()).collect()
}
