//! The key of an event within its provider.

use core::fmt;

/// Flag in the number of a key: the event is classic.
const CLASSIC: u32 = 1 << 24;

/// The key of an event within its provider: ID and version; opcode and version for classic events, which have no ID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey(u32);

impl EventKey {
    /// The key of an event with an ID.
    pub const fn from_id(id: u16, version: u8) -> Self {
        Self((id as u32) << 8 | version as u32)
    }

    /// The key of a classic event.
    pub const fn from_opcode(opcode: u8, version: u8) -> Self {
        Self(CLASSIC | (opcode as u32) << 8 | version as u32)
    }

    /// The event ID; for a classic event, the opcode.
    pub const fn id(self) -> u16 {
        (self.0 >> 8) as u16
    }

    /// The version.
    pub const fn version(self) -> u8 {
        self.0 as u8
    }

    /// Whether the event is classic.
    pub const fn is_classic(self) -> bool {
        self.0 & CLASSIC != 0
    }

    /// The number of the key in a library. Numbers sort events with IDs before classic events, each by ID or opcode, then by version.
    pub const fn number(self) -> u32 {
        self.0
    }

    pub(super) const fn from_number(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_classic() { "opcode" } else { "ID" };
        write!(f, "EventKey({kind} {} version {})", self.id(), self.version())
    }
}
