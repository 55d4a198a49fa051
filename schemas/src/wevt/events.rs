//! Events: EVNT, which refers to templates, levels, opcodes, tasks and keywords by offset, and to channels by number.

use super::bytes::Bytes;
use super::maps::MapIndices;
use super::{Failure, NONE, entries, keyword_name, name, templates};
use crate::budget::Budget;
use crate::messages::Messages;
use crate::model::{Event, Field, Name};
use crate::schemas::{SchemaError, Schemas};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Size of an event, in bytes.
const EVENT: usize = 48;

/// Number of bits in a keyword mask.
const MAX_KEYWORDS: usize = 64;

/// The parts of a provider that events refer to.
pub(super) struct Context<'a> {
    pub bytes: Bytes<'a>,
    pub messages: &'a Messages,
    /// Names of channels by number.
    pub channels: HashMap<u32, String>,
    /// Maps that fields refer to.
    pub maps: MapIndices,
}

/// Names of channels: flags, offset of the name, number, message identifier.
pub(super) fn channels(
    bytes: Bytes<'_>,
    at: usize,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<HashMap<u32, String>, Failure> {
    let mut channels = HashMap::new();
    for entry in entries(bytes, at, 16, schemas) {
        let name = schemas.kept(bytes.size(entry + 4).and_then(|offset| bytes.string(offset)));
        budget.take(size_of::<String>() + name.len())?;
        channels.entry(bytes.u32(entry + 8)?).or_insert(name);
    }
    Ok(channels)
}

impl Context<'_> {
    /// The events of a list; `at` is its offset, or 0.
    pub fn read(&self, at: usize, schemas: &mut Schemas, budget: &mut Budget) -> Result<Vec<Event>, Failure> {
        let (mut events, mut templates) = (Vec::new(), HashMap::new());
        if at != 0 {
            let first = at + 16;
            for entry in (0..self.bytes.count(at + 8, first, EVENT)?).map(|index| first + EVENT * index) {
                match self.event(entry, &mut templates, schemas, budget) {
                    Ok(event) => {
                        budget.event(&event)?;
                        events.push(event);
                    }
                    Err(Failure::Corrupt(error)) => schemas.report(error),
                    Err(Failure::Exceeded) => return Err(Failure::Exceeded),
                }
            }
        }
        Ok(events)
    }

    fn event(
        &self,
        at: usize,
        templates: &mut HashMap<usize, Option<Vec<Field>>>,
        schemas: &mut Schemas,
        budget: &mut Budget,
    ) -> Result<Event, Failure> {
        let bytes = self.bytes;
        let channel = bytes.u8(at + 3)?.into();
        let message = match bytes.u32(at + 16)? {
            NONE => String::new(),
            id => self.messages.get(id).unwrap_or_default(),
        };
        let fields = match bytes.size(at + 20)? {
            0 => Some(Vec::new()),
            offset => match templates.entry(offset) {
                Entry::Occupied(fields) => fields.get().clone(),
                Entry::Vacant(place) => {
                    let fields = match templates::fields(bytes, offset, &self.maps, budget) {
                        Ok(fields) => Some(fields),
                        Err(Failure::Corrupt(error)) => {
                            schemas.report(error);
                            None
                        }
                        Err(Failure::Exceeded) => return Err(Failure::Exceeded),
                    };
                    place.insert(fields).clone()
                }
            },
        };
        let task = bytes.u16(at + 6)?;
        Ok(Event {
            id: bytes.u16(at)?,
            version: bytes.u8(at + 2)?,
            channel: Name { value: Some(channel), name: self.channels.get(&channel).cloned().unwrap_or_default() },
            // The high half of the number is the opcode, the low half its task.
            opcode: self.named(at + 24, bytes.u8(at + 5)?.into(), |stated| stated >> 16, 8, schemas),
            level: self.named(at + 28, bytes.u8(at + 4)?.into(), |stated| stated, 8, schemas),
            task: self.named(at + 32, task.into(), |stated| stated, 24, schemas),
            keyword_mask: Some(bytes.u64(at + 8)?),
            keywords: schemas.kept(self.keywords(at)),
            symbol: String::new(),
            message,
            is_classic: false,
            fields,
        })
    }

    /// A number with its name. The event states the offset of an entry, which has the number, a message identifier, and at `distance` the offset
    /// of the name.
    fn named(&self, at: usize, value: u32, number: fn(u32) -> u32, distance: usize, schemas: &mut Schemas) -> Name {
        Name { value: Some(value), name: schemas.kept(self.entry_name(at, value, number, distance)) }
    }

    fn entry_name(&self, at: usize, value: u32, number: fn(u32) -> u32, distance: usize) -> Result<String, SchemaError> {
        let entry = self.bytes.size(at)?;
        if entry == 0 {
            return Ok(String::new());
        }
        let stated = number(self.bytes.u32(entry)?);
        if stated != value {
            let message = format!("corrupt event: it has the number {value}, but refers to the name of number {stated}");
            return Err(SchemaError::offset(at, message));
        }
        name(self.bytes, entry.saturating_add(distance), entry.saturating_add(4), self.messages)
    }

    fn keywords(&self, at: usize) -> Result<Vec<String>, SchemaError> {
        let first = self.bytes.size(at + 40)?;
        if first == 0 {
            return Ok(Vec::new());
        }
        let count = self.bytes.count(at + 36, first, 4)?.min(MAX_KEYWORDS);
        (0..count).map(|index| keyword_name(self.bytes, self.bytes.size(first + 4 * index)?, self.messages)).collect()
    }
}
