//! Findings in memory: missing or inconsistent data, and suspected tampering.

use crate::address::Address;
use alloc::string::String;
use core::fmt;

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where it was met.
    pub place: Place,
    /// What it is.
    pub what: What,
}

/// A structure in memory, and one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Microsoft's name of the structure, or of the global variable.
    pub structure: &'static str,
    /// Where it is.
    pub address: Address,
    /// The member; empty for the whole.
    pub member: &'static str,
}

/// How much a finding says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Something is not known, so that less was walked: no symbols for a start, no layout for the kernel.
    Gap,
    /// Memory is missing or torn, as it is in every image that was taken while the system ran.
    Damage,
    /// Something that a whole kernel does not have, by what is known of it without proof.
    Hint,
    /// Something that no whole kernel has: tampered with, or the layout is not the kernel's.
    Anomaly,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A structure that the specs do not have for this kernel.
    NoLayout,
    /// A global variable whose address was not given.
    NoGlobal(&'static str),
    /// Not all of it could be read.
    Unreadable {
        /// Bytes that were wanted.
        wanted: u64,
        /// Bytes that could be read.
        read: u64,
    },
    /// A pointer that cannot be one to what it should point to.
    Pointer(Address),
    /// A list that runs in a circle, and comes back to this entry.
    Loop(Address),
    /// An entry whose back link is not the entry before it.
    BackLink {
        /// The entry.
        entry: Address,
        /// The entry before it.
        expected: Address,
        /// Where its back link leads.
        found: Address,
    },
    /// An entry that only back links lead to.
    Hidden(Address),
    /// There are more entries, buffers or bytes than are looked at.
    Limit(u64),
    /// A counted string whose length is odd, or more than its room.
    Text {
        /// Bytes in use, as stated.
        length: u64,
        /// Bytes of room, as stated.
        room: u64,
    },
    /// A count that the list beside it does not have.
    Count {
        /// What is stated.
        stated: u64,
        /// What was found.
        found: u64,
    },
    /// An offset within a buffer, or a size of buffers, that none can have.
    Offset(u64),
    /// A session that states another number than that of its place in the table.
    Number {
        /// Its place.
        slot: u32,
        /// What it states.
        stated: u64,
    },
    /// Something of a session that is kept by another.
    Owner {
        /// The session that it is found at.
        session: u32,
        /// The session that it states.
        stated: u64,
    },
    /// The routine that reads a session's clock lies in no module: it runs for each event.
    Clock(Address),
    /// Where the kernel keeps the number of a clock, there is what looks like an address.
    ClockNumber(u64),
    /// A routine that is called lies in no module.
    Callback(Address),
    /// A provider that is enabled for a session which is not there.
    NoSession {
        /// The slot of the enable information.
        slot: u32,
        /// The session, by its number.
        session: u64,
    },
    /// A registration that says to be enabled by a slot which has nobody enabled the provider.
    Mask {
        /// The slot.
        slot: u32,
    },
    /// A registration that is in its provider's list, and not in that of its group.
    NotInGroup {
        /// The group's entry.
        group: Address,
    },
    /// A registration that is in its group's list, and not in that of its provider.
    NotInProvider {
        /// The provider's entry.
        provider: Address,
    },
    /// A registration in the list of one provider that points to another.
    Provider {
        /// The provider whose list it is in.
        expected: Address,
        /// The provider that it points to.
        found: Address,
    },
    /// A provider in a bucket that its GUID does not hash to. That the low six bits of the GUID's four words, by exclusive or, are the
    /// bucket, public research states; six entries of a crash dump of build 19041 agree, and no symbols can tell it.
    Bucket {
        /// The bucket that it should be in.
        expected: u32,
        /// The bucket that it is in.
        found: u32,
    },
    /// A slot has the provider enabled, and what all sessions together ask of it says that nobody has. So documents call that member; that
    /// it sums up the slots no symbols can tell.
    Disabled {
        /// The slot.
        slot: u32,
    },
    /// A variable of the kernel holds a registration that is in no list of its provider, or whose provider is in no list: both were
    /// unlinked everywhere, or the list is torn, which is a finding of its own.
    Unlinked {
        /// The variable.
        handle: &'static str,
    },
    /// What a provider states of itself is malformed.
    Traits(String),
    /// The kernel's own statement of where a member is differs from the layout.
    Witness {
        /// What the kernel states, in bytes.
        stated: u64,
        /// What the layout has; none if it lacks the member.
        layout: Option<u64>,
    },
    /// Events of a buffer that end before its valid end.
    Events(String),
    /// A compressed buffer, or one that holds such buffers, whose events could not be had, or not all of them.
    Compressed(String),
    /// A placeholder among compressed buffers that is not compressed itself: what its bytes are is not known, and none are taken for events.
    Placeholder(u64),
}

