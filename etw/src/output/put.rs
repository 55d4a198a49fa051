//! Appends parts of output lines: times, padding and keywords.

use etw_layouts_etl::FileTime;
pub use etw_layouts_etl::text::put::*;

/// Appends times. Caches the text of a second, because many events have the same second.
#[derive(Default)]
pub struct Times {
    second: i64,
    /// The cached text of the second, for years of four digits.
    text: Option<[u8; 27]>,
}

impl Times {
    /// A time as in RFC 3339, or with a space instead of `T` in text.
    pub fn put(&mut self, out: &mut Vec<u8>, time: i64, is_text: bool) {
        const SECOND: i64 = 10_000_000;
        let (second, mut fraction) = (time.div_euclid(SECOND), time.rem_euclid(SECOND) as u32);
        if second != self.second || self.text.is_none() {
            *self = Self { second, text: FileTime(time).digits(b'T') };
        }
        let Some(mut text) = self.text else {
            return if is_text { shown(out, FileTime(time)) } else { shown(out, FileTime(time).rfc3339()) };
        };
        for digit in text[20..].iter_mut().rev() {
            *digit = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
        if is_text {
            text[10] = b' ';
        }
        out.extend_from_slice(&text);
        if !is_text {
            out.push(b'Z');
        }
    }
}

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
