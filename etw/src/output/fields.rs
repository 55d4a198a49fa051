//! The decoded payload of a TraceLogging event, as text and as JSON.

use super::put;
use etw_layouts_etl::tracelogging::{self, Count, Data, Fault, Field, InType, OutType, Step, Steps, TraceLogging};

/// The output style of decoded values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `provider/event tags 0x1 {name: TYPE = value, …}`, followed by bytes that cannot be decoded and the reason.
    Text,
    /// A JSON object with the same content.
    Json,
}

/// Writes the decoded payload. Returns the fault if a part of it cannot be decoded.
pub fn event(logging: &TraceLogging<'_>, style: Style, out: &mut Vec<u8>) -> Option<Fault> {
    let traits = logging.traits.as_ref().and_then(|traits| traits.as_ref().ok());
    let schema = logging.schema.as_ref().ok();
    let (provider, name) = (traits.map(|traits| traits.name), schema.map(|schema| schema.event));
    let tags = schema.map_or(0, |schema| schema.tags);
    let mut steps = logging.steps();
    let fault = match style {
        Style::Text => {
            bare(out, provider.unwrap_or("?"));
            out.push(b'/');
            bare(out, name.unwrap_or("?"));
            put_tags(out, tags);
            out.extend_from_slice(b" {");
            let fault = fields(&mut steps, style, out);
            out.push(b'}');
            if let Some(fault) = &fault {
                out.extend_from_slice(b" undecoded ");
                put::hex(out, steps.rest());
                put::shown(out, format_args!(" ({})", fault.reason));
            }
            fault
        }
        Style::Json => {
            out.extend_from_slice(b"{\"provider_name\":");
            optional(out, provider);
            out.extend_from_slice(b",\"provider_group\":");
            match traits.and_then(|traits| traits.group) {
                Some(group) => put::shown(out, format_args!("\"{group}\"")),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(b",\"event\":");
            optional(out, name);
            put::shown(out, format_args!(",\"tags\":{tags},\"fields\":["));
            let fault = fields(&mut steps, style, out);
            out.push(b']');
            if let Some(Fault { reason, offset, .. }) = &fault {
                put::shown(out, format_args!(",\"undecoded\":{{\"message\":\"{reason}\",\"offset\":{offset},\"data\":\""));
                put::hex(out, steps.rest());
                out.extend_from_slice(b"\"}");
            }
            out.push(b'}');
            fault
        }
    };
    fault.or(logging.traits.and_then(Result::err))
}

/// Writes the values, separated by commas.
fn fields(steps: &mut Steps<'_>, style: Style, out: &mut Vec<u8>) -> Option<Fault> {
    // The open arrays and structures: true for an array. JSON writes a structure as an array too, because its members have an order
    // and can have the same name twice. Each member is an object that ends with its value.
    let (mut levels, mut is_first) = (Vec::new(), true);
    let ends = |out: &mut Vec<u8>, levels: &[bool]| {
        if style == Style::Json && levels.last() != Some(&true) {
            out.push(b'}');
        }
    };
    let bracket = |out: &mut Vec<u8>, is_array: bool, of_array: u8, of_structure: u8| {
        out.push(if is_array || style == Style::Json { of_array } else { of_structure });
    };
    // What comes before a value: a comma, and its field if it is not an element of an array.
    let begins = |out: &mut Vec<u8>, levels: &[bool], is_first: bool, field: &Field<'_>| {
        if !is_first {
            out.extend_from_slice(if style == Style::Text { b", " } else { b"," });
        }
        match style {
            _ if levels.last() == Some(&true) => {}
            Style::Text => text_field(out, field),
            Style::Json => json_field(out, field),
        }
    };
    let mut fault = None;
    while let Some(step) = steps.next() {
        match step {
            Ok(Step::Value(value)) => {
                if let Some(field) = steps.field() {
                    begins(out, &levels, is_first, &field);
                }
                match style {
                    Style::Text => text_value(out, &value.data()),
                    Style::Json => json_value(out, &value.data()),
                }
                ends(out, &levels);
            }
            Ok(Step::Structure(field) | Step::Array(field, _)) => {
                begins(out, &levels, is_first, &field);
                let is_array = matches!(step, Ok(Step::Array(..)));
                bracket(out, is_array, b'[', b'{');
                levels.push(is_array);
            }
            Ok(Step::End) => {
                bracket(out, levels.pop() == Some(true), b']', b'}');
                ends(out, &levels);
            }
            Err(found) => {
                fault = Some(found);
                break;
            }
        }
        is_first = matches!(step, Ok(Step::Structure(_) | Step::Array(..)));
    }
    if let Some(field) = steps.missing() {
        begins(out, &levels, is_first, &field);
        out.extend_from_slice(if style == Style::Text { b"?" } else { b"null" });
        ends(out, &levels);
    }
    while let Some(is_array) = levels.pop() {
        bracket(out, is_array, b']', b'}');
        ends(out, &levels);
    }
    fault
}

