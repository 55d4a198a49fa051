//! Members by their offset: how generated accessors reach into unions and bit fields without unsafe code.

use bytemuck::Pod;

/// The member of type `T` at `offset` bytes.
///
/// # Panics
///
/// If it does not lie within `S`. Generated accessors pass constants that do.
#[inline]
pub fn read<S: Pod, T: Pod>(structure: &S, offset: usize) -> T {
    let bytes = bytemuck::bytes_of(structure);
    bytemuck::pod_read_unaligned(&bytes[offset..offset + size_of::<T>()])
}

/// Replaces the member of type `T` at `offset` bytes.
///
/// # Panics
///
/// If it does not lie within `S`. Generated accessors pass constants that do.
#[inline]
pub fn write<S: Pod, T: Pod>(structure: &mut S, offset: usize, value: T) {
    let bytes = bytemuck::bytes_of_mut(structure);
    bytes[offset..offset + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
}

/// `width` bits from `position` on, of the unit of `unit` bytes at `offset` bytes.
///
/// # Panics
///
/// If the unit does not lie within `S` or has more than 8 bytes. Generated accessors pass constants that fit.
#[inline]
pub fn bits<S: Pod>(structure: &S, offset: usize, unit: usize, position: u32, width: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..unit].copy_from_slice(&bytemuck::bytes_of(structure)[offset..offset + unit]);
    u64::from_le_bytes(bytes) >> position & ones(width)
}

/// [`bits`], the highest of them as the sign.
///
/// # Panics
///
/// As [`bits`].
#[inline]
pub fn signed_bits<S: Pod>(structure: &S, offset: usize, unit: usize, position: u32, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (bits(structure, offset, unit, position, width) << unused) as i64 >> unused
}

/// Replaces `width` bits from `position` on; bits of `value` beyond the width are dropped, as in C.
///
/// # Panics
///
/// If the unit does not lie within `S` or has more than 8 bytes. Generated accessors pass constants that fit.
#[inline]
pub fn set_bits<S: Pod>(structure: &mut S, offset: usize, unit: usize, position: u32, width: u32, value: u64) {
    let others = bits(structure, offset, unit, 0, 64) & !(ones(width) << position);
    let all = others | (value & ones(width)) << position;
    let bytes = bytemuck::bytes_of_mut(structure);
    bytes[offset..offset + unit].copy_from_slice(&all.to_le_bytes()[..unit]);
}

pub(crate) fn ones(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0)
}
