//! What a file is by its first bytes, and the streams in it.

use super::{Error, msfz};
use crate::msf::{Fault, Header, MSF_2, MSF_7, MSFZ};
use pdb2::{PDB, Source, SourceSlice, SourceView};
use std::borrow::Cow;
use std::io;

const FAMILY: &[u8] = b"Microsoft C/C++ ";

/// An opened file.
pub(super) type File<'a> = PDB<'a, Bytes<'a>>;

pub(super) fn recognizes(input: &[u8]) -> bool {
    let others: [&[u8]; 4] = [MSFZ, b"MSCF", b"BSJB", b"MZ"];
    others.into_iter().any(|magic| input.starts_with(magic)) || begins(input)
}

/// Whether this is an MSF of any kind, or the beginning of one.
fn begins(input: &[u8]) -> bool {
    !input.is_empty() && input.iter().zip(FAMILY).all(|(a, b)| a == b)
}

/// Whether the container is the one that Visual C++ wrote before 7.0.
pub(super) fn is_old(msf: &[u8]) -> bool {
    msf.starts_with(MSF_2)
}

/// The streams of identity, types and modules have fixed numbers, and are the first of a file.
pub(super) const TYPES: usize = 4;

/// The file as an MSF, or what it is instead. One that is unpacked has as many of the first streams as are asked for.
pub(super) fn msf(input: &[u8], streams: usize) -> Result<Cow<'_, [u8]>, Error> {
    match input {
        [] => Err(Error::Empty),
        [b'M', b'S', b'C', b'F', ..] => Err(Error::Cabinet),
        [b'B', b'S', b'J', b'B', ..] => Err(Error::Portable),
        [b'M', b'Z', ..] => Err(Error::Image),
        _ if input.starts_with(MSFZ) => msfz::unpack(input, streams).map(Cow::Owned),
        _ if input.starts_with(MSF_7) || input.starts_with(MSF_2) => Ok(Cow::Borrowed(input)),
        _ if input.len() < MSF_2.len() && begins(input) => Err(Error::Truncated { expected: None, actual: input.len() as u64 }),
        _ => Err(Error::Unrecognized),
    }
}

/// Opens an MSF whose header holds what `pdb2` relies on.
pub(super) fn open(msf: &[u8]) -> Result<File<'_>, Error> {
    let actual = msf.len() as u64;
    let Header { directory, .. } = Header::read(msf, actual).map_err(|fault| match fault {
        Fault::Short => Error::Truncated { expected: None, actual },
        Fault::PageSize(size) => Error::damaged(format!("its pages are said to have {size} bytes")),
        Fault::CutShort(expected) => Error::Truncated { expected: Some(expected), actual },
    })?;
    // `pdb2` counts pages up to this number, in 32 bits.
    if u64::from(directory) > actual {
        return Err(Error::damaged(format!("its directory is said to have {directory} bytes")));
    }
    Ok(PDB::open(Bytes(msf))?)
}

/// Streams are cut from the file, and never larger than it, whatever a directory says of them.
#[derive(Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

#[derive(Debug)]
struct View(Vec<u8>);

impl<'a> Source<'a> for Bytes<'a> {
    fn view(&mut self, slices: &[SourceSlice]) -> io::Result<Box<dyn SourceView<'a> + Send + Sync>> {
        let mut bytes = Vec::new();
        for slice in slices {
            let rest = usize::try_from(slice.offset).ok().and_then(|offset| self.0.get(offset..));
            let part = rest.and_then(|rest| rest.get(..slice.size)).ok_or(io::ErrorKind::UnexpectedEof)?;
            // A page belongs to one stream, once.
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