fn text_field(out: &mut Vec<u8>, field: &Field<'_>) {
    bare(out, field.name);
    put_tags(out, field.tags);
    put::shown(out, format_args!(": {}", in_name(field)));
    if field.out_type != OutType::NULL {
        put::shown(out, format_args!("/{}", out_name(field.out_type)));
    }
    match field.count {
        Count::One => {}
        Count::Constant(count) => put::shown(out, format_args!("[{count}]")),
        Count::Custom(schema) => {
            out.extend_from_slice(b" by ");
            put::hex(out, schema);
        }
        _ => out.extend_from_slice(b"[]"),
    }
    out.extend_from_slice(b" = ");
}

fn json_field(out: &mut Vec<u8>, field: &Field<'_>) {
    out.extend_from_slice(b"{\"name\":");
    put::json(out, field.name.chars());
    put::shown(out, format_args!(",\"in\":\"{}\"", in_name(field)));
    if field.out_type != OutType::NULL {
        put::shown(out, format_args!(",\"out\":\"{}\"", out_name(field.out_type)));
    }
    if field.tags != 0 {
        put::shown(out, format_args!(",\"tags\":{}", field.tags));
    }
    match field.count {
        Count::One => {}
        Count::Constant(count) => put::shown(out, format_args!(",\"count\":{count}")),
        Count::Custom(schema) => {
            out.extend_from_slice(b",\"schema\":\"");
            put::hex(out, schema);
            out.push(b'"');
        }
        _ => out.extend_from_slice(b",\"count\":null"),
    }
    out.extend_from_slice(b",\"value\":");
}

/// The type; for a custom member, the protocol of its serializer.
fn in_name(field: &Field<'_>) -> impl std::fmt::Display {
    let InType(ty) = field.in_type;
    let (is_custom, name) = (matches!(field.count, Count::Custom(_)), tracelogging::in_name(field.in_type));
    std::fmt::from_fn(move |f| match name {
        _ if is_custom => write!(f, "CUSTOM_{ty}"),
        Some(name) => f.write_str(name),
        None => write!(f, "{ty}"),
    })
}

fn out_name(out_type: OutType) -> impl std::fmt::Display {
    std::fmt::from_fn(move |f| match tracelogging::out_name(out_type) {
        Ok(name) => f.write_str(name),
        Err(number) => write!(f, "{number}"),
    })
}

fn text_value(out: &mut Vec<u8>, data: &Data<'_>) {
    match data {
        Data::Text(text) => put::quoted(out, text.chars()),
        Data::Float(value) => put::shown(out, format_args!("{value:?}")),
        Data::Double(value) => put::shown(out, format_args!("{value:?}")),
        data => plain(out, data),
    }
}

fn json_value(out: &mut Vec<u8>, data: &Data<'_>) {
    match data {
        Data::Text(text) => put::json(out, text.chars()),
        Data::Signed(_) | Data::Unsigned(_) | Data::Boolean(_) => plain(out, data),
        Data::Float(value) if value.is_finite() => put::shown(out, format_args!("{value:?}")),
        Data::Double(value) if value.is_finite() => put::shown(out, format_args!("{value:?}")),
        // An object, to tell raw bytes from a string of the event.
        Data::Binary(bytes) => {
            out.extend_from_slice(b"{\"hex\":\"");
            put::hex(out, bytes);
            out.extend_from_slice(b"\"}");
        }
        data => {
            out.push(b'"');
            plain(out, data);
            out.push(b'"');
        }
    }
}

/// A value without quotes.
fn plain(out: &mut Vec<u8>, data: &Data<'_>) {
    match data {
        Data::Signed(number) => put::number(out, *number),
        Data::Unsigned(number) => put::number(out, *number),
        Data::Binary(bytes) => {
            out.extend_from_slice(b"0x");
            put::hex(out, bytes);
        }
        Data::Guid(guid) => put::guid(out, *guid),
        other => put::shown(out, other),
    }
}

/// A name from a file: unquoted if it has only ASCII letters, digits and `_-.?`, otherwise quoted.
fn bare(out: &mut Vec<u8>, name: &str) {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.?".contains(&byte));
    match is_bare {
        true => out.extend_from_slice(name.as_bytes()),
        false => put::quoted(out, name.chars()),
    }
}

fn put_tags(out: &mut Vec<u8>, tags: u32) {
    if tags != 0 {
        put::shown(out, format_args!(" tags {tags:#x}"));
    }
}

/// A string from a file in JSON, or `null`.
pub fn optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => put::json_name(out, text),
        None => out.extend_from_slice(b"null"),
    }
}
