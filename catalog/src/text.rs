//! The text of the catalogue: one line per event. Events of a provider share lists of fields.
//!
//! ```text
//! {22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}  Microsoft-Windows-Kernel-Process       a provider
//! k  0x10 WINEVENT_KEYWORD_PROCESS                                               masks of its keywords, where known
//! v  ReasonMap  0x0 None  0x1 Exit                                               map 0: names of values; `b` for names of bits
//! f  UInt32:PID ProcessID  UInt32 Length  Binary/1 Data                          list 0: types and names of fields
//! 1  0  Informational  Start  ProcessStart  WINEVENT_KEYWORD_PROCESS  ff  ff:0   an event
//! ```
//!
//! Columns are separated by tabs. An event has: ID, version, level, opcode, task, keywords, the sources that list it (hexadecimal bits), and
//! for each statement of fields its sources and the number of the list. A field has: type, `:` and the display format, `*` and the number
//! of values, `/` and the length of a value, `@` and the number of the map, a space, its name. Number and length are a constant with `=`, or the
//! position of the field that states it, counted from 0 through structures and their members. Members follow their structure between `{` and
//! `}`.

use crate::entry::{Entry, Sources};
use crate::source::Mask;
use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use etw_layouts_schemas::{Count, Event, Field, Keyword, Length, Map, MapEntry, Name, Provider};
use std::collections::HashMap;
use std::fmt::{self, Write};

/// A line of the text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Number of the line, from 1.
    pub line: usize,
    /// The error in the line.
    pub reason: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Error {}

/// Reads the text.
///
/// # Errors
///
/// A line is not in the form that [`write()`] produces. The error is that of the first such line.
pub fn read(text: &str) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut lists: Vec<Vec<Field>> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let error = |reason| Error { line: index + 1, reason };
        let (first, rest) = line.split_once('\t').ok_or(error("missing columns"))?;
        if first.starts_with('{') {
            let guid = Uuid::try_parse(first).map_err(|_| error("invalid GUID"))?;
            let provider = Provider { guid, name: rest.to_owned(), ..Provider::default() };
            entries.push(Entry { provider, sources: Vec::new() });
            lists.clear();
            continue;
        }
        let entry = entries.last_mut().ok_or(error("line before the first provider"))?;
        match first {
            "v" => entry.provider.maps.push(map(MapKind::Enumeration, rest).ok_or(error("invalid map"))?),
            "b" => entry.provider.maps.push(map(MapKind::Flags, rest).ok_or(error("invalid map"))?),
            "k" => {
                entry.provider.keywords = rest.split('\t').map(keyword).collect::<Option<_>>().ok_or(error("invalid keyword"))?
            }
            "f" => lists.push(fields(rest).ok_or(error("invalid field"))?),
            _ => event(first, rest, &lists, entry).ok_or(error("invalid event"))?,
        }
    }
    Ok(entries)
}

fn keyword(text: &str) -> Option<Keyword> {
    let (mask, name) = text.split_once(' ')?;
    Some(Keyword { mask: Some(u64::from_str_radix(mask.strip_prefix("0x")?, 16).ok()?), name: name.to_owned() })
}

fn map(kind: MapKind, text: &str) -> Option<Map> {
    let mut columns = text.split('\t');
    let name = columns.next()?.to_owned();
    let entry = |text: &str| {
        let (value, name) = text.split_once(' ')?;
        Some(MapEntry { value: u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?, name: name.to_owned() })
    };
    Some(Map { name, kind, entries: columns.map(entry).collect::<Option<_>>()? })
}

fn event(id: &str, rest: &str, lists: &[Vec<Field>], entry: &mut Entry) -> Option<()> {
    let mut columns = rest.split('\t');
    let mut next = || columns.next();
    let level = |name: &str| Name {
        value: LEVELS.iter().position(|level| *level == name).map(|level| level as u32),
        name: name.to_owned(),
    };
    let name = |name: &str| Name { value: None, name: name.to_owned() };
    let event = Event {
        id: id.parse().ok()?,
        version: next()?.parse().ok()?,
        level: level(next()?),
        opcode: name(next()?),
        task: name(next()?),
        keywords: next()?.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        ..Event::default()
    };
    let listed = mask(next()?)?;
    let mut push = |fields, statement| {
        entry.provider.events.push(Event { fields, ..event.clone() });
        entry.sources.push(Sources { listed, fields: statement });
    };
    let mut is_stated = false;
    for statement in columns {
        let (sources, list) = statement.split_once(':')?;
        push(Some(lists.get(list.parse::<usize>().ok()?)?.clone()), mask(sources)?);
        is_stated = true;
    }
    if !is_stated {
        push(None, Mask::default());
    }
    Some(())
}

fn mask(text: &str) -> Option<Mask> {
    u16::from_str_radix(text, 16).ok().map(Mask)
}

/// Names of the levels 0 to 7.
pub(crate) const LEVELS: [&str; 8] =
    ["LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose", "ReservedLevel6", "ReservedLevel7"];

