//! A module for each kernel, with Microsoft's names for the types as it has them.
//!
//! Each name comes straight from the module of the layouts: names passed on from kernel to kernel are a chain, and what the newest
//! compilers need to resolve one doubles with each link.

use super::Emitter;
use super::modules::Module;
use crate::axis::Arch;
use std::collections::BTreeMap;

/// What one name is in a module: Microsoft's name, and the type.
type Types<'a> = BTreeMap<&'a str, &'a str>;

impl Emitter<'_> {
    pub(super) fn targets(&self) -> Module {
        let axis = &self.layouts.spec.axis;
        let mut kernels = Vec::new();
        // For each architecture, the path of the module where its types changed last, and the types.
        let mut before: BTreeMap<Arch, (String, Types)> = BTreeMap::new();
        for (number, kernel) in axis.kernels.iter().enumerate() {
            let targets = axis.targets.iter().enumerate().filter(|(_, target)| target.kernel == number);
            let types = targets.map(|(index, target)| (target.arch, self.types(index)));
            let types: Vec<_> = types.filter(|(_, types)| !types.is_empty()).collect();
            if types.is_empty() {
                continue;
            }
            let (name, release) = (axis.kernel_name(number), &axis.versions[kernel.version].release);
            let text = self.header(&format!("{release}: the types of {name}."));
            let mut modules = Vec::new();
            for (arch, types) in types {
                // The first kernel of one that follows has what the other has there.
                let leader = axis.follows.get(&arch).and_then(|leader| before.get(leader));
                let old = before.get(&arch).or(leader);
                match old {
                    Some((module, old)) if *old == types => {
                        let alias = if module.ends_with(&format!("::{arch}")) { String::new() } else { format!(" as {arch}") };
                        modules.push(format!("#[doc(inline)]\npub use super::{module}{alias};\n"));
                    }
                    _ => {
                        let uses: String = types.iter().map(|(name, ty)| format!("        {ty} as {name},\n")).collect();
                        modules.push(format!("/// The types of {name}, on {arch}.\npub mod {arch} {{\n    pub use super::super::super::layouts::{{\n{uses}    }};\n}}\n"));
                        before.insert(arch, (format!("{}::{arch}", kernel.module), types));
                    }
                }
            }
            let text = text + &modules.join("\n");
            kernels.push(Module::new(&kernel.module, text));
        }
        let head = self.header("A module for each kernel, in it one for each architecture.");
        Module { modules: kernels, ..Module::new("targets", head) }
    }

    fn types(&self, target: usize) -> Types<'_> {
        let is_type = |name: &str| !super::is_macros(&self.layouts.spec.definitions[name]);
        let own = self.layouts.by_target[target].iter().filter(|(_, id)| self.wanted[**id].contains(target));
        own.filter(|(name, _)| is_type(name)).map(|(name, id)| (name.as_str(), self.type_name(*id))).collect()
    }
}
