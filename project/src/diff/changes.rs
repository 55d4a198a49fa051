//! The differences between two sides, fact by fact.

use super::Side;
use etw_layouts_symbols::compare::{Difference, DifferenceKind, Status};
use etw_layouts_symbols::{Aggregate, Rules, Type, TypeFacts, Types, compare};
use serde::Serialize;
use std::collections::BTreeSet;

/// All differences. A member that moved and changed its type is in both lists.
#[derive(Debug, Default, Serialize)]
pub struct Changes {
    /// Members that only B has, including all members of structures that only B has.
    pub added: Vec<Entry>,
    /// Members that only A has, including all members of structures that only A has.
    pub removed: Vec<Entry>,
    /// Members with different offsets.
    pub moved: Vec<Entry>,
    /// Members with different types or, between architectures, with the same type and different sizes.
    pub retyped: Vec<Entry>,
    /// Bit fields with different widths or positions, and members that are bit fields on one side only.
    pub bits: Vec<Entry>,
    /// Constants that one side lacks, or that have different values.
    pub constants: Vec<Entry>,
    /// Structures with different sizes, and structures that one side lacks.
    pub sizes: Vec<Entry>,
}

/// A difference.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The structure or enumeration.
    pub structure: String,
    /// The member or constant, after the names of the enclosing members, as in `u.LowPart`; `None` for the structure itself.
    pub member: Option<String>,
    /// The fact of A.
    pub a: Option<SideFact>,
    /// The fact of B.
    pub b: Option<SideFact>,
}

/// A fact of one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SideFact {
    /// A member.
    Member {
        /// Bytes from the start of the structure.
        offset: u64,
        /// Its type.
        r#type: String,
        /// For a bit field, its lowest bit within the unit.
        bit: Option<u32>,
        /// For a bit field, its width.
        bits: Option<u32>,
        /// Its size in bytes, if it is or contains pointers whose size differs between the sides.
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
    /// A constant.
    Constant {
        /// Its value.
        value: i64,
    },
    /// A structure, union or enumeration.
    Whole {
        /// Bytes.
        size: u64,
        /// `struct`, `union`, `enum`, or `unsigned enum`.
        kind: &'static str,
    },
}

/// Compares two sides.
pub fn changes(a: &Side, b: &Side) -> Changes {
    let mut found = Changes::default();
    // Compare by the rules of the side that was converted, if one was.
    let swap = a.rules == Rules::Converted && b.rules == Rules::Faithful;
    let (first, second) = if swap { (b, a) } else { (a, b) };
    for report in compare(&first.types, &second.types, second.rules) {
        if report.status != Status::Absent {
            report.differences.iter().for_each(|difference| found.difference(a, b, &report.name, difference));
        }
    }
    if a.pointer != b.pointer {
        let known = found.retyped.iter().map(|entry| (entry.structure.clone(), entry.member.clone())).collect();
        a.types.iter().for_each(|(name, definition)| found.resized([a, b], &known, [name, ""], definition));
    }
    for name in a.types.keys().filter(|name| !b.types.contains_key(*name)) {
        found.whole(a, b, name);
    }
    for name in b.types.keys().filter(|name| !a.types.contains_key(*name)) {
        found.whole(a, b, name);
    }
    found
}

