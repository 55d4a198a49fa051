//! Holds definitions against what a symbol table states, fact by fact.

mod partial;
mod rule;
mod walk;

pub use partial::compare_offsets;
pub use rule::{Rule, Rules};

use crate::model::Types;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Compares each of our definitions with the table's of the same name, in the order of the names.
///
/// What is compared: structure or union, size, the members by name in both directions, the offset of each and its type
/// (kind, integer type, element count, name of a structure, enumeration or pointee), position and width of bit fields;
/// of enumerations the integer, and the constants by name in both directions. Unnamed types of members are compared by
/// their content. Behind pointers, names are all that is compared.
///
/// `rules` says what is accepted of a table that is less than faithful. See [`Rules::for_producer`].
pub fn compare(ours: &Types, theirs: &Types, rules: Rules) -> Vec<StructureReport> {
    ours.iter().map(|(name, own)| walk::structure(name, own, theirs.get(name), ours, rules)).collect()
}

/// How a type of ours compares with the table's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureReport {
    /// The name of the type.
    pub name: String,
    /// The outcome.
    pub status: Status,
    /// Facts that agree exactly: one for the size, one for each member's offset, type, and bit position and width, one
    /// for each constant. Those that a rule accepted are not among them.
    pub equal: u64,
    /// How many facts were accepted by each rule.
    pub accepted: BTreeMap<Rule, u64>,
    /// The facts that disagree.
    pub differences: Vec<Difference>,
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No fact disagrees.
    Equal,
    /// Some facts disagree.
    Differs,
    /// The table has no such type, so it can neither confirm nor deny ours.
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

/// A fact on which ours and the table's disagree. It displays as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The member or constant, with those that enclose it, as in `u.LowPart`; empty for the type itself.
    pub member: String,
    /// Which of its facts.
    pub what: What,
    /// Ours, as a person reads it; `none` if we have none.
    pub spec: String,
    /// The table's; `none` if it has none.
    pub symbols: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Difference { member, what, spec, symbols } = self;
        let space = if member.is_empty() { "" } else { " " };
        write!(f, "{member}{space}{}: the spec has {spec}, the symbols have {symbols}", what.as_str())
    }
}

/// Which fact of a type or member differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Structure, union or enumeration.
    Kind,
    /// The size of the type; for an enumeration, its integer.
    Size,
    /// The symbols lack a member of ours.
    Missing,
    /// The symbols have a member that we lack.
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

impl What {
    /// A word, such as `offset`.
    pub fn as_str(self) -> &'static str {
        match self {
            What::Kind => "kind",
            What::Size => "size",
            What::Missing => "missing",
            What::Extra => "extra",
            What::Offset => "offset",
            What::Type => "type",
            What::Bits => "bits",
            What::Constant => "constant",
        }
    }
}
