//! The contents of an image.

/// The time at which all clocks were read, in units of 100 ns since 1601, and the clock value.
pub const REFERENCE: (i64, i64) = (132_404_547_797_984_230, 5_000_000_000);
pub const BOOT: i64 = REFERENCE.0 - 77;
pub const FREQUENCY: i64 = 3_579_545;
pub const BUFFER: u32 = 0x1000;
pub const PROCESSORS: u32 = 3;

pub struct Session {
    pub at: u64,
    pub number: u32,
    pub name: &'static str,
    pub file: &'static str,
    pub mode: u32,
    pub buffers: Vec<Buffer>,
    /// The addresses of consumers and of their processes. Up to 6.0, the process IDs instead of the addresses.
    pub consumers: Vec<(u64, u64)>,
    pub security: u64,
}

pub struct Buffer {
    pub at: u64,
    pub processor: u16,
    pub state: State,
    /// Time stamp and payload of each event.
    pub events: Vec<(i64, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Free,
    Logging,
    Flush,
}

pub struct Provider {
    pub at: u64,
    pub guid: [u8; 16],
    /// 0 for a provider, 2 for a group.
    pub kind: u32,
    pub bucket: u32,
    /// Slot, session, level, keywords.
    pub enabled: Vec<(u32, u32, u8, u64)>,
    /// Whether it was last enabled, with session, level and flags, if the kernel stores this.
    pub last: Option<(bool, u64, u8, u64)>,
    pub registrations: Vec<Registration>,
}

pub struct Registration {
    pub at: u64,
    /// The process of a user-mode registration, or the callback of a kernel-mode registration.
    pub owner: Result<u64, u64>,
    pub mask: u64,
    pub group: Option<u64>,
    /// The slots of its group that enable it, if the kernel has groups.
    pub group_mask: Option<u64>,
    /// Its name, and the GUID of the group.
    pub traits: Option<(String, Option<[u8; 16]>)>,
}
