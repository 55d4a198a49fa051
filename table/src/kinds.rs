//! Kinds of events. The properties of each kind are determined once.

use crate::hash::Map;
use etw_layouts_etl::payload::FieldList;
use etw_layouts_etl::{Decoded, Event};

/// The properties of each kind of event in a trace.
#[derive(Debug)]
pub(crate) struct Kinds<T> {
    known: Map<Key, T>,
    /// Schemas in events by their bytes, with their numbers.
    logged: Map<Box<[u8]>, u64>,
    /// The latest kind. Consecutive events are often of the same kind.
    last: Option<(Key, T)>,
    scratch: Vec<u8>,
}

impl<T> Default for Kinds<T> {
    fn default() -> Self {
        Self { known: Map::default(), logged: Map::default(), last: None, scratch: Vec::new() }
    }
}

/// The kind of an event: within a trace, it determines the names and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    provider: u128,
    ident: u64,
    /// Address of the schema; for a schema in the event, its number.
    schema: u64,
}

/// Maximum number of kinds that are kept. If there are more, all are discarded and determined again.
const MOST: usize = 1 << 14;

/// The address of a schema, which no other schema of the trace has; 0 for a schema in an event.
#[inline]
pub(crate) fn address(fields: &FieldList<'_>) -> u64 {
    match fields {
        FieldList::Table { all, .. } => all.as_ptr() as u64,
        FieldList::Packed { library, first, .. } => library.bytes().as_ptr() as u64 + u64::from(*first),
        _ => 0,
    }
}

impl<T: Copy> Kinds<T> {
    /// The properties of the kind of an event.
    #[inline]
    pub fn get(&mut self, event: &Event<'_>, decoded: Option<&Decoded<'_>>, find: impl FnOnce() -> T) -> T {
        // Before the key, which contains a number that is given again afterwards.
        if self.known.len() >= MOST {
            self.forget();
        }
        let key = match event.hook() {
            Some(hook) => Key { provider: 0, ident: u64::from(hook) << 16 | u64::from(event.version().unwrap_or(0)), schema: 1 },
            None => self.key(event, decoded),
        };
        if let Some((last, kind)) = self.last
            && last == key
        {
            return kind;
        }
        let kind = *self.known.entry(key).or_insert_with(find);
        self.last = Some((key, kind));
        kind
    }

    /// Discards all kinds, because the next trace has other schemas.
    pub fn forget(&mut self) {
        self.known.clear();
        self.logged.clear();
        self.last = None;
    }

    fn key(&mut self, event: &Event<'_>, decoded: Option<&Decoded<'_>>) -> Key {
        let or = |value: Option<u64>| value.map_or(0, |value| value + 1);
        let ident = or(event.id().map(u64::from))
            | or(event.opcode().map(u64::from)) << 17
            | or(event.version().map(u64::from)) << 26
            | (event.header_type() as u64) << 43;
        let schema = match decoded.map(|decoded| decoded.schema.fields) {
            Some(FieldList::TraceLogging(fields)) => self.logged(event, decoded, fields),
            fields => fields.map_or(0, |fields| address(&fields)),
        };
        Key { provider: event.provider().unwrap_or_default().as_u128(), ident, schema }
    }

    /// The number of a schema in an event.
    fn logged(&mut self, event: &Event<'_>, decoded: Option<&Decoded<'_>>, fields: &[u8]) -> u64 {
        self.scratch.clear();
        self.scratch.extend_from_slice(fields);
        for name in [decoded.map(|decoded| decoded.schema.event), event.traits().and_then(Result::ok).map(|traits| traits.name)] {
            self.scratch.push(0);
            self.scratch.extend_from_slice(name.unwrap_or_default().as_bytes());
        }
        if let Some(number) = self.logged.get(&self.scratch[..]) {
            return *number;
        }
        // An odd number differs from all addresses.
        let number = 2 * self.logged.len() as u64 + 3;
        self.logged.insert(self.scratch.clone().into(), number);
        number
    }
}
