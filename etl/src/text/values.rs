//! Values of fields as text and as JSON.

use super::fields::Style;
use super::{Escaped, put};
use crate::clock::Clock;
use etw_layouts_payload::{Data, FileTime, OutType, Value};

/// Writes a value. In JSON, numbers that a double holds exactly are numbers; names, addresses, times and all others are strings.
pub fn value(value: &Value<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    const EXACT: u64 = 1 << 53;
    if let (OutType::ETWTIME, Some(clock), Some(ticks)) = (value.out_type, clock, value.number()) {
        let time = FileTime(clock.system_time(ticks as i64));
        return match style {
            Style::Text => put::shown(out, time),
            Style::Json => put::shown(out, format_args!("\"{}\"", time.rfc3339())),
        };
    }
    match (value.data(), style) {
        (Data::Text(text), Style::Text) => put::quoted(out, text.chars()),
        (Data::Text(text), Style::Json) => put::json(out, text.chars()),
        // Names of values can be of strangers.
        (_, Style::Text) if value.map.is_some() => put::shown(out, Escaped(&value.to_string())),
        (Data::Float(number), _) if is_number(number.into(), style) => put::shown(out, format_args!("{number:?}")),
        (Data::Double(number), _) if is_number(number, style) => put::shown(out, format_args!("{number:?}")),
        (Data::Guid(guid), Style::Text) => put::guid(out, guid),
        (_, Style::Text) => put::shown(out, value),
        (Data::Unsigned(number), Style::Json) if value.map.is_none() && number < EXACT => put::number(out, number),
        (Data::Signed(number), Style::Json) if value.map.is_none() && number.unsigned_abs() < EXACT => put::number(out, number),
        (Data::Boolean(_), Style::Json) if value.map.is_none() => put::shown(out, value),
        (Data::Hexadecimal(number), Style::Json) if value.map.is_none() => {
            out.push(b'"');
            put::hexadecimal(out, number);
            out.push(b'"');
        }
        (_, Style::Json) => put::json_shown(out, value),
    }
}

/// Whether a number can be written as it is: JSON has no infinity.
fn is_number(number: f64, style: Style) -> bool {
    style == Style::Text || number.is_finite()
}

/// Writes a value as the cell of a table or in a message: without quotes.
pub fn bare(value: &Value<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    if let Data::Text(text) = value.data() {
        return put::shown(out, Escaped(&text.to_string()));
    }
    let start = out.len();
    self::value(value, clock, style, out);
    if out.get(start) == Some(&b'"') {
        out.remove(start);
        out.pop();
    }
}