impl What {
    /// A word for it that stays the same, for documents that programs read.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NoLayout => "no-layout",
            Self::NoGlobal(_) => "no-global",
            Self::Unreadable { .. } => "unreadable",
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
            Self::Witness { .. } => "witness",
            Self::Events(_) => "events",
            Self::Compressed(_) => "compressed",
            Self::Placeholder(_) => "placeholder",
        }
    }

    /// How much it says.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::NoLayout | Self::NoGlobal(_) | Self::Placeholder(_) => Weight::Gap,
            Self::Unreadable { .. } | Self::Limit(_) | Self::Count { .. } | Self::Events(_) => Weight::Damage,
            Self::Text { .. } | Self::Offset(_) | Self::Traits(_) | Self::Compressed(_) => Weight::Damage,
            Self::Disabled { .. } | Self::Unlinked { .. } => Weight::Hint,
            Self::Pointer(_) | Self::Mask { .. } | Self::Bucket { .. } | Self::ClockNumber(_) => Weight::Hint,
            _ => Weight::Anomaly,
        }
    }
}

impl Finding {
    /// How much it says.
    pub const fn weight(&self) -> Weight {
        self.what.weight()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl core::error::Error for Finding {}

impl fmt::Display for Place {
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

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayout => f.write_str("unknown layout for this build; structures behind it are skipped"),
            Self::NoGlobal(name) => {
                write!(f, "cannot start the walk: the address of {name} is unknown, or the memory there cannot be read")
            }
            Self::Unreadable { wanted, read } => write!(f, "unreadable memory: read {read:#x} of {wanted:#x} bytes"),
            Self::Pointer(to) => write!(f, "invalid pointer: {to}"),
            Self::Loop(entry) => write!(f, "list loop: the list returns to {entry} instead of its head"),
            Self::BackLink { entry, expected, found } => {
                write!(f, "wrong back link: entry {entry} follows {expected}, but points back to {found}")
            }
            Self::Hidden(entry) => write!(f, "partly unlinked entry: only back links lead to {entry}"),
            Self::Limit(limit) => write!(f, "limit exceeded: more than {limit}; the rest is skipped"),
            Self::Text { length, room } => write!(f, "invalid string: length {length}, capacity {room}"),
            Self::Count { stated, found } => write!(f, "wrong count: states {stated}, found {found}"),
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
                write!(
                    f,
                    "the registration is in its provider's list, and not in that of its group {group}: it was unlinked from one"
                )
            }
            Self::NotInProvider { provider } => {
                write!(
                    f,
                    "the registration is in its group's list, and not in that of its provider {provider}: it was unlinked from one"
                )
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
                write!(
                    f,
                    "{handle} leads to it, and none of the lists that were read does: it was unlinked from all, or a list is torn"
                )
            }
            Self::Traits(why) => write!(f, "cannot read provider traits: {why}"),
            Self::Witness { stated, layout: Some(layout) } => {
                write!(f, "layout mismatch: kernel states offset {stated:#x}, layout has {layout:#x}")
            }
            Self::Witness { stated, layout: None } => {
                write!(f, "layout mismatch: kernel states offset {stated:#x}, layout does not have the member")
            }
            Self::Events(why) => write!(f, "events end before the valid end of the buffer: {why}"),
            Self::Compressed(why) => write!(f, "cannot decompress the whole buffer: {why}"),
            Self::Placeholder(bytes) => {
                write!(f, "the buffer is a placeholder, and not compressed: {bytes:#x} bytes of unknown content are left out")
            }
        }
    }
}
