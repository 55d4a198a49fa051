//! The fields of an event by the specs of kernel events, as text and as JSON.

use super::fields::Style;
use super::put;
use etw_layouts_etl::payload::{Data, OutType, Step, Steps, Value};
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::{Clock, Decoded, FileTime};

/// Writes the fields: `{ProcessId = 4, …}` with the bytes that are not decoded behind it, or the members of a JSON object. Returns the fault
/// if the payload is not decoded to its last byte.
pub fn fields(decoded: &Decoded<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) -> Option<Fault> {
    out.push(b'{');
    inside(&mut decoded.fields.steps(), false, clock, style, out)
}

/// Writes the first field with a name as the cell of a table: a text as it is, without quotes; an array or structure as a whole.
pub fn cell(decoded: &Decoded<'_>, name: &str, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    let mut steps = decoded.fields.steps();
    while let Some(Ok(step)) = steps.next() {
        match step {
            Step::Value(value) if value.name == name => return bare(&value, clock, style, out),
            Step::Structure(field) if field.name == name => {
                out.push(b'{');
                inside(&mut steps, false, clock, style, out);
                return;
            }
            Step::Array(field, _) if field.name == name => {
                out.push(b'[');
                inside(&mut steps, true, clock, style, out);
                return;
            }
            _ => {}
        }
    }
}

/// Writes the steps in an array or structure to its end, with the bracket that closes it. Returns the fault that ends it early.
fn inside(steps: &mut Steps<'_>, is_array: bool, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) -> Option<Fault> {
    // The open arrays and structures: true for an array.
    let (mut levels, mut is_first, mut fault) = (vec![is_array], true, None);
    while !levels.is_empty() {
        let step = match steps.next() {
            Some(Ok(step)) => step,
            Some(Err(found)) => {
                fault = Some(found);
                break;
            }
            None => break,
        };
        if let Step::End = step {
            out.push(if levels.pop() == Some(true) { b']' } else { b'}' });
            is_first = false;
            continue;
        }
        if !is_first {
            out.extend_from_slice(if style == Style::Text { b", " } else { b"," });
        }
        let name = match &step {
            Step::Value(value) => value.name,
            Step::Structure(field) | Step::Array(field, _) => field.name,
            _ => "",
        };
        if levels.last() != Some(&true) {
            match style {
                Style::Text => put::shown(out, format_args!("{} = ", super::Escaped(name))),
                Style::Json => {
                    put::json_name(out, name);
                    out.push(b':');
                }
            }
        }
        match step {
            Step::Value(value) => self::value(&value, clock, style, out),
            Step::Array(..) => {
                out.push(b'[');
                levels.push(true);
            }
            _ => {
                out.push(b'{');
                levels.push(false);
            }
        }
        is_first = !matches!(step, Step::Value(_));
    }
    while let Some(is_array) = levels.pop() {
        out.push(if is_array { b']' } else { b'}' });
    }
    fault
}

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

/// Writes a value without quotes.
fn bare(value: &Value<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    if let Data::Text(text) = value.data() {
        return put::shown(out, super::Escaped(&text.to_string()));
    }
    let start = out.len();
    self::value(value, clock, style, out);
    if out.get(start) == Some(&b'"') {
        out.remove(start);
        out.pop();
    }
}
