//! Members by declared name and type. Constants use it too, so that a wrong declaration does not compile.

use super::Layouts;
use super::format::{Change, Layout, Member, NONE, Name, Record, Shape as ShapeRecord, Structure, Text, Type, Values};
use crate::check::Message;
use core::fmt;

/// The type that a program declares for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// An integer of this many bytes, or a bit field that fits into them.
    Integer {
        /// Size in bytes.
        size: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// An integer or bit field of any width.
    AnyInteger {
        /// Whether it is signed.
        signed: bool,
    },
    /// A bit, or an integer of one byte.
    Bool,
    /// An integer or bit field with the values of this enumeration.
    Values {
        /// Name of the enumeration or of the set of flags.
        name: &'static str,
        /// Size in bytes.
        size: u8,
    },
    /// An address; if a name is given, one that does not point to another structure.
    Pointer(Option<&'static str>),
    /// The structure with this name.
    Structure(&'static str),
    /// An array.
    Array(&'static Wanted, usize),
}

/// The type that a layout has for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// An integer of this many bytes; of a bit field, its unit.
    Integer {
        /// Size in bytes.
        size: usize,
        /// Number of bits of a bit field.
        bits: Option<u32>,
        /// Whether it is signed.
        signed: bool,
    },
    /// An address of this many bytes.
    Pointer(usize),
    /// A structure of this many bytes.
    Structure(usize),
    /// An array.
    Array {
        /// Number of elements.
        count: usize,
        /// Size of an element, in bytes.
        size: usize,
    },
}

/// A member, or an element of an array, in a layout.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    pub(crate) table: Layouts<'a>,
    /// Bytes from the start of the structure.
    pub(crate) offset: u32,
    pub(crate) record: ShapeRecord,
}

impl<'a> Located<'a> {
    /// The member with a path, `A` or `A.B`, in the layout with an index. The search begins at a member, which is then the one after the
    /// member found: members that are declared in order are found at once.
    pub(crate) const fn find(table: Layouts<'a>, mut layout: u16, path: &str, from: &mut usize) -> Option<Self> {
        let (mut first, mut rest) = split(path);
        let Some(name) = find_name(table, first) else { return None };
        let Some(mut found) = Self::named(table, layout, name, from) else { return None };
        while let Some(path) = rest {
            (first, rest) = split(path);
            let Some(name) = find_name(table, first) else { return None };
            let Some(ty) = found.ty() else { return None };
            let base = found;
            if ty.kind == 4 {
                layout = ty.of;
            }
            let Some(inner) = Self::named(table, layout, name, &mut 0) else { return None };
            found = inner;
            if ty.kind == 4 {
                let Some(offset) = base.offset.checked_add(inner.offset) else { return None };
                found.offset = offset;
            } else {
                // Bit fields of an unnamed union belong to the structure, as its whole value does.
                let end = base.offset as u64 + base.record.size as u64;
                let is_within = inner.offset >= base.offset && inner.offset as u64 + inner.record.size as u64 <= end;
                if inner.record.bits == 0 || base.record.bits > 0 || !is_within {
                    return None;
                }
            }
        }
        Some(found)
    }

    const fn named(table: Layouts<'a>, layout: u16, name: u16, from: &mut usize) -> Option<Self> {
        let layout = Layout::parse(nth::<Layout>(table.section_bytes::<Layout>(), layout as usize));
        let Some(Layout { members, member_count, .. }) = layout else { return None };
        let (all, shapes) = (table.section_bytes::<Member>(), table.section_bytes::<ShapeRecord>());
        let count = member_count as usize;
        let mut passed = 0;
        while passed < count {
            let at = (*from + passed) % count;
            passed += 1;
            let Some(member) = Member::parse(nth::<Member>(all, (members as usize).saturating_add(at))) else { return None };
            let Some(record) = ShapeRecord::parse(nth::<ShapeRecord>(shapes, member.shape as usize)) else { return None };
            if record.name == name {
                *from = at + 1;
                return Some(Self { table, offset: member.offset, record });
            }
        }
        None
    }

    /// The element of an array, at offset 0, and their number.
    pub(crate) const fn element(&self) -> Option<(Self, usize)> {
        let Some(Type { kind: 5, of, element }) = self.ty() else { return None };
        if element == 0 {
            return None;
        }
        let count = (self.record.size / element) as usize;
        Some((Self { table: self.table, offset: 0, record: ShapeRecord { ty: of, size: element, ..self.record } }, count))
    }

    /// The index of the layout of a nested structure.
    pub(crate) const fn layout(&self) -> Option<u16> {
        match self.ty() {
            Some(Type { kind: 4, of, .. }) => Some(of),
            _ => None,
        }
    }

    /// Whether the member has the declared type.
    pub(crate) const fn fits(&self, wanted: &Wanted) -> bool {
        let Some(ty) = self.ty() else { return false };
        match *wanted {
            Wanted::Integer { size, signed } => match self.integer(ty) {
                Some(is_signed) => is_signed == signed && self.has_width(size),
                // The structures of 64-bit integers, which older declarations use for the same values.
                None if size != 8 || self.record.size != 8 => false,
                None if signed => self.is_structure("LARGE_INTEGER"),
                None => self.is_structure("ULARGE_INTEGER"),
            },
            Wanted::AnyInteger { signed } => matches!(self.integer(ty), Some(is_signed) if is_signed == signed),
            Wanted::Bool => {
                self.integer(ty).is_some() && (self.record.bits == 1 || self.record.bits == 0 && self.record.size == 1)
            }
            Wanted::Values { name, size } => {
                self.integer(ty).is_some() && self.has_width(size) && (ty.kind != 3 || self.has_values(ty.of, name))
            }
            Wanted::Pointer(to) => {
                ty.kind == 2
                    && match to {
                        Some(to) => self.can_point_to(to),
                        None => true,
                    }
            }
            Wanted::Structure(name) => self.is_structure(name),
            Wanted::Array(wanted, count) => match self.element() {
                Some((element, actual)) => actual == count && element.fits(wanted),
                None => false,
            },
        }
    }

    /// The type for error messages.
    pub(crate) const fn shape(&self) -> Option<Shape> {
        let Some(ty) = self.ty() else { return None };
        let size = self.record.size as usize;
        Some(match (ty.kind, self.integer(ty), self.element()) {
            (_, Some(signed), _) => {
                let bits = if self.record.bits > 0 { Some(self.record.bits as u32) } else { None };
                Shape::Integer { size, bits, signed }
            }
            (2, ..) => Shape::Pointer(size),
            (_, _, Some((element, count))) => Shape::Array { count, size: element.record.size as usize },
            _ => Shape::Structure(size),
        })
    }

    /// Whether it is signed, if it is an integer.
    const fn integer(&self, ty: Type) -> Option<bool> {
        match ty.kind {
            0 => Some(false),
            1 => Some(true),
            3 => match Values::parse(nth::<Values>(self.table.section_bytes::<Values>(), ty.of as usize)) {
                Some(values) => Some(values.kind & 2 == 2),
                None => None,
            },
            _ => None,
        }
    }

    const fn has_width(&self, size: u8) -> bool {
        match self.record.bits {
            0 => self.record.size == size as u32,
            bits => bits as u32 <= size as u32 * 8,
        }
    }

    const fn has_values(&self, values: u16, name: &str) -> bool {
        match Values::parse(nth::<Values>(self.table.section_bytes::<Values>(), values as usize)) {
            Some(values) => is_same(text(self.table, values.name), name.as_bytes()),
            None => false,
        }
    }

    const fn is_structure(&self, name: &str) -> bool {
        let Some(layout) = self.layout() else { return false };
        match Layout::parse(nth::<Layout>(self.table.section_bytes::<Layout>(), layout as usize)) {
            Some(layout) => is_same(text(self.table, layout.name), name.as_bytes()),
            None => false,
        }
    }

    /// Whether the type in C is not a pointer to another structure of the table.
    const fn can_point_to(&self, name: &str) -> bool {
        let c = text(self.table, self.record.c);
        let Some((c, [b' ', b'*'])) = c.split_last_chunk() else { return true };
        if is_same(c, name.as_bytes()) {
            return true;
        }
        match core::str::from_utf8(c) {
            Ok(c) => structure(self.table, c).is_none(),
            Err(_) => true,
        }
    }

    const fn ty(&self) -> Option<Type> {
        Type::parse(nth::<Type>(self.table.section_bytes::<Type>(), self.record.ty as usize))
    }
}

/// Fails, in a constant, if a member exists in no layout of a structure, or has the declared type in none of them.
#[track_caller]
pub(crate) const fn never_fits(table: Layouts, name: &str, path: &str, wanted: &Wanted) {
    let Some(structure) = structure(table, name) else {
        Message::of(&["no structure `", name, "` in the table of layouts"]).fail("; generate the table again")
    };
    let changes = table.section_bytes::<Change>();
    let mut other = None;
    let mut near = None;
    // The last layout of each architecture: many changes repeat it.
    let mut last = [NONE; 256];
    let mut i = 0;
    while i < structure.change_count as usize {
        let change = Change::parse(nth::<Change>(changes, (structure.changes as usize).saturating_add(i)));
        i += 1;
        let Some(Change { arch, layout, .. }) = change else { break };
        if layout == NONE || last[arch as usize] == layout {
            continue;
        }
        last[arch as usize] = layout;
        match Located::find(table, layout, path, &mut 0) {
            Some(found) if found.fits(wanted) => return,
            Some(found) => other = Some(found),
            None if near.is_none() => near = near_member(table, layout, path),
            None => {}
        }
    }
    let Some(found) = other else {
        let message = Message::of(&["`", name, "` has no member `", path, "` in any build; "]);
        match near {
            Some(near) => message.text("did you mean `").text(near).fail("`?"),
            None => message.text("`members::").text(name).fail("` lists its members"),
        }
    };
    let c = match core::str::from_utf8(text(table, found.record.c)) {
        Ok(c) => c,
        Err(_) => "",
    };
    let message = Message::of(&["`", name, ".", path, "` is `", c, "` in C, not "]);
    describe_wanted(message, wanted).text("; declare it as ").fail(declaration(&found))
}

/// The type to declare for a member.
const fn declaration(found: &Located) -> &'static str {
    match found.shape() {
        Some(Shape::Integer { bits: Some(1), .. }) => "`bool`",
        Some(Shape::Integer { size, bits, signed }) => {
            let bits = match bits {
                Some(bits) => bits as usize,
                None => size * 8,
            };
            match (bits, signed) {
                (0..=8, false) => "`u8`",
                (9..=16, false) => "`u16`",
                (17..=32, false) => "`u32`",
                (_, false) => "`u64`",
                (0..=8, true) => "`i8`",
                (9..=16, true) => "`i16`",
                (17..=32, true) => "`i32`",
                (_, true) => "`i64`",
            }
        }
        Some(Shape::Pointer(_)) => "`Pointer<T>`, with the declaration of the structure as `T`, or `()`",
        Some(Shape::Array { .. }) => "`[T; N]`, with its number of elements",
        _ if found.is_structure("UNICODE_STRING") => "`UnicodeString`",
        _ if found.is_structure("LIST_ENTRY") => "`ListHead<T>`",
        _ if found.is_structure("GUID") => "`Uuid`",
        _ if found.is_structure("LARGE_INTEGER") => "`i64`",
        _ if found.is_structure("ULARGE_INTEGER") => "`u64`",
        _ => "a structure with `#[derive(Relocated)]`",
    }
}

