//! What is put into an image.

/// When the clock of every session was read, in units of 100 ns since 1601, and what it read.
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
    /// Addresses of consumers and of their processes, or up to 6.0 the numbers of these.
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
    /// Whether it was last enabled, session, level and flags, if the kernel keeps that.
    pub last: Option<(bool, u64, u8, u64)>,
    pub registrations: Vec<Registration>,
}

pub struct Registration {
    pub at: u64,
    /// The process, or the callback.
    pub owner: Result<u64, u64>,
    pub mask: u64,
    pub group: Option<u64>,
    /// By which slots of its group it is enabled, if the kernel has groups.
    pub group_mask: Option<u64>,
    /// The name that it states, and the GUID of the group.
    pub traits: Option<(String, Option<[u8; 16]>)>,
}
