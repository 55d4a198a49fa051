//! Verifies definitions against a symbol table, fact by fact.

mod partial;
mod rule;
mod walk;

pub use partial::compare_offsets;
pub use rule::{Rule, Rules};

use crate::model::Types;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Compares each definition with the one of the same name in the table, in name order.
///
/// These facts are compared: structure or union; the size; the members by name in both directions; the offset of each and its
/// type (kind, integer type, element count, name of a structure, enumeration or pointee); position and width of bit fields; of
/// enumerations the integer, and the constants by name in both directions. Unnamed types of members are compared by content. For
/// pointers, only names are compared.
///
/// `rules` determines which differences are accepted from a table that is not exact. See [`Rules::for_producer`].
pub fn compare(ours: &Types, theirs: &Types, rules: Rules) -> Vec<StructureReport> {
    ours.iter().map(|(name, own)| walk::structure(name, own, theirs.get(name), ours, rules)).collect()
}

/// Result of comparing one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureReport {
    /// Name of the type.
    pub name: String,
    /// Outcome of the comparison.
    pub status: Status,
    /// Number of equal facts: one for the size, one for each member's offset, type, and bit position and width, one for each
    /// constant. Facts accepted by a rule are not included.
    pub equal: u64,
    /// Number of facts accepted by each rule.
    pub accepted: BTreeMap<Rule, u64>,
    /// The facts that differ.
    pub differences: Vec<Difference>,
}

/// Outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No fact differs.
    Equal,
    /// Some facts differ.
    Differs,
    /// The table lacks the type, so it neither confirms nor contradicts the definition.
    Absent,
}

impl Status {
    /// `equal`, `differs` or `absent`.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Equal => "equal",
            Status::Differs => "differs",
            Status::Absent => "absent",
        }
    }
}

/// A fact that differs. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The member or constant, with the enclosing members, as in `u.LowPart`; empty for the type itself.
    pub member: String,
    /// The kind of fact.
    pub kind: DifferenceKind,
    /// The value in the definition, as text; `none` if absent.
    pub spec: String,
    /// The value in the table, as text; `none` if absent.
    pub symbols: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Difference { member, kind, spec, symbols } = self;
        let space = if member.is_empty() { "" } else { " " };
        write!(f, "{member}{space}{}: the spec has {spec}, the symbols have {symbols}", kind.as_str())
    }
}

/// Kind of fact that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// Structure, union or enumeration.
    Kind,
    /// The size of the type; for an enumeration, its integer.
    Size,
    /// The symbols lack a member of the definition.
    Missing,
    /// The definition lacks a member of the symbols.
    Extra,
    /// The offset of a member.
    Offset,
    /// The type of a member.
    Type,
    /// Position or width of a bit field.
    Bits,
    /// The value of a constant, or its presence.
    Constant,
}

impl DifferenceKind {
    /// Name of the kind, such as `offset`.
    pub fn as_str(self) -> &'static str {
        match self {
            DifferenceKind::Kind => "kind",
            DifferenceKind::Size => "size",
            DifferenceKind::Missing => "missing",
            DifferenceKind::Extra => "extra",
            DifferenceKind::Offset => "offset",
            DifferenceKind::Type => "type",
            DifferenceKind::Bits => "bits",
            DifferenceKind::Constant => "constant",
        }
    }
}
