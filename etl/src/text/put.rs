//! Appends text to bytes, without `core::fmt` for values that every event has.

use etw_layouts_payload::{FileTime, Uuid, escape, is_hidden};
use std::fmt::{self, Display, Write};
use std::iter::repeat_n;
use std::ops::{BitAnd, BitOr};

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

/// Appends a text of visible ASCII characters as a JSON string. `size` is the number of bytes of a character, 1 or 2. Appends nothing, and
/// returns `false`, if the text has other characters.
#[inline]
pub fn json_ascii(out: &mut Vec<u8>, text: &[u8], size: usize) -> bool {
    match size {
        1 => ascii::<1>(out, text),
        _ => ascii::<2>(out, text),
    }
}

fn ascii<const SIZE: usize>(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let ((characters, rest), start) = (text.as_chunks::<SIZE>(), out.len());
    out.push(b'"');
    let mut is_ascii = rest.is_empty();
    // Few parts need escapes. The loop has no early exit, so the compiler compares many characters at once.
    let is_visible = |character: &[u8; SIZE]| {
        matches!(character[0], b' '..=b'~') & (character[SIZE - 1] == if SIZE == 1 { character[0] } else { 0 })
    };
    let is_plain = |character: &[u8; SIZE]| is_visible(character) & (character[0] != b'"') & (character[0] != b'\\');
    for characters in characters.chunks(32) {
        if characters.iter().map(is_plain).fold(true, BitAnd::bitand) {
            out.extend(characters.iter().map(|character| character[0]));
            continue;
        }
        // Space to escape each character.
        let (mut escaped, mut length) = ([0; 64], 0);
        for character in characters {
            let byte = character[0];
            is_ascii &= is_visible(character);
            escaped[length % 64] = b'\\';
            length += usize::from(matches!(byte, b'"' | b'\\'));
            escaped[length % 64] = byte;
            length += 1;
        }
        out.extend_from_slice(escaped.get(..length).unwrap_or_default());
    }
    match is_ascii {
        true => out.push(b'"'),
        false => out.truncate(start),
    }
    is_ascii
}

/// Appends a GUID in lower case, with hyphens.
pub fn guid(out: &mut Vec<u8>, guid: Uuid) {
    out.extend_from_slice(guid.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
}

/// A number in hexadecimal digits, as `0x1f`.
pub fn hexadecimal(out: &mut Vec<u8>, number: u64) {
    let start = (number.leading_zeros() as usize / 4).min(15);
    let mut text = [0; 18];
    for (half, digits) in [(number >> 32) as u32, number as u32].into_iter().zip(text[2..].chunks_exact_mut(8)) {
        digits.copy_from_slice(&digits_of(half));
    }
    text[start..start + 2].copy_from_slice(b"0x");
    out.extend_from_slice(&text[start..]);
}

/// The eight digits of a number, computed at once in the bytes of a word.
fn digits_of(number: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut nibbles = u64::from(number);
    nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF;
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF;
    nibbles = (nibbles | nibbles << 4) & (ONES * 0x0F);
    // 1 in each byte whose digit is a letter.
    let letters = (nibbles + ONES * 6) >> 4 & ONES;
    (nibbles + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'9' - 1)).to_be_bytes()
}

/// Two digits per byte.
pub fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// Removes the quotes of the text from `start`, if it has quotes.
pub fn unquote(out: &mut Vec<u8>, start: usize) {
    if out.get(start) == Some(&b'"') {
        out.remove(start);
        out.pop();
    }
}

/// Ends the cell of CSV that begins at `start`: in quotes, if it has a comma, a quotation mark or a line end (RFC 4180).
pub fn csv_cell(out: &mut Vec<u8>, start: usize) {
    let mut cell = out.iter().skip(start);
    if cell.any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        let cell = out.split_off(start);
        out.push(b'"');
        out.extend(cell.iter().flat_map(|byte| repeat_n(*byte, if *byte == b'"' { 2 } else { 1 })));
        out.push(b'"');
    }
}

/// Text from a file in quotes, with `\u{…}` for hidden characters. Paths are not changed: as in command lines of Windows, backslashes are doubled only before
/// a quotation mark, which has a backslash in front, and at the end.
pub fn quoted(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    let mut backslashes = 0;
    for character in text {
        if character == '\\' {
            backslashes += 1;
            out.push(b'\\');
            continue;
        }
        if character == '"' {
            out.extend(repeat_n(b'\\', backslashes + 1));
        }
        backslashes = 0;
        match character {
            ' '..='~' => out.push(character as u8),
            _ if is_hidden(character) => out.extend(character.escape_unicode().map(|escape| escape as u8)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.extend(repeat_n(b'\\', backslashes));
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

/// Appends times. Caches the text of a second, because many events have the same second.
#[derive(Debug, Default)]
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
