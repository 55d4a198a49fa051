//! The message of an event, as Event Viewer shows it.

use etw_layouts_etl::payload::{Data, Fields, Step};
use etw_layouts_etl::text::Style;
use etw_layouts_etl::text::{Escaped, put, values};
use etw_layouts_etl::{Clock, Decoded};

/// The most bytes of a message with its insertions: 1 MiB. Messages are untrusted, and can insert a long value many times.
const MAX_LENGTH: usize = 1 << 20;

/// Writes the message of an event in one line, with values in place of its insertions. Returns `false` without output if the event has no
/// message.
pub fn message(decoded: &Decoded<'_>, clock: Option<&Clock>, out: &mut Vec<u8>) -> bool {
    let Some(text) = decoded.variant.map(|variant| variant.message()).filter(|text| !text.is_empty()) else { return false };
    let (insertions, start) = (insertions(&decoded.fields, clock), out.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        if out.len() - start > MAX_LENGTH {
            return true;
        }
        put::shown(out, Escaped(&flat(before)));
        rest = insertion(after, &insertions, out);
    }
    put::shown(out, Escaped(&flat(rest)));
    while out.len() > start && out.last() == Some(&b' ') {
        out.pop();
    }
    true
}

/// A text in one line. Messages end with a line break, which is left out.
fn flat(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")
}

/// Writes the replacement for the sequence after a `%`. Returns the text after the sequence.
fn insertion<'t>(text: &'t str, insertions: &[Vec<u8>], out: &mut Vec<u8>) -> &'t str {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, after) = text.split_at(digits);
    if digits > 0 {
        let number: usize = number.parse().unwrap_or_default();
        // %0 ends a message without a line break.
        if number == 0 {
            return "";
        }
        match insertions.get(number - 1) {
            Some(insertion) => out.extend_from_slice(insertion),
            None => put::shown(out, format_args!("%{number}")),
        }
        // Skip a format such as `!s!`: values are already formatted.
        return after.strip_prefix('!').and_then(|format| format.split_once('!')).map_or(after, |(_, after)| after);
    }
    let mut characters = text.chars();
    match characters.next() {
        Some('n' | 't' | 'b' | 'r') => out.push(b' '),
        Some(other) => put::shown(out, Escaped(other.encode_utf8(&mut [0; 4]))),
        None => out.push(b'%'),
    }
    characters.as_str()
}

/// The values of fields that are not members of structures. The values of an array or a structure form one insertion.
fn insertions(fields: &Fields<'_>, clock: Option<&Clock>) -> Vec<Vec<u8>> {
    let (mut all, mut depth) = (Vec::new(), 0_usize);
    for step in fields.steps().map_while(Result::ok) {
        if depth == 0 && !matches!(step, Step::End) {
            all.push(Vec::new());
        }
        match step {
            Step::Value(value) => {
                if let Some(text) = all.last_mut() {
                    if !text.is_empty() {
                        text.extend_from_slice(b", ");
                    }
                    match value.data() {
                        // The text has other words around it, and is that of Windows.
                        Data::Sid(sid) => text.extend_from_slice(sid.to_string().as_bytes()),
                        _ => values::bare(&value, clock, Style::Text, text),
                    }
                }
            }
            Step::End => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    all
}
