//! Base types.

use crate::model::{Integer, Type};
use pdb2::{Indirection, PrimitiveKind, PrimitiveType};

/// A base type, or a pointer to one.
pub(super) fn ty(primitive: PrimitiveType) -> Type {
    let ty = kind(primitive.kind);
    if primitive.indirection.is_some() { Type::Pointer(Box::new(ty)) } else { ty }
}

/// Size in bytes; `None` if unknown.
pub(super) fn size(primitive: PrimitiveType) -> Option<u64> {
    match primitive.indirection {
        None => match kind(primitive.kind) {
            Type::Integer(integer) => Some(integer.size()),
            Type::Float(size) => Some(size),
            _ => None,
        },
        Some(Indirection::Near32) => Some(4),
        Some(Indirection::Near64) => Some(8),
        Some(_) => None,
    }
}

fn kind(kind: PrimitiveKind) -> Type {
    use PrimitiveKind as Kind;
    Type::Integer(match kind {
        Kind::Void => return Type::Void,
        Kind::Bool8 => Integer::Bool,
        Kind::RChar => Integer::Char,
        Kind::Char | Kind::I8 => Integer::SignedChar,
        Kind::UChar | Kind::U8 | Kind::Char8 => Integer::UnsignedChar,
        Kind::Short | Kind::I16 => Integer::Short,
        Kind::UShort | Kind::U16 | Kind::WChar | Kind::RChar16 | Kind::Bool16 => Integer::UnsignedShort,
        Kind::I32 => Integer::Int,
        Kind::U32 | Kind::RChar32 | Kind::Bool32 => Integer::UnsignedInt,
        Kind::Long | Kind::HRESULT => Integer::Long,
        Kind::ULong => Integer::UnsignedLong,
        Kind::Quad | Kind::I64 => Integer::LongLong,
        Kind::UQuad | Kind::U64 | Kind::Bool64 => Integer::UnsignedLongLong,
        Kind::F16 => return Type::Float(2),
        Kind::F32 | Kind::F32PP => return Type::Float(4),
        Kind::F48 => return Type::Float(6),
        Kind::F64 => return Type::Float(8),
        Kind::F80 => return Type::Float(10),
        Kind::F128 => return Type::Float(16),
        // 16-byte integers, complex numbers and missing types have no name in C.
        _ => return Type::Opaque,
    })
}
