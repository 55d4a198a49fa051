//! The names of generated items.

use super::Emitter;
use crate::axis::{Arch, Axis, Target, TargetId, TargetSet};
use crate::layouts::{Aggregate, Field, Form, LayoutId, Layouts, Type};
use crate::spec::{KEYWORDS, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// Names that modules of structures cannot have: they mean something else in the same scope, or are not valid.
const OTHERS: [&str; 7] = ["core", "crate", "members", "meta", "runtime", "self", "super"];

/// Whether Windows treats a file with this name as a device. The name is in capitals, and can have any extension.
pub fn is_device(name: &str) -> bool {
    let port = name.strip_prefix("COM").or_else(|| name.strip_prefix("LPT"));
    ["CON", "PRN", "AUX", "NUL"].contains(&name)
        || port.is_some_and(|port| port.len() == 1 && port.as_bytes()[0].is_ascii_digit())
}

/// The module of a structure.
pub(super) fn module(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    // A name that already ends with an underscore gets another one.
    let word = name.trim_end_matches('_');
    if KEYWORDS.contains(&word) || OTHERS.contains(&word) || is_device(&word.to_ascii_uppercase()) {
        format!("{name}_")
    } else {
        name
    }
}

/// A member's name in Rust. The runtime can convert it back.
pub(super) fn member(name: &str) -> String {
    match name {
        // These cannot be raw identifiers. A name that already ends with an underscore gets another one.
        _ if ["self", "Self", "super", "crate"].contains(&name.trim_end_matches('_')) => format!("{name}_"),
        name if KEYWORDS.contains(&name) => format!("r#{name}"),
        name => name.to_owned(),
    }
}

/// The types that are generated, by name.
pub(super) struct Names {
    /// The name of each layout.
    layouts: Vec<String>,
    /// The distinct types of each unnamed part, by structure and path.
    parts: BTreeMap<(String, String), Vec<(Aggregate, String)>>,
}

impl Names {
    /// Types are named after the first build that has them, and after their architecture if there is only one. `REQ` since 1.1
    /// and `REQ_1` since 1 would get the same name, so the second one gets a longer name.
    pub fn new(layouts: &Layouts) -> Self {
        let macros = layouts.spec.definitions.iter().filter(|(_, definition)| super::is_macros(definition));
        let mut taken = Taken::of(macros.map(|(name, _)| name.clone()));
        let mut names = vec![String::new(); layouts.layouts.len()];
        let mut parts = BTreeMap::new();
        for name in layouts.spec.definitions.keys() {
            let own = layouts.layouts.iter().enumerate().filter(|(_, layout)| layout.name == *name);
            let mut found: BTreeMap<String, Vec<(&Aggregate, TargetSet)>> = BTreeMap::new();
            for (id, layout) in own {
                names[id] = name_since(&layouts.spec.axis, name, "", &layout.targets, &mut taken);
                if let Form::Aggregate(aggregate) = &layout.form {
                    find_parts("", aggregate, &layout.targets, &mut found);
                }
            }
            for (path, list) in found {
                let list = list.into_iter().map(|(aggregate, targets)| {
                    (aggregate.clone(), name_since(&layouts.spec.axis, name, &path, &targets, &mut taken))
                });
                let list = list.collect();
                parts.insert((name.clone(), path), list);
            }
        }
        Self { layouts: names, parts }
    }
}

/// The unnamed parts of a layout, each with the targets of all layouts that have it.
fn find_parts<'a>(
    path: &str,
    aggregate: &'a Aggregate,
    targets: &TargetSet,
    found: &mut BTreeMap<String, Vec<(&'a Aggregate, TargetSet)>>,
) {
    for (field, name) in aggregate.fields.iter().zip(unnamed(&aggregate.fields)) {
        let Type::Inline(part) = field.ty.element() else { continue };
        let path = join(path, &name);
        let list = found.entry(path.clone()).or_default();
        match list.iter_mut().find(|(same, _)| *same == &**part) {
            Some((_, all)) => *all = all.union(targets),
            None => list.push((part, targets.clone())),
        }
        find_parts(&path, part, targets, found);
    }
}

/// The path of a part within a part.
pub fn join(path: &str, name: &str) -> String {
    let name = name.trim_start_matches("r#");
    if path.is_empty() { name.to_owned() } else { format!("{path}_{name}") }
}

/// A name with the first build of the targets, and with the architecture if there is only one.
pub(super) fn name_since(axis: &Axis, structure: &str, path: &str, targets: &TargetSet, taken: &mut Taken) -> String {
    let Some(first) = targets.iter().next() else { return structure.to_owned() };
    let (revision, arch) = since(axis, first);
    let only = is_of(axis, targets, arch);
    let name = |arch: &str| {
        let path = if path.is_empty() { String::new() } else { format!("_{path}") };
        format!("{structure}_{}{arch}{path}", revision.replace(['.', '-'], "_"))
    };
    let (short, long) = (name(""), name(&format!("_{arch}")));
    // If two types begin at the same build, the architecture of the first target distinguishes them, even if a type has several
    // architectures later.
    let short_is_free = !only && !taken.has(&short);
    taken.numbered(if short_is_free { short } else { long })
}

/// The build of a target and its architecture. The first build of a release is named by the label of the release.
fn since(axis: &Axis, target: TargetId) -> (String, Arch) {
    let Target { revision, arch } = axis.targets[target];
    let release = axis.revisions[revision].release;
    let opens = axis.revisions.iter().position(|revision| revision.release == release) == Some(revision);
    (if opens { axis.releases[release].label().to_owned() } else { axis.revision_name(revision) }, arch)
}

/// Whether all targets have the same architecture. Architectures that follow the same one count as equal.
fn is_of(axis: &Axis, targets: &TargetSet, arch: Arch) -> bool {
    let leader = |arch: Arch| axis.ranges.get(&arch).copied().unwrap_or(arch);
    targets.iter().all(|target| leader(axis.targets[target].arch) == leader(arch))
}

/// Names that are taken.
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(|name| name.trim_start_matches("r#").to_owned()).collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Takes a name. If it is taken already, it gets underscores at its end.
    pub fn free(&mut self, mut name: String) -> String {
        while self.has(&name) {
            name.push('_');
        }
        self.0.insert(name.clone());
        name
    }

    /// Takes a name. If it is taken already, it gets a number at its end.
    pub fn numbered(&mut self, name: String) -> String {
        let free = |name: &String| !self.has(name);
        let new = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}_{n}") }).find(free);
        self.free(new.unwrap_or(name))
    }
}

