//! Instrumentation manifests in XML.

use etw_layouts_payload::{InType, MapKind, OutType};
use etw_layouts_schemas::{Count, Event, Field, Length, Map, MapEntry, Provider};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// Levels that Windows defines, by their names without `win:`.
const LEVELS: [&str; 16] = [
    "LogAlways",
    "Critical",
    "Error",
    "Warning",
    "Informational",
    "Verbose",
    "ReservedLevel6",
    "ReservedLevel7",
    "ReservedLevel8",
    "ReservedLevel9",
    "ReservedLevel10",
    "ReservedLevel11",
    "ReservedLevel12",
    "ReservedLevel13",
    "ReservedLevel14",
    "ReservedLevel15",
];

/// Opcodes that Windows defines.
const OPCODES: [&str; 11] =
    ["Info", "Start", "Stop", "DC_Start", "DC_Stop", "Extension", "Reply", "Resume", "Suspend", "Send", "Receive"];

/// The comment beside a number that the format requires, but that no source states.
pub const PLACEHOLDER: &str = "placeholder: the real number is unknown";

/// Writes the manifest of a provider. `notes` has a comment for each event that needs one.
pub fn write(provider: &Provider, sources: &str, notes: &[Option<String>]) -> String {
    let mut text = String::new();
    let _ = put(provider, sources, notes, &mut text);
    text
}

