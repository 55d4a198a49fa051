//! The wanted types of a file, and the types that they embed.

use super::records::Records;
use super::sound::FIRST_INDEX;
use super::{Error, primitive};
use crate::model::{Aggregate, AggregateKind, Enumeration, MAX_DEPTH, Member, Type, TypeFacts, Types};
use crate::names::plain;
use crate::wanted::Wanted;
use pdb2::{ArrayType, EnumerationType, RawString, TypeData, TypeIndex, Variant};

/// Maximum number of bytes of records converted for a file with the given bytes of records: four times the size plus a fixed 4
/// MiB. Named types are converted once, so only unnamed types that embed each other many times exceed it; such a file causes
/// [`Error::TooLarge`].
pub const fn work_limit(records: usize) -> usize {
    records.saturating_mul(4).saturating_add(4 << 20)
}

/// Converts the wanted types and all types that they embed.
pub(super) fn types(records: &Records<'_>, wanted: &Wanted) -> Result<Types, Error> {
    let mut types = Types::new();
    let pending = match wanted {
        Wanted::Named(names) => names.iter().cloned().collect(),
        Wanted::All => records.names().filter_map(|name| plain(&name).map(str::to_owned)).collect(),
    };
    let mut closure = Closure { records, pending, work: work_limit(records.bytes()) };
    while let Some(name) = closure.pending.pop() {
        if !types.contains_key(&name)
            && let Some(definition) = closure.find(&name).or_else(|error| excuse(error, wanted))?
        {
            types.insert(name, definition);
        }
    }
    Ok(types)
}

/// When all types are wanted, ambiguous ones are skipped instead of causing an error.
fn excuse(error: Error, wanted: &Wanted) -> Result<Option<TypeFacts>, Error> {
    match (error, wanted) {
        (Error::Ambiguous { .. }, Wanted::All) => Ok(None),
        (error, _) => Err(error),
    }
}

struct Closure<'a, 's> {
    records: &'a Records<'s>,
    /// Names of types to convert, possibly with duplicates.
    pending: Vec<String>,
    /// Number of further bytes of records to convert.
    work: usize,
}

/// How a type is referenced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    ByValue,
    ByPointer,
}

/// The path to a type: the named type that contains it, and the depth within.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: &'a str,
    depth: usize,
}

impl<'a> Place<'a> {
    fn deeper(self) -> Result<Place<'a>, Error> {
        let depth = self.depth + 1;
        if depth < MAX_DEPTH { Ok(Place { depth, ..self }) } else { Err(Error::TooDeep { name: self.root.to_owned() }) }
    }
}