impl Changes {
    /// The structures and enumerations that differ.
    pub fn structures(&self) -> BTreeSet<&str> {
        self.lists().iter().flat_map(|(_, list)| *list).map(|entry| entry.structure.as_str()).collect()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|(_, list)| list.is_empty())
    }

    /// Keeps only the differences of these structures.
    pub fn of_structures(&mut self, names: &[&str]) {
        let Self { added, removed, moved, retyped, bits, constants, sizes } = self;
        for list in [added, removed, moved, retyped, bits, constants, sizes] {
            list.retain(|entry| names.contains(&entry.structure.as_str()));
        }
    }

    /// Keeps only the differences of a member and of the members that it encloses.
    pub fn of_member(&mut self, member: &str) {
        let Self { added, removed, moved, retyped, bits, constants, sizes } = self;
        let is_of = |path: &str| path.strip_prefix(member).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        for list in [added, removed, moved, retyped, bits, constants, sizes] {
            list.retain(|entry| entry.member.as_deref().is_some_and(is_of));
        }
    }

    /// Each list with its name.
    pub fn lists(&self) -> [(&'static str, &[Entry]); 7] {
        let Self { added, removed, moved, retyped, bits, constants, sizes } = self;
        [
            ("added", added),
            ("removed", removed),
            ("moved", moved),
            ("retyped", retyped),
            ("bits", bits),
            ("constants", constants),
            ("sizes", sizes),
        ]
    }

    fn difference(&mut self, a: &Side, b: &Side, structure: &str, difference: &Difference) {
        let path = difference.member.as_str();
        let (there, here) = (a.find(structure, path), b.find(structure, path));
        let entry = between(a, b, structure, path);
        match difference.kind {
            DifferenceKind::Constant => self.constants.push(entry),
            DifferenceKind::Size if path.is_empty() => self.sizes.push(entry),
            DifferenceKind::Offset => self.moved.push(entry),
            DifferenceKind::Bits => self.bits.push(entry),
            DifferenceKind::Missing | DifferenceKind::Extra if entry.a.is_none() => self.added.push(entry),
            DifferenceKind::Missing | DifferenceKind::Extra => self.removed.push(entry),
            DifferenceKind::Kind | DifferenceKind::Size => self.retyped.push(entry),
            DifferenceKind::Type => {
                let bits = |fact: &Option<SideFact>| match fact {
                    Some(SideFact::Member { bit, bits, .. }) => (*bit, *bits),
                    _ => (None, None),
                };
                let unit = |found: Option<Found>| found.and_then(Found::unit).cloned();
                let other_bits = bits(&entry.a) != bits(&entry.b);
                if other_bits {
                    self.bits.push(entry.clone());
                }
                // A member that only became a bit field has kept its type.
                if !other_bits || unit(there) != unit(here) {
                    self.retyped.push(entry);
                }
            }
        }
    }

    /// Adds members that differ only in size, because the pointer size differs: symbol files spell their types the same way.
    fn resized(&mut self, [a, b]: [&Side; 2], known: &BTreeSet<MemberOf>, [structure, path]: [&str; 2], definition: &TypeFacts) {
        let TypeFacts::Aggregate(aggregate) = definition else { return };
        for member in &aggregate.members {
            let path = format!("{path}{}", member.name);
            if let Some(inner) = content(&member.ty, &Types::new()) {
                self.resized([a, b], known, [structure, &format!("{path}.")], inner);
            } else if !known.contains(&(structure.to_owned(), Some(path.clone()))) {
                let entry = between(a, b, structure, &path);
                if matches!(entry.a, Some(SideFact::Member { size: Some(_), .. })) {
                    self.retyped.push(entry);
                }
            }
        }
    }

    /// Adds a structure that one side lacks, with its members or constants.
    fn whole(&mut self, a: &Side, b: &Side, structure: &str) {
        let removed = a.types.contains_key(structure);
        let (has, members) = if removed { (a, &mut self.removed) } else { (b, &mut self.added) };
        let Some(definition) = has.types.get(structure) else { return };
        let entry = |path: &str, found: Found| {
            let fact = Some(found.fact(has, structure, path));
            let (a, b) = if removed { (fact, None) } else { (None, fact) };
            entry(structure, path, a, b)
        };
        match definition {
            TypeFacts::Aggregate(Aggregate { members: all, .. }) => {
                members.extend(all.iter().map(|member| entry(&member.name, Found::Member(member.offset, &member.ty))));
            }
            TypeFacts::Enumeration(all) => {
                self.constants.extend(all.constants.iter().map(|(name, value)| entry(name, Found::Constant(*value))));
            }
        }
        self.sizes.push(entry("", Found::Whole(definition)));
    }
}

/// A structure and a member of it.
type MemberOf = (String, Option<String>);

