//! The confidence in a layout.

use super::build::{Arch, Build};
use core::fmt;

/// The confidence in a layout for the selected build. It displays as a sentence.
///
/// A build is *examined* if its symbols or image were read and verified against the layouts. The confidence is that of one structure:
/// the symbols of a build can contain one structure and lack another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confidence {
    /// Symbols of this build contain the structure and match the layout in every member. The layout can be used without further checks.
    /// Only if a program writes to memory and the symbols are converted, verify the layout with the PDB of the kernel (`etw verify`).
    Verified(SymbolSource),
    /// Only the image of this build was examined. It shows the offsets of some members, which match the layout. Check the plausibility of
    /// the values read, or verify the layout against the PDB of the kernel (`etw verify`, `etw import`).
    PartlyVerified,
    /// The layout is that of published references or of the author of the specs, and no symbols verify it. Check the plausibility of the
    /// values read.
    Documented {
        /// Whether symbols of this build were examined and do not contain the structure, so that no public symbols can verify it.
        unverifiable: bool,
    },
    /// This build has not been examined. The layout is inferred from examined builds.
    Inferred(InferredFrom),
    /// This build has not been examined, and the known builds before and after it have different layouts. The layout is that of one of
    /// them, or of a build between them: see [`Selection::candidates`](crate::packed::Selection::candidates). Check the values in memory, or the
    /// PDB of the kernel, to decide.
    Uncertain {
        /// The nearest known build before it.
        older: Build,
        /// The nearest known build after it.
        newer: Build,
        /// Whether both are examined updates of the branch, on this architecture.
        is_verified: bool,
    },
}

/// The form in which symbols were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolSource {
    /// The symbols of a PDB.
    Pdb,
    /// A symbol table that was converted from another form, which loses some names and types, but no offsets.
    Converted,
}

/// The source of an inferred layout, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InferredFrom {
    /// Symbols of another architecture select this layout among those that are verified on this architecture before and after the
    /// build.
    Architecture {
        /// The other architecture.
        arch: Arch,
        /// The build whose layout is used. The layout of the other architecture is the same in both builds.
        build: Build,
    },
    /// The same update on another branch of Windows.
    Branch {
        /// An examined build of that branch.
        build: Build,
    },
    /// Examined updates of the same branch before and after this build have the same layout.
    Between {
        /// The last examined update before it.
        older: Build,
        /// The first examined update after it.
        newer: Build,
    },
    /// Examined updates of the same branch before and after this build have the same layout, but another architecture has another layout
    /// between them.
    Changed {
        /// The other architecture.
        arch: Arch,
        /// The last examined update before it.
        older: Build,
        /// The first examined update after it.
        newer: Build,
    },
    /// The build is later than every examined update of its branch. An update in between may have changed the layout.
    After {
        /// The last examined update.
        last: Build,
    },
    /// The build is earlier than every examined update of its branch. An update in between may have changed the layout.
    Before {
        /// The first examined update.
        first: Build,
    },
    /// The layout was verified in a build of another release. Symbols of another architecture select it.
    Release {
        /// The other architecture.
        arch: Arch,
        /// The build of another release whose layout is used. The layout of the other architecture is the same in both builds.
        build: Build,
    },
    /// Symbols of another architecture were examined, and no verified layout of this architecture corresponds to them. The layout is that of
    /// the version axis.
    Unverified {
        /// The other architecture.
        arch: Arch,
    },
    /// The branch of the build is unknown. The releases before and after this build have the same layout.
    Releases {
        /// The release before it.
        older: Build,
        /// The release after it.
        newer: Build,
    },
    /// The branch of the build is unknown, and newer than every known release.
    Newest {
        /// The newest known release.
        last: Build,
    },
}

/// The reason why there is no layout for a build. It displays as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absent {
    /// The version axis has no build of the architecture.
    Arch,
    /// The build does not exist or is unknown: it is older than every build of its architecture.
    Older {
        /// The oldest known build.
        first: Build,
    },
    /// The build does not exist: it is newer than every build of its architecture.
    Newer {
        /// The newest known build.
        last: Build,
    },
    /// The build does not have the structure.
    Structure {
        /// The confidence in this.
        confidence: Confidence,
    },
}

