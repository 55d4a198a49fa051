//! Detection of the container format, and access to streams.

use super::Error;
use super::msfz::{self, MSF_7};
use crate::little_endian::u32_at;
use pdb2::{PDB, Source, SourceSlice, SourceView};
use std::borrow::Cow;
use std::io;

const FAMILY: &[u8] = b"Microsoft C/C++ ";
const MSF_2: &[u8] = b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0";
const MSFZ: &[u8] = b"Microsoft MSFZ Container\r\n\x1aALD\0\0";

/// An opened file.
pub(super) type File<'a> = PDB<'a, Bytes<'a>>;

pub(super) fn recognizes(input: &[u8]) -> bool {
    let others: [&[u8]; 4] = [MSFZ, b"MSCF", b"BSJB", b"MZ"];
    others.into_iter().any(|magic| input.starts_with(magic)) || begins(input)
}

pub(super) fn is_pdb(input: &[u8]) -> bool {
    input.starts_with(FAMILY) || input.starts_with(MSFZ)
}

#[cfg(feature = "store")]
pub(super) fn is_compressed(input: &[u8]) -> bool {
    input.starts_with(MSFZ)
}

/// Whether this is the start of an MSF of any version.
fn begins(input: &[u8]) -> bool {
    !input.is_empty() && input.iter().zip(FAMILY).all(|(a, b)| a == b)
}

/// The first streams of a file have fixed numbers: identity, types and modules.
pub(super) const TYPES: usize = 4;

/// The file as an MSF, or an error with its actual format. From a compressed file, the given number of first streams is unpacked.
pub(super) fn msf(input: &[u8], streams: usize) -> Result<Cow<'_, [u8]>, Error> {
    match input {
        [] => Err(Error::Empty),
        [b'M', b'S', b'C', b'F', ..] => Err(Error::Cabinet),
        [b'B', b'S', b'J', b'B', ..] => Err(Error::Portable),
        [b'M', b'Z', ..] => Err(Error::Image),
        _ if input.starts_with(MSFZ) => msfz::unpack(input, streams).map(Cow::Owned),
        _ if input.starts_with(MSF_7) => Ok(Cow::Borrowed(input)),
        _ if input.starts_with(MSF_2) => Err(Error::Msf2),
        _ if input.len() < MSF_2.len() && begins(input) => Err(Error::Truncated { expected: None, actual: input.len() as u64 }),
        _ => Err(Error::Unrecognized),
    }
}

/// Opens an MSF after verifying the header members that `pdb2` relies on.
pub(super) fn open(msf: Cow<'_, [u8]>) -> Result<File<'_>, Error> {
    let actual = msf.len() as u64;
    let field = |at| u32_at(&msf, at).ok_or(Error::Truncated { expected: None, actual });
    let (page_size, pages, directory) = (field(32)?, field(40)?, field(44)?);
    if !page_size.is_power_of_two() || !(256..=1 << 16).contains(&page_size) {
        return Err(Error::damaged(format!("invalid page size of {page_size} bytes")));
    }
    let expected = u64::from(page_size) * u64::from(pages);
    if actual < expected {
        return Err(Error::Truncated { expected: Some(expected), actual });
    }
    // `pdb2` counts pages up to this number, in 32 bits.
    if u64::from(directory) > actual {
        return Err(Error::damaged(format!("invalid directory size of {directory} bytes")));
    }
    Ok(PDB::open(Bytes(msf))?)
}

/// Source of streams, which limits them to the size of the file, whatever the directory states.
#[derive(Debug)]
pub(super) struct Bytes<'a>(Cow<'a, [u8]>);

#[derive(Debug)]
struct View(Vec<u8>);

impl<'a> Source<'a> for Bytes<'a> {
    fn view(&mut self, slices: &[SourceSlice]) -> io::Result<Box<dyn SourceView<'a> + Send + Sync>> {
        let mut bytes = Vec::new();
        for slice in slices {
            let rest = usize::try_from(slice.offset).ok().and_then(|offset| self.0.get(offset..));
            let part = rest.and_then(|rest| rest.get(..slice.size)).ok_or(io::ErrorKind::UnexpectedEof)?;
            // Each page belongs to one stream only.
            if part.len() > self.0.len() - bytes.len() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend_from_slice(part);
        }
        Ok(Box::new(View(bytes)))
    }
}

impl SourceView<'_> for View {
    fn as_slice(&self) -> &[u8] {
        &self.0
    }
}
