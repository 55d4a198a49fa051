//! Events that were found in libraries, so that each is searched for once.

use super::{Bytes, Schemas};
use etw_layouts_payload::Uuid;
use etw_layouts_payload::packed::{EventKey, Variant, VariantRef};
use std::fmt;
use std::sync::OnceLock;

/// Number of slots, a power of two: more than the kinds of events that most traces have.
const SLOTS: usize = 1 << 13;

/// Number of slots that an event can be in.
const PROBES: usize = 8;

/// Events by provider and key. A slot is filled once and never changes, so that threads can share it without a lock. If all slots of an
/// event are taken, the event is searched for each time.
pub(super) struct FoundEvents(Box<[OnceLock<Slot>]>);

struct Slot {
    provider: Uuid,
    key: EventKey,
    /// `None` if no library has the event.
    found: Option<Found>,
}

/// An event in a library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Index of the library.
    pub library: usize,
    pub place: VariantRef,
    /// Whether other variants have fields of other sizes, or those of other sources fields of other names.
    pub is_disputed: bool,
}

impl FoundEvents {
    /// The event. The first call for an event calls `search`.
    #[inline]
    pub fn get(&self, provider: Uuid, key: EventKey, search: impl FnOnce() -> Option<Found>) -> Option<Found> {
        let start = hash(provider, key);
        for probe in 0..PROBES {
            let slot = &self.0[(start + probe) % SLOTS];
            match slot.get() {
                Some(slot) if slot.key == key && slot.provider == provider => return slot.found,
                Some(_) => {}
                None => {
                    let found = search();
                    // Another thread can have taken the slot meanwhile.
                    let _ = slot.set(Slot { provider, key, found });
                    return found;
                }
            }
        }
        search()
    }
}

fn hash(provider: Uuid, key: EventKey) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let (high, low) = provider.as_u64_pair();
    let mixed = (high ^ low.rotate_left(32) ^ u64::from(key.number()).wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> 40) as usize % SLOTS
}

impl Found {
    /// Whether its library has priority over the specs: it is not part of the program.
    pub fn has_priority(self, schemas: &Schemas) -> bool {
        matches!(schemas.libraries.get(self.library), Some(Bytes::Shared(_)))
    }

    /// The event in its library.
    #[inline]
    pub fn variant(self, schemas: &Schemas) -> Option<Variant<'_>> {
        let library = schemas.libraries.get(self.library)?;
        Variant::at(library.library(), self.place)
    }
}

impl Default for FoundEvents {
    fn default() -> Self {
        Self((0..SLOTS).map(|_| OnceLock::new()).collect())
    }
}

impl fmt::Debug for FoundEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FoundEvents({})", self.0.iter().filter(|slot| slot.get().is_some()).count())
    }
}
