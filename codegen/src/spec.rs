//! What the spec files say, with the place of every fact. No arithmetic happens here.

mod erratum;
mod piecewise;
mod visit;

pub use self::erratum::{Erratum, ErratumKind, ErratumValue, Witness};
pub use self::piecewise::{Piece, Piecewise};

use crate::axis::{Axis, TargetId, TargetSet};
use crate::ctype::CType;
use crate::event::Class;
use crate::source::{At, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The set whose constants are the groups of events.
pub(crate) const GROUPS: &str = "EVENT_TRACE_GROUP";

/// A whole spec set.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// The texts.
    pub sources: Sources,
    /// The version axis.
    pub axis: Axis,
    /// The scalar types, by name.
    pub scalars: BTreeMap<String, Scalar>,
    /// Names that stand for other types.
    pub typedefs: BTreeMap<String, Piecewise<CType>>,
    /// Structures, unions, enumerations and sets of constants, by name.
    pub definitions: BTreeMap<String, Definition>,
    /// Global variables, by name.
    pub globals: BTreeMap<String, Global>,
    /// Classes of events, a file each.
    pub classes: Vec<Class>,
    /// Names that wrong files specify, or seem to; empty for a spec set that was read without errors.
    pub broken: BTreeSet<String>,
}

/// A scalar type.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// Bytes.
    pub size: u64,
    /// Whether it holds negative values.
    pub signed: bool,
    /// Its spelling in C.
    pub c: String,
    /// Where `scalars.toml` states it.
    pub span: Span,
}

/// One spec file's subject.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Microsoft's name.
    pub name: At<String>,
    /// The targets that have it.
    pub scope: TargetSet,
    /// Where it is known from.
    pub source: Piecewise<Provenance>,
    /// Why no public symbols can confirm it.
    pub unverifiable: Piecewise<String>,
    /// The Cargo feature that has its types in the generated crate; empty for the one of kernel structures.
    pub feature: String,
    /// What it is.
    pub doc: String,
    /// What documents say otherwise.
    pub errata: Vec<Erratum>,
    /// Its contents.
    pub body: Body,
    /// The comments before it, a line each; empty for a blank line.
    pub comments: Vec<String>,
    /// The comments after its last member or constant.
    pub end: Vec<String>,
}

/// The contents of a definition.
#[derive(Clone, Debug)]
pub enum Body {
    /// A structure or union.
    Aggregate(Aggregate),
    /// An enumeration, flags, or constants.
    Values(Values),
}

/// A structure or union.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Structure or union.
    pub kind: Kind,
    /// Witnesses for the size in bytes.
    pub size: Piecewise<u64>,
    /// Explicit alignments.
    pub align: Piecewise<u64>,
    /// Explicit packing.
    pub pack: Piecewise<u64>,
    /// The members, in the order of the declaration.
    pub members: Vec<Member>,
}

/// Structure or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Members follow each other.
    Struct,
    /// Members share their bytes.
    Union,
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name; absent for an anonymous structure or union.
    pub name: Option<At<String>>,
    /// The targets that have it.
    pub scope: TargetSet,
    /// Its type.
    pub shape: Shape,
    /// The width of a bit field.
    pub bits: Piecewise<u64>,
    /// Witnesses for a bit field's position within its unit.
    pub mask: Piecewise<u64>,
    /// Witnesses for the offset from the start of the outermost structure, in bytes.
    pub offset: Piecewise<u64>,
    /// Explicit alignments.
    pub align: Piecewise<u64>,
    /// The set of values that it holds.
    pub values: Option<At<String>>,
    /// What it leads to, where its type does not show it: `STRUCTURE`, or `STRUCTURE.MEMBER` for the entries of a list and their link.
    pub leads_to: Vec<At<String>>,
    /// Where it is known from, where the definition's source is not its own.
    pub source: Piecewise<Provenance>,
    /// What is not known of it.
    pub unknown: Option<Unknown>,
    /// What it is.
    pub doc: String,
    /// What documents say otherwise.
    pub errata: Vec<Erratum>,
    /// The comments before it, a line each; empty for a blank line.
    pub comments: Vec<String>,
    /// The whole member.
    pub span: Span,
}

/// The type of a member.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A type by its name.
    Type(Piecewise<CType>),
    /// An unnamed structure or union.
    Inline(Kind, Vec<Member>),
}

