//! The call stacks of a session: which events have one, and where its addresses are.

use crate::place::{Place, Position};
use crate::runtime_stacks::{Bound, RuntimeEvents};
use crate::sorted::{Record, Sorter, Table, tick_of_word, word_of_tick};
use crate::specified::number;
use etw_layouts_etl::wire::EVENT_HEADER_EXT_TYPE;
use etw_layouts_etl::{Event, Schemas};
use std::io;
use std::ops::ControlFlow;

/// The group of the hook identifiers of StackWalk events.
pub(crate) const STACK_WALK: u16 = 0x18;

/// Types of extended items with the key of a stack.
pub(crate) const KEY_32: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_KEY32;
pub(crate) const KEY_64: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_KEY64;

/// The parts of stacks that are not in their event, sorted by the event.
#[derive(Debug)]
pub(crate) struct Stacks {
    parts: Table<5>,
    /// A bit for each hash of a tick that has parts: most events have none, and need no search.
    ticks: Vec<u64>,
    left_out: u64,
    counts: PartCounts,
}

/// Numbers of parts that are not in their event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartCounts {
    /// Parts with addresses.
    pub parts: u64,
    /// References to a key without a later definition.
    pub undefined_keys: u64,
    /// Stacks of the .NET runtime without an event before them.
    pub runtime_without_event: u64,
    /// StackWalk events that cannot be decoded.
    pub undecoded: u64,
}

/// Number of bits for ticks: 128 KiB.
const TICK_BITS: u32 = 20;

/// The word and the bit of a tick.
fn bit(tick: u64) -> (usize, u64) {
    let hash = tick.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - TICK_BITS);
    ((hash / 64) as usize, 1 << (hash % 64))
}

/// Where a trace has a part of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum StackSource {
    /// An extended item of the event.
    Item,
    /// A key in an extended item of the event.
    ItemKey,
    /// The key of the kernel part, in a StackWalk event.
    KernelKey,
    /// A StackWalk event with addresses.
    Walk,
    /// The key of the user part, in a StackWalk event.
    UserKey,
    /// A CLRStackWalk event of the .NET runtime. It does not identify its event: it belongs to the previous event of the same provider and
    /// thread. If its event was lost, the stack is assigned to an earlier event.
    Runtime,
}

/// A part of the stack of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub source: StackSource,
    pub key: Option<u64>,
    /// The event with the addresses; `None` if the key has no later definition.
    pub at: Option<Position>,
    /// The processor that wrote the part, or the reference to it.
    pub processor: u16,
}

/// An event whose stack is elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    /// An event of a thread.
    Thread(u32),
    /// An event of an unknown thread.
    Processor,
    /// An event of a provider: one with a key in an extended item, or one of the .NET runtime.
    Item(Place),
}

/// Maximum number of parts that are read for an event, which limits the work for a trace with equal time stamps.
const MAX_PARTS: usize = 256;

impl Stacks {
    /// Whether any event with this tick has a stack that is not in the event.
    pub fn has(&self, tick: i64) -> io::Result<bool> {
        let (tick, mut has) = (word_of_tick(tick), false);
        let (word, mask) = bit(tick);
        if self.ticks.get(word).is_none_or(|word| word & mask == 0) {
            return Ok(false);
        }
        self.parts.ascend(&[tick, 0, 0, 0, 0], |record| {
            has = record[0] == tick;
            ControlFlow::Break(())
        })?;
        Ok(has)
    }

    pub fn file_size(&self) -> u64 {
        self.parts.file_size()
    }

    /// Number of parts, keys and references that are left out: see [`Table::left_out`].
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    pub fn counts(&self) -> PartCounts {
        self.counts
    }