fn put(provider: &Provider, sources: &str, notes: &[Option<String>], text: &mut String) -> fmt::Result {
    let Provider { guid, name, .. } = provider;
    let names = Names::of(provider);
    writeln!(text, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(text, "<!-- Source: {} -->", Comment(sources))?;
    if names.has_placeholders() {
        writeln!(text, "<!-- The sources do not state all numbers of tasks, opcodes and levels, and all masks of keywords.")?;
        writeln!(
            text,
            "     A manifest needs numbers, so each missing one is a placeholder, assigned in order and marked: do not"
        )?;
        writeln!(text, "     enable a provider with them, and do not compare them with events. -->")?;
    }
    writeln!(text, r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">"#)?;
    writeln!(
        text,
        r#"  <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema">"#
    )?;
    writeln!(text, "    <events>")?;
    let symbol: String = name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
    writeln!(
        text,
        r#"      <provider name="{}" guid="{{{guid}}}" symbol="{symbol}" resourceFileName="unknown" messageFileName="unknown">"#,
        Escaped(name)
    )?;
    names.put(text)?;
    put_maps(&provider.maps, text)?;
    let templates = templates(provider);
    if !templates.is_empty() {
        writeln!(text, "        <templates>")?;
        for (list, number) in &templates {
            writeln!(text, r#"          <template tid="T{number}">"#)?;
            put_fields(list, &provider.maps, 12, text)?;
            writeln!(text, "          </template>")?;
        }
        writeln!(text, "        </templates>")?;
    }
    writeln!(text, "        <events>")?;
    for (index, event) in provider.events.iter().enumerate() {
        if let Some(note) = notes.get(index).and_then(Option::as_ref) {
            writeln!(text, "          <!-- event {} version {}: {} -->", event.id, event.version, Comment(note))?;
        }
        put_event(event, &templates, text)?;
    }
    writeln!(text, "        </events>\n      </provider>\n    </events>\n  </instrumentation>")?;
    put_strings(&provider.maps, text)?;
    writeln!(text, "</instrumentationManifest>")
}

/// Writes the maps of a provider. The names of values are in the table of strings.
fn put_maps(maps: &[Map], text: &mut String) -> fmt::Result {
    if maps.is_empty() {
        return Ok(());
    }
    writeln!(text, "        <maps>")?;
    for (map, Map { name, kind, entries }) in maps.iter().enumerate() {
        let element = if *kind == MapKind::Flags { "bitMap" } else { "valueMap" };
        writeln!(text, r#"          <{element} name="{}">"#, Escaped(name))?;
        for (index, MapEntry { value, .. }) in entries.iter().enumerate() {
            writeln!(text, r#"            <map value="{value:#x}" message="$(string.map.{map}.{index})"/>"#)?;
        }
        writeln!(text, "          </{element}>")?;
    }
    writeln!(text, "        </maps>")
}

fn put_strings(maps: &[Map], text: &mut String) -> fmt::Result {
    if maps.is_empty() {
        return Ok(());
    }
    writeln!(text, "  <localization>\n    <resources culture=\"en-US\">\n      <stringTable>")?;
    for (map, Map { entries, .. }) in maps.iter().enumerate() {
        for (index, MapEntry { name, .. }) in entries.iter().enumerate() {
            writeln!(text, r#"        <string id="map.{map}.{index}" value="{}"/>"#, Escaped(name))?;
        }
    }
    writeln!(text, "      </stringTable>\n    </resources>\n  </localization>")
}

/// Lists of fields with their numbers, in the order of their first use in events.
fn templates(provider: &Provider) -> Vec<(&[Field], usize)> {
    let mut templates: Vec<(&[Field], usize)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for fields in
        provider.events.iter().filter_map(|event| event.fields.as_deref()).map(known_fields).filter(|fields| !fields.is_empty())
    {
        let number = known.len();
        known.entry(format!("{fields:?}")).or_insert_with(|| {
            templates.push((fields, number));
            number
        });
    }
    templates
}

/// The fields before a structure without members, because a manifest cannot contain such a structure.
fn known_fields(fields: &[Field]) -> &[Field] {
    let end = fields.iter().position(|field| field.in_type == InType::STRUCT && field.members.is_empty());
    &fields[..end.unwrap_or(fields.len())]
}

fn put_fields(fields: &[Field], maps: &[Map], indent: usize, text: &mut String) -> fmt::Result {
    for field in fields {
        let Field { in_type, out_type, count, length, members, .. } = field;
        let element = if *in_type == InType::STRUCT { "struct" } else { "data" };
        write!(text, r#"{:indent$}<{element} name="{}""#, "", Escaped(&field.name))?;
        if let (false, Some(name)) = (*in_type == InType::STRUCT, in_type.name()) {
            write!(text, r#" inType="win:{name}""#)?;
        }
        if let (true, Some(name)) = (*out_type != OutType::NULL, out_type.name()) {
            write!(text, r#" outType="{}""#, qualified(*out_type, name))?;
        }
        if let Some(map) = field.map.and_then(|map| maps.get(map)) {
            write!(text, r#" map="{}""#, Escaped(&map.name))?;
        }
        match count {
            Count::One => {}
            Count::Constant(count) => write!(text, r#" count="{count}""#)?,
            Count::Field(name) => write!(text, r#" count="{}""#, Escaped(name))?,
        }
        match length {
            Length::Type => {}
            Length::Constant(length) => write!(text, r#" length="{length}""#)?,
            Length::Field(name) => write!(text, r#" length="{}""#, Escaped(name))?,
        }
        if members.is_empty() {
            writeln!(text, "/>")?;
        } else {
            writeln!(text, ">")?;
            put_fields(members, maps, indent + 2, text)?;
            writeln!(text, "{:indent$}</{element}>", "")?;
        }
    }
    Ok(())
}

/// The name in a manifest: with `xs:` for types of XML Schema, otherwise with `win:`.
fn qualified(out_type: OutType, name: &str) -> String {
    // Types of XML Schema: String to HexBinary, except for the date and time. Their names begin with a lowercase letter.
    match out_type {
        OutType::GUID => "xs:GUID".to_owned(),
        OutType(1..=15) => format!("xs:{}{}", name[..1].to_ascii_lowercase(), &name[1..]),
        _ => format!("win:{name}"),
    }
}

fn put_event(event: &Event, templates: &[(&[Field], usize)], text: &mut String) -> fmt::Result {
    let Event { id, version, level, opcode, task, keywords, .. } = event;
    write!(text, r#"          <event value="{id}" version="{version}""#)?;
    for (attribute, name, standard) in
        [("level", &level.name, &LEVELS[..]), ("opcode", &opcode.name, &OPCODES), ("task", &task.name, &[])]
    {
        if !name.is_empty() {
            let prefix = if standard.contains(&name.as_str()) { "win:" } else { "" };
            write!(text, r#" {attribute}="{prefix}{}""#, Escaped(name))?;
        }
    }
    if !keywords.is_empty() {
        write!(text, r#" keywords="{}""#, Escaped(&keywords.join(" ")))?;
    }
    let fields = event.fields.as_deref().map(known_fields).unwrap_or_default();
    if let Some((_, number)) = templates.iter().find(|(known, _)| *known == fields) {
        write!(text, r#" template="T{number}""#)?;
    }
    writeln!(text, "/>")
}

/// Names that the manifest defines.
struct Names<'a> {
    levels: Vec<&'a str>,
    opcodes: Vec<&'a str>,
    tasks: Vec<&'a str>,
    /// Keywords with their masks, if known.
    keywords: Vec<(&'a str, Option<u64>)>,
}

impl<'a> Names<'a> {
    fn of(provider: &'a Provider) -> Self {
        let mut names = Self { levels: Vec::new(), opcodes: Vec::new(), tasks: Vec::new(), keywords: Vec::new() };
        names.keywords.extend(provider.keywords.iter().map(|keyword| (keyword.name.as_str(), keyword.mask)));
        let add = |list: &mut Vec<&'a str>, name: &'a str, standard: &[&str]| {
            if !name.is_empty() && !standard.contains(&name) && !list.contains(&name) {
                list.push(name);
            }
        };
        for event in &provider.events {
            add(&mut names.levels, &event.level.name, &LEVELS);
            add(&mut names.opcodes, &event.opcode.name, &OPCODES);
            add(&mut names.tasks, &event.task.name, &[]);
            for keyword in &event.keywords {
                if !names.keywords.iter().any(|(name, _)| name == keyword) {
                    names.keywords.push((keyword, None));
                }
            }
        }
        names
    }

    /// Whether the manifest needs numbers that no source states.
    fn has_placeholders(&self) -> bool {
        let lists = [&self.levels, &self.opcodes, &self.tasks];
        lists.iter().any(|list| !list.is_empty()) || self.keywords.iter().any(|(_, mask)| mask.is_none())
    }

    fn put(&self, text: &mut String) -> fmt::Result {
        // Numbers below 16 of levels, and below 10 of opcodes, are those of Windows.
        for (list, item, names, first) in
            [("levels", "level", &self.levels, 16), ("tasks", "task", &self.tasks, 1), ("opcodes", "opcode", &self.opcodes, 10)]
        {
            if names.is_empty() {
                continue;
            }
            writeln!(text, "        <{list}>")?;
            for (number, name) in (first..).zip(names) {
                let symbol = format!("{}_{number}", item.to_ascii_uppercase());
                let name = Escaped(name);
                writeln!(text, r#"          <{item} name="{name}" symbol="{symbol}" value="{number}"/> <!-- {PLACEHOLDER} -->"#)?;
            }
            writeln!(text, "        </{list}>")?;
        }
        if self.keywords.is_empty() {
            return Ok(());
        }
        let mut used = self.keywords.iter().filter_map(|(_, mask)| *mask).fold(0, |all, mask| all | mask);
        writeln!(text, "        <keywords>")?;
        for (name, mask) in &self.keywords {
            let name = Escaped(name);
            match mask {
                Some(mask) => writeln!(text, r#"          <keyword name="{name}" mask="{mask:#x}"/>"#)?,
                None => {
                    let bit = 1_u64.checked_shl((!used).trailing_zeros()).unwrap_or(0);
                    used |= bit;
                    writeln!(text, r#"          <keyword name="{name}" mask="{bit:#x}"/> <!-- {PLACEHOLDER} -->"#)?;
                }
            }
        }
        writeln!(text, "        </keywords>")
    }
}

/// Text in an attribute.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // A tab or line break would be read as a space.
            _ if character.is_control() => write!(f, "&#{};", u32::from(character)),
            _ => f.write_char(character),
        })
    }
}

/// Text in a comment. Comments must not contain two consecutive hyphens.
struct Comment<'a>(&'a str);

impl Display for Comment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace("--", "- -"))
    }
}
