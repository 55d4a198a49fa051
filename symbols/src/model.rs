//! Facts about types from symbol data: one model for all sources, and for the layouts verified against them.

use crate::identity::Pdb;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Maximum depth of types nested within types.
pub const MAX_DEPTH: usize = 64;

/// Facts about types, by name. Names are spelled as in C, without the leading underscore of the tag.
pub type Types = BTreeMap<String, TypeFacts>;

/// Offsets of some members in bytes, by structure and member: partial evidence, without the size of a structure, its other
/// members, or the type of any.
pub type Offsets = BTreeMap<String, BTreeMap<String, u64>>;

/// Addresses of global variables by name, in bytes from the image base.
pub type Globals = BTreeMap<String, u64>;

/// The contents of a symbol table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTable {
    /// The program that created the table, in its own words; it determines how exact the facts are.
    pub producer: String,
    /// Symbol file that the table was created from; `None` if the table does not state it.
    pub pdb: Option<Pdb>,
    /// Architecture; `None` if it is not one of [`Arch`], or unknown.
    pub arch: Option<Arch>,
    /// Machine type in the file, if it is not one of [`Arch`].
    pub foreign: Option<Machine>,
    /// The wanted types, and the types that they embed.
    pub types: Types,
    /// Addresses of the wanted global variables.
    pub globals: Globals,
}

/// A machine type of file headers, `IMAGE_FILE_MACHINE_…`. Displayed as in `machine 0x01c4 (ARM)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine(pub u32);

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            0x0200 => " (Itanium)",
            0x01C0 | 0x01C4 => " (ARM)",
            _ => "",
        };
        write!(f, "machine {:#06x}{name}", self.0)
    }
}

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 32-bit, pointers of 4 bytes.
    X86,
    /// 64-bit, pointers of 8 bytes.
    X64,
    /// 64-bit ARM, pointers of 8 bytes.
    Arm64,
}

impl Arch {
    /// `x86`, `x64` or `arm64`.
    pub fn as_str(self) -> &'static str {
        match self {
            Arch::X86 => "x86",
            Arch::X64 => "x64",
            Arch::Arm64 => "arm64",
        }
    }

    /// The architecture of a machine type, `IMAGE_FILE_MACHINE_…`; without one, the architecture with this pointer size.
    pub(crate) fn stated(machine: Option<u32>, pointer_size: Option<u64>) -> Option<Arch> {
        match (machine, pointer_size) {
            (Some(0x14C), _) | (None, Some(4)) => Some(Arch::X86),
            (Some(0x8664), _) | (None, Some(8)) => Some(Arch::X64),
            (Some(0xAA64), _) => Some(Arch::Arm64),
            _ => None,
        }
    }
}

impl FromStr for Arch {
    type Err = ();

    fn from_str(name: &str) -> Result<Arch, ()> {
        [Arch::X86, Arch::X64, Arch::Arm64].into_iter().find(|arch| arch.as_str() == name).ok_or(())
    }
}

/// Facts about one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeFacts {
    /// A structure or union.
    Aggregate(Aggregate),
    /// An enumeration.
    Enumeration(Enumeration),
}

/// A structure or union. Members of anonymous aggregates are members of the enclosing one, as in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// Structure or union.
    pub kind: AggregateKind,
    /// Size in bytes, tail padding included.
    pub size: u64,
    /// The members; readers sort them by offset, bit position and name.
    pub members: Vec<Member>,
}

/// Structure or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    /// A structure, or a class.
    Struct,
    /// A union.
    Union,
}

impl AggregateKind {
    /// `struct` or `union`.
    pub fn as_str(self) -> &'static str {
        match self {
            AggregateKind::Struct => "struct",
            AggregateKind::Union => "union",
        }
    }
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the member.
    pub name: String,
    /// Offset in bytes from the start of the aggregate; for a bit field, that of its unit.
    pub offset: u64,
    /// Type of the member.
    pub ty: Type,
}

