//! Sources of memory.

use crate::address::Address;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

/// Memory by virtual address: a crash dump, an image with its page tables, a debugger.
pub trait Memory {
    /// Reads bytes from an address on, and returns the number of bytes read at the front of `out`: all, some, or none. The rest
    /// of `out` is ignored. Missing memory is not an error.
    ///
    /// Addresses of 32-bit kernels are not sign-extended: `0x8000_0000`, not `0xFFFF_FFFF_8000_0000`.
    ///
    /// # Errors
    ///
    /// The source of the memory fails, as a disk with bad sectors does.
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError>;
}

impl<M: Memory + ?Sized> Memory for &M {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        (**self).read(address, out)
    }
}

/// Error of a source of memory, in the words of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(pub String);

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ReadError {}

/// Memory as pieces by address, as in a small dump. Where two overlap, the one with the higher address is used.
#[derive(Clone, Debug, Default)]
pub struct SparseMemory {
    pieces: BTreeMap<u64, Vec<u8>>,
    /// Length of the longest piece.
    longest: u64,
}

impl SparseMemory {
    /// Adds a piece, replacing one at the same address.
    pub fn insert(&mut self, address: Address, bytes: Vec<u8>) {
        self.longest = self.longest.max(bytes.len() as u64);
        self.pieces.insert(address.0, bytes);
    }

    /// The pieces in address order.
    pub fn iter(&self) -> impl Iterator<Item = (Address, &[u8])> {
        self.pieces.iter().map(|(address, bytes)| (Address(*address), &bytes[..]))
    }

    /// The pieces in address order, with mutable bytes.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut [u8])> {
        self.pieces.iter_mut().map(|(address, bytes)| (Address(*address), &mut bytes[..]))
    }

    /// Removes a piece.
    pub fn remove(&mut self, address: Address) -> Option<Vec<u8>> {
        self.pieces.remove(&address.0)
    }

    /// The bytes from an address on, in the piece used there.
    fn from(&self, at: u64) -> Option<&[u8]> {
        let near = at.saturating_sub(self.longest)..=at;
        self.pieces.range(near).rev().find_map(|(start, bytes)| {
            let skip = usize::try_from(at - start).ok()?;
            bytes.get(skip..).filter(|present| !present.is_empty())
        })
    }
}

impl Memory for SparseMemory {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.0.checked_add(done as u64) else { break };
            let Some(present) = self.from(at) else { break };
            let next = self.pieces.range((Bound::Excluded(at), Bound::Unbounded)).next().map(|(next, _)| next - at);
            let most = next.and_then(|next| usize::try_from(next).ok()).unwrap_or(usize::MAX);
            let length = present.len().min(rest.len()).min(most);
            rest[..length].copy_from_slice(&present[..length]);
            done += length;
        }
        Ok(done)
    }
}
