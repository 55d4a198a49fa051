//! The wanted types of a document, and the types that they embed.

use super::document::{BaseKind, Document, EnumType, Field, Name, TypeReference, UserKind, UserType, invalid, parse_value};
use super::known::{self, Definition, Known};
use super::{Error, MAX_MEMBERS};
use crate::model::{Aggregate, AggregateKind, Enumeration, Integer, MAX_DEPTH, Member, Type, TypeFacts, Types};
use crate::names::plain;
use crate::wanted::Wanted;
use serde::de::Deserialize;
use std::borrow::Cow;

/// Maximum number of bytes of text converted for a table with the given bytes of JSON: twice the size plus a fixed 4 MiB. Named
/// types are converted once, so only unnamed types that embed each other many times, or repeated references to a long one, exceed
/// it; such a table causes [`Error::TooMuch`].
pub const fn work_limit(json: usize) -> usize {
    json.saturating_mul(2).saturating_add(4 << 20)
}

/// Converts the wanted types and all types that they embed.
pub(super) fn types(text: &str, document: &Document<'_>, wanted: &Wanted) -> Result<Types, Error> {
    let mut types = Types::new();
    let pending = match wanted {
        Wanted::Named(names) => names.iter().map(|name| name.as_str().into()).collect(),
        Wanted::All => {
            let names = document.user_types.keys().chain(document.enums.keys());
            names.filter_map(|name| plain(&name.0)).map(Cow::Borrowed).collect()
        }
    };
    known::with(document.base_text, |known| {
        let (members, work) = (MAX_MEMBERS, work_limit(text.len()));
        let mut closure = Closure { text, document, known, pending, members, work, is_alone: true };
        while let Some(name) = closure.pending.pop() {
            if !types.contains_key(&*name)
                && let Some(source) = closure.find(&name)?
            {
                let definition = closure.named(source, &name)?;
                types.insert(name.into_owned(), definition);
            }
        }
        Ok(types)
    })
}

struct Closure<'a> {
    text: &'a str,
    document: &'a Document<'a>,
    known: &'a mut Known,
    /// Names of types to convert, possibly with duplicates.
    pending: Vec<Cow<'a, str>>,
    /// Number of further members accepted.
    members: usize,
    /// Number of further bytes of text to convert.
    work: usize,
    /// Whether only base types were looked up for the current named type.
    is_alone: bool,
}

/// The text that defines a type in the document.
#[derive(Clone, Copy)]
enum Text<'a> {
    Aggregate(&'a str),
    Enumeration(&'a str),
}

/// How a type is referenced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    ByValue,
    ByPointer,
}

