//! Events that are decoded after the first pass, because the trace can carry their schemas anywhere.

use etw_layouts_etl::{Event, Extent};

/// Copies of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deferred {
    bytes: Vec<u8>,
    /// The time stamp, the offset in the bytes, and the extent of each.
    events: Vec<(i64, u32, Extent)>,
    is_full: bool,
}

/// Maximum total size of the events, in bytes.
const MAX_BYTES: usize = 32 << 20;

impl Deferred {
    /// Keeps a copy of an event; nothing once the events have 32 MiB.
    pub fn add(&mut self, event: &Event<'_>, tick: i64) {
        let bytes = event.bytes();
        self.is_full |= self.bytes.len() + bytes.len() > MAX_BYTES;
        if !self.is_full {
            self.events.push((tick, self.bytes.len() as u32, event.extent()));
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Whether events were dropped.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The events with their time stamps, as they were added.
    pub fn events(&self) -> impl Iterator<Item = (i64, Event<'_>)> {
        self.events.iter().filter_map(|(tick, at, extent)| Some((*tick, extent.at(&self.bytes, *at)?)))
    }
}