const fn describe_wanted(message: Message, wanted: &Wanted) -> Message {
    match *wanted {
        Wanted::Integer { size, signed } => message.text(integer(signed)).text(" of ").number(size as usize).text(" bytes"),
        Wanted::AnyInteger { signed } => message.text(integer(signed)),
        Wanted::Bool => message.text("a bit or a byte"),
        Wanted::Values { name, .. } => message.text("an integer with the values of `").text(name).text("`"),
        Wanted::Pointer(None) => message.text("a pointer"),
        Wanted::Pointer(Some(to)) => message.text("a pointer to `").text(to).text("`"),
        Wanted::Structure(name) => message.text("the structure `").text(name).text("`"),
        Wanted::Array(_, count) => message.text("an array of this type with ").number(count).text(" elements"),
    }
}

const fn integer(signed: bool) -> &'static str {
    if signed { "a signed integer" } else { "an unsigned integer" }
}

/// A member of a layout whose name differs in one place of at most two letters, or in the case of its letters.
const fn near_member<'a>(table: Layouts<'a>, layout: u16, path: &str) -> Option<&'a str> {
    let Some(Layout { members, member_count, .. }) =
        Layout::parse(nth::<Layout>(table.section_bytes::<Layout>(), layout as usize))
    else {
        return None;
    };
    let mut i = 0;
    while i < member_count as usize {
        let member = Member::parse(nth::<Member>(table.section_bytes::<Member>(), (members as usize).saturating_add(i)));
        i += 1;
        let Some(Member { shape, .. }) = member else { return None };
        let shape = ShapeRecord::parse(nth::<ShapeRecord>(table.section_bytes::<ShapeRecord>(), shape as usize));
        let Some(ShapeRecord { name, .. }) = shape else { return None };
        let name = text(table, name);
        if is_near(name, path.as_bytes()) {
            return match core::str::from_utf8(name) {
                Ok(name) => Some(name),
                Err(_) => None,
            };
        }
    }
    None
}

