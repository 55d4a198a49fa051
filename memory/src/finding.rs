//! Findings in memory: missing or inconsistent data, and suspected tampering.

use crate::address::Address;
use crate::memory::ReadError;
use alloc::string::String;
use core::fmt;

/// A finding, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The structure and member where it was found.
    pub place: MemberLocation,
    /// The kind of finding.
    pub kind: FindingKind,
}

/// A structure in memory, or one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLocation {
    /// Microsoft's name of the structure, or of the global variable.
    pub structure: &'static str,
    /// Address of the structure.
    pub address: Address,
    /// Name of the member; empty for the whole structure.
    pub member: &'static str,
}

/// Significance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Missing knowledge limits the walk, such as symbols for a start address or a layout for the kernel.
    Gap,
    /// Memory is missing or inconsistent, as in every image taken from a running system.
    Damage,
    /// An irregularity that was not observed in intact kernels. It does not prove tampering.
    Hint,
    /// An irregularity that intact kernels never have: memory was tampered with, or the layout is not that of the kernel.
    Anomaly,
}

/// A kind of finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The specs have no layout of the structure for this kernel.
    NoLayout,
    /// The address of a global variable is not given.
    NoGlobal(&'static str),
    /// Memory could be read only in part, or not at all.
    Unreadable {
        /// Number of bytes requested.
        requested: u64,
        /// Number of bytes read.
        read: u64,
    },
    /// The source of the memory failed; the bytes count as missing.
    Failed(ReadError),
    /// A pointer has an invalid value.
    Pointer(Address),
    /// A list returns to this entry instead of its head.
    Loop(Address),
    /// The back link of an entry does not point to the previous entry.
    BackLink {
        /// The entry.
        entry: Address,
        /// The previous entry.
        expected: Address,
        /// The target of the back link.
        found: Address,
    },
    /// Only back links lead to this entry.
    Hidden(Address),
    /// There are more entries, buffers or bytes than the limit.
    Limit(u64),
    /// The length of a counted string is odd, or exceeds its capacity.
    Text {
        /// The stated length, in bytes.
        length: u64,
        /// The stated capacity, in bytes.
        capacity: u64,
    },
    /// A count differs from the number of entries in the list.
    Count {
        /// The stated number.
        stated: u64,
        /// The actual number.
        found: u64,
    },
    /// An offset within a buffer, or a buffer size, is invalid.
    Offset(u64),
    /// The number in a session differs from its slot in the table.
    Number {
        /// The slot.
        slot: u32,
        /// The number in the session.
        stated: u64,
    },
    /// A structure refers to a session other than the one in which it was found.
    Owner {
        /// The session where it was found.
        session: u32,
        /// The session that it states.
        stated: u64,
    },
    /// The clock routine of a session, which runs for each event, is outside all modules.
    Clock(Address),
    /// Instead of the number of a clock, there is a value that looks like an address.
    ClockNumber(u64),
    /// A callback routine is outside all modules.
    Callback(Address),
    /// A provider is enabled for a session that does not exist.
    NoSession {
        /// Slot of the enable information.
        slot: u32,
        /// Number of the session.
        session: u64,
    },
    /// A registration is enabled by a slot that is unused in its provider.
    Mask {
        /// The slot.
        slot: u32,
    },
    /// A registration is in the list of its provider, but not in that of its group.
    NotInGroup {
        /// Address of the group entry.
        group: Address,
    },
    /// A registration is in the list of its group, but not in that of its provider.
    NotInProvider {
        /// Address of the provider entry.
        provider: Address,
    },
    /// A registration is in the list of one provider but points to another.
    Provider {
        /// The provider with this list.
        expected: Address,
        /// The provider that it points to.
        found: Address,
    },
    /// A provider is in a bucket other than its GUID hashes to. According to public research, the bucket is the low six bits of
    /// the exclusive or of the GUID's four words. Six entries in a crash dump of build 19041 confirm it; symbols cannot.
    Bucket {
        /// The bucket for its GUID.
        expected: u32,
        /// The bucket that contains it.
        found: u32,
    },
    /// A slot enables the provider, but its summary for all sessions states disabled. Published references describe the member as
    /// this summary; symbols cannot confirm it.
    Disabled {
        /// The slot.
        slot: u32,
    },
    /// A kernel variable refers to a registration that is in no list of its provider, or to one of a provider that is in no list. Either the
    /// entry was unlinked everywhere, or a list is corrupt, which is a separate finding.
    Unlinked {
        /// Name of the variable.
        handle: &'static str,
    },
    /// The traits of a provider are malformed.
    Traits(String),
    /// The kernel's own statement of a member offset differs from the layout.
    PublishedOffset {
        /// The offset that the kernel states, in bytes.
        stated: u64,
        /// The offset in the layout; `None` if it lacks the member.
        layout: Option<u64>,
    },
    /// The events of a compressed buffer, or of one that contains such buffers, could not be decompressed completely.
    Compressed(String),
    /// A placeholder among compressed buffers is not compressed itself: its content is unknown, and not interpreted as events.
    Placeholder(u64),
}

