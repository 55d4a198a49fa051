//! Access to members by offset, for generated accessors of unions and bit fields.

use bytemuck::Pod;
use core::marker::PhantomData;

/// A member of type `T` at an offset in bytes from the start of a structure.
pub struct At<T> {
    offset: usize,
    ty: PhantomData<fn() -> T>,
}

/// Bits of a unit of type `U`, as a `T`.
pub struct Bits<T, U = T> {
    unit: At<U>,
    first: u32,
    width: u32,
    ty: PhantomData<fn() -> T>,
}

/// An integer, or a newtype of one: the possible types of a bit field. Implemented for these only.
pub trait Number: Pod {
    /// Whether values can be negative.
    const SIGNED: bool;
}

/// A member at an offset in bytes.
#[inline]
pub const fn at<T>(offset: usize) -> At<T> {
    At { offset, ty: PhantomData }
}

impl<T> At<T> {
    /// A single bit of the unit.
    #[inline]
    pub const fn bit(self, first: u32) -> Bits<T> {
        Bits { unit: self, first, width: 1, ty: PhantomData }
    }
}

impl<T: Pod> At<T> {
    /// Reads the member.
    ///
    /// # Panics
    ///
    /// If the member is not within `S`. Generated accessors use valid offsets.
    #[inline]
    pub fn get<S: Pod>(self, structure: &S) -> T {
        let bytes = bytemuck::bytes_of(structure);
        bytemuck::pod_read_unaligned(&bytes[self.offset..self.offset + size_of::<T>()])
    }

    /// Replaces the member.
    ///
    /// # Panics
    ///
    /// If the member is not within `S`. Generated accessors use valid offsets.
    #[inline]
    pub fn set<S: Pod>(self, structure: &mut S, value: T) {
        let bytes = bytemuck::bytes_of_mut(structure);
        bytes[self.offset..self.offset + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    }
}

impl<T> Bits<T> {
    /// Sets the type of the unit.
    #[inline]
    pub const fn within<U>(self) -> Bits<T, U> {
        Bits { unit: at(self.unit.offset), first: self.first, width: self.width, ty: PhantomData }
    }
}

impl<T, U> Bits<T, U> {
    /// Extends the bit field up to the bit `last`.
    #[inline]
    pub const fn to(self, last: u32) -> Self {
        Self { width: last - self.first + 1, ..self }
    }
}

impl<T: Number, U: Number> Bits<T, U> {
    /// Reads the bits; if the type is signed, the highest bit is the sign.
    ///
    /// # Panics
    ///
    /// If the unit is not within `S`. Generated accessors use valid offsets.
    #[inline]
    pub fn get<S: Pod>(self, structure: &S) -> T {
        let unused = 64 - self.width.clamp(1, 64);
        let high = self.unit(structure) >> (self.first & 63) << unused;
        let value = if T::SIGNED { (high as i64 >> unused) as u64 } else { high >> unused };
        bytemuck::pod_read_unaligned(&value.to_le_bytes()[..size_of::<T>()])
    }

    /// Replaces the bits; excess bits of `value` are dropped, as in C.
    ///
    /// # Panics
    ///
    /// If the unit is not within `S`. Generated accessors use valid offsets.
    #[inline]
    pub fn set<S: Pod>(self, structure: &mut S, value: T) {
        let mut bits = [0; 8];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let mask = ones(self.width) << (self.first & 63);
        let all = self.unit(structure) & !mask | u64::from_le_bytes(bits) << (self.first & 63) & mask;
        let offset = self.unit.offset;
        bytemuck::bytes_of_mut(structure)[offset..offset + size_of::<U>()].copy_from_slice(&all.to_le_bytes()[..size_of::<U>()]);
    }

    fn unit<S: Pod>(&self, structure: &S) -> u64 {
        let mut bytes = [0; 8];
        bytes[..size_of::<U>()]
            .copy_from_slice(&bytemuck::bytes_of(structure)[self.unit.offset..self.unit.offset + size_of::<U>()]);
        u64::from_le_bytes(bytes)
    }
}

/// The name of a member for `Debug`. Members with a type in C are printed.
#[doc(hidden)]
pub const fn shown(name: &'static str, _c: &str) -> &'static str {
    plain(name)
}

/// The name of a member in C, from its name in Rust: without the prefix or suffix that makes a keyword an identifier.
#[doc(hidden)]
pub const fn plain(name: &'static str) -> &'static str {
    let bytes = match name.as_bytes() {
        [b'r', b'#', rest @ ..] => rest,
        // These keywords cannot be raw identifiers. Their Rust names have an additional underscore.
        [rest @ .., b'_'] if is_word(rest) => rest,
        _ => return name,
    };
    match core::str::from_utf8(bytes) {
        Ok(name) => name,
        Err(_) => name,
    }
}

/// Whether a name is a keyword that cannot be a raw identifier, optionally followed by underscores.
const fn is_word(name: &[u8]) -> bool {
    match name {
        b"self" | b"Self" | b"super" | b"crate" => true,
        [rest @ .., b'_'] => is_word(rest),
        _ => false,
    }
}

pub(crate) fn ones(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0)
}

macro_rules! numbers {
    ($($ty:ident $signed:literal)+) => { $(
        impl Number for $ty {
            const SIGNED: bool = $signed;
        }
    )+ };
}

numbers! { u8 false u16 false u32 false u64 false i8 true i16 true i32 true i64 true }
