//! What is wrong with memory, and what looks tampered with, in sentences for people who hunt.

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
            Self::NoLayout => f.write_str("no layout of it is known for this kernel; what it leads to is left out"),
            Self::NoGlobal(name) => {
                write!(f, "the walk has no start: the address of {name} was not given, or what is there could not be read")
            }
            Self::Unreadable { wanted, read } => write!(f, "of {wanted:#x} bytes, {read:#x} could be read"),
            Self::Pointer(to) => write!(f, "{to} is no address of what it should point to"),
            Self::Loop(entry) => write!(f, "the list runs in a circle: it comes back to {entry} and not to its head"),
            Self::BackLink { entry, expected, found } => {
                write!(f, "the entry {entry} comes after {expected}, and its back link leads to {found}")
            }
            Self::Hidden(entry) => write!(f, "only back links lead to the entry {entry}: it was taken out of the list half-way"),
            Self::Limit(limit) => write!(f, "there are more than {limit}; the rest is left out"),
            Self::Text { length, room } => write!(f, "a string of {length} bytes with room for {room} is none"),
            Self::Count { stated, found } => write!(f, "{stated} are stated, and {found} were found"),
            Self::Offset(offset) => write!(f, "{offset:#x} is no offset in a buffer, or no size of one"),
            Self::Number { slot, stated } => write!(f, "the session in place {slot} of the table states the number {stated}"),
            Self::Owner { session, stated } => write!(f, "it belongs to the session {session}, and states the session {stated}"),
            Self::Clock(routine) => {
                write!(f, "the routine {routine}, which reads the clock for each event, lies in no module")
            }
            Self::ClockNumber(number) => write!(f, "{number:#x} is no number of a clock: it looks like an address"),
            Self::Callback(routine) => write!(f, "the routine {routine}, which the kernel calls, lies in no module"),
            Self::NoSession { slot, session } => {
                write!(f, "slot {slot} has the provider enabled for the session {session}, which is not there")
            }
            Self::Mask { slot } => {
                write!(f, "the registration is enabled by slot {slot}, in which nobody has the provider enabled")
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
                write!(f, "the registration is in the list of {expected}, and points to {found}")
            }
            Self::Bucket { expected, found } => write!(f, "the GUID hashes to bucket {expected}, and is in bucket {found}"),
            Self::Disabled { slot } => {
                write!(f, "slot {slot} has the provider enabled, and what all sessions together ask of it says that nobody has")
            }
            Self::Unlinked { handle } => {
                write!(
                    f,
                    "{handle} leads to it, and none of the lists that were read does: it was unlinked from all, or a list is torn"
                )
            }
            Self::Traits(why) => write!(f, "what the provider states of itself cannot be read: {why}"),
            Self::Witness { stated, layout: Some(layout) } => {
                write!(f, "the kernel states that the member is at {stated:#x}, and the layout has it at {layout:#x}")
            }
            Self::Witness { stated, layout: None } => {
                write!(f, "the kernel states that the member is at {stated:#x}, and the layout does not have it")
            }
            Self::Events(why) => write!(f, "the buffer's events end early: {why}"),
            Self::Compressed(why) => write!(f, "the buffer is compressed, and not all of it can be decompressed: {why}"),
            Self::Placeholder(bytes) => {
                write!(f, "the buffer is a placeholder, and not compressed: {bytes:#x} bytes of unknown content are left out")
            }
        }
    }
}