/// The facts of both sides at a path.
fn between(a: &Side, b: &Side, structure: &str, path: &str) -> Entry {
    let found = [a, b].map(|side| side.find(structure, path).map(|found| (found, found.fact(side, structure, path))));
    let size = |side: &Side, found: &Option<(Found, SideFact)>| match found {
        Some((Found::Member(_, ty), _)) => side.size(ty),
        _ => None,
    };
    let sizes = [size(a, &found[0]), size(b, &found[1])];
    let differ = a.pointer != b.pointer && sizes[0] != sizes[1] && sizes.iter().all(Option::is_some);
    let mut facts = found.into_iter().zip(sizes).map(|(found, bytes)| match found {
        Some((_, SideFact::Member { offset, r#type, bit, bits, .. })) if differ => {
            Some(SideFact::Member { offset, r#type, bit, bits, size: bytes })
        }
        other => other.map(|(_, fact)| fact),
    });
    entry(structure, path, facts.next().flatten(), facts.next().flatten())
}

fn entry(structure: &str, path: &str, a: Option<SideFact>, b: Option<SideFact>) -> Entry {
    let member = (!path.is_empty()).then(|| path.to_owned());
    Entry { structure: structure.to_owned(), member, a, b }
}

/// The item at a path.
#[derive(Clone, Copy)]
enum Found<'a> {
    /// A member, at an offset from the start of the structure.
    Member(u64, &'a Type),
    Constant(i64),
    Whole(&'a TypeFacts),
}

impl Side {
    /// The item at a path within a structure.
    fn find(&self, structure: &str, path: &str) -> Option<Found<'_>> {
        let mut definition = self.types.get(structure)?;
        let mut found = Found::Whole(definition);
        let mut base = 0;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            if let Found::Member(offset, ty) = found {
                (base, definition) = (offset, content(ty, &self.types)?);
            }
            found = match definition {
                TypeFacts::Aggregate(aggregate) => {
                    let member = aggregate.members.iter().find(|member| member.name == part)?;
                    Found::Member(member.offset.saturating_add(base), &member.ty)
                }
                TypeFacts::Enumeration(all) => Found::Constant(all.constants.iter().find(|(name, _)| name == part)?.1),
            };
        }
        Some(found)
    }
}

impl Side {
    /// The size in bytes of a pointer, a structure, or an array of them; `None` for other types.
    fn size(&self, ty: &Type) -> Option<u64> {
        match ty {
            Type::Pointer(_) => Some(self.pointer),
            Type::Array(of, count) => self.size(of)?.checked_mul(*count),
            Type::Aggregate(name) => match self.types.get(name)? {
                TypeFacts::Aggregate(aggregate) => Some(aggregate.size),
                TypeFacts::Enumeration(_) => None,
            },
            _ => None,
        }
    }
}

/// The definition of an embedded type whose members or constants can be part of a path.
fn content<'a>(ty: &'a Type, types: &'a Types) -> Option<&'a TypeFacts> {
    match ty {
        Type::Unnamed(definition) => Some(definition),
        Type::Enumeration(name) => types.get(name),
        Type::Array(inner, _) | Type::Bits { unit: inner, .. } => content(inner, types),
        _ => None,
    }
}

impl<'a> Found<'a> {
    fn fact(self, side: &Side, structure: &str, path: &str) -> SideFact {
        match self {
            Self::Constant(value) => SideFact::Constant { value },
            Self::Whole(TypeFacts::Aggregate(all)) => SideFact::Whole { size: all.size, kind: all.kind.as_str() },
            Self::Whole(TypeFacts::Enumeration(all)) => {
                SideFact::Whole { size: all.size, kind: if all.signed { "enum" } else { "unsigned enum" } }
            }
            Self::Member(offset, ty) => {
                let (bit, bits) = match ty {
                    Type::Bits { position, width, .. } => (Some(*position), Some(*width)),
                    _ => (None, None),
                };
                let spelled = side.c_types.get(structure).and_then(|members| members.get(path)).cloned();
                let r#type = spelled.unwrap_or_else(|| self.unit().map(Type::to_string).unwrap_or_default());
                SideFact::Member { offset, r#type, bit, bits, size: None }
            }
        }
    }

    /// The type of a member; for a bit field, the type of its unit.
    fn unit(self) -> Option<&'a Type> {
        match self {
            Self::Member(_, Type::Bits { unit, .. }) => Some(unit),
            Self::Member(_, ty) => Some(ty),
            _ => None,
        }
    }
}
