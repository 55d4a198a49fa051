//! A module for each target, with Microsoft's names for the types as it has them.

use super::Emitter;
use super::modules::Module;
use std::fmt::Write;

impl Emitter<'_> {
    pub(super) fn targets(&self) -> Module {
        let axis = &self.layouts.spec.axis;
        let mut kernels = Vec::new();
        for (number, kernel) in axis.kernels.iter().enumerate() {
            let of = axis.targets.iter().enumerate().filter(|(_, target)| target.kernel == number);
            let modules: Vec<_> = of.map(|(index, _)| self.target(index)).filter(|text| !text.is_empty()).collect();
            if modules.is_empty() {
                continue;
            }
            let release = &axis.versions[kernel.version].release;
            let text = self.header(&format!("{release}: {}.", axis.kernel_name(number)));
            kernels.push(Module::new(&kernel.module, text + &modules.join("\n")));
        }
        let head = self.header("A module for each kernel, in it one for each architecture.");
        Module { modules: kernels, ..Module::new("targets", head) }
    }

    fn target(&self, index: usize) -> String {
        let axis = &self.layouts.spec.axis;
        let mut rows = String::new();
        for (name, &id) in &self.layouts.by_target[index] {
            let macros = super::is_macros(&self.layouts.spec.definitions[name]);
            if !macros && self.wanted[id].contains(index) {
                let _ = writeln!(rows, "        {} as {name},", self.type_name(id));
            }
        }
        if rows.is_empty() {
            return rows;
        }
        let arch = axis.targets[index].arch;
        format!(
            "/// {}.\npub mod {arch} {{\n    pub use super::super::super::layouts::{{\n{rows}    }};\n}}\n",
            axis.target_name(index)
        )
    }
}
