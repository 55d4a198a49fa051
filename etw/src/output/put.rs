//! Appends parts of output lines: padding and keywords.

pub use etw_layouts_etl::text::put::*;

/// Pads the text from `start` with spaces on the left, to a width below 16.
pub fn align_right(out: &mut Vec<u8>, start: usize, width: usize) {
    let length = out.len() - start;
    if length >= width.min(16) {
        return;
    }
    const SPACES: [u8; 16] = [b' '; 16];
    out.extend_from_slice(&SPACES);
    if let Some(cell) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<16>) {
        // Shifts a little-endian number, because a copy of variable size would be a function call.
        let shift = 8 * (width - length) as u32;
        *cell = (u128::from_le_bytes(*cell) << shift | u128::from_le_bytes(SPACES) >> (128 - shift)).to_le_bytes();
    }
    out.truncate(start + width);
}

/// Pads the text from `start` with spaces on the right, to a width up to 40.
pub fn align_left(out: &mut Vec<u8>, start: usize, width: usize) {
    let end = start + width.min(40);
    if out.len() < end {
        out.extend_from_slice(&[b' '; 40]);
        out.truncate(end);
    }
}

/// A keyword mask with all its digits. Tools that use floating-point numbers would round it as a JSON number.
pub fn keyword(out: &mut Vec<u8>, keyword: u64) {
    shown(out, format_args!("{keyword:#018x}"));
}
