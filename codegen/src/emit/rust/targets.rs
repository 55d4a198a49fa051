//! A module for each kernel, with Microsoft's names for the types as it has them: those of the kernel before, but for what changed.

use super::Emitter;
use super::modules::Module;
use crate::axis::Arch;
use std::collections::BTreeMap;
use std::fmt::Write;

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
                        let uses = uses(old, &types);
                        modules.push(format!("/// The types of {name}, on {arch}.\npub mod {arch} {{\n{uses}}}\n"));
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

/// What differs from the kernel before stands before what it has of it.
fn uses(before: Option<&(String, Types)>, types: &Types) -> String {
    let mut text = String::new();
    let is_kept = |name: &str, ty: &str| before.is_some_and(|(_, before)| before.get(name) == Some(&ty));
    let changed: Vec<_> = types.iter().filter(|(name, ty)| !is_kept(name, ty)).collect();
    if !changed.is_empty() {
        text.push_str("    pub use super::super::super::layouts::{\n");
        for (name, ty) in changed {
            let _ = writeln!(text, "        {ty} as {name},");
        }
        text.push_str("    };\n");
    }
    let Some((module, _)) = before else { return text };
    // By name: rustdoc would show what a name hides of those that come with a star.
    let mut kept = types.iter().filter(|(name, ty)| is_kept(name, ty)).map(|(name, _)| *name).peekable();
    if kept.peek().is_none() {
        return text;
    }
    let _ = writeln!(text, "    pub use super::super::{module}::{{");
    while let Some(name) = kept.next() {
        let mut line = format!("        {name},");
        while let Some(next) = kept.next_if(|next| line.len() + next.len() < 118) {
            let _ = write!(line, " {next},");
        }
        let _ = writeln!(text, "{line}");
    }
    text.push_str("    };\n");
    text
}
