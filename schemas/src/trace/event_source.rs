//! Joins the manifests of EventSource providers, which send them as events in chunks.

use super::place::Place;
use etw_layouts_payload::Uuid;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// ID of the events with manifests.
pub const MANIFEST_EVENT: u16 = 0xFFFE;

/// The manifest of an EventSource provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// GUID of the provider.
    pub provider: Uuid,
    /// Process that sent it first.
    pub process: Option<u32>,
    /// The manifest: XML in UTF-8.
    pub xml: Vec<u8>,
    /// Place of the event that completed it.
    pub place: Place,
}

/// Why a chunk of a manifest is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// The format is not 1, XML.
    Format(u8),
    /// The number of the chunk is not less than that of all chunks.
    Number {
        /// Number of the chunk.
        number: u16,
        /// Number of all chunks.
        total: u16,
    },
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(format) => write!(f, "unknown format {format} of an EventSource manifest"),
            Self::Number { number, total } => write!(f, "invalid chunk of an EventSource manifest: number {number} of {total}"),
        }
    }
}

impl std::error::Error for ChunkError {}

/// A part of a manifest: the payload of an event with ID [`MANIFEST_EVENT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Version of the envelope, major and minor.
    pub version: [u8; 2],
    /// Number of chunks.
    pub total: u16,
    /// Number of this chunk, from 0.
    pub number: u16,
    /// Part of the XML.
    pub data: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads a payload. `None` if it has no envelope: then the event is one of another kind.
    ///
    /// # Errors
    ///
    /// The envelope is invalid.
    pub fn read(payload: &'a [u8]) -> Option<Result<Self, ChunkError>> {
        const MAGIC: u8 = 0x5B;
        let ([format, major, minor, MAGIC, t0, t1, n0, n1], data) = payload.split_first_chunk()? else { return None };
        let (total, number) = (u16::from_le_bytes([*t0, *t1]), u16::from_le_bytes([*n0, *n1]));
        Some(match *format {
            1 if number < total => Ok(Self { version: [*major, *minor], total, number, data }),
            1 => Err(ChunkError::Number { number, total }),
            other => Err(ChunkError::Format(other)),
        })
    }
}

/// What sends a manifest: one thread of a process sends all its chunks, one after the other. They can be out of order in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender {
    /// GUID of the provider.
    pub provider: Uuid,
    /// Process.
    pub process: Option<u32>,
    /// Thread.
    pub thread: Option<u32>,
}

/// A manifest of which chunks are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// Who sent it.
    pub sender: Sender,
    /// Number of chunks present.
    pub there: usize,
    /// Number of all chunks.
    pub total: u16,
}

/// How many different manifests of a provider are kept.
const VARIANTS: usize = 8;

/// Manifests, complete or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    complete: Vec<Manifest>,
    /// Indices of those that are complete, by provider.
    indices: HashMap<Uuid, Vec<usize>>,
    open: HashMap<(Sender, [u8; 2], u16), Open>,
}

#[derive(Clone, Debug)]
struct Open {
    /// Place of the first chunk.
    place: Place,
    chunks: BTreeMap<u16, Vec<u8>>,
}

impl Manifests {
    /// Adds a chunk. A chunk that is there already is replaced: the manifest is sent again. Returns whether the manifest, if this completes
    /// it, differs from an earlier one of the provider.
    pub fn add(&mut self, sender: Sender, chunk: Chunk<'_>, place: Place) -> bool {
        let key = (sender, chunk.version, chunk.total);
        let open = self.open.entry(key).or_insert_with(|| Open { place, chunks: BTreeMap::new() });
        open.chunks.insert(chunk.number, chunk.data.to_vec());
        if open.chunks.len() < usize::from(chunk.total) {
            return false;
        }
        let chunks = self.open.remove(&key).map(|open| open.chunks).unwrap_or_default();
        let xml = chunks.into_values().collect::<Vec<_>>().concat();
        let variants = self.indices.entry(sender.provider).or_default();
        if variants.iter().any(|index| self.complete.get(*index).is_some_and(|known| known.xml == xml)) {
            return false;
        }
        let is_different = !variants.is_empty();
        if variants.len() < VARIANTS {
            variants.push(self.complete.len());
            self.complete.push(Manifest { provider: sender.provider, process: sender.process, xml, place });
        }
        is_different
    }

    /// Those that are complete, in the order in which they became so. Each is there once.
    pub fn complete(&self) -> &[Manifest] {
        &self.complete
    }

    /// Those that are complete, and the others with the place of a chunk.
    pub fn finish(self) -> (Vec<Manifest>, Vec<(Incomplete, Place)>) {
        let incomplete = |((sender, _, total), open): ((Sender, _, u16), Open)| {
            (Incomplete { sender, there: open.chunks.len(), total }, open.place)
        };
        let mut open: Vec<_> = self.open.into_iter().map(incomplete).collect();
        open.sort_by_key(|(incomplete, _)| (incomplete.sender, incomplete.total));
        (self.complete, open)
    }
}