impl FindingKind {
    /// Stable identifier of the kind, for machine-readable output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoLayout => "no-layout",
            Self::NoGlobal(_) => "no-global",
            Self::Unreadable { .. } => "unreadable",
            Self::Failed(_) => "read-error",
            Self::Pointer(_) => "pointer",
            Self::Loop(_) => "loop",
            Self::BackLink { .. } => "back-link",
            Self::Hidden(_) => "hidden",
            Self::Limit(_) => "limit",
            Self::Text { .. } => "text",
            Self::Count { .. } => "count",
            Self::Offset(_) => "offset",
            Self::Number { .. } => "number",
            Self::Owner { .. } => "owner",
            Self::Clock(_) => "clock",
            Self::ClockNumber(_) => "clock-number",
            Self::Callback(_) => "callback",
            Self::NoSession { .. } => "no-session",
            Self::Mask { .. } => "mask",
            Self::NotInGroup { .. } => "not-in-group",
            Self::NotInProvider { .. } => "not-in-provider",
            Self::Provider { .. } => "provider",
            Self::Bucket { .. } => "bucket",
            Self::Disabled { .. } => "disabled",
            Self::Unlinked { .. } => "unlinked",
            Self::Traits(_) => "traits",
            Self::PublishedOffset { .. } => "layout-mismatch",
            Self::Compressed(_) => "compressed",
            Self::Placeholder(_) => "placeholder",
        }
    }

    /// Significance of this kind.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::NoLayout | Self::NoGlobal(_) | Self::Placeholder(_) => Weight::Gap,
            Self::Unreadable { .. } | Self::Failed(_) | Self::Limit(_) | Self::Count { .. } => Weight::Damage,
            Self::Text { .. } | Self::Offset(_) | Self::Traits(_) | Self::Compressed(_) => Weight::Damage,
            Self::Disabled { .. } | Self::Unlinked { .. } => Weight::Hint,
            Self::Pointer(_) | Self::Mask { .. } | Self::Bucket { .. } | Self::ClockNumber(_) => Weight::Hint,
            _ => Weight::Anomaly,
        }
    }
}

impl Finding {
    /// Significance of the finding.
    pub const fn weight(&self) -> Weight {
        self.kind.weight()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl core::error::Error for Finding {}

impl fmt::Display for MemberLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.structure)?;
        if !self.member.is_empty() {
            write!(f, ".{}", self.member)?;
        }
        if !self.address.is_null() {
            write!(f, " at {}", self.address)?;
        }
        Ok(())
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayout => f.write_str("unknown layout for this build; structures that depend on it are skipped"),
            Self::NoGlobal(name) => {
                write!(
                    f,
                    "cannot start at {name}: its address is unknown, or the memory there cannot be read; provide the symbols of the kernel"
                )
            }
            Self::Unreadable { requested, read } => write!(f, "unreadable memory: read {read:#x} of {requested:#x} bytes"),
            Self::Failed(error) => write!(f, "cannot read memory that is present: {error}; copy the file again"),
            Self::Pointer(to) => write!(f, "invalid pointer: {to}"),
            Self::Loop(entry) => write!(f, "list loop: the list returns to {entry} instead of its head"),
            Self::BackLink { entry, expected, found } => {
                write!(f, "wrong back link: entry {entry} follows {expected}, but points back to {found}")
            }
            Self::Hidden(entry) => write!(f, "partly unlinked entry: only back links lead to {entry}"),
            Self::Limit(limit) => write!(f, "limit exceeded: more than {limit} entries, buffers or bytes; the rest is skipped"),
            Self::Text { length, capacity } => write!(f, "invalid string: length {length}, capacity {capacity}"),
            Self::Count { stated, found } => write!(f, "wrong count: the member states {stated}, the list has {found} entries"),
            Self::Offset(offset) => write!(f, "invalid buffer offset or size: {offset:#x}"),
            Self::Number { slot, stated } => write!(f, "wrong session number: table slot {slot}, session states {stated}"),
            Self::Owner { session, stated } => write!(f, "wrong session: belongs to {session}, but states {stated}"),
            Self::Clock(routine) => {
                write!(f, "clock routine outside all modules: {routine} is called for each event")
            }
            Self::ClockNumber(number) => write!(f, "invalid clock number: {number:#x} looks like an address"),
            Self::Callback(routine) => write!(f, "callback outside all modules: {routine}"),
            Self::NoSession { slot, session } => {
                write!(f, "missing session: slot {slot} enables the provider for session {session}, which does not exist")
            }
            Self::Mask { slot } => {
                write!(f, "inconsistent enable mask: registration is enabled by slot {slot}, which is unused")
            }
            Self::NotInGroup { group } => {
                write!(f, "unlinked registration: in the list of its provider, missing from that of its group {group}")
            }
            Self::NotInProvider { provider } => {
                write!(f, "unlinked registration: in the list of its group, missing from that of its provider {provider}")
            }
            Self::Provider { expected, found } => {
                write!(f, "wrong provider: registration is in the list of {expected}, but points to {found}")
            }
            Self::Bucket { expected, found } => {
                write!(f, "wrong hash bucket: GUID belongs in bucket {expected}, found in bucket {found}")
            }
            Self::Disabled { slot } => {
                write!(f, "inconsistent enable state: slot {slot} enables the provider, but its summary states disabled")
            }
            Self::Unlinked { handle } => {
                write!(f, "unlinked registration: {handle} refers to it, but no list does, or a list is corrupt")
            }
            Self::Traits(why) => write!(f, "cannot read provider traits: {why}"),
            Self::PublishedOffset { stated, layout: Some(layout) } => {
                write!(f, "layout mismatch: kernel states offset {stated:#x}, layout has {layout:#x}")
            }
            Self::PublishedOffset { stated, layout: None } => {
                write!(f, "layout mismatch: kernel states offset {stated:#x}, layout does not have the member")
            }
            Self::Compressed(why) => write!(f, "cannot decompress the whole buffer: {why}"),
            Self::Placeholder(bytes) => {
                write!(f, "uncompressed placeholder: {bytes:#x} bytes of unknown content are skipped")
            }
        }
    }
}
