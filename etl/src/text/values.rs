//! Values of fields as text and as JSON.

use super::{Escaped, Style, put};
use crate::clock::Clock;
use crate::codes;
use etw_layouts_payload::{Data, FileTime, InType, OutType, Text, Value};
use std::borrow::Cow;

/// Writes a value, in JSON as [`Json`].
pub fn value(value: &Value<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    match style {
        Style::Text => text(value, clock, out),
        Style::Json => match Json::from_value(value, clock) {
            Json::Unsigned(number) => put::number(out, number),
            Json::Signed(number) => put::number(out, number),
            Json::Float(number) => put::shown(out, format_args!("{number:?}")),
            Json::Double(number) => put::shown(out, format_args!("{number:?}")),
            Json::Boolean(is) => put::shown(out, is),
            Json::Text(text) => put::json(out, text.chars()),
            Json::Hexadecimal(number) => {
                out.push(b'"');
                put::hexadecimal(out, number);
                out.push(b'"');
            }
            Json::Named(data, name) => put::json_shown(out, format_args!("{data} {name}")),
            Json::Time(time) => put::shown(out, format_args!("\"{}\"", time.rfc3339())),
            Json::Shown(value) => put::json_shown(out, value),
        },
    }
}

/// A value in JSON. All integers are numbers. Integers above 2⁵³ are exact here, but readers that use floating-point numbers round them.
/// Names, addresses, times and all other values are strings.
#[derive(Clone, Debug)]
pub enum Json<'v, 'a> {
    /// A number.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// A finite number, written as the shortest decimal fraction that reads back as the same number.
    Float(f32),
    /// A finite number.
    Double(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A string.
    Text(Text<'a>),
    /// A string such as `0x1f`.
    Hexadecimal(u64),
    /// A string such as `0xc0000005 STATUS_ACCESS_VIOLATION`, `5 ERROR_ACCESS_DENIED` or `S-1-5-18 NT AUTHORITY\SYSTEM`.
    Named(Data<'a>, Cow<'static, str>),
    /// A string in the format of RFC 3339.
    Time(FileTime),
    /// A string: the value as it displays.
    Shown(&'v Value<'a>),
}

impl<'v, 'a> Json<'v, 'a> {
    /// The value in JSON; `clock` is that of the trace, for times in its ticks.
    #[inline(always)]
    pub fn from_value(value: &'v Value<'a>, clock: Option<&Clock>) -> Self {
        if let Some(time) = time(value, clock) {
            return Self::Time(time);
        }
        if let Some(name) = name(value) {
            return Self::Named(value.data(), name);
        }
        // An error without a name is a string too, like the others of its field.
        let has_map = value.map.is_some() || value.out_type == OutType::WIN32ERROR;
        match value.data() {
            Data::Text(text) => Self::Text(text),
            // JSON has no infinity.
            Data::Float(number) if number.is_finite() => Self::Float(number),
            Data::Double(number) if number.is_finite() => Self::Double(number),
            Data::Unsigned(number) if !has_map => Self::Unsigned(number),
            Data::Signed(number) if !has_map => Self::Signed(number),
            Data::Boolean(is) if !has_map => Self::Boolean(is),
            Data::Hexadecimal(number) if !has_map => Self::Hexadecimal(number),
            _ => Self::Shown(value),
        }
    }
}

/// The name of a well-known security identifier, or of a code.
#[inline]
fn name(value: &Value<'_>) -> Option<Cow<'static, str>> {
    match (value.in_type, value.out_type) {
        (InType::SID | InType::WBEMSID, _) => codes::sid(&value.data().to_string()),
        (_, OutType::NTSTATUS | OutType::WIN32ERROR | OutType::HRESULT) => code(value).map(Cow::Borrowed),
        _ => None,
    }
}

/// The name of a status of the kernel, an error of Windows' functions or a result of COM, if the map of the field has none. The exit status of a process is
/// such a code after an exception only.
fn code(value: &Value<'_>) -> Option<&'static str> {
    let number = value.number()?;
    let code = u32::try_from(number).ok()?;
    match value.map {
        None => codes::of(value.out_type, code),
        Some(map) if map.value_name(number).is_none() => codes::exit_status(code),
        Some(_) => None,
    }
}

/// The time of a value in ticks of the clock.
fn time(value: &Value<'_>, clock: Option<&Clock>) -> Option<FileTime> {
    if value.out_type != OutType::ETWTIME {
        return None;
    }
    clock?.time(value.number()? as i64)
}

fn text(value: &Value<'_>, clock: Option<&Clock>, out: &mut Vec<u8>) {
    if let Some(time) = time(value, clock) {
        return put::shown(out, time);
    }
    if let Some(name) = name(value) {
        return put::shown(out, format_args!("{} {name}", value.data()));
    }
    match value.data() {
        Data::Text(text) => put::quoted(out, text.chars()),
        // Names of values can come from an untrusted file.
        _ if value.map.is_some() => put::shown(out, Escaped(&value.to_string())),
        Data::Float(number) => put::shown(out, format_args!("{number:?}")),
        Data::Double(number) => put::shown(out, format_args!("{number:?}")),
        Data::Guid(guid) => put::guid(out, guid),
        _ => put::shown(out, value),
    }
}

/// Writes a value as the cell of a table or in a message: without quotes.
pub fn bare(value: &Value<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) {
    if let Data::Text(text) = value.data() {
        return put::shown(out, Escaped(&text.to_string()));
    }
    if let Some(name) = name(value) {
        // In JSON, a name of an account would have escapes.
        return put::shown(out, format_args!("{} {name}", value.data()));
    }
    let start = out.len();
    self::value(value, clock, style, out);
    put::unquote(out, start);
}
