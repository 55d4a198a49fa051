//! The paths of a dataset's files.

use super::hashing::hex;
use etw_layouts_table::write::Format;
use etw_layouts_table::{Batch, Kind};
use std::fmt::Write as _;

/// The path of a table's files, up to the name of the part.
pub fn base(batch: &Batch) -> String {
    match &batch.table.kind {
        Kind::Event { provider, event } => {
            let layout = batch.table.layout;
            format!("typed/provider={}/event={}/{layout:032x}-", value(provider), value(event))
        }
        Kind::Stacks => "stacks/".into(),
        Kind::Traces => "traces/".into(),
        _ => "events/".into(),
    }
}

/// The rest of the path of a part's file with this number in its table.
pub fn end(part: &str, number: u32, format: Format) -> String {
    let number = if number == 1 { String::new() } else { format!("-{number}") };
    format!("{part}{number}.{}", format.extension())
}

/// The name of the part with this hash.
pub fn part(hash: &[u8]) -> String {
    format!("{PART}{}", hex(hash.get(..8).unwrap_or(hash)))
}

/// The formats of files.
const FORMATS: [Format; 4] = [Format::Parquet, Format::Arrow, Format::Csv, Format::Jsonl];

/// The format of a file.
pub fn format(path: &str) -> Option<Format> {
    FORMATS.into_iter().find(|format| path.rsplit_once('.').is_some_and(|(_, end)| end == format.extension()))
}

const PART: &str = "part-";

/// Whether an export gives this name to a part.
pub fn is_part(name: &str) -> bool {
    name.strip_prefix(PART).is_some_and(|hash| is_hex(hash, 16))
}

/// Whether an export gives this path to a file of a part.
pub fn is_file(path: &str, part: &str) -> bool {
    let names: Vec<_> = path.split('/').collect();
    let end = match names[..] {
        ["events" | "stacks" | "traces", end] => Some(end),
        ["typed", provider, event, file] => {
            let are_values = is_value(provider, "provider=") && is_value(event, "event=");
            let rest = file.split_once('-').filter(|(layout, _)| is_hex(layout, 32));
            rest.map(|(_, end)| end).filter(|_| are_values)
        }
        _ => None,
    };
    let rest = end.and_then(|end| end.strip_prefix(part)).and_then(|rest| rest.split_once('.'));
    rest.is_some_and(|(number, extension)| {
        let is_number = number
            .strip_prefix('-')
            .is_some_and(|digits| digits.parse().is_ok_and(|number: u32| number > 1 && number.to_string() == digits));
        (number.is_empty() || is_number) && FORMATS.iter().any(|format| format.extension() == extension)
    })
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_value(name: &str, key: &str) -> bool {
    let value = name.strip_prefix(key).unwrap_or_default();
    !value.is_empty() && value.bytes().all(|byte| is_plain(byte) || byte == b'%')
}

/// A value as part of a folder name. Bytes that are not safe in file names or partition values become `%` and two digits.
fn value(text: &str) -> String {
    // File names have at most 255 bytes.
    const LONGEST: usize = 200;
    if text.is_empty() {
        return "__HIVE_DEFAULT_PARTITION__".into();
    }
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            _ if is_plain(byte) => out.push(byte.into()),
            // Writing to memory cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
        if out.len() > LONGEST {
            break;
        }
    }
    // Windows removes a dot at the end of a name.
    match out.strip_suffix('.') {
        Some(rest) => format!("{rest}%2E"),
        None => out,
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}
