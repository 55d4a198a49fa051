//! Events of .NET 5 and later that the other sources lack, from tables of `src/coreclr/vm/ClrEtwAll.man` in dotnet/runtime.

use super::report::Report;
use super::rows::{Row, masked};
use etw_layouts_catalog::Mask;
use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use etw_layouts_schemas::{Count, Field, Length, Map, MapEntry, Provider};
use serde_json::Value;

/// Reads the events. `maps` has their value maps, `names` their keywords. Maps are added to `providers`.
pub fn rows(events: &str, maps: &str, names: &str, providers: &mut Vec<Provider>, report: &mut Report) -> Vec<Row> {
    for line in events.lines().skip(1) {
        let (Some(name), Some(guid)) = (column(line, 0), column(line, 1).and_then(|guid| Uuid::try_parse(guid).ok())) else {
            continue;
        };
        if providers.iter().all(|provider| provider.guid != guid) {
            providers.push(Provider { guid, name: name.to_owned(), ..Provider::default() });
        }
    }
    maps.lines().skip(1).for_each(|line| add_entry(line, providers));
    let row = |line: &str| {
        let row = row(line, names, providers);
        report.count(if row.is_some() { "rows of source dotnet" } else { "left out: a row of source dotnet cannot be read" });
        row
    };
    events.lines().skip(1).filter_map(row).collect()
}

fn column(line: &str, index: usize) -> Option<&str> {
    line.split('\t').nth(index)
}

/// Adds an entry of a map: columns map, kind, value, text, provider. A later text replaces that of another manifest.
fn add_entry(line: &str, providers: &mut [Provider]) {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, kind, value, text, provider, ..] = columns[..] else { return };
    let Some((_, value)) = masked(&format!("{text}={value}")) else { return };
    let Some(provider) = providers.iter_mut().find(|own| own.name == provider) else { return };
    let index = provider.maps.iter().position(|map| map.name == name).unwrap_or_else(|| {
        let kind = if kind == "bitMap" { MapKind::Flags } else { MapKind::Enumeration };
        provider.maps.push(Map { name: name.to_owned(), kind, entries: Vec::new() });
        provider.maps.len() - 1
    });
    let entries = &mut provider.maps[index].entries;
    match entries.iter_mut().find(|entry| entry.value == value) {
        Some(entry) => text.clone_into(&mut entry.name),
        None => entries.push(MapEntry { value, name: text.to_owned() }),
    }
}

/// Reads an event: columns provider, GUID, ID, version, level, keywords, task, opcode, symbol, fields.
fn row(line: &str, names: &str, providers: &[Provider]) -> Option<Row> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, guid, id, version, level, keywords, task, opcode, _symbol, list] = columns[..] else { return None };
    let bare = |name: &str| name.strip_prefix("win:").unwrap_or(name).to_owned();
    let guid = Uuid::try_parse(guid).ok()?;
    let maps = &providers.iter().find(|provider| provider.guid == guid)?.maps;
    let of_provider = names.lines().filter(|line| column(line, 0) == Some(name) && column(line, 1) == Some("keyword"));
    let masks = of_provider.filter_map(|line| masked(&format!("{}={}", column(line, 2)?, column(line, 3)?))).collect();
    Some(Row {
        guid,
        provider: name.to_owned(),
        id: id.parse().ok()?,
        version: version.parse().ok()?,
        task: bare(task),
        opcode: bare(opcode),
        level: bare(level),
        keywords: keywords.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        masks,
        fields: Some(fields(&serde_json::from_str(list).ok()?, maps)?),
        sources: Mask::named("dotnet"),
        is_corrected: false,
    })
}

/// Reads fields: `[name, input type, output type, length, count, map]`, or `["struct", name, count, members]`.
fn fields(list: &Value, maps: &[Map]) -> Option<Vec<Field>> {
    let field = |value: &Value| {
        let text = |index: usize| value[index].as_str();
        let count = |count: Option<&str>| match count {
            None => Count::One,
            Some(count) => count.parse().map_or_else(|_| Count::Field(count.into()), Count::Constant),
        };
        if text(0) == Some("struct") && value[3].is_array() {
            let members = fields(&value[3], maps)?;
            return Some(Field { count: count(text(2)), members, ..Field::new(text(1)?, InType::STRUCT) });
        }
        let bare = |text: &str| text.split_once(':').map_or(text, |(_, bare)| bare).to_owned();
        Some(Field {
            out_type: text(2).map_or(Some(OutType::NULL), |name| OutType::named(&bare(name)))?,
            length: match text(3) {
                None => Length::Type,
                Some(length) => length.parse().map_or_else(|_| Length::Field(length.into()), Length::Constant),
            },
            count: count(text(4)),
            map: text(5).and_then(|name| maps.iter().position(|map| map.name == name)),
            ..Field::new(text(0)?, InType::named(&bare(text(1)?))?)
        })
    };
    list.as_array()?.iter().map(field).collect()
}
