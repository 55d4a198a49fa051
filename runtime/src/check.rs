//! Checks of types during constant evaluation, used by `layout!` and `#[layout]`. Each error message has the stated and the
//! actual value.

use bytemuck::Pod;

/// A member of a type in `layout!`.
pub struct Field {
    name: &'static str,
    actual: usize,
    stated: usize,
    size: usize,
}

impl Field {
    /// A member of type `T`, with its actual and stated offset. Compiles only for plain old data.
    pub const fn of<T: Pod>(name: &'static str, actual: usize, stated: usize) -> Self {
        Self { name, actual, stated, size: size_of::<T>() }
    }
}

/// Check of `layout!`: the type has the stated size, alignment and offsets, and every byte belongs to a member.
///
/// `kind` is `struct` or `union`. All members of a struct together, and each member of a union, must fill the type.
#[track_caller]
pub const fn plain(kind: &str, name: &str, sizes: (usize, usize), aligns: (usize, usize), fields: &[Field]) {
    size(name, sizes.0, sizes.1);
    align(name, aligns.0, aligns.1);
    let is_union = matches!(kind.as_bytes(), [b'u', ..]);
    let mut end = 0;
    let mut i = 0;
    while i < fields.len() {
        let Field { actual, stated, size, .. } = fields[i];
        // A single comparison in the valid case: there are many thousands of members.
        if actual != stated || actual != end || is_union && size != sizes.0 {
            misplaced(name, sizes.0, is_union, fields, i, end);
        }
        if !is_union {
            end += size;
        }
        i += 1;
    }
    if !is_union && end != sizes.0 {
        Message::of(&["`", name, "` has "]).number(sizes.0).text(" bytes, its members ").number(end).fail(PADDING);
    }
}

/// Reports the problem of a misplaced member.
#[track_caller]
const fn misplaced(name: &str, whole: usize, is_union: bool, fields: &[Field], at: usize, end: usize) {
    let field = &fields[at];
    let before = if is_union || at == 0 { None } else { Some((fields[at - 1].name, end)) };
    offset(name, field.name, field.actual, field.stated, before);
    filled(name, field.name, field.actual, end);
    if is_union {
        filled(name, field.name, field.size, whole);
    }
}

/// Check of `values!`: the inner type is an integer.
pub const fn integer<T: Integer>() {}

/// A primitive integer.
pub trait Integer: sealed::Integer {}

impl<T: sealed::Integer> Integer for T {}

mod sealed {
    pub trait Integer {}

    macro_rules! integers {
        ($($ty:ty)+) => { $(impl Integer for $ty {})+ };
    }

    integers!(u8 u16 u32 u64 i8 i16 i32 i64);
}

/// Checks that no byte is unused before a member of a structure, or after a member of a union.
#[track_caller]
const fn filled(name: &str, member: &str, actual: usize, expected: usize) {
    if actual != expected {
        let message = Message::of(&["`", name, ".", member, "` begins or ends at "]).number(actual);
        message.text(", the other members at ").number(expected).fail(PADDING);
    }
}

/// Checks the size of a type.
#[track_caller]
pub const fn size(name: &str, actual: usize, stated: usize) {
    if actual != stated {
        Message::of(&["`", name, "` has "]).number(actual).text(" bytes on this host, not ").number(stated).fail(SIZE);
    }
}

/// Checks the alignment of a type.
#[track_caller]
pub const fn align(name: &str, actual: usize, stated: usize) {
    if actual != stated {
        Message::of(&["`", name, "` is aligned to "]).number(actual).text(" on this host, not to ").number(stated).fail(ALIGN);
    }
}

/// Checks the offset of a member. `before` is the previous member and its end, according to the stated numbers.
#[track_caller]
pub const fn offset(name: &str, member: &str, actual: usize, stated: usize, before: Option<(&str, usize)>) {
    match before {
        Some((before, end)) if stated < end => {
            let message = Message::of(&["`", name, ".", member, "` at "]).number(stated);
            message.text(" overlaps `").text(before).text("`, which ends at ").number(end).fail(UNION);
        }
        _ => {}
    }
    if actual != stated {
        Message::of(&["`", name, ".", member, "` is at "])
            .number(actual)
            .text(" on this host, not at ")
            .number(stated)
            .fail(MEMBERS);
    }
}

const SIZE: &str = ": correct the number or the members; padding is `[u8; N]`, an address `Ptr32` or `Ptr64`";
const MEMBERS: &str = ": correct the number or the members before it; padding is `[u8; N]`, an address `Ptr32` or `Ptr64`";
const ALIGN: &str = ": correct the number, or state it for every host with `#[repr(C, align(N))]`, or `packed(N)`";
const PADDING: &str = ": declare a member for each byte between; padding is `[u8; N]`, a short branch of a union `Bytes<T, N>`";
const UNION: &str = ": correct the numbers, or combine both members in a union";

/// A message built in a constant; excess text is dropped.
pub(crate) struct Message {
    text: [u8; 512],
    length: usize,
}

impl Message {
    pub(crate) const fn of(parts: &[&str]) -> Self {
        let mut new = Self { text: [0; 512], length: 0 };
        let mut i = 0;
        while i < parts.len() {
            new = new.text(parts[i]);
            i += 1;
        }
        new
    }

    pub(crate) const fn text(mut self, part: &str) -> Self {
        let part = part.as_bytes();
        let mut i = 0;
        while i < part.len() && self.length < self.text.len() {
            self.text[self.length] = part[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    /// A hexadecimal number.
    pub(crate) const fn number(self, number: usize) -> Self {
        self.text("0x").digits(number, 16)
    }

    /// A decimal number.
    pub(crate) const fn decimal(self, number: usize) -> Self {
        self.digits(number, 10)
    }

    const fn digits(self, number: usize, base: usize) -> Self {
        let mut digits = [0; 20];
        let mut start = digits.len();
        let mut rest = number;
        while rest != 0 || start == digits.len() {
            start -= 1;
            digits[start] = b"0123456789abcdef"[rest % base];
            rest /= base;
        }
        match core::str::from_utf8(digits.split_at(start).1) {
            Ok(digits) => self.text(digits),
            Err(_) => self,
        }
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.text.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "a layout is not as stated",
        }
    }

    #[track_caller]
    pub(crate) const fn fail(self, remedy: &str) -> ! {
        panic!("{}", self.text(remedy).as_str())
    }
}
