//! Comparison of two definitions of one type.

use super::{Difference, DifferenceKind, Rule, Rules, Status, StructureReport};
use crate::model::{Aggregate, Enumeration, Integer, Member, Type, TypeFacts, Types};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Compares the types with a name. `named` are the enumerations of the definitions that may have lost their names.
pub(super) fn structure(
    name: &str,
    ours: &TypeFacts,
    theirs: Option<&TypeFacts>,
    named: &Types,
    rules: Rules,
) -> StructureReport {
    let mut walk = Walk { named, rules, equal: 0, accepted: BTreeMap::new(), differences: Vec::new() };
    let status = match theirs {
        Some(theirs) => {
            walk.definition(Path::Type, ours, theirs);
            if walk.differences.is_empty() { Status::Equal } else { Status::Differs }
        }
        None => Status::Absent,
    };
    let Walk { equal, accepted, differences, .. } = walk;
    StructureReport { name: name.to_owned(), status, equal, accepted, differences }
}

struct Walk<'a> {
    named: &'a Types,
    rules: Rules,
    equal: u64,
    accepted: BTreeMap<Rule, u64>,
    differences: Vec<Difference>,
}

/// The path to a fact, formatted only if the fact differs.
#[derive(Clone, Copy)]
enum Path<'a> {
    /// The type itself.
    Type,
    /// A member or constant, within the path of its parent.
    Member(&'a Path<'a>, &'a str),
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Path::Type => Ok(()),
            Path::Member(Path::Type, name) => f.write_str(name),
            Path::Member(outer, name) => write!(f, "{outer}.{name}"),
        }
    }
}

/// Result of comparing two facts.
enum Agreement {
    Exact,
    /// Equal under the rules for a converted table.
    By(Rule),
    None,
}

impl From<bool> for Agreement {
    fn from(equal: bool) -> Agreement {
        if equal { Agreement::Exact } else { Agreement::None }
    }
}

impl Walk<'_> {
    fn definition(&mut self, path: Path<'_>, ours: &TypeFacts, theirs: &TypeFacts) {
        match (ours, theirs) {
            (TypeFacts::Aggregate(ours), TypeFacts::Aggregate(theirs)) => self.aggregate(path, ours, theirs),
            (TypeFacts::Enumeration(ours), TypeFacts::Enumeration(theirs)) => self.enumeration(path, ours, theirs),
            _ => self.differ(path, DifferenceKind::Kind, kind(ours).to_owned(), kind(theirs).to_owned()),
        }
    }

    fn aggregate(&mut self, path: Path<'_>, ours: &Aggregate, theirs: &Aggregate) {
        // The kind of an unnamed type is part of the member's type.
        if matches!(path, Path::Type) && ours.kind != theirs.kind {
            let agreement = if apart(ours) && apart(theirs) { Agreement::By(Rule::Kind) } else { false.into() };
            self.fact(agreement, path, DifferenceKind::Kind, || (ours.kind.as_str().to_owned(), theirs.kind.as_str().to_owned()));
        }
        self.fact((ours.size == theirs.size).into(), path, DifferenceKind::Size, || {
            (format!("{:#x}", ours.size), format!("{:#x}", theirs.size))
        });
        if paired(ours.members.iter().map(|member| &member.name), theirs.members.iter().map(|member| &member.name)) {
            for (ours, theirs) in ours.members.iter().zip(&theirs.members) {
                self.member(Path::Member(&path, &ours.name), ours, theirs);
            }
            return;
        }
        let mut unmatched = BTreeMap::new();
        for member in &theirs.members {
            // Member names are unique; if a table has a duplicate, the second is reported as extra.
            if unmatched.contains_key(&member.name) {
                self.extra(path, member);
            } else {
                unmatched.insert(&member.name, member);
            }
        }
        for member in &ours.members {
            let path = Path::Member(&path, &member.name);
            match unmatched.remove(&member.name) {
                Some(theirs) => self.member(path, member, theirs),
                None => self.differ(path, DifferenceKind::Missing, place(member), none()),
            }
        }
        let mut extra: Vec<_> = unmatched.into_values().collect();
        extra.sort_by_key(|member| member.offset);
        for member in extra {
            self.extra(path, member);
        }
    }

    fn extra(&mut self, path: Path<'_>, member: &Member) {
        self.differ(Path::Member(&path, &member.name), DifferenceKind::Extra, none(), place(member));
    }

    fn member(&mut self, path: Path<'_>, ours: &Member, theirs: &Member) {
        self.fact((ours.offset == theirs.offset).into(), path, DifferenceKind::Offset, || {
            (format!("{:#x}", ours.offset), format!("{:#x}", theirs.offset))
        });
        if !self
            .fact(agreement(&ours.ty, &theirs.ty), path, DifferenceKind::Type, || (ours.ty.to_string(), theirs.ty.to_string()))
        {
            return;
        }
        if let (Type::Bits { position, width, .. }, Type::Bits { position: p, width: w, .. }) = (&ours.ty, &theirs.ty) {
            self.fact(((position, width) == (p, w)).into(), path, DifferenceKind::Bits, || {
                (ours.ty.to_string(), theirs.ty.to_string())
            });
        }
        if let Some(theirs) = content(&theirs.ty, None)
            && let Some(ours) = content(&ours.ty, Some(self.named))
        {
            self.definition(path, ours, theirs);
        }
    }

    fn enumeration(&mut self, path: Path<'_>, ours: &Enumeration, theirs: &Enumeration) {
        let integer = |of: &Enumeration| format!("{} bytes, {}", of.size, if of.signed { "signed" } else { "unsigned" });
        let equal = (ours.size, ours.signed) == (theirs.size, theirs.signed);
        self.fact(equal.into(), path, DifferenceKind::Size, || (integer(ours), integer(theirs)));
        if ours.constants == theirs.constants && paired(names(ours), names(theirs)) {
            self.equal += ours.constants.len() as u64;
            return;
        }
        let mut unmatched: BTreeMap<_, _> = theirs.constants.iter().map(|(name, value)| (name, value)).collect();
        for (name, value) in &ours.constants {
            let found = unmatched.remove(name);
            let shared = found.is_none() && theirs.constants.iter().any(|(_, other)| other == value);
            let agreement = if shared { Agreement::By(Rule::SharedValue) } else { (found == Some(value)).into() };
            self.fact(agreement, Path::Member(&path, name), DifferenceKind::Constant, || {
                (value.to_string(), found.map_or_else(none, i64::to_string))
            });
        }
        for (name, value) in unmatched {
            self.differ(Path::Member(&path, name), DifferenceKind::Constant, none(), value.to_string());
        }
    }

    /// Counts a fact, and returns whether it agrees. `spellings` returns the text of the definition's and the table's value.
    fn fact(
        &mut self,
        agreement: Agreement,
        path: Path<'_>,
        difference: DifferenceKind,
        spellings: impl FnOnce() -> (String, String),
    ) -> bool {
        match agreement {
            Agreement::Exact => self.equal += 1,
            Agreement::By(rule) if self.rules == Rules::Converted => *self.accepted.entry(rule).or_default() += 1,
            _ => {
                let (spec, symbols) = spellings();
                self.differ(path, difference, spec, symbols);
                return false;
            }
        }
        true
    }

    fn differ(&mut self, path: Path<'_>, difference: DifferenceKind, spec: String, symbols: String) {
        self.differences.push(Difference { member: path.to_string(), kind: difference, spec, symbols });
    }
}

