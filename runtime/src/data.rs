//! The building blocks of generated types, and the macro that proves each type to be plain old data.

use bytemuck::{Pod, Zeroable};
use core::fmt;
use core::marker::PhantomData;

/// A pointer of a 32-bit Windows: an address, never followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Ptr32(pub u32);

/// A pointer of a 64-bit Windows: an address, never followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Ptr64(pub u64);

/// `N` bytes that begin with a `T`, at any alignment: a branch that is shorter than its union, or a member of a packed
/// structure.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bytes<T, const N: usize> {
    bytes: [u8; N],
    ty: PhantomData<T>,
}

impl<T: Pod, const N: usize> Bytes<T, N> {
    const FITS: () = assert!(size_of::<T>() <= N, "the value does not fit into N bytes");

    /// The value, and zeroes in the bytes beyond it.
    pub fn new(value: T) -> Self {
        let mut new = Self::zeroed();
        new.set(value);
        new
    }

    /// The value.
    pub fn get(&self) -> T {
        let () = Self::FITS;
        bytemuck::pod_read_unaligned(&self.bytes[..size_of::<T>()])
    }

    /// Replaces the value, and leaves the bytes beyond it.
    pub fn set(&mut self, value: T) {
        let () = Self::FITS;
        self.bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    }
}

// SAFETY: a transparent wrapper of u32.
unsafe impl Zeroable for Ptr32 {}
// SAFETY: a transparent wrapper of u32.
unsafe impl Pod for Ptr32 {}
// SAFETY: a transparent wrapper of u64.
unsafe impl Zeroable for Ptr64 {}
// SAFETY: a transparent wrapper of u64.
unsafe impl Pod for Ptr64 {}
// SAFETY: a transparent wrapper of bytes; no T is held, and the marker has no size.
unsafe impl<T, const N: usize> Zeroable for Bytes<T, N> {}
// SAFETY: a transparent wrapper of bytes; no T is held, and the marker has no size.
unsafe impl<T: Copy + 'static, const N: usize> Pod for Bytes<T, N> {}

impl fmt::Debug for Ptr32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl fmt::Debug for Ptr64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl<T: Pod + fmt::Debug, const N: usize> fmt::Debug for Bytes<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Proves at compile time that a generated type has its stated layout and no padding, and implements `Zeroable` and `Pod`
/// on that ground.
///
/// # Safety
///
/// The list names every member; one that is left out would not be checked.
#[doc(hidden)]
#[macro_export]
macro_rules! layout {
    (unsafe struct $($rest:tt)+) => { $crate::layout!(@structure $($rest)+); };
    (unsafe union $($rest:tt)+) => { $crate::layout!(@union $($rest)+); };
    (@$check:ident $name:ident, $size:literal, $align:literal, [$($field:ident = $offset:literal),+ $(,)?]) => {
        const _: () = {
            // SAFETY: zeroes are valid for every member: `size_of_plain` below accepts none that is not plain old data.
            const ZERO: $name = unsafe { core::mem::MaybeUninit::zeroed().assume_init() };
            // SAFETY: every byte of ZERO is written, and plain old data has no invalid bits, whichever branch is read.
            #[allow(unused_unsafe)]
            let members = unsafe {
                [$((stringify!($field), core::mem::offset_of!($name, $field), $offset, $crate::check::size_of_plain(&ZERO.$field))),+]
            };
            $crate::check::$check(stringify!($name), size_of::<$name>(), $size, align_of::<$name>(), $align, &members);
        };

        // SAFETY: every member is plain old data, for which zeroes are valid.
        unsafe impl $crate::bytemuck::Zeroable for $name {}

        // SAFETY: `repr(C)` and `Copy`; every member is plain old data; the check above refuses a structure whose members leave
        // a byte between or after them, and a union with a branch that is shorter than the union.
        unsafe impl $crate::bytemuck::Pod for $name {}
    };
}

/// Implements `Described`, and `Debug` from it.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    ($name:ident, $layout:expr) => {
        impl $crate::Described for $name {
            const LAYOUT: &'static $crate::meta::Layout = &$layout;
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::debug::layout(f, <Self as $crate::Described>::LAYOUT, $crate::bytemuck::bytes_of(self))
            }
        }
    };
}

/// Implements `Debug` for a type behind no name, whose members its parent shows.
#[doc(hidden)]
#[macro_export]
macro_rules! undescribed {
    ($name:ident) => {
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
