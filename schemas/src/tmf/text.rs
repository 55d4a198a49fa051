//! The text of a WPP event: the format of its message with the arguments of the payload.

use super::WppMessage;
use super::argument::{WppArgument, WppType};
use super::printf::Conversion;
use etw_layouts::constants::NTSTATUS_VALUE;
use etw_layouts::runtime::Named;
use etw_layouts_payload::{FileTime, PointerSize, Text, Uuid};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

/// The text of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WppText {
    /// The text. Arguments that the payload lacks are `<missing>`.
    pub text: String,
    /// Arguments that the format does not contain: index in [`WppMessage::arguments`], and text.
    pub others: Vec<(usize, String)>,
    /// The first argument that could not be decoded: an index in [`WppMessage::arguments`].
    pub undecoded: Option<usize>,
    /// Number of bytes of the payload after the last decoded argument.
    pub rest: usize,
}

/// Maximum length of a text, in bytes, because a format can insert an argument many times. The rest is left out.
const MAX_TEXT: usize = 1 << 20;

/// A decoded argument.
enum Value {
    Integer(i128, u32),
    Float(f64),
    Text(String),
}

impl WppMessage {
    /// The text of a payload. `pointers` is the pointer size of the process or kernel that wrote the event.
    pub fn text(&self, payload: &[u8], pointers: PointerSize) -> WppText {
        let (mut values, mut rest, mut undecoded) = (Vec::new(), payload, None);
        for (index, argument) in self.arguments.iter().enumerate() {
            let mut behind = rest;
            match value(&argument.ty, &mut behind, pointers) {
                Some(value) => {
                    values.push(value);
                    rest = behind;
                }
                None => {
                    undecoded = Some(index);
                    break;
                }
            }
        }
        let mut is_shown = vec![false; values.len()];
        let text = self.formatted(&values, &mut is_shown);
        let is_other = |(index, _): &(usize, &Value)| is_shown.get(*index) == Some(&false);
        let others = values.iter().enumerate().filter(is_other).map(|(index, value)| (index, self.shown(index, value))).collect();
        WppText { text, others, undecoded, rest: rest.len() }
    }

    /// The text of an argument without a conversion.
    fn shown(&self, index: usize, value: &Value) -> String {
        let is_pointer = self.arguments.get(index).is_some_and(|argument| argument.ty == WppType::Pointer);
        value.text(Conversion::parse(if is_pointer { "p" } else { "s" }))
    }

    /// The format with values in place of insertions. `is_shown` is set for these values.
    fn formatted(&self, values: &[Value], is_shown: &mut [bool]) -> String {
        let (mut text, mut rest) = (String::new(), self.format.as_str());
        while let Some((before, behind)) = rest.split_once('%') {
            text.push_str(before);
            if text.len() > MAX_TEXT {
                return text;
            }
            rest = behind;
            if let Some(behind) = rest.strip_prefix('%') {
                text.push('%');
                rest = behind;
            } else if let Some((name, behind)) = rest.strip_prefix('!').and_then(|rest| rest.split_once('!')) {
                text.push_str(match name {
                    "FUNC" => &self.function,
                    "LEVEL" => &self.level,
                    "FLAGS" => &self.flags,
                    "FILE" | "LINE" => &self.name,
                    "COMPNAME" => &self.component,
                    _ => "",
                });
                rest = behind;
            } else {
                rest = self.insert(rest, values, is_shown, &mut text);
            }
        }
        text.push_str(rest);
        text
    }

    /// Inserts an argument. The format begins with its number and conversion; returns the format after them.
    fn insert<'a>(&self, format: &'a str, values: &[Value], is_shown: &mut [bool], text: &mut String) -> &'a str {
        let rest = format.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = format.strip_suffix(rest).unwrap_or_default();
        let Ok(number) = digits.parse::<u16>() else {
            text.push('%');
            return format;
        };
        let (conversion, rest) = rest.strip_prefix('!').and_then(|rest| rest.split_once('!')).unwrap_or(("s", rest));
        let conversion = Conversion::parse(conversion);
        let is_it = |argument: &WppArgument| argument.number == number;
        let index = self.arguments.iter().position(is_it);
        if let Some(is_shown) = index.and_then(|index| is_shown.get_mut(index)) {
            *is_shown = true;
        }
        match (number, index.map(|index| values.get(index))) {
            (_, Some(Some(value))) => text.push_str(&value.text(conversion)),
            (_, Some(None)) => text.push_str("<missing>"),
            (1, None) => text.push_str(&self.component),
            (2, None) => text.push_str(&self.name),
            // Other numbers below 10 refer to the header of the event: thread, time, processor.
            (_, None) => text.push_str(&format!("%{number}")),
        }
        rest
    }
}

impl Value {
    fn text(&self, conversion: Conversion) -> String {
        match self {
            Self::Integer(value, bits) => conversion.integer(*value, *bits),
            Self::Float(value) => conversion.float(*value),
            Self::Text(value) => conversion.text(value),
        }
    }
}