/// A global variable of a kernel. Its address is in symbols only.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name that symbols have.
    pub name: At<String>,
    /// The targets that have it.
    pub scope: TargetSet,
    /// Its type, as far as it is known.
    pub ty: Piecewise<CType>,
    /// Where the type is known from.
    pub source: Piecewise<Provenance>,
    /// What it is.
    pub doc: String,
}

/// Where a fact is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// A document states it.
    Document,
    /// Symbol data shows it.
    Symbols,
    /// It follows from its neighbours.
    Inferred,
}

/// What is not known of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// Microsoft's name.
    Name,
    /// The type.
    Type,
    /// Both.
    NameAndType,
    /// Any use of the bytes.
    Use,
}

/// An enumeration, flags, or constants.
#[derive(Clone, Debug)]
pub struct Values {
    /// What sort of values.
    pub kind: ValuesKind,
    /// The type that holds one.
    pub ty: At<String>,
    /// The constants.
    pub constants: Vec<Constant>,
}

/// What sort of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValuesKind {
    /// An enumeration of the C language.
    Enum,
    /// Macros for bits that combine.
    Flags,
    /// Macros for values.
    Constants,
}

/// A named value.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Microsoft's name.
    pub name: At<String>,
    /// The value.
    pub value: Piecewise<i64>,
    /// The targets that define it.
    pub scope: TargetSet,
    /// A GUID that stands for it.
    pub guid: Option<String>,
    /// Where it is known from, where the definition's source is not its own.
    pub source: Piecewise<Provenance>,
    /// What it is.
    pub doc: String,
    /// What documents say otherwise.
    pub errata: Vec<Erratum>,
    /// The comments before it, a line each; empty for a blank line.
    pub comments: Vec<String>,
}

impl Spec {
    /// The GUID of a group of events, as `3D6FA8D0-FE05-11D0-9DDA-00C04FD7BA7C`.
    pub fn guid_of(&self, group: &At<String>) -> Option<String> {
        self.group(&group.value)?.guid.clone()
    }

    /// A constant of `EVENT_TRACE_GROUP`.
    pub fn group(&self, name: &str) -> Option<&Constant> {
        let Body::Values(values) = &self.definitions.get(GROUPS)?.body else { return None };
        values.constants.iter().find(|constant| constant.name.value == name)
    }

    /// Whether a standard definition says nothing of a target, but by ranges that reach it: a user's axis added its kernel.
    pub(crate) fn is_extended(&self, definition: &Definition, target: TargetId) -> bool {
        self.axis.kernel_of(target).added && self.sources.file(definition.name.span).standard
    }
}

impl Definition {
    /// One that nothing is said of yet.
    pub fn new(name: String, body: Body) -> Self {
        Self {
            name: name.into(),
            scope: TargetSet::default(),
            source: Piecewise::default(),
            unverifiable: Piecewise::default(),
            feature: String::new(),
            doc: String::new(),
            errata: Vec::new(),
            body,
            comments: Vec::new(),
            end: Vec::new(),
        }
    }
}

impl Constant {
    /// One that nothing is said of yet.
    pub fn new(name: String) -> Self {
        Self {
            name: name.into(),
            value: Piecewise::default(),
            scope: TargetSet::default(),
            guid: None,
            source: Piecewise::default(),
            doc: String::new(),
            errata: Vec::new(),
            comments: Vec::new(),
        }
    }
}

impl Member {
    /// One that nothing is said of yet.
    pub fn new(name: Option<String>, shape: Shape) -> Self {
        Self {
            name: name.map(At::from),
            scope: TargetSet::default(),
            shape,
            bits: Piecewise::default(),
            mask: Piecewise::default(),
            offset: Piecewise::default(),
            align: Piecewise::default(),
            values: None,
            leads_to: Vec::new(),
            source: Piecewise::default(),
            unknown: None,
            doc: String::new(),
            errata: Vec::new(),
            comments: Vec::new(),
            span: Span::default(),
        }
    }
}

impl Unknown {
    /// The word for it in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type",
            Self::NameAndType => "name and type",
            Self::Use => "use",
        }
    }
}

impl Provenance {
    /// The word for it in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Symbols => "symbols",
            Self::Inferred => "inferred",
        }
    }
}

/// Words that are no names in Rust, or will not be.
pub(crate) const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
    "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