impl Confidence {
    /// Stable identifier of the confidence, for machine-readable output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Verified(SymbolSource::Pdb) => "verified (PDB)",
            Self::Verified(SymbolSource::Converted) => "verified (converted symbols)",
            Self::PartlyVerified => "partly verified (image)",
            Self::Documented { .. } => "documented",
            Self::Inferred(_) => "inferred",
            Self::Uncertain { .. } => "uncertain",
        }
    }

    /// Stable identifier of the source of an inferred layout.
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Inferred(InferredFrom::Architecture { .. }) => Some("architecture"),
            Self::Inferred(InferredFrom::Branch { .. }) => Some("branch"),
            Self::Inferred(InferredFrom::Between { .. }) => Some("between"),
            Self::Inferred(InferredFrom::Changed { .. }) => Some("changed"),
            Self::Inferred(InferredFrom::After { .. }) => Some("after"),
            Self::Inferred(InferredFrom::Before { .. }) => Some("before"),
            Self::Inferred(InferredFrom::Release { .. }) => Some("release"),
            Self::Inferred(InferredFrom::Unverified { .. }) => Some("unverified"),
            Self::Inferred(InferredFrom::Releases { .. }) => Some("releases"),
            Self::Inferred(InferredFrom::Newest { .. }) => Some("newest"),
            _ => None,
        }
    }

    /// Whether the build was not examined, so that the layout is that of other builds.
    pub const fn is_inferred(&self) -> bool {
        matches!(self, Self::Inferred(_) | Self::Uncertain { .. })
    }

    /// Whether symbols of this build verify the whole layout.
    pub const fn is_verified(&self) -> bool {
        matches!(self, Self::Verified(_))
    }

    /// Whether the layout can be used without checking the data. Symbols of this architecture verify it, in this build or in builds before
    /// or after it; in the latter case, symbols of another architecture or branch show which of them has the layout.
    pub const fn is_sure(&self) -> bool {
        let by = matches!(
            self,
            Self::Inferred(InferredFrom::Architecture { .. } | InferredFrom::Branch { .. } | InferredFrom::Between { .. })
        );
        self.is_verified() || by
    }

    /// Whether a part of the layout, such as the offset of a member, can be used without checking the data: the layout is sure, or it is
    /// uncertain between two updates of one branch and the part is the same in all candidates. Candidates of other branches do not suffice,
    /// because the branch can have had a change of its own.
    pub fn is_sure_if_same(&self, is_same: impl FnOnce() -> bool) -> bool {
        self.is_sure() || matches!(self, Self::Uncertain { is_verified: true, .. }) && is_same()
    }

    /// The builds that the layout is inferred from, the older and the newer one; a single one comes first if it can be either.
    pub const fn neighbours(&self) -> [Option<Build>; 2] {
        match *self {
            Self::Uncertain { older, newer, .. }
            | Self::Inferred(
                InferredFrom::Between { older, newer }
                | InferredFrom::Changed { older, newer, .. }
                | InferredFrom::Releases { older, newer },
            ) => [Some(older), Some(newer)],
            Self::Inferred(InferredFrom::Architecture { build, .. } | InferredFrom::Release { build, .. }) => [Some(build), None],
            Self::Inferred(InferredFrom::After { last } | InferredFrom::Newest { last }) => [Some(last), None],
            Self::Inferred(InferredFrom::Before { first }) => [None, Some(first)],
            _ => [None, None],
        }
    }
}

impl Absent {
    /// Stable identifier of the reason, for machine-readable output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Structure { .. } => "no such structure",
            _ => "no such build",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified(SymbolSource::Pdb) => f.write_str("verified against the symbols of this build"),
            Self::Verified(SymbolSource::Converted) => f.write_str("verified against converted symbols of this build"),
            Self::PartlyVerified => f.write_str("partly verified: the image of this build shows the offsets of some members"),
            Self::Documented { unverifiable: true } => {
                f.write_str("documented; the symbols of this build do not contain the structure")
            }
            Self::Documented { unverifiable: false } => {
                f.write_str("documented or stated by the specs; no symbols of this build were examined")
            }
            Self::Inferred(reason) => reason.fmt(f),
            Self::Uncertain { older, newer, .. } => {
                write!(f, "uncertain: {older} and {newer}, the nearest known builds, have different layouts")
            }
        }
    }
}

impl fmt::Display for InferredFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Architecture { arch, build } => {
                write!(f, "inferred from {build}, an examined build: {arch} has the same layout in both builds")
            }
            Self::Release { arch, build } => {
                write!(
                    f,
                    "inferred from {build}, an examined build of another release: {arch} has the same layout in both builds"
                )
            }
            Self::Unverified { arch } => {
                write!(f, "inferred from {arch}, whose symbols match no verified layout of this architecture")
            }
            Self::Branch { build } => write!(f, "inferred from {build}, an examined build with the same update"),
            Self::Between { older, newer } => {
                write!(f, "inferred: the examined builds {older} and {newer} have the same layout")
            }
            Self::Changed { arch, older, newer } => {
                write!(
                    f,
                    "inferred: the examined builds {older} and {newer} have the same layout, but {arch} has another one between them"
                )
            }
            Self::After { last } => write!(f, "inferred from {last}, the last update of this build with examined symbols"),
            Self::Before { first } => write!(f, "inferred from {first}, the first update of this build with examined symbols"),
            Self::Releases { older, newer } => {
                write!(f, "inferred: the releases {older} and {newer} have the same layout; this build was not examined")
            }
            Self::Newest { last } => write!(f, "inferred from {last}, the newest known release; this build was not examined"),
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arch => f.write_str("no build of this architecture is known"),
            Self::Older { first } => write!(f, "no such build: the oldest build of this architecture is {first}"),
            Self::Newer { last } => {
                write!(f, "no such build: the newest build of this architecture is {last}, with its updates")
            }
            Self::Structure { confidence } => write!(f, "this build does not have the structure: {confidence}"),
        }
    }
}

impl core::error::Error for Absent {}
