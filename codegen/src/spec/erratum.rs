//! Errors of published references.

use crate::axis::TargetSet;
use crate::source::Span;

/// A statement of a published reference, and the actual value.
#[derive(Clone, Debug)]
pub struct Erratum {
    /// The kind of fact.
    pub what: ErratumKind,
    /// The targets that the statement of the published reference covers.
    pub scope: TargetSet,
    /// The targets for which the statement is compared with the layouts.
    pub checked: TargetSet,
    /// The statement of the published reference.
    pub document: ErratumValue,
    /// The actual fact.
    pub actual: ErratumValue,
    /// The evidence.
    pub evidence: Evidence,
    /// Additional text.
    pub note: String,
    /// The place of the whole erratum.
    pub span: Span,
}

/// The kind of fact that an erratum is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErratumKind {
    /// The offset of a member.
    Offset,
    /// The size of a structure.
    Size,
    /// The type of a member.
    Type,
    /// The name of a member or constant.
    Name,
    /// The value of a constant.
    Value,
    /// The position of a bit field.
    Mask,
    /// The width of a bit field.
    Bits,
    /// The range of a member or constant.
    In,
    /// Anything else, as text.
    Text,
}

/// A statement of a published reference or of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErratumValue {
    /// A number.
    Number(i64),
    /// Text.
    Text(String),
}

/// The evidence for an erratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Symbol data.
    Symbols,
    /// The order of the declaration, the documented size, undisputed offsets.
    Abi,
    /// Another published reference, or another part of the same one.
    Document,
}

impl ErratumKind {
    /// The keyword in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Size => "size",
            Self::Type => "type",
            Self::Name => "name",
            Self::Value => "value",
            Self::Mask => "mask",
            Self::Bits => "bits",
            Self::In => "in",
            Self::Text => "text",
        }
    }
}

impl Evidence {
    /// The keyword in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Abi => "abi",
            Self::Document => "document",
        }
    }
}

impl core::fmt::Display for ErratumValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n:#x}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
