//! The walk over two definitions of one type.

use super::{Difference, Rule, Rules, Status, StructureReport, What};
use crate::model::{Aggregate, Enumeration, Integer, Member, Type, TypeFacts, Types};
use std::collections::BTreeMap;

/// Compares the type of a name.
pub(super) fn structure(name: &str, ours: &Types, theirs: &Types, rules: Rules) -> StructureReport {
    let mut walk = Walk { ours, rules, equal: 0, accepted: BTreeMap::new(), differences: Vec::new() };
    let status = match (ours.get(name), theirs.get(name)) {
        (Some(ours), Some(theirs)) => {
            walk.definition("", ours, theirs);
            if walk.differences.is_empty() { Status::Equal } else { Status::Differs }
        }
        _ => Status::Absent,
    };
    let Walk { equal, accepted, differences, .. } = walk;
    StructureReport { name: name.to_owned(), status, equal, accepted, differences }
}

struct Walk<'a> {
    ours: &'a Types,
    rules: Rules,
    equal: u64,
    accepted: BTreeMap<Rule, u64>,
    differences: Vec<Difference>,
}

/// How two facts agree.
enum Agreement {
    Exact,
    /// If the rules are those of a converted table.
    By(Rule),
    None,
}

impl From<bool> for Agreement {
    fn from(equal: bool) -> Agreement {
        if equal { Agreement::Exact } else { Agreement::None }
    }
}

impl Walk<'_> {
    /// Compares two definitions. `path` stands in front of the names of members, with a dot behind if it is not empty.
    fn definition(&mut self, path: &str, ours: &TypeFacts, theirs: &TypeFacts) {
        match (ours, theirs) {
            (TypeFacts::Aggregate(ours), TypeFacts::Aggregate(theirs)) => self.aggregate(path, ours, theirs),
            (TypeFacts::Enumeration(ours), TypeFacts::Enumeration(theirs)) => self.enumeration(path, ours, theirs),
            _ => self.kind(path, kind(ours), kind(theirs)),
        }
    }

    fn kind(&mut self, path: &str, ours: &str, theirs: &str) {
        self.differ(owner(path), What::Kind, ours.to_owned(), theirs.to_owned());
    }

    fn aggregate(&mut self, path: &str, ours: &Aggregate, theirs: &Aggregate) {
        // Of an unnamed type, the kind is part of the member's type.
        if path.is_empty() && ours.kind != theirs.kind {
            let agreement = if apart(ours) && apart(theirs) { Agreement::By(Rule::Kind) } else { false.into() };
            self.fact(agreement, "", What::Kind, || (ours.kind.as_str().to_owned(), theirs.kind.as_str().to_owned()));
        }
        self.fact((ours.size == theirs.size).into(), owner(path), What::Size, || {
            (format!("{:#x}", ours.size), format!("{:#x}", theirs.size))
        });
        let mut unmatched = BTreeMap::new();
        for member in &theirs.members {
            // No type has two members of a name; should a table have them, the second is one too many.
            if unmatched.contains_key(&member.name) {
                self.extra(path, member);
            } else {
                unmatched.insert(&member.name, member);
            }
        }
        for member in &ours.members {
            match unmatched.remove(&member.name) {
                Some(theirs) => self.member(&format!("{path}{}", member.name), member, theirs),
                None => self.differ(&format!("{path}{}", member.name), What::Missing, place(member), none()),
            }
        }
        let mut extra: Vec<_> = unmatched.into_values().collect();
        extra.sort_by_key(|member| member.offset);
        for member in extra {
            self.extra(path, member);
        }
    }

    fn extra(&mut self, path: &str, member: &Member) {
        self.differ(&format!("{path}{}", member.name), What::Extra, none(), place(member));
    }

    fn member(&mut self, path: &str, ours: &Member, theirs: &Member) {
        self.fact((ours.offset == theirs.offset).into(), path, What::Offset, || {
            (format!("{:#x}", ours.offset), format!("{:#x}", theirs.offset))
        });
        if !self.fact(agreement(&ours.ty, &theirs.ty), path, What::Type, || (ours.ty.to_string(), theirs.ty.to_string())) {
            return;
        }
        if let (Type::Bits { position, width, .. }, Type::Bits { position: p, width: w, .. }) = (&ours.ty, &theirs.ty) {
            self.fact(((position, width) == (p, w)).into(), path, What::Bits, || (ours.ty.to_string(), theirs.ty.to_string()));
        }
        if let (Some(ours), Some(theirs)) = (content(&ours.ty, Some(self.ours)), content(&theirs.ty, None)) {
            self.definition(&format!("{path}."), ours, theirs);
        }
    }

    fn enumeration(&mut self, path: &str, ours: &Enumeration, theirs: &Enumeration) {
        let integer = |of: &Enumeration| format!("{} bytes, {}", of.size, if of.signed { "signed" } else { "unsigned" });
        let equal = (ours.size, ours.signed) == (theirs.size, theirs.signed);
        self.fact(equal.into(), owner(path), What::Size, || (integer(ours), integer(theirs)));
        let mut unmatched: BTreeMap<_, _> = theirs.constants.iter().map(|(name, value)| (name, value)).collect();
        for (name, value) in &ours.constants {
            let found = unmatched.remove(name);
            let shared = found.is_none() && theirs.constants.iter().any(|(_, other)| other == value);
            let agreement = if shared { Agreement::By(Rule::SharedValue) } else { (found == Some(value)).into() };
            self.fact(agreement, &format!("{path}{name}"), What::Constant, || {
                (value.to_string(), found.map_or_else(none, i64::to_string))
            });
        }
        for (name, value) in unmatched {
            self.differ(&format!("{path}{name}"), What::Constant, none(), value.to_string());
        }
    }

    /// Counts a fact, and returns whether it agrees. `spellings` gives ours and the table's.
    fn fact(&mut self, agreement: Agreement, member: &str, what: What, spellings: impl FnOnce() -> (String, String)) -> bool {
        match agreement {
            Agreement::Exact => self.equal += 1,
            Agreement::By(rule) if self.rules == Rules::Converted => *self.accepted.entry(rule).or_default() += 1,
            _ => {
                let (spec, symbols) = spellings();
                self.differ(member, what, spec, symbols);
                return false;
            }
        }
        true
    }

    fn differ(&mut self, member: &str, what: What, spec: String, symbols: String) {
        self.differences.push(Difference { member: member.to_owned(), what, spec, symbols });
    }
}

