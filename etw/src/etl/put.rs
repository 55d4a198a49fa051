//! Text at the end of a line of bytes, without the detour through `core::fmt` for what every event has.

use super::output::is_hidden;
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

/// A time as a text has it.
pub fn time(out: &mut Vec<u8>, time: i64) {
    match Stamp(time).digits(b' ') {
        Some(text) => out.extend_from_slice(&text),
        None => shown(out, Stamp(time)),
    }
}

/// A time as RFC 3339 has it.
pub fn rfc3339(out: &mut Vec<u8>, time: i64) {
    match Stamp(time).digits(b'T') {
        Some(text) => {
            out.extend_from_slice(&text);
            out.push(b'Z');
        }
        None => shown(out, Stamp(time).rfc3339()),
    }
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
            '\0'..' ' => shown(out, format_args!("\\u{:04x}", character as u32)),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