/// The fields in a line.
fn fields(text: &str) -> Option<Vec<Field>> {
    let mut names: Vec<&str> = Vec::new();
    // Open lists: the list of fields, and the members of each open structure.
    let mut open: Vec<Vec<Field>> = vec![Vec::new()];
    for token in text.split('\t').filter(|token| !token.is_empty()) {
        match token {
            "{" => open.push(Vec::new()),
            "}" => {
                let members = open.pop()?;
                open.last_mut()?.last_mut()?.members = members;
            }
            _ => {
                let field = field(token, &names)?;
                names.push(token.split_once(' ')?.1);
                open.last_mut()?.push(field);
            }
        }
    }
    let list = open.pop()?;
    open.is_empty().then_some(list)
}

fn field(token: &str, names: &[&str]) -> Option<Field> {
    let (spec, name) = token.split_once(' ')?;
    let (spec, map) = spec.split_once('@').map_or((spec, None), |(spec, map)| (spec, Some(map)));
    let (spec, length) = spec.split_once('/').map_or((spec, None), |(spec, length)| (spec, Some(length)));
    let (spec, count) = spec.split_once('*').map_or((spec, None), |(spec, count)| (spec, Some(count)));
    let (in_type, out_type) = spec.split_once(':').map_or((spec, None), |(in_type, out_type)| (in_type, Some(out_type)));
    let named = |text: &str| names.get(text.parse::<usize>().ok()?).map(|name| (*name).to_owned());
    Some(Field {
        out_type: out_type.map_or(Some(OutType::NULL), OutType::named)?,
        count: match count {
            None => Count::One,
            Some(count) => match count.strip_prefix('=') {
                Some(constant) => Count::Constant(constant.parse().ok()?),
                None => Count::Field(named(count)?.into()),
            },
        },
        length: match length {
            None => Length::Type,
            Some(length) => match length.strip_prefix('=') {
                Some(constant) => Length::Constant(constant.parse().ok()?),
                None => Length::Field(named(length)?.into()),
            },
        },
        map: map.map_or(Some(None), |map| map.parse().ok().map(Some))?,
        ..Field::new(name, InType::named(in_type)?)
    })
}

/// Writes the comments, then the text. [`read`] returns equal entries.
pub fn write(entries: &[Entry], comments: &str) -> String {
    let mut text = comments.to_owned();
    for entry in entries {
        write_entry(entry, &mut text);
    }
    text
}

fn write_entry(Entry { provider, sources }: &Entry, text: &mut String) {
    let mut put = |line: fmt::Arguments<'_>| text.write_fmt(line).unwrap_or_default();
    put(format_args!("{{{}}}\t{}\n", provider.guid, provider.name));
    if !provider.keywords.is_empty() {
        put(format_args!("k"));
        for keyword in &provider.keywords {
            put(format_args!("\t{:#x} {}", keyword.mask.unwrap_or(0), keyword.name));
        }
        put(format_args!("\n"));
    }
    for Map { name, kind, entries } in &provider.maps {
        put(format_args!("{}\t{name}", if *kind == MapKind::Flags { "b" } else { "v" }));
        for MapEntry { value, name } in entries {
            put(format_args!("\t{value:#x} {name}"));
        }
        put(format_args!("\n"));
    }
    let mut lists: HashMap<String, usize> = HashMap::new();
    let mut events = String::new();
    let mut previous = None;
    for (event, sources) in provider.events.iter().zip(sources) {
        // An ID and version that a provider has reused has a line for each event.
        let described = Event { fields: None, ..event.clone() };
        if previous.as_ref() != Some(&described) {
            previous = Some(described);
            let Event { id, version, level, opcode, task, keywords, .. } = event;
            let end = if events.is_empty() { "" } else { "\n" };
            let (level, opcode, task, keywords) = (&level.name, &opcode.name, &task.name, keywords.join(" "));
            let listed = sources.listed.0;
            let _ = write!(events, "{end}{id}\t{version}\t{level}\t{opcode}\t{task}\t{keywords}\t{listed:x}");
        }
        if let Some(fields) = &event.fields {
            let mut list = String::new();
            write_fields(fields, &mut Vec::new(), &mut list);
            let number = lists.len();
            let number = *lists.entry(list).or_insert_with_key(|list| {
                put(format_args!("f\t{list}\n"));
                number
            });
            let _ = write!(events, "\t{:x}:{number}", sources.fields.0);
        }
    }
    put(format_args!("{events}\n"));
}

fn write_fields<'a>(fields: &'a [Field], names: &mut Vec<&'a str>, text: &mut String) {
    let position = |names: &[&str], name: &str| names.iter().rposition(|known| *known == name).unwrap_or(names.len());
    for field in fields {
        let between = if text.is_empty() { "" } else { "\t" };
        let _ = write!(text, "{between}{}", field.in_type.name().unwrap_or("Null"));
        if field.out_type != OutType::NULL {
            let _ = write!(text, ":{}", field.out_type.name().unwrap_or("Null"));
        }
        let _ = match &field.count {
            Count::One => Ok(()),
            Count::Constant(count) => write!(text, "*={count}"),
            Count::Field(name) => write!(text, "*{}", position(names, name)),
        };
        let _ = match &field.length {
            Length::Type => Ok(()),
            Length::Constant(length) => write!(text, "/={length}"),
            Length::Field(name) => write!(text, "/{}", position(names, name)),
        };
        if let Some(map) = field.map {
            let _ = write!(text, "@{map}");
        }
        let _ = write!(text, " {}", field.name);
        names.push(&field.name);
        if !field.members.is_empty() {
            text.push_str("\t{");
            write_fields(&field.members, names, text);
            text.push_str("\t}");
        }
    }
}
