//! The contents of spec files, with the place of every fact. Nothing is computed here.

mod erratum;
mod piecewise;
mod visit;

pub use self::erratum::{Erratum, ErratumKind, ErratumValue, Evidence};
pub use self::piecewise::{Piece, Piecewise};

use crate::axis::{Axis, TargetId, TargetSet};
use crate::ctype::CType;
use crate::event::{Class, Provider};
use crate::source::{At, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The set of constants that are the groups of events.
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
    /// Typedefs, by name.
    pub typedefs: BTreeMap<String, Piecewise<CType>>,
    /// Structures, unions, enumerations and sets of constants, by name.
    pub definitions: BTreeMap<String, Definition>,
    /// Global variables, by name.
    pub globals: BTreeMap<String, Global>,
    /// Classes of events, one per file.
    pub classes: Vec<Class>,
    /// Providers with manifests, in the order of the files.
    pub providers: Vec<Provider>,
    /// Names that files with errors define, as far as they can be found; empty for a spec set without errors.
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
    /// The place in `scalars.toml`.
    pub span: Span,
}

/// The subject of a spec file.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Microsoft's name.
    pub name: At<String>,
    /// The targets that have it.
    pub scope: TargetSet,
    /// The source.
    pub source: Piecewise<Provenance>,
    /// The reason why no public symbols can verify it.
    pub unverifiable: Piecewise<String>,
    /// The Cargo feature of its types in the generated crate; empty for the feature of kernel structures.
    pub feature: String,
    /// Description.
    pub doc: String,
    /// Errata of published references.
    pub errata: Vec<Erratum>,
    /// Its contents.
    pub body: Body,
    /// The comments before it, one entry per line; empty for a blank line.
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
    /// Assertions of the size in bytes.
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
    /// Assertions of the position of a bit field within its unit.
    pub mask: Piecewise<u64>,
    /// Assertions of the offset from the start of the outermost structure, in bytes.
    pub offset: Piecewise<u64>,
    /// Explicit alignments.
    pub align: Piecewise<u64>,
    /// The enumeration or flags of its values.
    pub values: Option<At<String>>,
    /// The structures that it references, if its type does not show them: `STRUCTURE`, or `STRUCTURE.MEMBER` for the entries of a
    /// list and their link.
    pub leads_to: Vec<At<String>>,
    /// The source, if it differs from that of the definition.
    pub source: Piecewise<Provenance>,
    /// The facts that are unknown.
    pub unknown: Option<Unknown>,
    /// Description.
    pub doc: String,
    /// Errata of published references.
    pub errata: Vec<Erratum>,
    /// The comments before it, one entry per line; empty for a blank line.
    pub comments: Vec<String>,
    /// The place of the whole member.
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

/// A global variable of the kernel. Only symbols have its address.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name in symbols.
    pub name: At<String>,
    /// The targets that have it.
    pub scope: TargetSet,
    /// Its type, if known.
    pub ty: Piecewise<CType>,
    /// The source of the type.
    pub source: Piecewise<Provenance>,
    /// Description.
    pub doc: String,
}

/// The source of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// A published reference.
    Document,
    /// Symbols.
    Symbols,
    /// Neighbouring facts.
    Inferred,
}

/// The unknown facts of a member.
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
    /// The kind of values.
    pub kind: ValuesKind,
    /// The integer type of the values.
    pub ty: At<String>,
    /// The constants.
    pub constants: Vec<Constant>,
}

/// The kind of values.
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
    /// The GUID with the same meaning.
    pub guid: Option<String>,
    /// The source, if it differs from that of the definition.
    pub source: Piecewise<Provenance>,
    /// Description.
    pub doc: String,
    /// Errata of published references.
    pub errata: Vec<Erratum>,
    /// The comments before it, one entry per line; empty for a blank line.
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

    /// Whether a standard definition covers a target only because its ranges are open: the axis of a user added the build.
    pub(crate) fn is_extended(&self, definition: &Definition, target: TargetId) -> bool {
        self.axis.revision_of(target).added && self.sources.file(definition.name.span).standard
    }
}

impl Definition {
    /// A definition without facts.
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
    /// A constant without facts.
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
    /// A member without facts.
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
    /// The keyword in specs.
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
    /// The keyword in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Symbols => "symbols",
            Self::Inferred => "inferred",
        }
    }
}

/// Reserved words of Rust, including future ones.
pub(crate) const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
    "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
