//! Rows of the tables: an event as described by some sources.

use super::fields::{self, plain};
use super::report::Report;
use etw_layouts_catalog::Mask;
use etw_layouts_payload::{InType, OutType, Uuid};
use etw_layouts_schemas::Field;
use std::collections::BTreeMap;

/// An event as described by some sources.
#[derive(Clone)]
pub struct Row {
    pub guid: Uuid,
    pub provider: String,
    pub id: u16,
    pub version: u8,
    pub task: String,
    pub opcode: String,
    pub level: String,
    pub keywords: Vec<String>,
    /// Masks of keywords in the table: `GCKeyword=0x1`.
    pub masks: Vec<(String, u64)>,
    /// `None` if the sources leave out the fields.
    pub fields: Option<Vec<Field>>,
    pub sources: Mask,
    /// Whether the fields are not those of the sources, but corrected.
    pub is_corrected: bool,
}

impl Row {
    /// Whether its sources state counts and lengths.
    pub fn states_sizes(&self) -> bool {
        self.sources != Mask::named("28000")
    }
}

/// Reads the first table: columns GUID, provider, ID, version, task, opcode, level, keywords, symbol, fields, sources.
pub fn manifest_events(text: &str, report: &mut Report) -> Vec<Row> {
    text.lines().skip(1).filter_map(|line| manifest_event(line, report)).collect()
}

fn manifest_event(line: &str, report: &mut Report) -> Option<Row> {
    report.count("rows of manifest_events");
    let columns: Vec<&str> = line.split('\t').collect();
    let [guid, provider, id, version, task, opcode, level, keywords, _symbol, fields, sources] = columns[..] else {
        report.count("left out: not 11 columns");
        return None;
    };
    if provider == "Windows Kernel" {
        report.count("left out: kernel events, which the event specs have");
        return None;
    }
    let (Ok(guid), Ok(id), Ok(version)) = (Uuid::try_parse(guid), id.parse(), version.parse()) else {
        report.count("left out: GUID, ID or version is not a number");
        return None;
    };
    let sources = sources.split(' ').fold(Mask::default(), |all, name| {
        report.count(&format!("rows of source {name}"));
        all.union(Mask::named(name))
    });
    let fields = match fields {
        "?" => None,
        _ => match fields::parse(fields) {
            Ok(parsed) => {
                report.add("names of maps left out: no source has their values", parsed.maps);
                report.fields(&parsed.fields);
                parsed.unresolved.iter().for_each(|text| report.example("count or length of an absent field", provider, text));
                Some(parsed.fields)
            }
            Err(text) => {
                report.example("fields left out: not parsed", provider, &text);
                None
            }
        },
    };
    Some(Row {
        guid,
        provider: provider.to_owned(),
        id,
        version,
        task: task.to_owned(),
        opcode: opcode.to_owned(),
        level: level.to_owned(),
        keywords: words(keywords)
            .into_iter()
            .map(|word| word.split_once("=0x").map_or(word.clone(), |(name, _)| name.to_owned()))
            .collect(),
        masks: words(keywords).iter().filter_map(|word| masked(word)).collect(),
        fields,
        sources,
        is_corrected: false,
    })
}

/// Reads the second table: columns provider, ID, version, event with fields, opcode, keywords, task, level. It has no GUIDs of
/// providers; `guids` contains those of the first table.
pub fn events_28000(text: &str, guids: &BTreeMap<String, Uuid>, report: &mut Report) -> Vec<Row> {
    text.lines().skip(1).filter_map(|line| event_28000(line, guids, report)).collect()
}

fn event_28000(line: &str, guids: &BTreeMap<String, Uuid>, report: &mut Report) -> Option<Row> {
    report.count("rows of source 28000");
    let columns: Vec<&str> = line.split('\t').collect();
    let [provider, id, version, event, opcode, keywords, task, level] = columns[..] else {
        report.count("left out: not 8 columns");
        return None;
    };
    let Some(guid) = guids.get(provider).copied().or_else(|| guid_in_name(provider)) else {
        report.example("left out: the GUID of the provider is unknown", provider, id);
        return None;
    };
    let fields = typed_fields(event);
    if fields.is_none() {
        report.example("fields left out: not parsed", provider, event);
    }
    Some(Row {
        guid,
        provider: provider.to_owned(),
        id: id.parse().ok()?,
        version: version.parse().ok()?,
        task: task.to_owned(),
        opcode: opcode.to_owned(),
        level: level.to_owned(),
        keywords: words(keywords),
        masks: Vec::new(),
        fields,
        sources: Mask::named("28000"),
        is_corrected: false,
    })
}

