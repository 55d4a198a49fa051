//! What bytes are asked of.

use crate::address::Address;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Memory by virtual address: of a crash dump, of an image with its page tables, of a debugger.
pub trait Memory {
    /// Reads bytes from an address on, and tells how many of the first ones it could: all, some, or none. What it leaves of `out`
    /// is not looked at.
    ///
    /// An address of a 32-bit kernel comes without sign: `0x8000_0000`, not `0xFFFF_FFFF_8000_0000`.
    fn read(&self, address: Address, out: &mut [u8]) -> usize;
}

impl<M: Memory + ?Sized> Memory for &M {
    fn read(&self, address: Address, out: &mut [u8]) -> usize {
        (**self).read(address, out)
    }
}

/// Memory as pieces with an address each, such as a small dump has. Where two overlap, that of the higher address holds.
#[derive(Clone, Debug, Default)]
pub struct Pieces(BTreeMap<u64, Vec<u8>>);

impl Pieces {
    /// Adds a piece; one of the same address is replaced.
    pub fn insert(&mut self, address: Address, bytes: Vec<u8>) {
        self.0.insert(address.0, bytes);
    }

    /// The pieces, by address.
    pub fn iter(&self) -> impl Iterator<Item = (Address, &[u8])> {
        self.0.iter().map(|(address, bytes)| (Address(*address), &bytes[..]))
    }

    /// The pieces, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut Vec<u8>)> {
        self.0.iter_mut().map(|(address, bytes)| (Address(*address), bytes))
    }

    /// Forgets a piece.
    pub fn remove(&mut self, address: Address) -> Option<Vec<u8>> {
        self.0.remove(&address.0)
    }
}

impl Memory for Pieces {
    fn read(&self, address: Address, out: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.0.checked_add(done as u64) else { break };
            let Some((start, bytes)) = self.0.range(..=at).next_back() else { break };
            let next =
                self.0.range((core::ops::Bound::Excluded(at), core::ops::Bound::Unbounded)).next().map(|(next, _)| next - at);
            let there = usize::try_from(at - start).ok().and_then(|skip| bytes.get(skip..)).unwrap_or_default();
            let most = next.and_then(|next| usize::try_from(next).ok()).unwrap_or(usize::MAX);
            let length = there.len().min(rest.len()).min(most);
            if length == 0 {
                break;
            }
            rest[..length].copy_from_slice(&there[..length]);
            done += length;
        }
        done
    }
}
