//! Values as bytes.
//!
//! Numbers have seven bits in each byte, the lowest first. Each text and each set of targets is there once, before the values, and values
//! refer to it by index. The information on a member is there where it is first used, and then referred to by index. A place is stored as
//! its distance from the place before it.

use crate::axis::TargetSet;
use crate::layouts::Info;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A value that has a form as bytes.
pub(super) trait Stored: Sized {
    fn write(&self, out: &mut Writer);

    /// Reads what [`write`](Self::write) wrote; `None` if the bytes are something else.
    fn read(from: &mut Reader<'_>) -> Option<Self>;
}

/// Limit of lists and boxes in each other, against endless recursion.
const DEEPEST: usize = 64;
/// Limit of the bytes of all texts and sets that are read, because one of them can be repeated by a byte.
const COPIED: usize = 1 << 26;

/// The bytes of a value.
pub(super) fn bytes(value: impl Fn(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    value(&mut out);
    let Writer { texts, sets, bytes: values, .. } = out;
    let mut out = Writer::default();
    out.number(texts.list.len() as u64);
    texts.list.iter().for_each(|text| out.number(text.len() as u64));
    texts.list.iter().for_each(|text| out.bytes.extend(text.as_bytes()));
    out.number(sets.list.len() as u64);
    for set in &sets.list {
        out.number(set.words().len() as u64);
        set.words().iter().for_each(|word| out.bytes.extend(word.to_le_bytes()));
    }
    out.bytes.extend(values);
    out.bytes
}

#[derive(Default)]
pub(super) struct Writer {
    texts: Table<String>,
    sets: Table<TargetSet>,
    infos: Table<Arc<Info>>,
    bytes: Vec<u8>,
    span: Span,
}

/// Distinct values in the order of their first use.
struct Table<T> {
    list: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { list: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn index(&mut self, value: &T) -> u64 {
        let new = self.list.len();
        let index = *self.known.entry(value.clone()).or_insert(new);
        if index == new {
            self.list.push(value.clone());
        }
        index as u64
    }
}

impl Writer {
    pub(super) fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A number that can be negative, as an even or an odd one.
    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }
}

pub(super) struct Reader<'a> {
    texts: Vec<&'a str>,
    sets: Vec<TargetSet>,
    infos: Vec<Arc<Info>>,
    rest: &'a [u8],
    span: Span,
    depth: usize,
    /// The part of [`COPIED`] that is not used yet, in bytes.
    budget: usize,
}

impl<'a> Reader<'a> {
    /// Opens bytes that [`bytes`] made; `None` if they are something else.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (texts, sets, infos, span) = (Vec::new(), Vec::new(), Vec::new(), Span::default());
        let mut new = Self { texts, sets, infos, rest: bytes, span, depth: 0, budget: COPIED };
        let lengths = new.list(|from| Some(from.number()? as usize))?;
        let all = new.take(lengths.iter().try_fold(0usize, |sum, length| sum.checked_add(*length))?)?;
        let mut rest = std::str::from_utf8(all).ok()?;
        for length in lengths {
            let (text, after) = rest.split_at_checked(length)?;
            new.texts.push(text);
            rest = after;
        }
        new.sets = new.list(|from| {
            let count = from.number()? as usize;
            let words = from.take(count.checked_mul(8)?)?.chunks_exact(8);
            words.map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect::<Option<_>>().map(TargetSet::from_words)
        })?;
        Some(new)
    }

    /// Counts bytes that are copied; `None` if they are too many.
    pub(super) fn copy(&mut self, count: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(count)?;
        Some(())
    }

    /// Whether all bytes were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let index = self.number()?;
        self.texts.get(index as usize).copied()
    }

    /// Each item has at least one byte, so a wrong count ends with the bytes. The capacity is limited, because an item is larger in memory.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        let mut list = Vec::with_capacity(count.min(self.rest.len()).min(1 << 10));
        for _ in 0..count {
            list.push(item(self)?);
        }
        Some(list)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let value = if self.depth > DEEPEST { None } else { read(self) };
        self.depth -= 1;
        value
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Writer) {
                out.number(*self as u64);
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                from.number()?.try_into().ok()
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, usize);

impl Stored for i64 {
    fn write(&self, out: &mut Writer) {
        out.signed(*self);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.signed()
    }
}

impl Stored for bool {
    fn write(&self, out: &mut Writer) {
        out.number((*self).into());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(from.number()? == 1)
    }
}

impl Stored for String {
    fn write(&self, out: &mut Writer) {
        let index = out.texts.index(self);
        out.number(index);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let text = from.text()?;
        from.copy(text.len())?;
        Some(text.to_owned())
    }
}

impl Stored for TargetSet {
    fn write(&self, out: &mut Writer) {
        let index = out.sets.index(self);
        out.number(index);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let index = from.number()? as usize;
        from.copy(size_of_val(from.sets.get(index)?.words()))?;
        from.sets.get(index).cloned()
    }
}

/// The first use of an information has its number, and then the information itself.
impl Stored for Arc<Info> {
    fn write(&self, out: &mut Writer) {
        let new = out.infos.list.len() as u64;
        let index = out.infos.index(self);
        out.number(index);
        if index == new {
            (**self).write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let index = from.number()? as usize;
        if index == from.infos.len() {
            let new = Info::read(from)?.into();
            from.infos.push(new);
        }
        from.infos.get(index).cloned()
    }
}

impl Stored for Span {
    fn write(&self, out: &mut Writer) {
        let last = std::mem::replace(&mut out.span, *self);
        out.signed(i64::from(self.file) - i64::from(last.file));
        out.signed(i64::from(self.start) - i64::from(last.start));
        out.signed(i64::from(self.end) - i64::from(self.start));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let after = |number: u32, distance: i64| u32::try_from(i64::from(number).checked_add(distance)?).ok();
        let file = after(from.span.file, from.signed()?)?;
        let start = after(from.span.start, from.signed()?)?;
        let end = after(start, from.signed()?)?;
        from.span = Self { file, start, end };
        Some(from.span)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Writer) {
        self.is_some().write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        if bool::read(from)? { T::read(from).map(Some) } else { Some(None) }
    }
}

impl<T: Stored> Stored for Box<T> {
    fn write(&self, out: &mut Writer) {
        (**self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.deeper(T::read).map(Box::new)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.deeper(|from| from.list(T::read))
    }
}

impl<T: Stored + Ord> Stored for BTreeSet<T> {
    fn write(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Vec::read(from).map(Self::from_iter)
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn write(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        for (key, value) in self {
            key.write(out);
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Vec::read(from).map(Self::from_iter)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

impl Stored for [u32; 3] {
    fn write(&self, out: &mut Writer) {
        self.iter().for_each(|number| number.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some([u32::read(from)?, u32::read(from)?, u32::read(from)?])
    }
}