impl<'s> Closure<'_, 's> {
    /// The type with a name whose underscore was removed. Linkers keep equal definitions from several objects.
    fn find(&mut self, name: &str) -> Result<Option<TypeFacts>, Error> {
        let mut found = None;
        for index in self.records.defined(name) {
            let definition = self.definition(index, Place { root: name, depth: 0 })?;
            if found.as_ref().is_some_and(|other| *other != definition) {
                return Err(Error::Ambiguous { name: name.to_owned() });
            }
            found = Some(definition);
        }
        Ok(found)
    }

    fn definition(&mut self, index: TypeIndex, place: Place<'_>) -> Result<TypeFacts, Error> {
        use AggregateKind::{Struct, Union};
        match self.parse(index)? {
            Some(TypeData::Class(class)) => self.aggregate(Struct, class.size, class.fields, place),
            Some(TypeData::Union(union)) => self.aggregate(Union, union.size, Some(union.fields), place),
            Some(TypeData::Enumeration(enumeration)) => self.enumeration(&enumeration, place),
            _ => Err(Error::damaged(format!("type {:#x} is not a definition", index.0))),
        }
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        size: u64,
        fields: Option<TypeIndex>,
        place: Place<'_>,
    ) -> Result<TypeFacts, Error> {
        let mut members = Vec::new();
        self.fields(fields, |closure, field| {
            // Base classes, functions and the like are not members.
            if let TypeData::Member(member) = field {
                let ty = closure.ty(member.field_type, Held::ByValue, place.deeper()?)?;
                members.push(Member { name: member.name.to_string().into_owned(), offset: member.offset, ty });
            }
            Ok(())
        })?;
        Member::sort(&mut members);
        Ok(TypeFacts::Aggregate(Aggregate { kind, size, members }))
    }

    fn enumeration(&mut self, data: &EnumerationType<'s>, place: Place<'_>) -> Result<TypeFacts, Error> {
        let Type::Integer(integer) = self.ty(data.underlying_type, Held::ByValue, place.deeper()?)? else {
            return Err(Error::damaged(format!("the enumeration `{}` has no integer type", data.name)));
        };
        let (size, signed) = (integer.size(), integer.is_signed());
        let mut constants = Vec::new();
        self.fields(Some(data.fields), |_, field| {
            if let TypeData::Enumerate(constant) = field {
                constants.push((constant.name.to_string().into_owned(), value(constant.value, size, signed)));
            }
            Ok(())
        })?;
        constants.sort_by(|(a, x), (b, y)| (x, a).cmp(&(y, b)));
        Ok(TypeFacts::Enumeration(Enumeration { size, signed, constants }))
    }

    /// Visits a list of fields. A long list continues in another record.
    fn fields(
        &mut self,
        first: Option<TypeIndex>,
        mut visit: impl FnMut(&mut Self, &TypeData<'s>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut next = first.filter(|index| index.0 >= FIRST_INDEX);
        while let Some(index) = next {
            let Some(TypeData::FieldList(list)) = self.parse(index)? else {
                return Err(Error::damaged(format!("type {:#x} is not a list of members", index.0)));
            };
            for field in &list.fields {
                visit(self, field)?;
            }
            next = list.continuation;
        }
        Ok(())
    }

    fn ty(&mut self, index: TypeIndex, held: Held, place: Place<'_>) -> Result<Type, Error> {
        let Some(data) = self.parse(index)? else { return Ok(Type::Opaque) };
        let mut nested = |inner, held| self.ty(inner, held, place.deeper()?).map(Box::new);
        Ok(match &data {
            TypeData::Primitive(primitive) => primitive::ty(*primitive),
            TypeData::Modifier(modifier) => *nested(modifier.underlying_type, held)?,
            TypeData::Pointer(pointer) => Type::Pointer(nested(pointer.underlying_type, Held::ByPointer)?),
            TypeData::Procedure(_) | TypeData::MemberFunction(_) => Type::Function,
            TypeData::Bitfield(bits) => {
                let unit = nested(bits.underlying_type, held)?;
                Type::Bits { unit, position: bits.position.into(), width: bits.length.into() }
            }
            TypeData::Array(array) => {
                let element = nested(array.element_type, held)?;
                Type::Array(element, self.count(array, index, place)?)
            }
            TypeData::Class(class) => self.named(class.name, Type::Aggregate, index, &data, held, place)?,
            TypeData::Union(union) => self.named(union.name, Type::Aggregate, index, &data, held, place)?,
            TypeData::Enumeration(enumeration) => self.named(enumeration.name, Type::Enumeration, index, &data, held, place)?,
            _ => Type::Opaque,
        })
    }

    /// A class, structure, union or enumeration, with a name or without.
    fn named(
        &mut self,
        name: RawString<'s>,
        by_name: fn(String) -> Type,
        index: TypeIndex,
        data: &TypeData<'s>,
        held: Held,
        place: Place<'_>,
    ) -> Result<Type, Error> {
        match (plain(&name.to_string()), held) {
            (Some(name), held) => {
                if held == Held::ByValue {
                    self.pending.push(name.to_owned());
                }
                Ok(by_name(name.to_owned()))
            }
            (None, Held::ByPointer) => Ok(Type::Opaque),
            (None, Held::ByValue) => match self.records.resolve(index, data) {
                Some(index) => Ok(Type::Unnamed(Box::new(self.definition(index, place.deeper()?)?))),
                None => Ok(Type::Opaque),
            },
        }
    }

    /// Number of elements of an array, from its size in bytes.
    fn count(&mut self, array: &ArrayType, index: TypeIndex, place: Place<'_>) -> Result<u64, Error> {
        let bytes = array.dimensions.first().copied().map_or(0, u64::from);
        let count = match self.size(array.element_type, place)? {
            _ if bytes == 0 => Some(0),
            Some(size @ 1..) if bytes.is_multiple_of(size) => Some(bytes / size),
            _ => None,
        };
        count.ok_or_else(|| {
            Error::damaged(format!("the array type {:#x} of {bytes} bytes is not a whole number of elements", index.0))
        })
    }

    /// Size of a type in bytes; `None` if unknown.
    fn size(&mut self, index: TypeIndex, place: Place<'_>) -> Result<Option<u64>, Error> {
        let Some(data) = self.parse(index)? else { return Ok(None) };
        let mut nested = |inner| self.size(inner, place.deeper()?);
        match &data {
            TypeData::Primitive(primitive) => Ok(primitive::size(*primitive)),
            TypeData::Modifier(modifier) => nested(modifier.underlying_type),
            TypeData::Pointer(pointer) => Ok(Some(pointer.attributes.size().into())),
            TypeData::Array(array) => Ok(array.dimensions.first().copied().map(u64::from)),
            TypeData::Bitfield(bits) => nested(bits.underlying_type),
            TypeData::Enumeration(enumeration) => nested(enumeration.underlying_type),
            TypeData::Class(_) | TypeData::Union(_) => {
                let Some(index) = self.records.resolve(index, &data) else { return Ok(None) };
                Ok(match self.parse(index)? {
                    Some(TypeData::Class(class)) => Some(class.size),
                    Some(TypeData::Union(union)) => Some(union.size),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    /// Parses a record, which counts as work by its size in bytes, padding included.
    fn parse(&mut self, index: TypeIndex) -> Result<Option<TypeData<'s>>, Error> {
        let (data, bytes) = self.records.parse(index)?;
        self.work = self.work.checked_sub(bytes).ok_or(Error::TooLarge)?;
        Ok(data)
    }
}

/// A constant converted to the integer type of its enumeration, whatever numeric form the record uses.
fn value(variant: Variant, size: u64, signed: bool) -> i64 {
    let stored = match variant {
        Variant::U8(value) => value.into(),
        Variant::U16(value) => value.into(),
        Variant::U32(value) => value.into(),
        Variant::U64(value) => value.cast_signed(),
        Variant::I8(value) => value.into(),
        Variant::I16(value) => value.into(),
        Variant::I32(value) => value.into(),
        Variant::I64(value) => value,
    };
    let unused = 64 - 8 * size as u32;
    if signed { stored << unused >> unused } else { (stored.cast_unsigned() << unused >> unused).cast_signed() }
}
