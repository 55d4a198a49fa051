//! Appends text to bytes, without `core::fmt` for values that every event has.

use etw_layouts_cli::{escape, is_hidden};
use etw_layouts_etl::{FileTime, Uuid};
use std::fmt::{self, Display, Write};

/// Appends any other value.
pub fn shown(out: &mut Vec<u8>, value: impl Display) {
    // Writing to memory cannot fail.
    let _ = write!(Plain(out), "{value}");
}

/// Appends any other value as a JSON string.
pub fn json_shown(out: &mut Vec<u8>, value: impl Display) {
    out.push(b'"');
    let _ = write!(Escaping(out), "{value}");
    out.push(b'"');
}

struct Plain<'a>(&'a mut Vec<u8>);

impl Write for Plain<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Escapes for a JSON string.
struct Escaping<'a>(&'a mut Vec<u8>);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        json_characters(self.0, text.chars());
        Ok(())
    }
}

pub fn number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

pub fn guid(out: &mut Vec<u8>, guid: Uuid) {
    out.extend_from_slice(guid.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
}

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
        // As a little-endian number, because a copy of variable size would be a function call.
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

/// All digits of a keyword mask. As a JSON number it would be rounded by tools that use floating-point numbers.
pub fn keyword(out: &mut Vec<u8>, keyword: u64) {
    shown(out, format_args!("{keyword:#018x}"));
}

/// A number in hexadecimal digits, as `0x1f`.
pub fn hexadecimal(out: &mut Vec<u8>, number: u64) {
    let digits: [u8; 16] = std::array::from_fn(|place| b"0123456789abcdef"[(number >> (60 - 4 * place) & 15) as usize]);
    let start = (number.leading_zeros() as usize / 4).min(15);
    out.extend_from_slice(b"0x");
    out.extend_from_slice(&digits[start..]);
}

/// Two digits per byte.
pub fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// Text from a file in quotes, with the escapes of Rust.
pub fn quoted(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    for character in text {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            ' '..='~' => out.push(character as u8),
            _ if is_hidden(character) => out.extend(character.escape_default().map(|escape| escape as u8)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A name as a JSON string.
pub fn json_name(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    json_part(out, name);
    out.push(b'"');
}

/// A name as part of a JSON string.
pub fn json_part(out: &mut Vec<u8>, name: &str) {
    // Hardly a name has anything to escape. All bytes are looked at, because the compiler then compares many at once.
    let is_escaped = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == b'"') | (byte == b'\\');
    match name.bytes().fold(false, |any, byte| any | is_escaped(byte)) {
        false => out.extend_from_slice(name.as_bytes()),
        true => json_characters(out, name.chars()),
    }
}

/// Text from a file as a JSON string.
pub fn json(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    json_characters(out, text);
    out.push(b'"');
}

fn json_characters(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    for character in text {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            ' '..='~' => out.push(character as u8),
            _ if is_hidden(character) => shown(out, escape(character)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
