//! How sure a layout is.

use super::axis::Build;
use core::fmt;

/// How sure a layout is for the kernel that was asked for. It displays as a sentence.
///
/// *Seen* is a kernel whose symbols or image somebody has read, and held against the layouts. The standing is that of one structure:
/// the symbols of a kernel may hold one and not another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// The symbols of this very kernel hold the structure, and agree with the layout member by member. Use it.
    Proven,
    /// The same, but the symbols were read from a table that somebody had converted, which loses some names and types, no offsets. Use
    /// it; for a tool that writes to memory, confirm it with the kernel's PDB (`etw verify`).
    Converted,
    /// Only the image of this very kernel was read: it shows the offsets of some members, which agree; the others are as the version
    /// axis has them. Check what is read for plausibility, or let the kernel's PDB decide (`etw verify`, `etw import`).
    Partly,
    /// The symbols of this kernel, or of its build, were read, and public symbols do not hold the structure. The layout is as
    /// documents state it, and no symbols can tell more: check what is read for plausibility.
    NotCheckable,
    /// The specs have this build, and none of its kernels was seen: the layout is as documents state it, or as the author of the
    /// specs does. Whether that is enough is the author's to say; symbols can confirm it if there are any (`etw verify`).
    Stated,
    /// This kernel was not seen. It lies between two updates of its build that were, by symbols of their own, and have the same layout.
    /// Use it; only a change that was taken back between the two could make it wrong.
    Agree {
        /// The last update before it that was seen.
        older: Build,
        /// The first update after it that was seen.
        newer: Build,
    },
    /// The same, but of one of the two, or both, only a converted table was read. Check what is read for plausibility: Windows 7
    /// had another layout at 6.1.7601.24000 than before and after.
    Alike {
        /// The last update before it that was seen.
        older: Build,
        /// The first update after it that was seen.
        newer: Build,
    },
    /// This kernel was not seen. It lies between two updates of its build that were, and whose layouts differ: the change came
    /// somewhere between. The layout is as the version axis has it there, and the other one is given beside it: find out which of
    /// them it is, by what is in memory or by the kernel's PDB.
    Differ {
        /// The last update before it that was seen.
        older: Build,
        /// The first update after it that was seen.
        newer: Build,
    },
    /// This kernel was not seen, and is later than every update of its build that was. Microsoft changes layouts by updates:
    /// check what is read for plausibility, and have the kernel's PDB confirm it (`etw verify`) or enter it (`etw import`).
    Later {
        /// The last update that was seen.
        last: Build,
    },
    /// This kernel was not seen, and is earlier than every update of its build that was. As for [`Later`](Self::Later).
    Earlier {
        /// The first update that was seen.
        first: Build,
    },
    /// No symbols of any kernel of this build were read. It is taken for the first release of the build before it, since updates of that are
    /// a branch of their own. A guess, a good one if both neighbours have the layout: check what is read, and have the PDB confirm it.
    Unseen {
        /// The first release of the nearest older build.
        older: Build,
        /// The first release of the nearest newer build; none if this is newer than all.
        newer: Option<Build>,
        /// Whether the newer one has the same layout.
        same: bool,
    },
}

/// Why there is no layout for a kernel. It displays as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absent {
    /// The version axis has no kernel of the architecture.
    Arch,
    /// There is no such kernel, or none that is known: it is older than every kernel of its architecture.
    Older {
        /// The first.
        first: Build,
    },
    /// There is no such kernel: newer builds do not exist for its architecture.
    Newer {
        /// The last.
        last: Build,
    },
    /// The kernel does not have the structure.
    Structure {
        /// How sure that is.
        standing: Standing,
    },
}

impl Standing {
    /// A word for it that stays the same, for documents that programs read.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Converted => "converted",
            Self::Partly => "partly seen",
            Self::NotCheckable => "not checkable",
            Self::Stated => "stated",
            Self::Agree { .. } => "agree",
            Self::Alike { .. } => "alike",
            Self::Differ { .. } => "differ",
            Self::Later { .. } => "later",
            Self::Earlier { .. } => "earlier",
            Self::Unseen { .. } => "unseen",
        }
    }

    /// Whether another kernel stands in for the one that was asked for, which nobody has seen.
    pub const fn is_stand_in(&self) -> bool {
        !matches!(self, Self::Proven | Self::Converted | Self::Partly | Self::NotCheckable | Self::Stated)
    }

    /// Whether symbols of this very kernel confirm all of the layout, converted ones or its own.
    pub const fn is_confirmed(&self) -> bool {
        matches!(self, Self::Proven | Self::Converted)
    }

    /// The kernels that it is judged by, the older and the newer one.
    pub const fn neighbours(&self) -> [Option<Build>; 2] {
        match *self {
            Self::Agree { older, newer } | Self::Alike { older, newer } | Self::Differ { older, newer } => {
                [Some(older), Some(newer)]
            }
            Self::Later { last } => [Some(last), None],
            Self::Earlier { first } => [None, Some(first)],
            Self::Unseen { older, newer, .. } => [Some(older), newer],
            _ => [None, None],
        }
    }
}

impl Absent {
    /// A word for it that stays the same, for documents that programs read.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Structure { .. } => "no such structure",
            _ => "no such kernel",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proven => f.write_str("symbols of this very kernel confirm it"),
            Self::Converted => f.write_str("a converted symbol table of this very kernel confirms it"),
            Self::Partly => {
                f.write_str("the image of this very kernel confirms the offsets of some members, no symbols the rest")
            }
            Self::NotCheckable => f.write_str("symbols of this build were read, and do not hold it"),
            Self::Stated => f.write_str("it is as the specs state, and no symbols of this build were read"),
            Self::Agree { older, newer } => {
                write!(f, "its own symbols were not read; it lies between {older} and {newer}, whose symbols agree")
            }
            Self::Alike { older, newer } => {
                write!(
                    f,
                    "its own symbols were not read; it lies between {older} and {newer}, which agree as far as converted symbol tables tell"
                )
            }
            Self::Differ { older, newer } => {
                write!(
                    f,
                    "its own symbols were not read; it lies between {older} and {newer}, which differ: the change lies between them"
                )
            }
            Self::Later { last } => write!(
                f,
                "its own symbols were not read; it is later than {last}, the last update of its build whose symbols were"
            ),
            Self::Earlier { first } => {
                write!(
                    f,
                    "its own symbols were not read; it is earlier than {first}, the first update of its build whose symbols were"
                )
            }
            Self::Unseen { older, newer: None, .. } => {
                write!(f, "no symbols of its build were read, which is newer than {older} and all others")
            }
            Self::Unseen { older, newer: Some(newer), same } => {
                let what = if *same { "agree" } else { "differ" };
                write!(f, "no symbols of its build were read, which lies between {older} and {newer}; these {what}")
            }
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arch => f.write_str("no kernel of this architecture is known"),
            Self::Older { first } => write!(f, "no such kernel: the first of this architecture is {first}"),
            Self::Newer { last } => write!(f, "no such kernel: the last of this architecture is {last}, and its updates"),
            Self::Structure { standing } => write!(f, "the kernel does not have the structure: {standing}"),
        }
    }
}

impl core::error::Error for Absent {}