/// Providers of converted debug messages have their GUID in their name.
fn guid_in_name(provider: &str) -> Option<Uuid> {
    let (_, digits) = provider.rsplit_once('_')?;
    (digits.len() == 32).then(|| Uuid::try_parse(digits).ok())?
}

/// A name with a mask: `GCKeyword=0x1`.
pub fn masked(word: &str) -> Option<(String, u64)> {
    let (name, mask) = word.split_once("=0x")?;
    Some((name.to_owned(), u64::from_str_radix(mask, 16).ok()?))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Parses `Name(UInt32 First, UnicodeString Second)`; names can contain parentheses too.
fn typed_fields(event: &str) -> Option<Vec<Field>> {
    let text = event.strip_suffix(')')?;
    text.match_indices('(').find_map(|(at, _)| {
        let list = &text[at + 1..];
        if list.is_empty() {
            return Some(Vec::new());
        }
        let mut fields: Vec<Field> = Vec::new();
        for part in list.split(", ") {
            match part.split_once(' ').and_then(|(ty, name)| Some((typed(ty)?, name))) {
                Some((in_type, name)) => fields.push(Field::new(name, in_type)),
                // The comma was part of a name.
                None => {
                    let last = fields.last_mut()?;
                    last.name = format!("{}, {part}", last.name);
                }
            }
        }
        Some(fields)
    })
}

fn typed(text: &str) -> Option<InType> {
    fields::parse(&format!("x:{text}")).ok().map(|parsed| parsed.fields[0].in_type)
}

/// Whether two names are equal, apart from characters that tools drop.
pub fn is_same_name(one: &str, other: &str) -> bool {
    one == other || plain(one) == plain(other)
}

/// Whether a tool can have printed this pair of types: some types are never displayed as some others.
pub fn is_valid(field: &Field) -> bool {
    let shown: &[OutType] = match field.in_type {
        InType::UNICODESTRING => &[OutType::STRING, OutType::XML, OutType::JSON],
        InType::ANSISTRING => &[OutType::STRING, OutType::XML, OutType::JSON, OutType::UTF8],
        InType::INT8 => &[OutType::BYTE, OutType::STRING],
        InType::UINT8 => &[OutType::UNSIGNEDBYTE, OutType::HEXINT8, OutType::STRING, OutType::BOOLEAN],
        InType::INT16 => &[OutType::SHORT],
        InType::UINT16 => &[OutType::UNSIGNEDSHORT, OutType::HEXINT16, OutType::PORT, OutType::STRING],
        InType::INT32 => &[OutType::INT, OutType::HRESULT],
        InType::UINT32 => &[
            OutType::UNSIGNEDINT,
            OutType::HEXINT32,
            OutType::ERRORCODE,
            OutType::WIN32ERROR,
            OutType::NTSTATUS,
            OutType::HRESULT,
            OutType::PID,
            OutType::TID,
            OutType::IPV4,
            OutType::ETWTIME,
        ],
        InType::INT64 => &[OutType::LONG],
        InType::UINT64 => &[OutType::UNSIGNEDLONG, OutType::HEXINT64, OutType::CODE_POINTER, OutType::ETWTIME],
        InType::FLOAT => &[OutType::FLOAT],
        InType::DOUBLE => &[OutType::DOUBLE],
        InType::BOOLEAN => &[OutType::BOOLEAN],
        InType::BINARY => &[OutType::HEXBINARY, OutType::IPV6, OutType::SOCKETADDRESS, OutType::PKCS7_WITH_TYPE_INFO],
        InType::GUID => &[OutType::GUID],
        InType::POINTER => &[OutType::HEXINT64, OutType::CODE_POINTER, OutType::LONG, OutType::UNSIGNEDLONG],
        InType::FILETIME | InType::SYSTEMTIME => {
            &[OutType::DATETIME, OutType::CIMDATETIME, OutType::CULTURE_INSENSITIVE_DATETIME, OutType::DATETIME_UTC]
        }
        InType::SID => &[OutType::STRING],
        InType::HEXINT32 => &[OutType::HEXINT32, OutType::WIN32ERROR, OutType::NTSTATUS, OutType::HRESULT, OutType::ERRORCODE],
        InType::HEXINT64 => &[OutType::HEXINT64, OutType::CODE_POINTER],
        _ => &[],
    };
    field.out_type == OutType::NULL || shown.contains(&field.out_type)
}