/// Whether two lists have the same names in the same order, each once. This is the usual case, which needs no lookup.
fn paired<'n>(ours: impl Iterator<Item = &'n String> + Clone, theirs: impl Iterator<Item = &'n String>) -> bool {
    let mut names: Vec<_> = ours.clone().collect();
    names.sort_unstable();
    ours.eq(theirs) && names.windows(2).all(|pair| pair[0] != pair[1])
}

fn names(enumeration: &Enumeration) -> impl Iterator<Item = &String> + Clone {
    enumeration.constants.iter().map(|(name, _)| name)
}

/// Compares the types of two members, except for bit positions and the content of unnamed types.
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
        // A pointee need not be defined, so its kind may be unknown.
        (Type::Aggregate(ours) | Type::Enumeration(ours), Type::Aggregate(theirs) | Type::Enumeration(theirs)) => {
            (ours == theirs).into()
        }
        (Type::Unnamed(_) | Type::Opaque, Type::Unnamed(_) | Type::Opaque) => Agreement::Exact,
        _ => agreement(ours, theirs),
    }
}

/// The unnamed definition that a type embeds. `named` are the enumerations that may have lost their names.
fn content<'t>(ty: &'t Type, named: Option<&'t Types>) -> Option<&'t TypeFacts> {
    match ty {
        Type::Unnamed(definition) => Some(definition),
        Type::Enumeration(name) => named?.get(name),
        Type::Array(inner, _) | Type::Bits { unit: inner, .. } => content(inner, named),
        _ => None,
    }
}

/// Whether all members have distinct offsets, so that offsets do not distinguish a structure from a union. Readers sort members
/// by offset.
fn apart(aggregate: &Aggregate) -> bool {
    aggregate.members.windows(2).all(|pair| pair[0].offset != pair[1].offset)
}

fn kind(definition: &TypeFacts) -> &'static str {
    match definition {
        TypeFacts::Aggregate(aggregate) => aggregate.kind.as_str(),
        TypeFacts::Enumeration(_) => "enum",
    }
}

fn place(member: &Member) -> String {
    format!("{} at offset {:#x}", member.ty, member.offset)
}

fn none() -> String {
    "none".to_owned()
}