impl<'a> Closure<'a> {
    /// The type with a name whose underscore was removed.
    fn find(&self, name: &str) -> Result<Option<Text<'a>>, Error> {
        let keys = [format!("_{name}"), name.to_owned()];
        let mut found = keys.iter().filter(|key| plain(key) == Some(name)).flat_map(|key| self.texts(key));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            _ => Err(Error::Ambiguous { name: name.to_owned() }),
        }
    }

    /// The definitions with this exact name in the document.
    fn texts(&self, key: &str) -> impl Iterator<Item = Text<'a>> + use<'a> {
        let aggregate = self.document.user_types.get(key).map(|text| Text::Aggregate(text.get()));
        let enumeration = self.document.enums.get(key).map(|text| Text::Enumeration(text.get()));
        aggregate.into_iter().chain(enumeration)
    }

    /// The definition of a named type; a cached one if its text was converted before.
    fn named(&mut self, source: Text<'a>, name: &str) -> Result<TypeFacts, Error> {
        let (Text::Aggregate(text) | Text::Enumeration(text)) = source;
        if let Some(Definition { facts, holds }) = self.known.get(text) {
            let members = match (source, facts) {
                (Text::Aggregate(_), TypeFacts::Aggregate(aggregate)) => Some(aggregate.members.len()),
                (Text::Enumeration(_), TypeFacts::Enumeration(enumeration)) => Some(enumeration.constants.len()),
                // The text can be a structure or an enumeration.
                _ => None,
            };
            if let Some(members) = members {
                let (facts, holds) = (facts.clone(), holds.iter().cloned().map(Cow::Owned));
                self.pending.extend(holds);
                self.spend(text)?;
                self.count_members(members)?;
                return Ok(facts);
            }
        }
        self.is_alone = true;
        let held = self.pending.len();
        let facts = self.definition(source, name, 0)?;
        if self.is_alone {
            let holds = || self.pending[held..].iter().map(|name| name.clone().into_owned()).collect();
            self.known.keep(text, || Definition { facts: facts.clone(), holds: holds() });
        }
        Ok(facts)
    }

    fn definition(&mut self, text: Text<'a>, root: &str, depth: usize) -> Result<TypeFacts, Error> {
        match text {
            Text::Aggregate(value) => self.aggregate(value, root, depth).map(TypeFacts::Aggregate),
            Text::Enumeration(value) => self.enumeration(value).map(TypeFacts::Enumeration),
        }
    }

    fn aggregate(&mut self, value: &'a str, root: &str, depth: usize) -> Result<Aggregate, Error> {
        if depth >= MAX_DEPTH {
            return Err(Error::TooDeep { name: root.to_owned() });
        }
        let UserType { kind, size, fields } = self.parsed(value)?;
        let kind = match kind {
            UserKind::Struct | UserKind::Class => AggregateKind::Struct,
            UserKind::Union => AggregateKind::Union,
        };
        self.count_members(fields.len())?;
        let mut members = Vec::new();
        for (Name(name), field) in fields {
            let offset = field.offset;
            match self.anonymous(&name, &field) {
                Some(inner) => {
                    for member in self.aggregate(inner, root, depth + 1)?.members {
                        let too_large = || invalid(self.text, value, format!("the offset of `{}` is too large", member.name));
                        let offset = offset.checked_add(member.offset).ok_or_else(too_large)?;
                        members.push(Member { offset, ..member });
                    }
                }
                None => {
                    let ty = self.member_type(value, &field.ty, Held::ByValue, root, depth + 1)?;
                    members.push(Member { name: name.into_owned(), offset, ty });
                }
            }
        }
        Member::sort(&mut members);
        Ok(Aggregate { kind, size, members })
    }

    /// The aggregate whose members replace a field, if the field is anonymous.
    fn anonymous(&mut self, name: &str, field: &Field<'_>) -> Option<&'a str> {
        match &field.ty {
            TypeReference::Struct { name: key } if field.anonymous || name.is_empty() => {
                self.is_alone = false;
                self.document.user_types.get(&**key).map(|text| text.get())
            }
            _ => None,
        }
    }

    fn enumeration(&mut self, value: &'a str) -> Result<Enumeration, Error> {
        let EnumType { size, base, constants } = self.parsed(value)?;
        self.count_members(constants.len())?;
        let base = self.document.base_types.get(&*base.0);
        let base = base.ok_or_else(|| invalid(self.text, value, "the enumeration's base type is unknown".to_owned()))?;
        let mut constants: Vec<_> = constants.into_iter().map(|(Name(name), value)| (name.into_owned(), value)).collect();
        constants.sort_by(|(a, x), (b, y)| (x, a).cmp(&(y, b)));
        Ok(Enumeration { size, signed: base.signed, constants })
    }

    fn member_type(
        &mut self,
        value: &'a str,
        reference: &TypeReference<'a>,
        held: Held,
        root: &str,
        depth: usize,
    ) -> Result<Type, Error> {
        if depth >= MAX_DEPTH {
            return Err(Error::TooDeep { name: root.to_owned() });
        }
        let mut nested = |inner, held| self.member_type(value, inner, held, root, depth + 1).map(Box::new);
        Ok(match reference {
            TypeReference::Base { name } => self.base(value, name)?,
            TypeReference::Function => Type::Function,
            TypeReference::Pointer { subtype } => Type::Pointer(nested(subtype, Held::ByPointer)?),
            TypeReference::Array { count, subtype } => {
                let element = nested(subtype, held)?;
                Type::Array(element, self.elements(value, *count, subtype)?)
            }
            TypeReference::Bitfield { bit_position, bit_length, unit } => {
                Type::Bits { unit: nested(unit, held)?, position: *bit_position, width: *bit_length }
            }
            TypeReference::Struct { name: key } | TypeReference::Enum { name: key } => match (plain(key), held) {
                (Some(name), held) => {
                    if held == Held::ByValue {
                        self.pending.push(name.to_owned().into());
                    }
                    let enumeration = matches!(reference, TypeReference::Enum { .. });
                    if enumeration { Type::Enumeration(name.to_owned()) } else { Type::Aggregate(name.to_owned()) }
                }
                (None, Held::ByPointer) => Type::Opaque,
                (None, Held::ByValue) => {
                    self.is_alone = false;
                    match self.texts(key).next() {
                        Some(source) => Type::Unnamed(Box::new(self.definition(source, root, depth + 1)?)),
                        None => Type::Opaque,
                    }
                }
            },
        })
    }

    /// Number of elements of an array. Volatility 2 assumed an enumeration size of -1 byte, and divided by it.
    fn elements(&mut self, value: &str, count: i64, element: &TypeReference<'_>) -> Result<u64, Error> {
        if let Ok(count) = u64::try_from(count) {
            return Ok(count);
        }
        self.is_alone = false;
        let bytes = count.unsigned_abs();
        if let TypeReference::Enum { name } = element
            && let Some(definition) = self.document.enums.get(&**name)
            && let EnumType { size: size @ 1.., .. } = self.parsed(definition.get())?
            && bytes.is_multiple_of(size)
        {
            return Ok(bytes / size);
        }
        Err(invalid(self.text, value, format!("an array has {count} elements")))
    }

    fn base(&self, value: &str, name: &str) -> Result<Type, Error> {
        let unknown = || invalid(self.text, value, format!("the base type `{name}` is unknown"));
        let base = self.document.base_types.get(name).ok_or_else(unknown)?;
        match base.kind {
            BaseKind::Void => Ok(Type::Void),
            BaseKind::Float => Ok(Type::Float(base.size)),
            BaseKind::Bool | BaseKind::Char | BaseKind::Int => {
                integer(name, base.kind, base.size, base.signed).map(Type::Integer).ok_or_else(unknown)
            }
        }
    }

    fn count_members(&mut self, members: usize) -> Result<(), Error> {
        self.members = self.members.checked_sub(members).ok_or(Error::TooMany)?;
        Ok(())
    }

    /// Parses a definition, which counts as work by its length in bytes, whitespace included.
    fn parsed<T: Deserialize<'a>>(&mut self, value: &'a str) -> Result<T, Error> {
        self.spend(value)?;
        parse_value(self.text, value)
    }

    fn spend(&mut self, value: &str) -> Result<(), Error> {
        self.work = self.work.checked_sub(value.len()).ok_or(Error::TooMuch)?;
        Ok(())
    }
}