    /// The parts of the stack of an event.
    pub fn parts(&self, tick: i64, owner: Owner, processor: u16) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        let (first, last) = match owner {
            Owner::Processor => (0, ITEM - 1),
            owner => (owner.word(), owner.word()),
        };
        let mut left = MAX_PARTS;
        self.parts.ascend(&[word_of_tick(tick), first, 0, 0, 0], |record| {
            left -= 1;
            if record[0] != word_of_tick(tick) || record[1] > last || left == 0 {
                return ControlFlow::Break(());
            }
            let part = Found::of(record);
            // Thread 0 runs on all processors at the same time.
            let is_processors = matches!(owner, Owner::Thread(0) | Owner::Processor);
            if !is_processors || part.processor == processor {
                found.push(part);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}

/// The bit of events of providers.
const ITEM: u64 = 1 << 63;

impl Owner {
    pub fn word(self) -> u64 {
        match self {
            Self::Thread(thread) => thread.into(),
            Self::Processor => 0,
            Self::Item(place) => ITEM | place.sequence(),
        }
    }
}

impl StackSource {
    /// Its name: `item`, `item key`, `kernel key`, `walk`, `user key` or `runtime`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::ItemKey => "item key",
            Self::KernelKey => "kernel key",
            Self::Walk => "walk",
            Self::UserKey => "user key",
            Self::Runtime => "runtime",
        }
    }

    /// All sources, in the order of their numbers.
    pub(crate) const ALL: [Self; 6] = [Self::Item, Self::ItemKey, Self::KernelKey, Self::Walk, Self::UserKey, Self::Runtime];
}

/// The bit of parts with addresses.
const HAS_ADDRESSES: u64 = 1 << 55;

impl Found {
    fn of(&[_, _, word, at, key]: &Record<5>) -> Self {
        let source = StackSource::ALL[(word >> 56) as usize % StackSource::ALL.len()];
        Self {
            source,
            key: (!matches!(source, StackSource::Walk | StackSource::Runtime)).then_some(key),
            at: (word & HAS_ADDRESSES != 0).then_some(Position::new(word as u32, at)),
            processor: (word >> 32) as u16,
        }
    }
}

/// Collects the stacks of a session.
#[derive(Debug)]
pub(crate) struct StackBuilder {
    /// Key, tick, file and buffer, offset.
    definitions: Sorter<4>,
    /// Key, tick, file and buffer, offset with source and processor; then tick and owner of the event with the stack.
    references: Sorter<6>,
    /// Tick and owner of the event, source with processor and file, buffer and offset, key.
    parts: Sorter<5>,
    runtime: RuntimeEvents,
    counts: PartCounts,
}

impl StackBuilder {
    /// A builder that needs at most `memory` bytes.
    pub fn new(memory: usize) -> Self {
        Self {
            definitions: Sorter::new(memory / 4),
            references: Sorter::new(memory / 4),
            parts: Sorter::new(memory / 4),
            runtime: RuntimeEvents::new(memory / 4),
            counts: PartCounts::default(),
        }
    }

    /// Adds an event of a file.
    pub fn add(&mut self, event: &Event<'_>, tick: i64, file: u32, place: Place) -> io::Result<()> {
        let Some(hook) = event.hook() else {
            for item in event.items() {
                let key = match (item.ty, item.data.get(8..)) {
                    (KEY_32, Some(rest)) => rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()),
                    (KEY_64, Some(rest)) => rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
                    _ => None,
                };
                if let Some(key) = key {
                    self.refer(key, (tick, file, place), StackSource::ItemKey, (tick, Owner::Item(place)))?;
                }
            }
            return self.runtime.add(event, tick, file, place);
        };
        if hook >> 8 != STACK_WALK {
            return Ok(());
        }
        let Some(decoded) = event.decode(Schemas::BUILT_IN) else {
            self.counts.undecoded += 1;
            return Ok(());
        };
        let number = |name: &str| number(&decoded.fields, &[name]);
        let owner = || Some((number("EventTimeStamp")? as i64, Owner::Thread(number("StackThread")? as u32)));
        let source = match decoded.schema.event {
            "KeyCreate" | "KeyDelete" | "KeyRundown" => {
                let Some(key) = number("key") else {
                    self.counts.undecoded += 1;
                    return Ok(());
                };
                return self.definitions.push([key, word_of_tick(tick), two(file, place.buffer), place.offset.into()]);
            }
            "Stack" => {
                let Some(owner) = owner() else {
                    self.counts.undecoded += 1;
                    return Ok(());
                };
                let at = Position { file, buffer: place.buffer, offset: place.offset };
                self.counts.parts += 1;
                return self.parts.push(part(owner.0, owner.1.word(), (StackSource::Walk, place.processor), Some(at), 0));
            }
            "StackKeyKernel" => StackSource::KernelKey,
            "StackKeyUser" => StackSource::UserKey,
            _ => return Ok(()),
        };
        match (number("StackKey"), owner()) {
            (Some(key), Some(owner)) => self.refer(key, (tick, file, place), source, owner),
            _ => {
                self.counts.undecoded += 1;
                Ok(())
            }
        }
    }

