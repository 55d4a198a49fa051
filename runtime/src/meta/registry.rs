//! Identities of files of kernels, and sources of facts.

use super::line::Evidence;
use uuid::Uuid;

/// Identity of a symbol file, as in the debug directory of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pdb {
    /// GUID.
    pub guid: Uuid,
    /// The age.
    pub age: u32,
}

/// Identity of an image, as used by symbol servers and crash dumps: two members of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    /// `TimeDateStamp`, which is a hash in newer images.
    pub time_stamp: u32,
    /// `SizeOfImage`, in bytes.
    pub size: u32,
}

/// Source of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FactsKind {
    /// The symbols of the kernel.
    Symbols,
    /// Converted symbols, which lost some information.
    Converted,
    /// Images, which show the offsets of some members.
    Images,
}

impl Pdb {
    /// Converts the bytes of the GUID, as in an image's debug directory (`RSDS`) or a PDB.
    pub const fn from_bytes(guid: [u8; 16], age: u32) -> Self {
        Self { guid: Uuid::from_bytes_le(guid), age }
    }
}

impl FactsKind {
    /// The keyword in JSON documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Converted => "converted",
            Self::Images => "images",
        }
    }

    /// Evidence of facts of this kind for a structure that they contain or lack. Images give no evidence about a structure that
    /// they lack.
    pub fn evidence(self, holds: bool) -> Option<Evidence> {
        match (self, holds) {
            (Self::Symbols, true) => Some(Evidence::Symbols),
            (Self::Converted, true) => Some(Evidence::Converted),
            (Self::Images, true) => Some(Evidence::Partly),
            (Self::Images, false) => None,
            (_, false) => Some(Evidence::Lacks),
        }
    }
}
