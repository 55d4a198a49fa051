//! Parses the fields of an event in the table: `Name:UInt32:HexInt32;Data:Binary length=Size;Group{Sid:SID} count=Groups`.

use etw_layouts_payload::{InType, OutType};
use etw_layouts_schemas::{Count, Field, Length};

/// A parsed list of fields, and the parts that were left out.
#[derive(Default)]
pub struct Parsed {
    pub fields: Vec<Field>,
    /// The number of map names. The table does not contain the values of maps.
    pub maps: usize,
    /// Counts and lengths that refer to a field that does not precede them.
    pub unresolved: Vec<String>,
}

/// Parses a list of fields that follow fields with these names. `Err` has the text that cannot be parsed.
pub fn parse_after(text: &str, names: &[String]) -> Result<Vec<Field>, String> {
    let mut unresolved = Vec::new();
    let fields = list(&mut { text }, &mut names.to_vec(), &mut 0, &mut unresolved)?;
    match unresolved.pop() {
        Some(text) => Err(text),
        None => Ok(fields),
    }
}

/// Parses a list. `Err` has the text of the field that cannot be parsed.
pub fn parse(text: &str) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut rest = text;
    parsed.fields = list(&mut rest, &mut Vec::new(), &mut parsed.maps, &mut parsed.unresolved)?;
    Ok(parsed)
}

fn list(rest: &mut &str, names: &mut Vec<String>, maps: &mut usize, unresolved: &mut Vec<String>) -> Result<Vec<Field>, String> {
    let mut fields: Vec<Field> = Vec::new();
    while !rest.is_empty() {
        let (text, behind) = piece(rest);
        *rest = behind;
        let mut field = match text.split_once('{') {
            // The members end at the brace; the attributes of the structure follow.
            Some((name, members)) if text.ends_with('}') || text.contains("} ") => {
                let (members, attributes) = members.rsplit_once('}').ok_or(text)?;
                let mut field = Field::new(name, InType::STRUCT);
                attribute(attributes, &mut field, names, maps, unresolved);
                names.push(name.to_owned());
                let mut members = members;
                field.members = list(&mut members, names, maps, unresolved)?;
                fields.push(field);
                continue;
            }
            _ => field(text).ok_or(text)?,
        };
        let start = attributes_start(text);
        attribute(&text[start..], &mut field, names, maps, unresolved);
        names.push(field.name.clone());
        fields.push(field);
    }
    Ok(fields)
}

/// The next field of a list, and the text after it. A semicolon within braces or within a name does not end a field.
fn piece(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' if depth == 0 && field(&text[..at]).is_some() || depth == 0 && character == ';' && text[..at].contains('}') => {
                return (&text[..at], &text[at + 1..]);
            }
            _ => {}
        }
    }
    (text, "")
}

fn attributes_start(text: &str) -> usize {
    [" count=", " length=", " map="].iter().filter_map(|marker| text.find(marker)).min().unwrap_or(text.len())
}

/// The name and types of a field.
fn field(text: &str) -> Option<Field> {
    let head = &text[..attributes_start(text)];
    let (before, last) = head.rsplit_once(':')?;
    if let Some((name, in_text)) = before.rsplit_once(':')
        && let Some((in_type, _, _)) = in_type(in_text)
        && let Some(out_type) = out_type(last, in_type)
    {
        return Some(finish(Field { out_type, ..Field::new(name, in_type) }));
    }
    let (in_type, out_type, length) = in_type(last)?;
    Some(finish(Field { out_type, length, ..Field::new(before, in_type) }))
}

/// Adds a constant length: a binary field that is displayed as an IPv6 address has 16 bytes.
fn finish(field: Field) -> Field {
    match (field.in_type, field.out_type) {
        (InType::BINARY, OutType::IPV6) => Field { length: Length::Constant(16), ..field },
        _ => field,
    }
}

fn in_type(text: &str) -> Option<(InType, OutType, Length)> {
    let plain = |in_type| Some((in_type, OutType::NULL, Length::Type));
    match text {
        "CountedUtf16String" => plain(InType::MANIFEST_COUNTEDSTRING),
        "CountedMbcsString" => plain(InType::MANIFEST_COUNTEDANSISTRING),
        "SInt8" => plain(InType::INT8),
        "SInt16" => plain(InType::INT16),
        "SInt32" => plain(InType::INT32),
        "SInt64" => plain(InType::INT64),
        "IPAddrV4" => Some((InType::UINT32, OutType::IPV4, Length::Type)),
        "IPAddrV6" => Some((InType::BINARY, OutType::IPV6, Length::Constant(16))),
        // A number that the printing tool took for a type.
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => plain(InType(text.parse().ok()?)),
        _ => plain(InType::named(text)?),
    }
}

fn out_type(text: &str, in_type: InType) -> Option<OutType> {
    // The printing tool uses one name for all types that it does not know.
    if text == "Binary" {
        return match in_type {
            InType::ANSISTRING => Some(OutType::UTF8),
            InType::POINTER => Some(OutType::CODE_POINTER),
            _ => None,
        };
    }
    (0..=38).map(OutType).find(|out_type| out_type.name().is_some_and(|name| name.eq_ignore_ascii_case(text)))
}

fn attribute(text: &str, field: &mut Field, names: &[String], maps: &mut usize, unresolved: &mut Vec<String>) {
    let mut rest = text;
    while let Some(text) = rest.strip_prefix(' ') {
        let end = attributes_start(text);
        let (attribute, behind) = text.split_at(end);
        rest = behind;
        let Some((key, value)) = attribute.split_once('=') else { continue };
        if key == "map" {
            *maps += 1;
            continue;
        }
        let constant = value.parse().ok();
        let named = names.iter().rfind(|name| *name == value).or_else(|| names.iter().rfind(|name| plain(name) == plain(value)));
        if constant.is_none() && named.is_none() {
            unresolved.push(format!("{} {attribute}", field.name));
        }
        match (key, constant, named) {
            ("count", Some(count), _) => field.count = Count::Constant(count),
            ("count", _, Some(name)) => field.count = Count::Field(name.clone().into()),
            ("length", Some(length), _) => field.length = Length::Constant(length),
            ("length", _, Some(name)) => field.length = Length::Field(name.clone().into()),
            _ => {}
        }
    }
}

/// A name in lower case with only letters and digits, because some tools drop or replace other characters.
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect()
}
