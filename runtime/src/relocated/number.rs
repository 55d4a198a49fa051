//! Integers, truth values and enumerations.

use super::error::{PlanError, ReadError};
use super::field::{Field, Found};
use super::memory::{Memory, Source};
use crate::packed::{Layout, Wanted};
use crate::value;
use crate::{Named, Number};

/// An unsigned integer of any width, such as SIZE_T, whose width is that of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unsigned(pub u64);

/// A signed integer of any width, such as SSIZE_T, whose width is that of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signed(pub i64);

/// Where a layout has a number.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq)]
pub struct NumberPlace {
    pub(super) offset: u32,
    pub(super) size: u8,
    bit: u8,
    /// 0 if it is not a bit field.
    bits: u8,
}

impl NumberPlace {
    pub(super) fn new<F: Field>(Found(found): Found<'_>) -> Result<Self, PlanError> {
        let shape = found.shape;
        match u8::try_from(shape.size) {
            Ok(size @ 1..=8) => Ok(Self { offset: found.offset, size, bit: shape.bit, bits: shape.bits }),
            _ => Err(super::field::another::<F>(found)),
        }
    }

    /// The value, extended to 64 bits by its sign or by zeros.
    #[inline]
    pub(super) fn read<M: Memory + ?Sized>(&self, is_signed: bool, from: &Source<'_, M>) -> Result<u64, ReadError<M::Error>> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..usize::from(self.size).min(8)];
        from.fill(self.offset, bytes)?;
        let bits = (self.bits > 0).then(|| (self.bit.into(), self.bits.into()));
        Ok(if is_signed { value::signed(bytes, bits) as u64 } else { value::number(bytes, bits) })
    }
}

/// Reads a number. If it is not a bit field, the type has the size of the member: [`Wanted`] requires it.
#[inline(always)]
fn read<T: Number, M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<T, ReadError<M::Error>> {
    if place.bits != 0 {
        return read_bits(place, from);
    }
    let mut value = T::zeroed();
    from.fill(place.offset, bytemuck::bytes_of_mut(&mut value))?;
    Ok(value)
}

/// Reads a bit field. It is no part of the code for other numbers, which is faster without it.
#[inline(never)]
fn read_bits<T: Number, M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<T, ReadError<M::Error>> {
    let mut value = T::zeroed();
    let bytes = place.read(T::SIGNED, from)?.to_le_bytes();
    bytemuck::bytes_of_mut(&mut value).copy_from_slice(&bytes[..size_of::<T>()]);
    Ok(value)
}

macro_rules! place {
    () => {
        type Location = NumberPlace;

        fn place<'a>(found: Found<'a>, _: &mut dyn FnMut(Layout<'a>)) -> Result<NumberPlace, PlanError> {
            NumberPlace::new::<Self>(found)
        }
    };
}

macro_rules! integers {
    ($($ty:ident)+) => { $(
        impl Field for $ty {
            const WANTED: Wanted = Wanted::Integer { size: size_of::<$ty>() as u8, signed: <$ty as Number>::SIGNED };

            place!();

            #[inline(always)]
            fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
                read(place, from)
            }
        }
    )+ };
}

integers!(u8 u16 u32 u64 i8 i16 i32 i64);

impl<T: Named + Number> Field for T {
    const WANTED: Wanted = Wanted::Values { name: T::NAME, size: size_of::<T>() as u8 };

    place!();

    #[inline]
    fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        read(place, from)
    }
}

impl Field for bool {
    const WANTED: Wanted = Wanted::Bool;

    place!();

    #[inline]
    fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        Ok(place.read(false, from)? != 0)
    }
}

impl Field for Unsigned {
    const WANTED: Wanted = Wanted::AnyInteger { signed: false };

    place!();

    #[inline]
    fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        place.read(false, from).map(Self)
    }
}

impl Field for Signed {
    const WANTED: Wanted = Wanted::AnyInteger { signed: true };

    place!();

    #[inline]
    fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        Ok(Self(place.read(true, from)? as i64))
    }
}
