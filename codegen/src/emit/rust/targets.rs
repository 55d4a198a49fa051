//! A module for each build, with Microsoft's names for its types.
//!
//! Types with the same targets are named once, in a private module that each of these targets imports. The modules of targets do
//! not import each other: in such a chain, the time that the compiler needs to resolve a name doubles with each link.

use super::Emitter;
use super::docs::braced;
use super::modules::Module;
use super::names::Taken;
use crate::axis::{Arch, TargetId};
use crate::layouts::LayoutId;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Types with the same targets.
struct Set {
    name: String,
    layouts: Vec<LayoutId>,
}

impl Emitter<'_> {
    pub(super) fn targets(&self) -> Module {
        let sets = self.sets();
        let mut text = self.header("A module for each build, with a module for each of its architectures.");
        for Set { name, layouts } in sets.values() {
            let mut by_cfg: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for &id in layouts {
                let name = &self.layouts.layouts[id].name;
                by_cfg.entry(self.cfg(name)).or_default().push(format!("{} as {name}", self.type_name(id)));
            }
            let _ = writeln!(text, "mod {name} {{");
            for (cfg, types) in by_cfg {
                let types = braced("pub use super::super::layouts::", &types, 4);
                let _ = writeln!(text, "    {cfg}{};", types.trim_start());
            }
            text.push_str("}\n");
        }
        let axis = &self.layouts.spec.axis;
        // For each architecture, the path of the module where its types changed last, and its sets.
        let mut before: BTreeMap<Arch, (String, Vec<&str>)> = BTreeMap::new();
        for (number, kernel) in axis.kernels.iter().enumerate() {
            let targets = axis.targets.iter().filter(|(_, target)| target.kernel == number);
            let own = targets.map(|(id, target)| (target.arch, imported(&sets, id)));
            let own: Vec<_> = own.filter(|(_, sets)| !sets.is_empty()).collect();
            if own.is_empty() {
                continue;
            }
            let (name, release) = (axis.kernel_name(number), &axis.versions[kernel.version].release);
            let _ = writeln!(text, "\n/// {release}: the types of {name}.\npub mod {} {{", kernel.module);
            for (arch, sets) in own {
                // The first build of an architecture that follows another one can have the same types as that one.
                let leader = axis.follows.get(&arch).and_then(|leader| before.get(leader));
                match before.get(&arch).or(leader) {
                    Some((module, old)) if *old == sets => {
                        let alias = if module.ends_with(&format!("::{arch}")) { String::new() } else { format!(" as {arch}") };
                        let _ = writeln!(text, "    #[doc(inline)]\n    pub use super::{module}{alias};");
                    }
                    _ => {
                        let uses: Vec<_> = sets.iter().map(|set| format!("{set}::*")).collect();
                        let uses = braced("pub use super::super::", &uses, 8);
                        let _ = writeln!(text, "    /// The types of {name}, on {arch}.\n    pub mod {arch} {{\n{uses};\n    }}");
                        before.insert(arch, (format!("{}::{arch}", kernel.module), sets));
                    }
                }
            }
            text.push_str("}\n");
        }
        Module::new("targets", text)
    }

    /// The types, grouped by their targets. A set is named after its first type, so that a new build renames few sets.
    fn sets(&self) -> BTreeMap<Vec<TargetId>, Set> {
        let mut taken = Taken::of(self.layouts.spec.axis.kernels.iter().map(|kernel| kernel.module.clone()));
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
}

/// The sets that a target imports.
fn imported(sets: &BTreeMap<Vec<TargetId>, Set>, target: TargetId) -> Vec<&str> {
    sets.iter().filter(|(targets, _)| targets.contains(&target)).map(|(_, set)| set.name.as_str()).collect()
}
