//! Metadata: layouts as data, and which target has which.

use super::Emitter;
use super::aggregate::Shown;
use super::names::{inner_name, unnamed};
use crate::axis::TargetSet;
use crate::layouts::{Aggregate, Field, Form, Type};
use std::fmt::Write;

impl Emitter<'_> {
    /// The description of a type.
    pub(super) fn described(&self, name: &str, shown: Shown, aggregate: &Aggregate, out: &mut String) {
        let (shown, of, places) = match shown {
            Shown::Structure(shown) => (shown, format!("members::{shown}"), self.places(shown, aggregate)),
            Shown::Member(shown) => (shown, "meta::UNNAMED".to_owned(), String::new()),
            Shown::Nothing => return,
        };
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let _ = write!(
            out,
            "\nruntime::described!({name}, Layout {{\n    name: \"{shown}\",\n    size: {size:#x},\n    align: {align},\n    members: &[\n"
        );
        self.meta_members(name, aggregate, 0, out);
        let _ = write!(out, "    ],\n    of: &{of},\n    places: &[{places}],\n}});\n");
    }

    fn meta_members(&self, name: &str, aggregate: &Aggregate, base: u64, out: &mut String) {
        let names = unnamed(&aggregate.fields);
        for (field, field_name) in aggregate.fields.iter().zip(&names) {
            let inner = inner_name(name, field_name);
            let offset = base + field.offset;
            match (&field.name, &field.ty) {
                (Some(member), _) => {
                    let c = field.ctype.as_ref().map(ToString::to_string).unwrap_or_default();
                    let bits = field.bits.map(|b| format!("({}, {})", b.position, b.width));
                    let new = bits.map_or(String::from("new("), |bits| format!("bits({bits}, "));
                    let ty = self.meta_type(field, &inner);
                    let _ = writeln!(out, "        Member::{new}\"{member}\", {offset:#04x}, {:#x}, \"{c}\", {ty}),", field.size);
                }
                (None, Type::Inline(unnamed)) => self.meta_members(&inner, unnamed, offset, out),
                (None, _) => {}
            }
        }
    }

    fn meta_type(&self, field: &Field, inner: &str) -> String {
        match (&field.values, &field.ty) {
            (Some(values), Type::Scalar { .. }) => format!("Type::Values(<{values} as Named>::VALUES)"),
            _ => self.meta_of(&field.ty, inner),
        }
    }

    fn meta_of(&self, ty: &Type, inner: &str) -> String {
        let described = |name: &str| format!("Type::Layout(<{name} as Described>::LAYOUT)");
        match ty {
            Type::Scalar { signed: true, .. } => "Type::Signed".into(),
            Type::Pointer { .. } => "Type::Pointer".into(),
            Type::Layout(id) if self.is_enumeration(*id) => {
                format!("Type::Values(<{} as Named>::VALUES)", self.type_name(*id))
            }
            Type::Layout(id) => described(&self.type_name(*id)),
            Type::Inline(_) => described(inner),
            Type::Array { of, .. } => {
                format!("Type::Array(&{}, {:#x})", self.meta_of(of, inner), self.size(of))
            }
            Type::Scalar { .. } | Type::Void | Type::Function | Type::Named(_) => "Type::Unsigned".into(),
        }
    }

    fn size(&self, ty: &Type) -> u64 {
        match ty {
            Type::Scalar { size, .. } | Type::Pointer { size, .. } => *size,
            Type::Array { of, count } => self.size(of) * count,
            Type::Layout(id) => self.layouts.layouts[*id].extent().size,
            Type::Inline(aggregate) => aggregate.extent.size,
            Type::Void | Type::Function | Type::Named(_) => 1,
        }
    }

    /// Every structure with its layouts.
    pub(super) fn structures(&self) -> String {
        let mut text = self.header("Every structure in all its layouts, to choose from by build and architecture at run time.");
        let _ =
            write!(text, "#[allow(unused_imports)]\nuse super::axis::AXIS;\n#[allow(unused_imports)]\nuse super::layouts::*;\n");
        let _ = write!(
            text,
            "#[allow(unused_imports)]\nuse {}::{{self as runtime, Described, meta::{{Entry, Structure}}}};\n",
            self.options.runtime
        );
        let mut all = Vec::new();
        for (name, definition) in &self.layouts.spec.definitions {
            let ids = (0..self.wanted.len()).filter(|&id| {
                let layout = &self.layouts.layouts[id];
                layout.name == *name && matches!(layout.form, Form::Aggregate(_)) && !self.wanted[id].is_empty()
            });
            let rows: Vec<_> = ids.map(|id| self.entry(id)).collect();
            if rows.is_empty() {
                continue;
            }
            all.push(name.as_str());
            let doc = super::docs::comment(if definition.doc.is_empty() { name } else { &definition.doc }, "");
            let _ = write!(
                text,
                "\n{doc}pub static {name}: Structure = Structure {{\n    name: \"{name}\",\n    axis: &AXIS,\n    entries: &[\n{}    ],\n}};\n",
                rows.concat()
            );
        }
        let _ = write!(text, "\n/// Every structure, by name.\npub static ALL: &[&Structure] = &[\n");
        for name in all {
            let _ = writeln!(text, "    &{name},");
        }
        text.push_str("];\n");
        text
    }

    fn entry(&self, id: usize) -> String {
        let list = |set: &TargetSet| set.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
        let verified = self.layouts.verifiable(id).intersection(&self.wanted[id]);
        format!(
            "        Entry {{\n            layout: {}::LAYOUT,\n            targets: &[{}],\n            verified: &[{}],\n        }},\n",
            self.type_name(id),
            list(&self.wanted[id]),
            list(&verified)
        )
    }

    /// The version axis.
    pub(super) fn axis(&self) -> String {
        let axis = &self.layouts.spec.axis;
        let mut text = self.header("The version axis.");
        let _ = write!(text, "use {}::meta::{{Arch, Axis, Build, Kernel}};\n\n", self.options.runtime);
        text.push_str("/// The kernels and targets, oldest first.\npub static AXIS: Axis = Axis {\n    kernels: &[\n");
        let build = |b: &crate::axis::Build| {
            let [major, minor, number] = b.number;
            format!("Build::new({major}, {minor}, {number}, {})", b.revision)
        };
        for kernel in &axis.kernels {
            let same: Vec<_> = kernel.same.iter().map(build).collect();
            let label = &axis.versions[kernel.version].label;
            let _ = writeln!(
                text,
                "        Kernel {{ build: {}, label: \"{label}\", same: &[{}] }},",
                build(&kernel.build),
                same.join(", ")
            );
        }
        text.push_str("    ],\n    targets: &[\n");
        for target in &axis.targets {
            let _ = writeln!(text, "        ({}, Arch::{}),", target.kernel, target.arch.to_string().to_uppercase());
        }
        text.push_str("    ],\n};\n");
        text
    }
}
