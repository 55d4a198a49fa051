//! Templates, which are the fields of events, and maps, which are the names of values.

use super::strings::Strings;
use super::xml::{Element, number};
use crate::budget::{Budget, Exceeded};
use crate::model::{Count, Field, Length, Map, MapEntry};
use crate::schemas::{SchemaError, Schemas};
use etw_layouts_payload::{InType, MapKind, OutType};
use std::collections::HashMap;

/// Fields by the name of their template; `None` for an unreadable template.
pub(super) struct Templates(HashMap<String, Option<Vec<Field>>>);

impl Templates {
    pub fn read(provider: &Element, maps: &[Map], schemas: &mut Schemas) -> Self {
        let mut known: Maps<'_> = HashMap::new();
        for (index, map) in maps.iter().enumerate() {
            known.entry(map.name.as_str()).or_insert(Some(index));
        }
        // Maps of other kinds, such as pattern maps, give no names to values.
        for name in provider.named("maps").flat_map(Element::children).filter_map(|map| map.get("name")) {
            known.entry(name).or_insert(None);
        }
        let mut templates = HashMap::new();
        for template in provider.listed("templates", "template") {
            let fields = match template.required("tid").map(str::to_owned) {
                Ok(name) => match fields(template, &known, &mut Scope::default()) {
                    Ok(fields) => Ok((name, Some(fields))),
                    Err(error) => {
                        schemas.report(error);
                        Ok((name, None))
                    }
                },
                Err(error) => Err(error),
            };
            match fields {
                Ok((name, fields)) => drop(templates.entry(name).or_insert(fields)),
                Err(error) => schemas.report(error),
            }
        }
        Self(templates)
    }

    /// The fields of the event in a line, by the name of their template.
    pub fn fields(&self, name: &str, line: u32, schemas: &mut Schemas) -> Option<Vec<Field>> {
        let fields = self.0.get(name);
        if fields.is_none() {
            schemas.report(SchemaError::line(line, format!("undefined template `{name}` of an event; define it")));
        }
        fields.cloned().flatten()
    }
}

/// Indices of maps by name; `None` for those of an unsupported kind.
type Maps<'a> = HashMap<&'a str, Option<usize>>;

/// Names of earlier fields, including those of enclosing structures, with the number of fields of that name.
type Scope<'a> = HashMap<&'a str, usize>;

/// The fields of a template or structure.
fn fields<'a>(element: &'a Element, maps: &Maps<'_>, scope: &mut Scope<'a>) -> Result<Vec<Field>, SchemaError> {
    let mut fields: Vec<Field> = Vec::new();
    for child in element.children() {
        if let Some(Field { name, in_type: InType::BINARY, length: Length::Type, out_type, .. }) = fields.last()
            && *out_type != OutType::IPV6
            && matches!(child.name, "data" | "struct")
        {
            let text = format!("missing length: binary data `{name}` is not the last field; add a length");
            return Err(SchemaError::line(child.line, text));
        }
        let in_type = match child.name {
            "data" => {
                let name = child.required("inType")?;
                in_type(name).ok_or_else(|| unknown(child, "inType", name))?
            }
            "struct" => InType::STRUCT,
            _ => continue,
        };
        let name = child.required("name")?;
        let mut field = Field::new(name, in_type);
        if let Some(name) = child.get("outType") {
            field.out_type = out_type(name).ok_or_else(|| unknown(child, "outType", name))?;
        }
        field.map = match child.get("map") {
            Some(name) => *maps.get(name).ok_or_else(|| unknown(child, "map", name))?,
            None => None,
        };
        field.count = match reference(child, "count", scope)? {
            Reference::None => Count::One,
            Reference::Number(count) => Count::Constant(count),
            Reference::Field(name) => Count::Field(name.into()),
        };
        field.length = match reference(child, "length", scope)? {
            Reference::None => Length::Type,
            Reference::Number(length) => Length::Constant(length),
            Reference::Field(name) => Length::Field(name.into()),
        };
        field.tags = child.get("tags").and_then(number).and_then(|tags| u32::try_from(tags).ok()).unwrap_or_default();
        if in_type == InType::STRUCT {
            field.members = self::fields(child, maps, scope)?;
        }
        *scope.entry(name).or_default() += 1;
        fields.push(field);
    }
    for name in element.children().iter().filter_map(|child| child.get("name")) {
        if let Some(fields) = scope.get_mut(name) {
            *fields = fields.saturating_sub(1);
        }
    }
    Ok(fields)
}

