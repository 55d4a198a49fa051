//! A difference between specs and symbols.

use etw_layouts_symbols::compare::{Difference, DifferenceKind};
use serde::{Serialize, Serializer};

/// The kind of a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// A fact of a structure or enumeration.
    Fact(DifferenceKind),
    /// A variable that the specs do not have at the target.
    Variable,
    /// The address of a variable differs from the facts of the same symbol file.
    Address,
    /// The address of a variable in a table of images differs from the facts of the PDB of the build.
    ImageAddress,
    /// The facts contradict a statement of the specs about evidence.
    Evidence,
}

/// A difference between specs and symbols, with the place in the spec. A difference in an address is between two symbol files.
#[derive(Serialize)]
pub struct Mismatch {
    /// The member or constant; empty for the structure itself.
    pub member: String,
    /// The kind.
    pub kind: MismatchKind,
    /// The statement of the spec.
    pub spec: String,
    /// The statement of the symbols.
    pub symbols: String,
    /// The place in the spec: path, line and column.
    pub place: Option<String>,
}

impl MismatchKind {
    /// The name of the kind, such as `offset`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact(kind) => kind.as_str(),
            Self::Variable => "variable",
            Self::Address => "address",
            Self::ImageAddress => "address in the image",
            Self::Evidence => "evidence",
        }
    }
}

impl Serialize for MismatchKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Mismatch {
    /// The mismatch for a difference, with its place in the spec.
    pub fn new(difference: &Difference, place: Option<String>) -> Self {
        let Difference { member, kind, spec, symbols } = difference;
        Self { member: member.clone(), kind: MismatchKind::Fact(*kind), spec: spec.clone(), symbols: symbols.clone(), place }
    }

    /// The mismatch between a statement of the specs about evidence in symbol data and the shipped tables.
    pub fn claim(spec: String, symbols: String, place: Option<String>) -> Self {
        Self { member: String::new(), kind: MismatchKind::Evidence, spec, symbols, place }
    }

    /// The mismatch as one line of text.
    pub fn line(&self) -> String {
        let place = self.place.as_deref().map(|place| format!("  {place}")).unwrap_or_default();
        let Self { member, kind, spec, symbols, .. } = self;
        let space = if member.is_empty() { "" } else { " " };
        // Specs state no addresses.
        let (ours, theirs) = match kind {
            MismatchKind::Address => ("the facts of this PDB have", "the symbols have"),
            MismatchKind::ImageAddress => ("the facts of the kernel's PDB have", "the table has"),
            MismatchKind::Evidence => ("the specs state", "but"),
            MismatchKind::Fact(_) | MismatchKind::Variable => ("the spec has", "the symbols have"),
        };
        format!("{member}{space}{}: {ours} {spec}, {theirs} {symbols}{place}", kind.as_str())
    }
}
