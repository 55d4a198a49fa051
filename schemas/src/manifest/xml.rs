//! The elements of a manifest as a tree, within limits.

use crate::schemas::SchemaError;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Maximum nesting of elements. Manifests have 8 levels, or 10 within an assembly.
const MAX_DEPTH: usize = 32;

/// Maximum number of elements. The largest manifests have tens of thousands.
const MAX_ELEMENTS: usize = 1 << 20;

/// Maximum number of attributes of an element. The manifest schema has up to 12.
const MAX_ATTRIBUTES: usize = 64;

/// Names of elements and attributes that are read. Other elements are ignored, but not their content.
const NAMES: [&str; 46] = [
    "assembly",
    "bitMap",
    "channel",
    "channels",
    "chid",
    "count",
    "culture",
    "data",
    "event",
    "events",
    "guid",
    "id",
    "importChannel",
    "inType",
    "instrumentationManifest",
    "keyword",
    "keywords",
    "length",
    "level",
    "levels",
    "localization",
    "map",
    "maps",
    "mask",
    "message",
    "name",
    "opcode",
    "opcodes",
    "outType",
    "patternMap",
    "provider",
    "resources",
    "string",
    "stringTable",
    "struct",
    "symbol",
    "tags",
    "task",
    "tasks",
    "template",
    "templates",
    "tid",
    "type",
    "value",
    "valueMap",
    "version",
];

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Name without a prefix; empty if the name is not in [`NAMES`].
    pub name: &'static str,
    /// Line of its start, from 1.
    pub line: u32,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Element>,
}

impl Element {
    /// Value of an attribute, with references to characters resolved.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// Value of an attribute that the element must have.
    pub fn required(&self, name: &str) -> Result<&str, SchemaError> {
        let missing = || SchemaError::line(self.line, format!("{} without the attribute `{name}`; add it", self.name));
        self.get(name).ok_or_else(missing)
    }

    /// The child elements.
    pub fn children(&self) -> &[Element] {
        &self.children
    }

    /// The child elements with a name.
    pub fn named<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a Element> + use<'a, 'n> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The elements in lists with a name, such as each `level` in `levels`.
    pub fn listed<'a, 'n>(&'a self, list: &'n str, name: &'n str) -> impl Iterator<Item = &'a Element> + use<'a, 'n> {
        self.named(list).flat_map(move |list| list.named(name))
    }

    /// The elements with a name at any depth.
    pub fn all<'a>(&'a self, name: &str) -> Vec<&'a Element> {
        let (mut found, mut left) = (Vec::new(), vec![self]);
        while let Some(element) = left.pop() {
            if element.name == name {
                found.push(element);
            }
            left.extend(element.children.iter().rev());
        }
        found
    }
}

/// A number in decimal, or in hexadecimal after `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses a text. The child of the result is the outermost element.
pub(super) fn parse(text: &str) -> Result<Element, SchemaError> {
    let mut reader = Reader::from_str(text);
    let (mut line, mut counted, mut elements) = (1u32, 0usize, 0usize);
    let mut open = vec![Element::default()];
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let passed = text.as_bytes().get(counted..start).unwrap_or_default();
        line = line.saturating_add(passed.iter().filter(|byte| **byte == b'\n').count().try_into().unwrap_or(u32::MAX));
        counted = counted.max(start);
        let refused = |message: String| SchemaError::line(line, message);
        let event = reader.read_event().map_err(|error| refused(format!("malformed XML: {error}; correct the file")))?;
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                elements += 1;
                if elements > MAX_ELEMENTS {
                    return Err(refused(format!("too many elements: more than {MAX_ELEMENTS}; divide the file")));
                }
                if open.len() > MAX_DEPTH {
                    return Err(refused(format!("elements nested too deeply: more than {MAX_DEPTH} levels; give a manifest")));
                }
                let element = element(&tag, line).map_err(refused)?;
                if is_empty { attach(&mut open, element) } else { open.push(element) }
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    attach(&mut open, element);
                }
            }
            Event::DocType(_) => {
                return Err(refused(
                    "unsupported document type definition (DTD): entities are not resolved; remove it".to_owned(),
                ));
            }
            Event::Eof => match open.pop() {
                Some(root) if open.is_empty() => return Ok(root),
                _ => return Err(refused("truncated XML: an element is not closed; get the complete file".to_owned())),
            },
            // Only elements have a meaning in manifests.
            Event::Text(_) | Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::GeneralRef(_) => {}
        }
    }
}

fn attach(open: &mut [Element], element: Element) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(element);
    }
}

fn element(tag: &BytesStart<'_>, line: u32) -> Result<Element, String> {
    let name = known(tag.local_name().as_ref());
    let mut attributes = Vec::new();
    // The check for duplicate attributes takes quadratic time.
    for (number, attribute) in tag.attributes().with_checks(false).enumerate() {
        if number >= MAX_ATTRIBUTES {
            return Err(format!("too many attributes: more than {MAX_ATTRIBUTES} of one element; give a manifest"));
        }
        let attribute = attribute.map_err(|error| format!("malformed attribute: {error}; correct the file"))?;
        let key = known(attribute.key.as_ref());
        if !key.is_empty() && !name.is_empty() {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| format!("unreadable value of the attribute {key}: {error}; correct the file"))?;
            attributes.push((key, value.into_owned()));
        }
    }
    Ok(Element { name, line, attributes, children: Vec::new() })
}

/// The name as a constant; empty if it is not in [`NAMES`].
fn known(name: &str) -> &'static str {
    NAMES.iter().find(|known| **known == name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entity without its DTD is an error.
    #[test]
    fn entities() {
        let error = parse("<events>\n<provider name='&lol;'/></events>").unwrap_err();
        assert!(error.to_string().starts_with("line 2: unreadable value of the attribute name"), "{error}");
    }
}