    fn refer(&mut self, key: u64, at: (i64, u32, Place), source: StackSource, owner: (i64, Owner)) -> io::Result<()> {
        let (tick, file, place) = at;
        let rest = u64::from(place.offset) << 32 | (source as u64) << 16 | u64::from(place.processor);
        let record = [key, word_of_tick(tick), two(file, place.buffer), rest, word_of_tick(owner.0), owner.1.word()];
        self.references.push(record)
    }

    /// The stacks. The reference to a key means the next definition of that key at or after the reference, in the order of time.
    pub fn finish(self) -> io::Result<Stacks> {
        let Self { definitions, references, mut parts, runtime, mut counts } = self;
        let (mut definitions, mut references) = (definitions.finish()?, references.finish()?);
        let left_out = definitions.left_out + references.left_out;
        let mut definition = definitions.next()?;
        while let Some([key, tick, buffer, rest, of_tick, owner]) = references.next()? {
            while definition.is_some_and(|definition| definition < [key, tick, buffer, rest >> 32]) {
                definition = definitions.next()?;
            }
            let at = definition.filter(|definition| definition[0] == key).map(|[_, _, buffer, offset]| Position {
                file: (buffer >> 32) as u32,
                buffer: buffer as u32,
                offset: offset as u32,
            });
            match at {
                Some(_) => counts.parts += 1,
                None => counts.undefined_keys += 1,
            }
            let source = StackSource::ALL[(rest >> 16) as u16 as usize % StackSource::ALL.len()];
            parts.push(part(tick_of_word(of_tick), owner, (source, rest as u16), at, key))?;
        }
        let [skipped, unread] = runtime.finish(|Bound { tick, event, stack }| {
            let at = Position { file: stack.file, buffer: stack.buffer, offset: stack.offset };
            let owner = ITEM | two(event.buffer, event.offset);
            counts.parts += 1;
            parts.push(part(tick, owner, (StackSource::Runtime, event.processor), Some(at), 0))
        })?;
        counts.runtime_without_event = skipped;
        let mut ticks = Vec::new();
        let parts = parts.table(|record| {
            let (word, mask) = bit(record[0]);
            if ticks.is_empty() {
                ticks.resize(1 << TICK_BITS >> 6, 0);
            }
            ticks[word] |= mask;
        })?;
        Ok(Stacks { left_out: left_out + unread + parts.left_out(), parts, ticks, counts })
    }
}

fn part(tick: i64, owner: u64, (source, processor): (StackSource, u16), at: Option<Position>, key: u64) -> Record<5> {
    let word = (source as u64) << 56 | u64::from(processor) << 32;
    let (word, at) = match at {
        Some(at) => (word | HAS_ADDRESSES | u64::from(at.file), two(at.buffer, at.offset)),
        None => (word, 0),
    };
    [word_of_tick(tick), owner, word, at, key]
}

fn two(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
