//! Joins the manifests of EventSource providers. They are sent as events, in chunks.

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

/// Error of a chunk that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// The format is not 1, XML.
    Format(u8),
    /// The number of the chunk is not less than the number of all chunks.
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
    /// Reads a payload. `None` if it has no envelope: the event is of another kind.
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

/// The sender of a manifest: one thread of a process sends all chunks, one after the other. In a file they can be out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender {
    /// GUID of the provider.
    pub provider: Uuid,
    /// Process.
    pub process: Option<u32>,
    /// Thread.
    pub thread: Option<u32>,
}

/// A manifest with missing chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// The sender of the manifest.
    pub sender: Sender,
    /// Number of chunks present.
    pub present: usize,
    /// Number of all chunks.
    pub total: u16,
}

/// Maximum number of different manifests that are kept per provider.
const VARIANTS: usize = 8;

/// Manifests, complete or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    complete: Vec<Manifest>,
    /// Indices of the complete manifests, by provider.
    indices: HashMap<Uuid, Vec<usize>>,
    open: HashMap<(Sender, [u8; 2], u16), Open>,
    /// Size of all chunks, in bytes, with the overhead of each.
    size: usize,
}

/// Memory overhead of each chunk or manifest, in bytes.
const OVERHEAD: usize = 128;

#[derive(Clone, Debug)]
struct Open {
    /// Place of the first chunk.
    place: Place,
    chunks: BTreeMap<u16, Vec<u8>>,
}

impl Manifests {
    /// Adds a chunk. It replaces an existing chunk with the same number, because a manifest can be sent again. Returns whether the chunk
    /// completes a manifest that differs from an earlier one of the provider.
    pub fn add(&mut self, sender: Sender, chunk: Chunk<'_>, place: Place) -> bool {
        let key = (sender, chunk.version, chunk.total);
        let open = self.open.entry(key).or_insert_with(|| Open { place, chunks: BTreeMap::new() });
        let earlier = open.chunks.insert(chunk.number, chunk.data.to_vec());
        self.size += chunk.data.len() + OVERHEAD;
        self.size -= earlier.map_or(0, |earlier| earlier.len() + OVERHEAD);
        if open.chunks.len() < usize::from(chunk.total) {
            return false;
        }
        let chunks = self.open.remove(&key).map(|open| open.chunks).unwrap_or_default();
        self.size -= chunks.values().map(|chunk| chunk.len() + OVERHEAD).sum::<usize>();
        let xml = chunks.into_values().collect::<Vec<_>>().concat();
        let variants = self.indices.entry(sender.provider).or_default();
        if variants.iter().any(|index| self.complete.get(*index).is_some_and(|known| known.xml == xml)) {
            return false;
        }
        let is_different = !variants.is_empty();
        if variants.len() < VARIANTS {
            variants.push(self.complete.len());
            self.size += xml.len() + OVERHEAD;
            self.complete.push(Manifest { provider: sender.provider, process: sender.process, xml, place });
        }
        is_different
    }

    /// Memory of all manifests, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The different complete manifests, in the order of their completion.
    pub fn complete(&self) -> &[Manifest] {
        &self.complete
    }

    /// The complete manifests, and the incomplete ones with the place of a chunk.
    pub fn finish(self) -> (Vec<Manifest>, Vec<(Incomplete, Place)>) {
        let incomplete = |((sender, _, total), open): ((Sender, _, u16), Open)| {
            (Incomplete { sender, present: open.chunks.len(), total }, open.place)
        };
        let mut open: Vec<_> = self.open.into_iter().map(incomplete).collect();
        open.sort_by_key(|(incomplete, _)| (incomplete.sender, incomplete.total));
        (self.complete, open)
    }
}