enum Reference {
    None,
    Number(u16),
    Field(String),
}

/// A count or length: a number, or the name of an earlier field.
fn reference(element: &Element, attribute: &str, scope: &Scope<'_>) -> Result<Reference, SchemaError> {
    let Some(text) = element.get(attribute).filter(|text| !text.is_empty()) else { return Ok(Reference::None) };
    if scope.get(text).is_some_and(|fields| *fields > 0) {
        return Ok(Reference::Field(text.to_owned()));
    }
    match number(text).map(u16::try_from) {
        Some(Ok(number)) => Ok(Reference::Number(number)),
        Some(Err(_)) => {
            Err(SchemaError::line(element.line, format!("{attribute} too large: `{text}`; the largest is {}", u16::MAX)))
        }
        None => Err(SchemaError::line(
            element.line,
            format!("invalid {attribute}: `{text}` is not an earlier field; name an earlier field of the template"),
        )),
    }
}

fn unknown(element: &Element, attribute: &str, name: &str) -> SchemaError {
    let remedy = if attribute == "map" { "define it" } else { "use a name of the manifest schema" };
    SchemaError::line(element.line, format!("unknown {attribute} `{name}`; {remedy}"))
}

/// The encoding with a name such as `win:UInt32`.
fn in_type(name: &str) -> Option<InType> {
    let bare = behind_prefix(name);
    let is_named = |ty: &InType| ty.name().is_some_and(|name| name.eq_ignore_ascii_case(bare));
    let alias = || match bare {
        "CountedAnsiString" => Some(InType::MANIFEST_COUNTEDANSISTRING),
        _ => None,
    };
    alias().or_else(|| (0..=25).filter(|number| *number != InType::STRUCT.0).map(InType).find(is_named))
}

/// The display format with a name such as `xs:unsignedInt` or `win:HexInt32`.
fn out_type(name: &str) -> Option<OutType> {
    let bare = behind_prefix(name);
    let is_named = |ty: &OutType| ty.name().is_some_and(|name| name.eq_ignore_ascii_case(bare));
    (0..=38).chain([OutType::NOPRINT.0]).map(OutType).find(is_named)
}

fn behind_prefix(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, bare)| bare)
}

/// The maps of a provider.
pub(super) fn maps(
    provider: &Element,
    strings: &Strings<'_>,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<Vec<Map>, Exceeded> {
    let mut maps = Vec::new();
    for element in provider.named("maps").flat_map(Element::children) {
        let kind = match element.name {
            "valueMap" => MapKind::Enumeration,
            "bitMap" => MapKind::Flags,
            _ => continue,
        };
        let name = match element.required("name") {
            Ok(name) => name.to_owned(),
            Err(error) => {
                schemas.report(error);
                continue;
            }
        };
        let mut entries = Vec::new();
        for entry in element.named("map") {
            match entry.required("value").map(|text| (text, number(text).or_else(|| negative(text)))) {
                Ok((_, Some(value))) => {
                    let name = strings.message_of(entry, schemas).or(entry.get("symbol")).unwrap_or_default();
                    let name = name.trim_end().to_owned();
                    budget.take(size_of::<MapEntry>() + name.len())?;
                    entries.push(MapEntry { value, name });
                }
                Ok((text, None)) => {
                    schemas.report(SchemaError::line(entry.line, format!("invalid value in a map: `{text}`; correct it")));
                }
                Err(error) => schemas.report(error),
            }
        }
        maps.push(Map { name, kind, entries });
    }
    Ok(maps)
}

/// A negative value of a map, as its two's complement in 32 bits.
fn negative(text: &str) -> Option<u64> {
    text.parse::<i32>().ok().map(|value| value.cast_unsigned().into())
}