const fn is_near(a: &[u8], b: &[u8]) -> bool {
    let shorter = if a.len() < b.len() { a.len() } else { b.len() };
    let mut start = 0;
    while start < shorter && a[start].eq_ignore_ascii_case(&b[start]) {
        start += 1;
    }
    let mut end = 0;
    while end < shorter - start && a[a.len() - 1 - end].eq_ignore_ascii_case(&b[b.len() - 1 - end]) {
        end += 1;
    }
    start + end > 0 && a.len() - start - end <= 2 && b.len() - start - end <= 2
}

const fn structure(table: Layouts, name: &str) -> Option<Structure> {
    let Some(name) = find_name(table, name) else { return None };
    let all = table.section_bytes::<Structure>();
    let (mut low, mut high) = (0, all.len() / Structure::SIZE);
    while low < high {
        let middle = low + (high - low) / 2;
        match Structure::parse(nth::<Structure>(all, middle)) {
            Some(found) if found.name == name => return Some(found),
            Some(found) if found.name < name => low = middle + 1,
            _ => high = middle,
        }
    }
    None
}

/// [`Layouts::name`] for constants.
const fn find_name(table: Layouts, wanted: &str) -> Option<u16> {
    let (names, texts, wanted) = (table.section_bytes::<Name>(), table.section_bytes::<Text>(), wanted.as_bytes());
    let (mut low, mut high) = (0, names.len() / Name::SIZE);
    while low < high {
        let middle = low + (high - low) / 2;
        let text = text_in(names, texts, middle);
        let mut i = 0;
        while i < text.len() && i < wanted.len() && text[i] == wanted[i] {
            i += 1;
        }
        if i == text.len() && i == wanted.len() {
            return if middle < NONE as usize { Some(middle as u16) } else { None };
        }
        let is_before = i == text.len() || i < wanted.len() && text[i] < wanted[i];
        if is_before { low = middle + 1 } else { high = middle }
    }
    None
}

