//! Appends text to bytes, without `core::fmt` for values that every event has.

use etw_layouts_payload::{Uuid, escape, is_hidden};
use std::fmt::{self, Display, Write};
use std::ops::BitOr;

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

/// Appends a number in decimal digits.
pub fn number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a GUID in lower case, with hyphens.
pub fn guid(out: &mut Vec<u8>, guid: Uuid) {
    out.extend_from_slice(guid.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
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
    // Few names need escapes. The loop has no early exit, so the compiler compares many bytes at once.
    let is_escaped = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == b'"') | (byte == b'\\');
    match name.bytes().map(is_escaped).fold(false, BitOr::bitor) {
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