/// Whether the type of a member of ours is what the table says, apart from bit positions and the content of unnamed types.
fn agreement(ours: &Type, theirs: &Type) -> Agreement {
    match (ours, theirs) {
        (Type::Pointer(ours), Type::Pointer(theirs)) => pointee(ours, theirs),
        (Type::Array(ours, count), Type::Array(theirs, n)) if count == n => agreement(ours, theirs),
        (Type::Bits { unit: ours, .. }, Type::Bits { unit: theirs, .. }) => agreement(ours, theirs),
        (Type::Integer(Integer::Char), Type::Integer(Integer::UnsignedChar)) => Agreement::By(Rule::Char),
        (Type::Integer(Integer::UnsignedInt), Type::Integer(Integer::UnsignedLong)) => Agreement::By(Rule::Int),
        (Type::Unnamed(ours), Type::Unnamed(theirs)) => match (&**ours, &**theirs) {
            (TypeFacts::Aggregate(ours), TypeFacts::Aggregate(theirs)) if ours.kind != theirs.kind => Agreement::By(Rule::Kind),
            (ours, theirs) => (kind(ours) == kind(theirs)).into(),
        },
        (Type::Enumeration(_), Type::Unnamed(theirs)) if matches!(**theirs, TypeFacts::Enumeration(_)) => {
            Agreement::By(Rule::EnumerationName)
        }
        _ => (ours == theirs).into(),
    }
}

fn pointee(ours: &Type, theirs: &Type) -> Agreement {
    match (ours, theirs) {
        (Type::Function, Type::Void) => Agreement::By(Rule::FunctionPointer),
        // What we point to need not have a definition, so ours need not know which of the two it is.
        (Type::Aggregate(ours) | Type::Enumeration(ours), Type::Aggregate(theirs) | Type::Enumeration(theirs)) => {
            (ours == theirs).into()
        }
        (Type::Unnamed(_) | Type::Opaque, Type::Unnamed(_) | Type::Opaque) => Agreement::Exact,
        _ => agreement(ours, theirs),
    }
}

/// What a type holds by value without the table naming it. `named` are the enumerations that may have lost their names.
fn content<'t>(ty: &'t Type, named: Option<&'t Types>) -> Option<&'t TypeFacts> {
    match ty {
        Type::Unnamed(definition) => Some(definition),
        Type::Enumeration(name) => named?.get(name),
        Type::Array(inner, _) | Type::Bits { unit: inner, .. } => content(inner, named),
        _ => None,
    }
}

/// Whether no two members are at one offset, so that offsets do not tell a structure from a union. Readers sort members by offset.
fn apart(aggregate: &Aggregate) -> bool {
    aggregate.members.windows(2).all(|pair| pair[0].offset != pair[1].offset)
}

fn kind(definition: &TypeFacts) -> &'static str {
    match definition {
        TypeFacts::Aggregate(aggregate) => aggregate.kind.as_str(),
        TypeFacts::Enumeration(_) => "enum",
    }
}

/// The member to which a path leads that ends in a dot.
fn owner(path: &str) -> &str {
    path.strip_suffix('.').unwrap_or(path)
}

fn place(member: &Member) -> String {
    format!("{} at offset {:#x}", member.ty, member.offset)
}

fn none() -> String {
    "none".to_owned()
}
