//! Sources of memory.

use super::error::{ReadError, ReadProblem};
use super::field::Field;
use core::convert::Infallible;

/// Memory by virtual address: a crash dump, an image with its page tables, a debugger. A closure `Fn(u64, &mut [u8]) -> Result<usize, E>`
/// is one.
pub trait Memory {
    /// The error of a source that fails, as a disk with bad sectors does.
    type Error;

    /// Reads bytes from an address on, and returns the number of bytes read at the front of `out`: all, some, or none. The rest of `out`
    /// is ignored. Missing memory is not an error.
    ///
    /// Addresses of 32-bit kernels are not sign-extended: `0x8000_0000`, not `0xFFFF_FFFF_8000_0000`.
    ///
    /// # Errors
    ///
    /// The source fails.
    fn read(&self, address: u64, out: &mut [u8]) -> Result<usize, Self::Error>;
}

impl<E, F: Fn(u64, &mut [u8]) -> Result<usize, E>> Memory for F {
    type Error = E;

    #[inline]
    fn read(&self, address: u64, out: &mut [u8]) -> Result<usize, E> {
        self(address, out)
    }
}

/// Bytes in memory that begin at an address.
#[derive(Clone, Copy, Debug)]
pub struct MemorySlice<'a> {
    /// Address of the first byte.
    pub address: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl Memory for MemorySlice<'_> {
    type Error = Infallible;

    #[inline]
    fn read(&self, address: u64, out: &mut [u8]) -> Result<usize, Infallible> {
        let start = address.checked_sub(self.address).and_then(|start| usize::try_from(start).ok());
        let rest = start.and_then(|start| self.bytes.get(start..)).unwrap_or_default();
        // The usual case first, with a length that is known when the caller is compiled.
        if let Some(bytes) = rest.get(..out.len()) {
            out.copy_from_slice(bytes);
            return Ok(out.len());
        }
        out[..rest.len()].copy_from_slice(rest);
        Ok(rest.len())
    }
}

/// A structure in memory, for reading its members.
#[doc(hidden)]
pub struct Source<'m, M: ?Sized> {
    memory: &'m M,
    address: u64,
    structure: &'static str,
    member: &'static str,
}

impl<'m, M: Memory + ?Sized> Source<'m, M> {
    pub(super) fn new(memory: &'m M, address: u64) -> Self {
        Self { memory, address, structure: "", member: "" }
    }

    /// Reads a member.
    #[inline(always)]
    pub fn member<F: Field>(
        &self,
        structure: &'static str,
        member: &'static str,
        place: &F::Location,
    ) -> Result<F, ReadError<M::Error>> {
        F::read(place, &Source { structure, member, ..*self })
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Address of the byte at an offset; `None` if it is beyond the last address.
    #[inline(always)]
    pub(super) fn at(&self, offset: u32) -> Option<u64> {
        self.address.checked_add(offset.into())
    }

    /// The source of what begins at an offset.
    #[inline]
    pub(super) fn from(&self, offset: u32, size: usize) -> Result<Self, ReadError<M::Error>> {
        match self.at(offset) {
            Some(address) => Ok(Self { address, ..*self }),
            None => Err(self.failed(u64::MAX, size, ReadProblem::Missing(0))),
        }
    }

    #[inline(always)]
    pub(super) fn bytes<const N: usize>(&self, offset: u32) -> Result<[u8; N], ReadError<M::Error>> {
        let mut bytes = [0; N];
        self.fill(offset, &mut bytes)?;
        Ok(bytes)
    }

    #[inline(always)]
    pub(super) fn fill(&self, offset: u32, out: &mut [u8]) -> Result<(), ReadError<M::Error>> {
        let Some(address) = self.at(offset) else {
            return Err(self.failed(u64::MAX, out.len(), ReadProblem::Missing(0)));
        };
        match self.memory.read(address, out) {
            Ok(read) if read >= out.len() => Ok(()),
            Ok(read) => Err(self.failed(address, out.len(), ReadProblem::Missing(read))),
            Err(error) => Err(self.failed(address, out.len(), ReadProblem::Source(error))),
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, address: u64, size: usize, problem: ReadProblem<M::Error>) -> ReadError<M::Error> {
        ReadError { structure: self.structure, member: self.member, address, size, problem }
    }
}

impl<M: ?Sized> Clone for Source<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized> Copy for Source<'_, M> {}
