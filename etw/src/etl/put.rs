//! Text at the end of a line of bytes, without the detour through `core::fmt` for what every event has.

use etw_layouts_cli::{escape, is_hidden};
use etw_layouts_etl::{Guid, Stamp};
use std::io::Write;

/// Anything else.
pub fn shown(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    // To memory, everything can be written.
    let _ = write!(out, "{value}");
}

pub fn number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

pub fn guid(out: &mut Vec<u8>, guid: Guid) {
    out.extend_from_slice(&guid.digits());
}

/// Puts times. Many events are of one second, whose text is made once.
#[derive(Default)]
pub struct Times {
    second: i64,
    /// The text of that second, if it has four digits of a year.
    text: Option<[u8; 27]>,
}

impl Times {
    /// A time as RFC 3339 has it, or, with a space between, as a text.
    pub fn put(&mut self, out: &mut Vec<u8>, time: i64, is_text: bool) {
        const SECOND: i64 = 10_000_000;
        let (second, mut fraction) = (time.div_euclid(SECOND), time.rem_euclid(SECOND) as u32);
        if second != self.second || self.text.is_none() {
            *self = Self { second, text: Stamp(time).digits(b'T') };
        }
        let Some(mut text) = self.text else {
            return if is_text { shown(out, Stamp(time)) } else { shown(out, Stamp(time).rfc3339()) };
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

/// Brings what begins at `start` to a width of less than 16, spaces before it.
pub fn align_right(out: &mut Vec<u8>, start: usize, width: usize) {
    let length = out.len() - start;
    if length >= width.min(16) {
        return;
    }
    const SPACES: [u8; 16] = [b' '; 16];
    out.extend_from_slice(&SPACES);
    if let Some(cell) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<16>) {
        // As a number, whose lowest byte stands first: sizes that are no constants would be calls.
        let shift = 8 * (width - length) as u32;
        *cell = (u128::from_le_bytes(*cell) << shift | u128::from_le_bytes(SPACES) >> (128 - shift)).to_le_bytes();
    }
    out.truncate(start + width);
}

/// Brings what begins at `start` to a width of 40 or less, spaces behind it.
pub fn align_left(out: &mut Vec<u8>, start: usize, width: usize) {
    let end = start + width.min(40);
    if out.len() < end {
        out.extend_from_slice(&[b' '; 40]);
        out.truncate(end);
    }
}

/// All digits of a mask of keywords. As a number it would lose some where numbers become floating point.
pub fn keyword(out: &mut Vec<u8>, keyword: u64) {
    shown(out, format_args!("{keyword:#018x}"));
}

/// Two digits for each byte.
pub fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// A text of others in quotes, with escapes as Rust has them.
pub fn quoted(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    for character in text {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            _ if is_hidden(character) => out.extend(character.escape_default().map(|escape| escape as u8)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A text of others as JSON has it.
pub fn json(out: &mut Vec<u8>, text: impl Iterator<Item = char>) {
    out.push(b'"');
    for character in text {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            _ if is_hidden(character) => shown(out, escape(character)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
