//! The call stacks of events of the .NET runtime. After an event, the runtime writes its stack as another event, with the same provider and thread
//! (`EtwCallout` in the runtime's sources, `ClrStackWalk` in those of PerfView).

use crate::place::Place;
use crate::providers::RUNTIME;
use crate::sorted::{Record, Sorter, tick_of_word, word_of_tick};
use crate::specified::is_of_manifest;
use etw_layouts_etl::{Event, Uuid};
use std::io;

/// The runtime's providers, each with the ID of its events with stacks: those of Runtime, Stress and Private. Stacks of Rundown are not searched: they
/// are all of the thread that writes the rundown, which can be a large part of the events.
const PROVIDERS: [(Uuid, u16); 3] = [
    (RUNTIME, 82),
    (Uuid::from_u128(0xcc2bcbba_16b6_4cf3_8990_d74c2e8af500), 1),
    (Uuid::from_u128(0x763fd754_7086_4dfe_95eb_c01a46faf4ca), 151),
];

/// Size of the fields before the addresses, in bytes: ClrInstanceID, two reserved bytes, and the number of addresses.
const FIELDS: usize = 8;

/// Whether an event of the runtime can have a stack, which is another event.
#[inline]
pub(crate) fn can_have_stack(event: &Event<'_>) -> bool {
    matches!(kind(event), Some((_, false)))
}

/// The index of the provider of an event of the runtime, and whether the event is a stack. `None` for other events.
#[inline]
fn kind(event: &Event<'_>) -> Option<(u64, bool)> {
    let provider = event.provider()?;
    let index = PROVIDERS.iter().position(|(known, _)| *known == provider)?;
    is_of_manifest(event).then(|| (index as u64, event.id() == Some(PROVIDERS[index].1)))
}

/// The bytes with the addresses in the payload of a stack. They are fewer than the number states if the payload is truncated.
pub(crate) fn addresses(payload: &[u8], width: usize) -> Option<&[u8]> {
    let count = payload.get(FIELDS - 4..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
    let addresses = &payload[FIELDS..];
    Some(&addresses[..addresses.len().min((count as usize).saturating_mul(width))])
}

/// Collects the events of the runtime.
#[derive(Debug)]
pub(crate) struct RuntimeEvents {
    /// Provider and thread, tick, file and buffer, offset with a bit for stacks and the processor: the order of time for each thread.
    events: Sorter<4>,
}

/// The bit of stacks.
const IS_STACK: u64 = 1 << 16;

/// A stack, and the event that has it.
pub(crate) struct Bound {
    /// The tick of the event.
    pub tick: i64,
    pub event: At,
    pub stack: At,
}

/// A place in the files of a session.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub file: u32,
    pub buffer: u32,
    pub offset: u32,
    pub processor: u16,
}

impl RuntimeEvents {
    /// A collector that needs at most `memory` bytes.
    pub fn new(memory: usize) -> Self {
        Self { events: Sorter::new(memory) }
    }

    /// Adds an event of a file, if it is one of the runtime.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, tick: i64, file: u32, place: Place) -> io::Result<()> {
        let (Some((provider, is_stack)), Some(thread)) = (kind(event), event.thread()) else { return Ok(()) };
        let stack = if is_stack { IS_STACK } else { 0 };
        let rest = u64::from(place.offset) << 32 | stack | u64::from(place.processor);
        let at = u64::from(file) << 32 | u64::from(place.buffer);
        self.events.push([provider << 32 | u64::from(thread), word_of_tick(tick), at, rest])
    }

    /// Calls `bound` with each stack and the previous event of its provider and thread. If the previous event is a stack too, the event of
    /// this stack was lost, and the stack is skipped. Returns the number of stacks that were skipped, and of events that are left out: see
    /// [`Sorted::left_out`](crate::sorted::Sorted::left_out).
    pub fn finish(self, mut bound: impl FnMut(Bound) -> io::Result<()>) -> io::Result<[u64; 2]> {
        let mut events = self.events.finish()?;
        let (mut before, mut skipped): (Option<Record<4>>, _) = (None, 0);
        while let Some(event) = events.next()? {
            if event[3] & IS_STACK == 0 {
                before = Some(event);
            } else if let Some(owner) = before.take().filter(|owner| owner[0] == event[0]) {
                bound(Bound { tick: tick_of_word(owner[1]), event: At::of(&owner), stack: At::of(&event) })?;
            } else {
                skipped += 1;
            }
        }
        Ok([skipped, events.left_out])
    }
}

impl At {
    fn of(&[_, _, buffer, rest]: &Record<4>) -> Self {
        Self { file: (buffer >> 32) as u32, buffer: buffer as u32, offset: (rest >> 32) as u32, processor: rest as u16 }
    }
}