/// Takes a value from the payload; `None` if it is too short, or the type is unknown.
fn value(ty: &WppType, rest: &mut &[u8], pointers: PointerSize) -> Option<Value> {
    Some(match ty {
        WppType::Integer { size, signed } => integer(rest, (*size).into(), *signed)?,
        WppType::Pointer => integer(rest, pointers.bytes(), false)?,
        WppType::Double => Value::Float(f64::from_le_bytes(*take(rest, 8)?.first_chunk()?)),
        WppType::String => {
            let length = rest.iter().position(|byte| *byte == 0)?;
            let text = ansi(take(rest, length)?);
            take(rest, 1)?;
            Value::Text(text)
        }
        WppType::WideString => {
            let length = rest.as_chunks::<2>().0.iter().position(|unit| *unit == [0, 0])?;
            let text = wide(take(rest, 2 * length)?);
            take(rest, 2)?;
            Value::Text(text)
        }
        WppType::CountedString => Value::Text(ansi(counted(rest)?)),
        WppType::CountedWideString => Value::Text(wide(counted(rest)?)),
        WppType::HexDump => {
            Value::Text(counted(rest)?.iter().map(|byte| format!("{byte:02x} ")).collect::<String>().trim_end().to_owned())
        }
        WppType::Guid => Value::Text(Uuid::from_bytes_le(*take(rest, 16)?.first_chunk()?).to_string()),
        WppType::Timestamp => {
            let time = FileTime(i64::from_le_bytes(*take(rest, 8)?.first_chunk()?));
            Value::Text(time.rfc3339().to_string())
        }
        WppType::Duration => {
            let ticks = i64::from_le_bytes(*take(rest, 8)?.first_chunk()?);
            Value::Text(duration(ticks))
        }
        WppType::Ntstatus => Value::Text(status(u32::from_le_bytes(*take(rest, 4)?.first_chunk()?))),
        WppType::Status => Value::Text(format!("{:#010x}", u32::from_le_bytes(*take(rest, 4)?.first_chunk()?))),
        WppType::Ipv4 => Value::Text(Ipv4Addr::from(*take(rest, 4)?.first_chunk::<4>()?).to_string()),
        WppType::Ipv6 => Value::Text(Ipv6Addr::from(*take(rest, 16)?.first_chunk::<16>()?).to_string()),
        WppType::Port => Value::Integer(u16::from_be_bytes(*take(rest, 2)?.first_chunk()?).into(), 16),
        WppType::Mac => {
            let bytes: Vec<_> = take(rest, 6)?.iter().map(|byte| format!("{byte:02x}")).collect();
            Value::Text(bytes.join("-"))
        }
        WppType::Sid => Value::Text(sid(rest)?),
        WppType::List { size, names } => {
            let Value::Integer(number, _) = integer(rest, (*size).into(), false)? else { return None };
            let name = names.iter().find(|(own, _)| i128::from(*own) == number).map(|(_, name)| name.clone());
            Value::Text(name.unwrap_or_else(|| format!("<{number}>")))
        }
        WppType::Set { size, names } => {
            let Value::Integer(bits, _) = integer(rest, (*size).into(), false)? else { return None };
            let is_set = |(bit, _): &&(u32, String)| *bit < 32 && bits >> *bit & 1 != 0;
            let mut set: Vec<_> = names.iter().filter(is_set).map(|(_, name)| name.clone()).collect();
            let unnamed = names.iter().filter(is_set).fold(bits, |bits, (bit, _)| bits & !(1 << *bit));
            if unnamed != 0 {
                set.push(format!("{unnamed:#x}"));
            }
            Value::Text(format!("[{}]", set.join(",")))
        }
        WppType::Unknown(_) => return None,
    })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u16::from_le_bytes(*take(rest, 2)?.first_chunk()?);
    take(rest, length.into())
}

fn integer(rest: &mut &[u8], size: usize, signed: bool) -> Option<Value> {
    let bytes = take(rest, size)?;
    let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let bits = u32::try_from(size).ok()?.checked_mul(8)?;
    let unused = 64u32.checked_sub(bits)?;
    let value = if signed { i128::from(value.cast_signed().checked_shl(unused)? >> unused) } else { value.into() };
    Some(Value::Integer(value, bits))
}

/// A string of the code page of the provider. The event does not state which: as for other events, it is taken as 1252.
fn ansi(bytes: &[u8]) -> String {
    Text::Cp1252(bytes).chars().collect()
}

fn wide(bytes: &[u8]) -> String {
    Text::Utf16(bytes).chars().collect()
}

/// A status with its name, as tracefmt prints it.
fn status(status: u32) -> String {
    static NAMES: LazyLock<HashMap<i64, &'static str>> =
        LazyLock::new(|| NTSTATUS_VALUE::CONSTANTS.iter().map(|(name, value)| (*value, *name)).collect());
    let name = NAMES.get(&status.into()).map_or_else(String::new, |name| format!("({name})"));
    format!("{status:#010x}{name}")
}

/// A duration in the form that Microsoft documents for `%!delta!`, day~h:m:s, with all digits of a second.
fn duration(ticks: i64) -> String {
    let (sign, ticks) = (if ticks < 0 { "-" } else { "" }, ticks.unsigned_abs());
    let (seconds, fraction) = (ticks / 10_000_000, ticks % 10_000_000);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("{sign}{days}~{hours:02}:{minutes:02}:{:02}.{fraction:07}", seconds % 60)
}

/// A security identifier: revision, number of parts, authority of 48 bits in network byte order, and parts.
fn sid(rest: &mut &[u8]) -> Option<String> {
    let [revision, parts, authority @ ..] = *take(rest, 8)?.first_chunk::<8>()?;
    let authority = authority.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let mut text = format!("S-{revision}-{authority}");
    for part in take(rest, 4 * usize::from(parts))?.as_chunks::<4>().0 {
        text.push_str(&format!("-{}", u32::from_le_bytes(*part)));
    }
    Some(text)
}
