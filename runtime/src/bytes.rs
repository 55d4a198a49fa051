//! Conversion between bytes and types, at any offset.

use crate::error::{Error, ErrorKind};
use bytemuck::{AnyBitPattern, NoUninit, PodCastError};
use core::ops::Deref;

/// A value in bytes, borrowed if it is aligned, otherwise copied.
#[derive(Clone, Copy, Debug)]
pub enum Loaded<'a, T> {
    /// A reference to the bytes.
    Borrowed(&'a T),
    /// A copy of the bytes.
    Copied(T),
}

/// The value at `offset`, without copying if it is aligned.
///
/// # Errors
///
/// There are too few bytes.
pub fn load<T: AnyBitPattern>(bytes: &[u8], offset: usize) -> Result<Loaded<'_, T>, Error> {
    let bytes = slice(bytes, offset, size_of::<T>())?;
    Ok(match bytemuck::try_from_bytes(bytes) {
        Ok(value) => Loaded::Borrowed(value),
        Err(_) => Loaded::Copied(bytemuck::pod_read_unaligned(bytes)),
    })
}

/// The value at `offset`, copied.
///
/// # Errors
///
/// There are too few bytes.
pub fn copy<T: AnyBitPattern>(bytes: &[u8], offset: usize) -> Result<T, Error> {
    slice(bytes, offset, size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

/// A reference to the value at `offset`.
///
/// # Errors
///
/// There are too few bytes, or their address is not aligned.
pub fn borrow<T: AnyBitPattern>(bytes: &[u8], offset: usize) -> Result<&T, Error> {
    let bytes = slice(bytes, offset, size_of::<T>())?;
    bytemuck::try_from_bytes(bytes).map_err(|error| cast::<T>(offset, error))
}

/// A mutable reference to the value at `offset`.
///
/// # Errors
///
/// There are too few bytes, or their address is not aligned.
pub fn borrow_mut<T: AnyBitPattern + NoUninit>(bytes: &mut [u8], offset: usize) -> Result<&mut T, Error> {
    let bytes = slice_mut(bytes, offset, size_of::<T>())?;
    bytemuck::try_from_bytes_mut(bytes).map_err(|error| cast::<T>(offset, error))
}

/// Replaces the value at `offset`.
///
/// # Errors
///
/// There are too few bytes; then nothing is written.
pub fn store<T: NoUninit>(bytes: &mut [u8], offset: usize, value: &T) -> Result<(), Error> {
    slice_mut(bytes, offset, size_of::<T>())?.copy_from_slice(bytemuck::bytes_of(value));
    Ok(())
}

impl<T> Deref for Loaded<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Copied(value) => value,
        }
    }
}

pub(crate) fn slice(bytes: &[u8], offset: usize, size: usize) -> Result<&[u8], Error> {
    let left = bytes.len().saturating_sub(offset);
    let rest = bytes.get(offset..).and_then(|rest| rest.get(..size));
    rest.ok_or(Error { offset, size, reason: ErrorKind::Short(left) })
}

pub(crate) fn slice_mut(bytes: &mut [u8], offset: usize, size: usize) -> Result<&mut [u8], Error> {
    let left = bytes.len().saturating_sub(offset);
    let rest = bytes.get_mut(offset..).and_then(|rest| rest.get_mut(..size));
    rest.ok_or(Error { offset, size, reason: ErrorKind::Short(left) })
}

fn cast<T>(offset: usize, _: PodCastError) -> Error {
    Error { offset, size: size_of::<T>(), reason: ErrorKind::Unaligned(align_of::<T>()) }
}