/// The integer type of a base type: by name if it is one of C or CodeView, otherwise by its properties.
///
/// The name has priority because tables state a wrong signedness for `wchar` and `HRESULT`.
fn integer(name: &str, kind: BaseKind, size: u64, signed: bool) -> Option<Integer> {
    let by_name = match name {
        "wchar" => Some(Integer::UnsignedShort),
        "HRESULT" => Some(Integer::Long),
        name => Integer::from_c(name),
    };
    by_name.filter(|integer| integer.size() == size).or(Some(match (kind, size, signed) {
        (BaseKind::Bool, 1, _) => Integer::Bool,
        (BaseKind::Char, 1, true) => Integer::Char,
        (BaseKind::Int, 1, true) => Integer::SignedChar,
        (BaseKind::Char | BaseKind::Int, 1, false) => Integer::UnsignedChar,
        (BaseKind::Int, 2, true) => Integer::Short,
        (BaseKind::Int, 2, false) => Integer::UnsignedShort,
        (BaseKind::Int, 4, true) => Integer::Int,
        (BaseKind::Int, 4, false) => Integer::UnsignedInt,
        (BaseKind::Int, 8, true) => Integer::LongLong,
        (BaseKind::Int, 8, false) => Integer::UnsignedLongLong,
        _ => return None,
    }))
}
