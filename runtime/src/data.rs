//! Building blocks of layouts: addresses, and values with trailing bytes.

use bytemuck::{Pod, Zeroable};
use core::fmt;
use core::marker::PhantomData;

/// A pointer of 32-bit Windows: an address, never dereferenced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Ptr32(pub u32);

/// A pointer of 64-bit Windows: an address, never dereferenced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Ptr64(pub u64);

/// `N` bytes that begin with a `T`, at any alignment: a branch shorter than its union, or a member of a packed structure.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bytes<T, const N: usize> {
    bytes: [u8; N],
    ty: PhantomData<T>,
}

impl<T: Pod, const N: usize> Bytes<T, N> {
    const FITS: () = assert!(size_of::<T>() <= N, "the value does not fit into N bytes");

    /// A value, followed by zeros.
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

    /// Replaces the value, and keeps the bytes after it.
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
// SAFETY: a transparent wrapper of bytes; it contains no T, and the marker has no size.
unsafe impl<T, const N: usize> Zeroable for Bytes<T, N> {}
// SAFETY: a transparent wrapper of bytes; it contains no T, and the marker has no size.
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