impl Member {
    /// Sorts members by offset, bit position and name.
    pub(crate) fn sort(members: &mut [Member]) {
        let position = |ty: &Type| if let Type::Bits { position, .. } = ty { *position } else { 0 };
        members.sort_by(|a, b| (a.offset, position(&a.ty), &a.name).cmp(&(b.offset, position(&b.ty), &b.name)));
    }
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Size in bytes.
    pub size: u64,
    /// Whether its values are signed.
    pub signed: bool,
    /// The constants; readers sort them by value and name.
    pub constants: Vec<(String, i64)>,
}

/// The type of a member. Displayed as in C where possible: `unsigned long [2]`, `ETHREAD *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `void`, as a pointee.
    Void,
    /// An integer.
    Integer(Integer),
    /// A floating-point number with the given size in bytes.
    Float(u64),
    /// A function, as a pointee.
    Function,
    /// A pointer.
    Pointer(Box<Type>),
    /// An array with the given number of elements.
    Array(Box<Type>, u64),
    /// A bit field.
    Bits {
        /// The declared type, whose size is that of the unit.
        unit: Box<Type>,
        /// The lowest bit within the unit.
        position: u32,
        /// Number of bits.
        width: u32,
    },
    /// A structure or union, by name.
    Aggregate(String),
    /// An enumeration, by name.
    Enumeration(String),
    /// An embedded type without a name.
    Unnamed(Box<TypeFacts>),
    /// A pointee without a name, whose content is not kept.
    Opaque,
}

impl Type {
    /// The unnamed definition within this type, if any.
    pub(crate) fn carried(&self) -> Option<&TypeFacts> {
        match self {
            Type::Unnamed(definition) => Some(definition),
            Type::Pointer(inner) | Type::Array(inner, _) | Type::Bits { unit: inner, .. } => inner.carried(),
            _ => None,
        }
    }
}

/// An integer type of C, with the sizes of the Microsoft compiler.
///
/// `wchar_t` is represented as `unsigned short` and `HRESULT` as `long`. Symbol tables name them, but tables of the same
/// structure differ by them depending on a compiler switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of C")]
pub enum Integer {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
}

impl Integer {
    /// The integer type with a C spelling, such as `unsigned long`; also `wchar_t` and `__int64`.
    pub fn from_c(spelling: &str) -> Option<Integer> {
        Some(match spelling {
            "bool" | "_Bool" => Integer::Bool,
            "char" => Integer::Char,
            "signed char" | "__int8" => Integer::SignedChar,
            "unsigned char" | "unsigned __int8" => Integer::UnsignedChar,
            "short" | "__int16" => Integer::Short,
            "unsigned short" | "unsigned __int16" | "wchar_t" => Integer::UnsignedShort,
            "int" | "__int32" => Integer::Int,
            "unsigned int" | "unsigned" | "unsigned __int32" => Integer::UnsignedInt,
            "long" => Integer::Long,
            "unsigned long" => Integer::UnsignedLong,
            "long long" | "__int64" => Integer::LongLong,
            "unsigned long long" | "unsigned __int64" => Integer::UnsignedLongLong,
            _ => return None,
        })
    }

    /// Size in bytes.
    pub fn size(self) -> u64 {
        match self {
            Integer::Bool | Integer::Char | Integer::SignedChar | Integer::UnsignedChar => 1,
            Integer::Short | Integer::UnsignedShort => 2,
            Integer::Int | Integer::UnsignedInt | Integer::Long | Integer::UnsignedLong => 4,
            Integer::LongLong | Integer::UnsignedLongLong => 8,
        }
    }

    /// Whether values can be negative; `char` is signed, as in the Microsoft compiler.
    pub fn is_signed(self) -> bool {
        use Integer::{Char, Int, Long, LongLong, Short, SignedChar};
        matches!(self, Char | SignedChar | Short | Int | Long | LongLong)
    }

    /// The spelling in C.
    pub fn as_c(self) -> &'static str {
        match self {
            Integer::Bool => "bool",
            Integer::Char => "char",
            Integer::SignedChar => "signed char",
            Integer::UnsignedChar => "unsigned char",
            Integer::Short => "short",
            Integer::UnsignedShort => "unsigned short",
            Integer::Int => "int",
            Integer::UnsignedInt => "unsigned int",
            Integer::Long => "long",
            Integer::UnsignedLong => "unsigned long",
            Integer::LongLong => "long long",
            Integer::UnsignedLongLong => "unsigned long long",
        }
    }
}
