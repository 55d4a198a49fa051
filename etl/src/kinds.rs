//! Kinds of events. The properties of a kind are determined once.

use crate::event::Event;
use crate::header_type::HeaderType;
use crate::wire::{EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};
use etw_layouts_payload::Uuid;

/// The properties of each kind of event in a trace. All events of a kind have the same schema, names and descriptor; they differ only in time,
/// process, thread, activity, payload, and extended items without schemas.
///
/// The number of kinds and their size are limited: properties are determined again when they were discarded.
#[derive(Debug)]
pub struct Kinds<T> {
    /// Empty before the first event.
    slots: Vec<Option<Box<Slot<T>>>>,
    /// Size of all properties, in bytes.
    size: usize,
}

#[derive(Debug)]
struct Slot<T> {
    key: Key,
    /// The TraceLogging schema and the traits of the provider, if the event contains them.
    schema: Box<[u8]>,
    traits: Box<[u8]>,
    properties: T,
}

/// The part of a kind that is not in extended items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    header: u64,
    provider: u128,
    descriptor: u128,
}

/// Number of slots, a power of two: more than the kinds of events that most traces have.
const SLOTS: usize = 1 << 13;

/// Number of slots that a kind can be in.
const PROBES: usize = 8;

/// Size of all properties at which they are discarded, in bytes: 32 MiB.
const SIZE: usize = 32 << 20;

impl<T> Default for Kinds<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), size: 0 }
    }
}

impl<T> Kinds<T> {
    /// The properties of the kind of an event. `find` determines them, and their approximate size in bytes, from the first event of the kind.
    #[inline]
    pub fn get(&mut self, event: &Event<'_>, find: impl FnOnce() -> (T, usize)) -> &mut T {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        let (key, schema, traits) = key(event);
        let start = hash(&key, schema) as usize;
        // Most events have no items. Processors take long to compare empty slices, whose addresses are invalid.
        let is_same = |own: &[u8], other: &[u8]| own.len() == other.len() && (own.is_empty() || own == other);
        let is_own = |slot: &Slot<T>| slot.key == key && is_same(&slot.schema, schema) && is_same(&slot.traits, traits);
        for probe in 0..PROBES {
            let at = (start + probe) % SLOTS;
            match &self.slots[at] {
                Some(slot) if is_own(slot) => return self.at(at),
                Some(_) => {}
                None => return self.add(at, key, (schema, traits), find),
            }
        }
        self.add(start % SLOTS, key, (schema, traits), find)
    }

    /// Discards all kinds, because the next events have other schemas or names.
    pub fn forget(&mut self) {
        self.slots.fill_with(|| None);
        self.size = 0;
    }

    fn at(&mut self, at: usize) -> &mut T {
        match &mut self.slots[at] {
            Some(slot) => &mut slot.properties,
            None => unreachable!("the slot is taken"),
        }
    }

    #[cold]
    fn add(&mut self, at: usize, key: Key, (schema, traits): (&[u8], &[u8]), find: impl FnOnce() -> (T, usize)) -> &mut T {
        if self.size > SIZE {
            self.forget();
        }
        let (properties, size) = find();
        self.size += 128 + schema.len() + traits.len() + size;
        let slot = Slot { key, schema: schema.into(), traits: traits.into(), properties };
        &mut self.slots[at].insert(Box::new(slot)).properties
    }
}

/// The kind of an event.
#[inline]
fn key<'a>(event: &Event<'a>) -> (Key, &'a [u8], &'a [u8]) {
    let (none, ty): (&[u8], _) = (&[], event.header_type() as u64);
    if let Some(hook) = event.hook() {
        let version = event.version().map_or(u64::MAX, u64::from);
        return (Key { header: ty << 56 | 1 << 48, provider: hook.into(), descriptor: version.into() }, none, none);
    }
    match event.header_type() {
        HeaderType::Event32 | HeaderType::Event64 => described(event, ty),
        _ => (other(event, ty), none, none),
    }
}

#[inline]
fn described<'a>(event: &Event<'a>, ty: u64) -> (Key, &'a [u8], &'a [u8]) {
    const PROVIDER: usize = core::mem::offset_of!(EVENT_HEADER, ProviderId);
    const DESCRIPTOR: usize = core::mem::offset_of!(EVENT_HEADER, EventDescriptor);
    let quad = |at: usize| event.bytes().get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u128::from_le_bytes(*bytes));
    let flags = event.flags().unwrap_or(EVENT_HEADER_FLAG(0));
    let key = Key { header: ty << 56 | u64::from(flags.0), provider: quad(PROVIDER), descriptor: quad(DESCRIPTOR) };
    let (mut schema, mut traits): (Option<&[u8]>, Option<&[u8]>) = (None, None);
    if flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO) {
        for item in event.items() {
            match item.ty {
                EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL => schema = schema.or(Some(item.data)),
                EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS => traits = traits.or(Some(item.data)),
                _ => {}
            }
        }
    }
    // A kind with an empty item differs from one without.
    let is_there = u64::from(schema.is_some()) << 40 | u64::from(traits.is_some()) << 41;
    (Key { header: key.header | is_there, ..key }, schema.unwrap_or_default(), traits.unwrap_or_default())
}

/// Classic events, messages, and events with unknown headers.
fn other(event: &Event<'_>, ty: u64) -> Key {
    let or = |value: Option<u64>| u128::from(value.map_or(0, |value| value + 1));
    let unknown = match event.header_type() {
        HeaderType::Unknown => event.bytes().get(2).copied().unwrap_or_default(),
        _ => 0,
    };
    let descriptor = or(event.id().map(u64::from))
        | or(event.opcode().map(u64::from)) << 17
        | or(event.version().map(u64::from)) << 26
        | or(event.level().map(u64::from)) << 43
        | or(event.provider().map(|_| 0)) << 52
        | or(event.pointer_size().map(|size| size as u64)) << 53;
    Key { header: ty << 56 | u64::from(unknown), provider: event.provider().unwrap_or(Uuid::nil()).as_u128(), descriptor }
}

#[inline]
fn hash(key: &Key, schema: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(26) ^ word).wrapping_mul(ODD);
    let words =
        [key.header, key.provider as u64, (key.provider >> 64) as u64, key.descriptor as u64, (key.descriptor >> 64) as u64];
    let sum = words.into_iter().fold(0, mix);
    let (chunks, _) = schema.as_chunks::<8>();
    chunks.iter().fold(sum, |sum, chunk| mix(sum, u64::from_le_bytes(*chunk))) >> 40
}