impl Emitter<'_> {
    /// The type of a layout.
    pub(super) fn type_name(&self, id: LayoutId) -> &str {
        &self.names.layouts[id]
    }

    /// The type of an unnamed part.
    pub(super) fn part_name(&self, structure: &str, path: &str, part: &Aggregate) -> &str {
        let list = self.names.parts.get(&(structure.to_owned(), path.to_owned()));
        list.into_iter().flatten().find(|(same, _)| same == part).map_or("", |(_, name)| name)
    }

    /// The first build of the targets as text, with the architecture if there is only one.
    pub(super) fn since(&self, targets: &TargetSet) -> String {
        let axis = &self.layouts.spec.axis;
        let Some(first) = targets.iter().next() else { return String::new() };
        let (revision, arch) = since(axis, first);
        match is_of(axis, targets, arch) {
            true => format!("since {revision} on {arch}"),
            false => format!("since {revision}"),
        }
    }

    /// The Rust type of a value of `ty`; `inner` is the name of its unnamed type, if it has one.
    pub(super) fn rust_type(&self, ty: &Type, inner: &str) -> String {
        match ty {
            Type::Scalar { size, signed, .. } => format!("{}{}", if *signed { 'i' } else { 'u' }, size * 8),
            Type::Pointer { size, .. } => format!("runtime::Ptr{}", size * 8),
            Type::Array { of, count } => format!("[{}; {count}]", self.rust_type(of, inner)),
            Type::Layout(id) => self.type_name(*id).to_owned(),
            Type::Inline(_) => inner.to_owned(),
            Type::Void | Type::Function | Type::Named(_) => "u8".to_owned(),
        }
    }

    /// The Rust type of a member; its enumeration or flags replace the integer.
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

/// Names for the members of a structure that have none: `union_Flags` is a union that begins with `Flags`.
pub fn unnamed(fields: &[Field]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in fields {
        let name = match (&field.name, &field.ty) {
            (Some(name), _) => member(name),
            (None, Type::Inline(inner)) => {
                let kind = if inner.kind == Kind::Union { "union" } else { "struct" };
                let base = match inner.flat().first() {
                    Some(first) => format!("{kind}_{}", first.name),
                    None => format!("{kind}{:02X}", field.offset),
                };
                let taken = |name: &String| names.contains(name) || fields.iter().any(|f| f.name.as_ref() == Some(name));
                (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}_{n}") }).find(|n| !taken(n)).unwrap_or(base)
            }
            (None, _) => String::new(),
        };
        names.push(name);
    }
    names
}
