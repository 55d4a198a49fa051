//! How generated items are called.

use super::Emitter;
use crate::layouts::{Field, Form, LayoutId, Type};
use crate::spec::Kind;

/// Words that are no names in Rust, or will not be.
pub const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
    "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Words that name something else where the modules of structures stand, or that no module can have.
const OTHERS: [&str; 7] = ["core", "crate", "members", "meta", "runtime", "self", "super"];

/// The module of a structure.
pub(super) fn module(name: &str) -> String {
    match name.to_ascii_lowercase() {
        name if KEYWORDS.contains(&name.as_str()) || OTHERS.contains(&name.as_str()) => format!("{name}_"),
        name => name,
    }
}

/// A member's name as Rust spells it.
pub(super) fn member(name: &str) -> String {
    match name {
        // These cannot be raw identifiers.
        "self" | "Self" | "super" | "crate" => format!("{name}_"),
        name if KEYWORDS.contains(&name) => format!("r#{name}"),
        name => name.to_owned(),
    }
}

impl Emitter<'_> {
    /// The type of a layout: Microsoft's name and the first target that has it.
    pub(super) fn type_name(&self, id: LayoutId) -> String {
        let layout = &self.layouts.layouts[id];
        let axis = &self.layouts.spec.axis;
        let Some(first) = layout.targets.iter().next() else { return layout.name.clone() };
        let target = axis.targets[first];
        let opens = axis.kernels.iter().position(|k| k.version == axis.kernels[target.kernel].version) == Some(target.kernel);
        let kernel = match opens {
            true => axis.versions[axis.kernels[target.kernel].version].label.clone(),
            false => axis.kernel_name(target.kernel),
        };
        let mut name = format!("{}_{kernel}", layout.name).replace(['.', '-'], "_");
        if layout.targets.iter().all(|t| axis.targets[t].arch == target.arch) {
            name.push_str(&format!("_{}", target.arch));
        }
        name
    }

    /// The Rust type of a value of `ty`; `inner` is the name of its unnamed type, if it has one.
    pub(super) fn rust_type(&self, ty: &Type, inner: &str) -> String {
        match ty {
            Type::Scalar { size, signed, .. } => format!("{}{}", if *signed { 'i' } else { 'u' }, size * 8),
            Type::Pointer { size, .. } => format!("runtime::Ptr{}", size * 8),
            Type::Array { of, count } => format!("[{}; {count}]", self.rust_type(of, inner)),
            Type::Layout(id) => self.type_name(*id),
            Type::Inline(_) => inner.to_owned(),
            Type::Void | Type::Function | Type::Named(_) => "u8".to_owned(),
        }
    }

    /// The Rust type of a member, its set of values in place of the integer.
    pub(super) fn field_type(&self, field: &Field, inner: &str) -> String {
        match (&field.values, &field.ty, field.bits) {
            (Some(values), Type::Scalar { .. }, None) => values.clone(),
            _ => self.rust_type(&field.ty, inner),
        }
    }

    /// The natural alignment of a type, which its Rust type never exceeds.
    pub(super) fn align(&self, ty: &Type) -> u64 {
        match ty.element() {
            Type::Scalar { size, .. } | Type::Pointer { size, .. } => *size,
            Type::Layout(id) => self.layouts.layouts[*id].extent().align,
            Type::Inline(aggregate) => aggregate.extent.align,
            _ => 1,
        }
    }

    /// Whether a layout is that of an enumeration.
    pub(super) fn is_enumeration(&self, id: LayoutId) -> bool {
        matches!(self.layouts.layouts[id].form, Form::Enumeration(_))
    }
}

/// The type of a member that is an unnamed structure or union.
pub(super) fn inner_name(parent: &str, member: &str) -> String {
    format!("{parent}_{}", member.trim_start_matches("r#"))
}

/// Names for the members of a structure that have none: `u20` is a union at offset 0x20.
pub(super) fn unnamed(fields: &[Field]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in fields {
        let name = match (&field.name, &field.ty) {
            (Some(name), _) => member(name),
            (None, Type::Inline(inner)) => {
                let letter = if inner.kind == Kind::Union { 'u' } else { 's' };
                let base = format!("{letter}{:02X}", field.offset);
                let taken = |name: &String| names.contains(name) || fields.iter().any(|f| f.name.as_ref() == Some(name));
                (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}_{n}") }).find(|n| !taken(n)).unwrap_or(base)
            }
            (None, _) => String::new(),
        };
        names.push(name);
    }
    names
}