const fn text<'a>(table: Layouts<'a>, name: u16) -> &'a [u8] {
    text_in(table.section_bytes::<Name>(), table.section_bytes::<Text>(), name as usize)
}

#[inline]
const fn text_in<'a>(names: &[u8], texts: &'a [u8], index: usize) -> &'a [u8] {
    let Some(Name { start }) = Name::parse(nth::<Name>(names, index)) else { return &[] };
    let end = match Name::parse(nth::<Name>(names, index + 1)) {
        Some(next) => next.start as usize,
        None => texts.len(),
    };
    if start as usize > end {
        return &[];
    }
    match texts.split_at_checked(end) {
        Some((texts, _)) => texts.split_at(start as usize).1,
        None => &[],
    }
}

/// The bytes from a record on.
#[inline]
const fn nth<R: Record>(section: &[u8], index: usize) -> &[u8] {
    match section.split_at_checked(index.saturating_mul(R::SIZE)) {
        Some((_, bytes)) => bytes,
        None => &[],
    }
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The part of a path before its first point, and the part after it.
const fn split(path: &str) -> (&str, Option<&str>) {
    let bytes = path.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'.' {
            let (first, rest) = path.split_at(i);
            return (first, Some(rest.split_at(1).1));
        }
        i += 1;
    }
    (path, None)
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { size, signed } => write!(f, "{} of {size} bytes", integer(*signed)),
            Self::AnyInteger { signed } => f.write_str(integer(*signed)),
            Self::Bool => f.write_str("a bit or a byte"),
            Self::Values { name, size } => write!(f, "an integer of {size} bytes with the values of {name}"),
            Self::Pointer(None) => f.write_str("a pointer"),
            Self::Pointer(Some(to)) => write!(f, "a pointer to {to}"),
            Self::Structure(name) => write!(f, "the structure {name}"),
            Self::Array(wanted, count) => write!(f, "an array of {count}, each {wanted}"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { bits: Some(bits), signed, .. } => write!(f, "{} of {bits} bits", integer(*signed)),
            Self::Integer { size, signed, .. } => write!(f, "{} of {size} bytes", integer(*signed)),
            Self::Pointer(size) => write!(f, "a pointer of {size} bytes"),
            Self::Structure(size) => write!(f, "a structure of {size} bytes"),
            Self::Array { count, size } => write!(f, "an array of {count}, each of {size} bytes"),
        }
    }
}
