//! Reads WEVT_TEMPLATE resources, the form of manifests in PE files. Microsoft does not document their format. The sources are the
//! documentation of libfwevt, the manifest compiler of event-trace-kit, and binaries with published manifests.

mod bytes;
mod events;
mod maps;
mod templates;

use crate::budget::{Budget, Exceeded};
use crate::messages::Messages;
use crate::model::{Keyword, Provider, bare};
use crate::schemas::{SchemaError, Schemas};
use bytes::Bytes;

/// The message identifier that means no message.
const NONE: u32 = u32::MAX;

/// Reads the providers of a resource. `messages` contains the texts of events and of map entries, and names that the resource lacks.
///
/// A corrupt provider or event is left out, and a corrupt template makes the fields of its events unknown; each such error has its offset.
///
/// # Errors
///
/// The input is not such a resource, is truncated, or has no provider. No input causes a panic.
pub fn read(resource: &[u8], messages: &Messages) -> Result<Schemas, SchemaError> {
    let bytes = Bytes(resource);
    if bytes.signature(0)? != *b"CRIM" {
        return Err(SchemaError::offset(0, "not a WEVT_TEMPLATE resource: the signature is not CRIM"));
    }
    let (mut schemas, mut budget) = (Schemas::default(), Budget::new());
    for index in 0..bytes.count(12, 16, 20)? {
        let at = 16 + 20 * index;
        match provider(bytes, at, messages, &mut schemas, &mut budget) {
            Ok(provider) => schemas.providers.push(provider),
            Err(Failure::Corrupt(error)) => schemas.report(error),
            Err(Failure::Exceeded) => {
                schemas.report(SchemaError::offset(at, Budget::MESSAGE));
                break;
            }
        }
    }
    match (schemas.providers.is_empty(), schemas.errors.first()) {
        (true, Some(error)) => Err(error.clone()),
        _ => Ok(schemas),
    }
}

/// The reason why a part is left out.
enum Failure {
    Corrupt(SchemaError),
    Exceeded,
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self::Corrupt(error)
    }
}

impl From<Exceeded> for Failure {
    fn from(_: Exceeded) -> Self {
        Self::Exceeded
    }
}

/// Offsets of the lists of a provider; 0 if it has none.
#[derive(Default)]
struct Lists {
    channels: usize,
    keywords: usize,
    maps: usize,
    events: usize,
    attributes: usize,
}

/// Reads the provider with a descriptor at `at`. The descriptor has the GUID and the offset of the lists.
fn provider(
    bytes: Bytes<'_>,
    at: usize,
    messages: &Messages,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<Provider, Failure> {
    let guid = bytes.guid(at)?;
    let start = bytes.size(at + 16)?;
    if bytes.signature(start)? != *b"WEVT" {
        return Err(SchemaError::offset(start, format!("corrupt provider {guid}: the signature is not WEVT")).into());
    }
    let lists = lists(bytes, start, schemas)?;
    let name = schemas.kept(attribute_name(bytes, lists.attributes));
    let message = match bytes.u32(start + 8)? {
        NONE => String::new(),
        id => messages.get(id).unwrap_or_default(),
    };
    budget.take(size_of::<Provider>() + name.len() + message.len())?;
    let keywords = keywords(bytes, lists.keywords, messages, schemas, budget)?;
    let (maps, offsets) = maps::read(bytes, lists.maps, messages, schemas, budget)?;
    let context =
        events::Context { bytes, messages, channels: events::channels(bytes, lists.channels, schemas, budget)?, maps: offsets };
    let events = context.read(lists.events, schemas, budget)?;
    Ok(Provider { guid, name, message, keywords, maps, events })
}

/// The lists of a provider. Each list is identified by its signature.
fn lists(bytes: Bytes<'_>, start: usize, schemas: &mut Schemas) -> Result<Lists, SchemaError> {
    let mut lists = Lists::default();
    // There are fewer kinds of lists, so further lists are repetitions.
    for index in 0..bytes.count(start + 12, start + 16, 8)?.min(64) {
        let at = bytes.size(start + 20 + 8 * index)?;
        let list = match &schemas.kept(bytes.signature(at)) {
            b"CHAN" => &mut lists.channels,
            b"KEYW" => &mut lists.keywords,
            b"MAPS" => &mut lists.maps,
            b"EVNT" => &mut lists.events,
            b"PRVA" => &mut lists.attributes,
            // Templates, levels, opcodes and tasks are found by offsets in events.
            _ => continue,
        };
        *list = at;
    }
    Ok(lists)
}

/// The name of a provider in its attributes: attribute 1, a string.
fn attribute_name(bytes: Bytes<'_>, at: usize) -> Result<String, SchemaError> {
    const NAME: u32 = 0x1000_0001;
    if at == 0 {
        return Ok(String::new());
    }
    let first = at + 12;
    for entry in (0..bytes.count(at + 8, first, 8)?).map(|index| first + 8 * index) {
        if bytes.u32(entry)? == NAME {
            return bytes.terminated(bytes.size(entry + 4)?);
        }
    }
    Ok(String::new())
}

fn keywords(
    bytes: Bytes<'_>,
    at: usize,
    messages: &Messages,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<Vec<Keyword>, Failure> {
    let mut keywords = Vec::new();
    for entry in entries(bytes, at, 16, schemas) {
        let keyword = Keyword { mask: Some(bytes.u64(entry)?), name: schemas.kept(keyword_name(bytes, entry, messages)) };
        budget.take(size_of::<Keyword>() + keyword.name.len())?;
        keywords.push(keyword);
    }
    Ok(keywords)
}

/// Offsets of the entries of a list, all within the resource. A list has a signature, a size, the number of entries, and the entries. Empty if
/// there is no list, or if it exceeds the resource.
fn entries(bytes: Bytes<'_>, at: usize, size: usize, schemas: &mut Schemas) -> impl Iterator<Item = usize> + use<> {
    let first = at + 12;
    let count = if at == 0 { 0 } else { schemas.kept(bytes.count(at + 8, first, size)) };
    (0..count).map(move |index| first + size * index)
}

/// The name of a keyword. A keyword has a mask, a message identifier, and the offset of the name.
fn keyword_name(bytes: Bytes<'_>, at: usize, messages: &Messages) -> Result<String, SchemaError> {
    name(bytes, at.saturating_add(12), at.saturating_add(8), messages)
}

/// A name. Its offset is at `offset`. If the name is missing or empty, the message with the identifier at `message`.
fn name(bytes: Bytes<'_>, offset: usize, message: usize, messages: &Messages) -> Result<String, SchemaError> {
    let stated = match bytes.size(offset)? {
        0 => String::new(),
        offset => bytes.string(offset)?,
    };
    if !stated.is_empty() {
        return Ok(bare(&stated).to_owned());
    }
    Ok(match bytes.u32(message)? {
        NONE => String::new(),
        id => messages.get(id).unwrap_or_default(),
    })
}
