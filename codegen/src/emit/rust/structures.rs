//! The version axis, and the layout changes of each structure along it.

use super::Emitter;
use super::docs::comment;
use crate::axis::{Arch, Build};
use crate::layouts::{Form, LayoutId};
use crate::spec::Definition;
use std::fmt::Write;

impl Emitter<'_> {
    /// Every structure with its layouts.
    pub(super) fn structures(&self) -> String {
        let mut text = self.header("All layouts of each structure, which programs select by build and architecture at run time.");
        let _ = writeln!(text, "#[allow(unused_imports)]\nuse super::{{axis::AXIS, kernels::REGISTRY, layouts::*, members}};");
        let _ = writeln!(
            text,
            "#[allow(unused_imports)]\nuse {}::{{Arch::*, Build, Described, generated::structure, meta::{{Change, Structure}}}};",
            self.options.runtime
        );
        let mut all = Vec::new();
        for (name, definition) in &self.layouts.spec.definitions {
            let changes = self.changes(name);
            if changes.is_empty() {
                continue;
            }
            all.push(name.as_str());
            let holders = self.holders(name);
            let _ = write!(
                text,
                "\n{}{}pub static {name}: Structure<members::{name}::Type> = structure(\"{name}\", &AXIS, &REGISTRY, &[{holders}], &[\n{changes}]);\n",
                comment(&self.structure_doc(definition), ""),
                self.cfg(name),
            );
        }
        let _ = write!(text, "\n/// Every structure, by name.\npub static ALL: &[Structure] = &[\n");
        for name in all {
            let _ = writeln!(text, "    {}{name}.any(),", self.cfg(name));
        }
        text.push_str("];\n");
        text
    }

    fn structure_doc(&self, definition: &Definition) -> String {
        let name = &definition.name.value;
        let mut doc = if definition.doc.is_empty() { format!("`{name}`.") } else { definition.doc.clone() };
        for piece in &definition.unverifiable.0 {
            let scope = self.layouts.spec.axis.words(&piece.targets);
            let _ = match piece.targets == definition.scope {
                true => write!(doc, "\n\nNo public symbols verify it: {}.", piece.value),
                false => write!(doc, "\n\nNo public symbols verify it ({scope}): {}.", piece.value),
            };
        }
        doc
    }

    /// The builds at which the layout of a structure changes, one per line.
    fn changes(&self, name: &str) -> String {
        let axis = &self.layouts.spec.axis;
        let mut last: [Option<LayoutId>; Arch::ALL.len()] = Default::default();
        let mut text = String::new();
        for (at, target) in axis.targets.iter() {
            let id = self.layouts.by_target[at].get(name).copied();
            let id = id.filter(|&id| self.wanted[id].contains(at));
            let now = id.filter(|&id| matches!(self.layouts.layouts[id].form, Form::Aggregate(_)));
            let before = Arch::ALL.iter().zip(&mut last).find(|(arch, _)| **arch == target.arch).map(|(_, last)| last);
            let Some(before) = before.filter(|before| **before != now) else { continue };
            *before = now;
            let since = format!("{}, {}", build(&axis.kernels[target.kernel].build), variant(target.arch));
            // The trait is named, because a bit field called `LAYOUT` has an accessor with that name.
            let _ = match now {
                Some(id) => {
                    writeln!(text, "    Change::layout({since}, <{} as Described>::LAYOUT.layout()),", self.type_name(id))
                }
                None => writeln!(text, "    Change::none({since}),"),
            };
        }
        text
    }

    /// The witnesses that contain a structure, one bit each.
    fn holders(&self, name: &str) -> String {
        let words = self.options.registry.witnesses.chunks(64).map(|witnesses| {
            let holds = witnesses.iter().rev().map(|witness| u64::from(witness.holds.contains(name)));
            format!("{:#x}", holds.fold(0, |word, bit| word << 1 | bit))
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The version axis.
    pub(super) fn axis(&self) -> String {
        let axis = &self.layouts.spec.axis;
        let mut text = self.header("The version axis: the builds at which layouts change or a release begins.");
        let _ = write!(
            text,
            "#[allow(unused_imports)]\nuse {}::{{Arch::*, Build, generated::{{axis, kernel, update}}, meta::Axis}};\n\n",
            self.options.runtime
        );
        text.push_str("/// The builds, oldest first.\npub static AXIS: Axis = axis(\n    &[\n");
        for kernel in &axis.kernels {
            let version = &axis.versions[kernel.version];
            let list = |list: Vec<String>| list.join(", ");
            let _ = writeln!(
                text,
                "        kernel({}, {:?}, &[{}], &[{}]),",
                build(&kernel.build),
                version.label,
                list(kernel.architectures.iter().map(|arch| variant(*arch)).collect()),
                list(kernel.same.iter().map(build).collect())
            );
        }
        text.push_str("    ],\n    &[\n");
        for update in &axis.updates {
            let kernels: Vec<_> = update.kernels.iter().map(build).collect();
            let (name, kernels, without) = (&update.name, kernels.join(", "), &update.without);
            let architectures: Vec<_> = update.architectures.iter().flatten().map(|arch| variant(*arch)).collect();
            let _ = writeln!(text, "        update({name:?}, &[{kernels}], &{without:?}, &[{}]),", architectures.join(", "));
        }
        text.push_str("    ],\n);\n");
        text
    }
}

pub(super) fn build(build: &Build) -> String {
    let [major, minor, number] = build.number;
    format!("Build::new({major}, {minor}, {number}, {})", build.revision)
}

pub(super) fn variant(arch: Arch) -> String {
    format!("{arch:?}")
}
