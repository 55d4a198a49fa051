//! The value of a member, decoded with its metadata.

use crate::access::ones;
use crate::names::{self, Named};
use crate::packed::{Element, Layout, Layouts, Type, Values};
use core::cell::Cell;
use core::fmt::{self, Formatter};

/// The value of a member or an array element: bytes with their type.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub(crate) table: Layouts<'a>,
    /// The type, by its index in the table: most values are read without it.
    pub(crate) ty: u16,
    pub(crate) bits: Option<(u32, u32)>,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// Type of the bytes.
    pub fn ty(&self) -> Type<'a> {
        Type::at(self.table, self.ty).unwrap_or(Type::Unsigned)
    }

    /// The bytes; those of the whole unit for a bit field.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first 8 bytes, or all if there are fewer, as an unsigned integer; for a bit field only its bits.
    #[inline]
    pub fn unsigned(&self) -> u64 {
        number(self.bytes, self.bits)
    }

    /// As [`unsigned`](Self::unsigned), with the highest bit as the sign.
    #[inline]
    pub fn signed(&self) -> i64 {
        signed(self.bytes, self.bits)
    }

    /// The number with its names.
    pub fn choice(&self) -> Choice<'a> {
        Choice::of(self.bytes, self.bits, self.values())
    }

    /// The named values or flags of its type; for nested members those of the C type.
    pub fn values(&self) -> Option<Values<'a>> {
        self.ty().values()
    }

    /// The elements of an array; empty for other types.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let (element, bytes) = match self.ty() {
            Type::Array(Element { size, ty, .. }) => ((ty, size), self.bytes),
            _ => ((self.ty, 1), &[][..]),
        };
        let (table, (ty, size)) = (self.table, element);
        bytes.chunks_exact(size.max(1)).map(move |bytes| Value { table, ty, bits: None, bytes })
    }
}

/// A number with its names as a named value or flags. Two values are equal if their numbers and the names of their types are equal,
/// even for different versions of an enumeration.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The number; unsigned for flags.
    pub value: i64,
    values: Option<Values<'a>>,
}

impl<'a> Choice<'a> {
    /// The number is signed, unless the type of the named values is unsigned.
    pub(crate) fn of(bytes: &[u8], bits: Option<(u32, u32)>, values: Option<Values<'a>>) -> Self {
        let value = match values {
            Some(values) if !values.signed() => number(bytes, bits) as i64,
            _ => signed(bytes, bits),
        };
        Self { value, values }
    }

    /// Microsoft's name of the value; for flags, the first name with all its bits set.
    pub fn name(&self) -> Option<&'a str> {
        self.names().next()
    }

    /// All Microsoft's names of the value; for flags, all names with all their bits set.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let this = *self;
        let constants = self.values.into_iter().flat_map(|values| values.constants());
        constants.filter(move |(_, named)| this.has(*named)).map(|(name, _)| name)
    }

    /// Whether this is the value with a name; for flags, whether all bits of that name are set.
    pub fn is(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Whether this is the given value; for flags, whether all its bits are set. `false` for a value of another type.
    pub fn contains<T: Named>(&self, value: T) -> bool {
        self.values.is_some_and(|values| values.name() == T::NAME) && self.has(value.number())
    }

    fn has(&self, value: i64) -> bool {
        match self.values {
            Some(values) if values.flags() => value != 0 && self.value & value == value,
            _ => self.value == value,
        }
    }
}

impl PartialEq for Choice<'_> {
    fn eq(&self, other: &Self) -> bool {
        let name = |choice: &Self| choice.values.map(|values| values.name());
        self.value == other.value && name(self) == name(other)
    }
}

impl Eq for Choice<'_> {}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printed { value: *self, left: &Cell::new(limit(self.bytes)) }.fmt(f)
    }
}

/// Prints bytes that begin with a structure, member by member. Beyond a limit that only crafted tables reach, whose structures overlap in
/// many levels, `..` stands for the rest.
pub(crate) fn print(f: &mut Formatter<'_>, layout: Layout<'_>, bytes: &[u8]) -> fmt::Result {
    structure(f, layout, bytes, &Cell::new(limit(bytes)))
}

/// The limit of the work to print bytes: for each byte, thousands of letters in the names of its values.
fn limit(bytes: &[u8]) -> usize {
    bytes.len().saturating_add(16).saturating_mul(1 << 12)
}

/// A value of which a part is printed, if the limit is reached.
struct Printed<'a, 'l> {
    value: Value<'a>,
    /// The rest of the limit.
    left: &'l Cell<usize>,
}

impl Printed<'_, '_> {
    /// Deducts the work to print the value with a name; `false` if too little is left.
    fn fits(&self, name: &str) -> bool {
        let names = match self.value.ty() {
            Type::Values(values) => {
                let constants = values.constants().map(|(name, _)| name.len() + 1);
                constants.fold(values.name().len(), usize::saturating_add)
            }
            Type::Layout(layout) => layout.name.len(),
            _ => 0,
        };
        let left = self.left.get().checked_sub(names.saturating_add(name.len() + 1));
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

impl fmt::Debug for Printed<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { value, left } = *self;
        match value.ty() {
            Type::Unsigned => value.unsigned().fmt(f),
            Type::Signed => value.signed().fmt(f),
            // As `Ptr32` and `Ptr64`.
            Type::Pointer => write!(f, "{:#01$x}", value.unsigned(), 2 + 2 * value.bytes.len()),
            Type::Values(_) => value.choice().fmt(f),
            Type::Layout(layout) => structure(f, layout, value.bytes, left),
            Type::Array(..) => {
                let mut list = f.debug_list();
                for value in value.elements() {
                    let element = Printed { value, left };
                    if !element.fits("") {
                        return list.finish_non_exhaustive();
                    }
                    list.entry(&element);
                }
                list.finish()
            }
        }
    }
}

fn structure(f: &mut Formatter<'_>, layout: Layout<'_>, bytes: &[u8], left: &Cell<usize>) -> fmt::Result {
    let mut list = f.debug_struct(layout.name);
    for found in layout.located() {
        let member = Printed { value: found.value(bytes), left };
        if !member.fits(found.name()) {
            return list.finish_non_exhaustive();
        }
        list.field(found.name(), &member);
    }
    list.finish()
}

impl fmt::Debug for Choice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.values {
            Some(values) => names::print(f, values.name(), values.flags(), values.constants(), self.value),
            None => self.value.fmt(f),
        }
    }
}

/// The first 8 bytes, or all if there are fewer, as an unsigned integer; only its `bits`, if there are any.
#[inline]
pub(crate) fn number(bytes: &[u8], bits: Option<(u32, u32)>) -> u64 {
    let all = word(bytes);
    match bits {
        Some((position, width)) => all >> (position & 63) & ones(width),
        None => all,
    }
}

/// As [`number`], with the highest bit as the sign.
#[inline]
pub(crate) fn signed(bytes: &[u8], bits: Option<(u32, u32)>) -> i64 {
    let width = bits.map_or(bytes.len() as u32 * 8, |(_, width)| width);
    let unused = 64 - width.clamp(1, 64);
    (number(bytes, bits) << unused) as i64 >> unused
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    if let Ok(bytes) = bytes.try_into() {
        return u32::from_le_bytes(bytes).into();
    }
    if let Some(bytes) = bytes.first_chunk() {
        return u64::from_le_bytes(*bytes);
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
