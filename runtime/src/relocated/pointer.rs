//! Addresses.

use super::error::{PlanError, ReadError};
use super::field::{Field, Found};
use super::memory::{Memory, Source};
use super::number::NumberPlace;
use super::{Plan, Relocated};
use crate::packed::{Layout, Wanted};
use crate::token::Tokens;
use core::fmt;
use core::marker::PhantomData;

/// The address of a `T`, or of anything if `T` is `()`. The address of a 32-bit kernel has 32 bits.
pub struct Pointer<T = ()> {
    /// The address.
    pub address: u64,
    to: PhantomData<fn() -> T>,
}

/// What a [`Pointer`] can point to: a structure, or anything.
pub trait Pointee {
    /// The structure.
    #[doc(hidden)]
    const NAME: Option<&'static str>;
}

impl Pointee for () {
    const NAME: Option<&'static str> = None;
}

impl<T: Relocated> Pointee for T {
    const NAME: Option<&'static str> = Some(T::Structure::NAME);
}

impl<T> Pointer<T> {
    /// A pointer to an address.
    pub const fn new(address: u64) -> Self {
        Self { address, to: PhantomData }
    }

    /// Whether it points to nothing.
    pub const fn is_null(&self) -> bool {
        self.address == 0
    }
}

impl<T: Relocated> Pointer<T> {
    /// Reads the structure at the address; `None` if the pointer is null.
    ///
    /// # Errors
    ///
    /// Memory is missing, or its source fails. The error names the member.
    pub fn follow<M: Memory + ?Sized>(&self, plan: &Plan<'_, T>, memory: &M) -> Result<Option<T>, ReadError<M::Error>> {
        if self.is_null() { Ok(None) } else { plan.read(memory, self.address).map(Some) }
    }
}

impl<T: Pointee> Field for Pointer<T> {
    type Location = NumberPlace;
    const WANTED: Wanted = Wanted::Pointer(T::NAME);

    fn place<'a>(found: Found<'a>, _: &mut dyn FnMut(Layout<'a>)) -> Result<NumberPlace, PlanError> {
        NumberPlace::new::<Self>(found)
    }

    #[inline]
    fn read<M: Memory + ?Sized>(place: &NumberPlace, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        // A constant size is read faster than one that is known only in the build.
        if place.size == 8 {
            return from.bytes(place.offset).map(u64::from_le_bytes).map(Self::new);
        }
        place.read(false, from).map(Self::new)
    }
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<T> {}

impl<T> Default for Pointer<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> PartialEq for Pointer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for Pointer<T> {}

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}
