//! MSFZ, the compressed container: unpacks the relevant streams to an MSF.
//!
//! The format is described in `docs/pdb/msfz.md` of <https://github.com/microsoft/pdb-rs>.

use super::Error;
use crate::little_endian::u32_at;
use ruzstd::decoding::FrameDecoder;
use std::collections::BTreeMap;

/// The start of an MSF 7.00, the container to which [`unpack`] converts.
pub(super) const MSF_7: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";

/// Maximum ratio of unpacked to packed size. The ratio of kernel files is 4.
const RATIO: usize = 100;

/// Maximum distance that a compressor looks back, except in larger chunks.
const WINDOW: u64 = 8 << 20;

const PAGE: usize = 4096;
const NONE: u32 = 0;
const ZSTD: u32 = 1;
const NIL: u32 = u32::MAX;
const COMPRESSED: u32 = 1 << 31;
const CHUNK_ENTRY: usize = 20;

/// Unpacks at most the given number of first streams to an MSF 7.00 with no other contents.
pub(super) fn unpack(input: &[u8], most: usize) -> Result<Vec<u8>, Error> {
    let mut file = File { input, chunks: &[], decoded: BTreeMap::new(), left: input.len().saturating_mul(RATIO) };
    let header = |offset| u32_at(input, offset).ok_or_else(|| truncated(input));
    if (header(32)?, header(36)?) != (0, 0) {
        return Err(Error::Unsupported { what: format!("MSFZ version {}", header(32)?) });
    }
    let [directory_at, _, chunks_at, _] = [header(40)?, header(44)?, header(48)?, header(52)?];
    let (compression, packed, size) = (header(60)?, header(64)?, header(68)?);
    file.chunks = if header(76)? == 0 { &[] } else { slice(input, chunks_at, header(76)?)? };
    let directory = file.decode(compression, slice(input, directory_at, packed)?, size)?;
    let count = most.min(header(56)? as usize);
    let mut words = directory.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let mut streams = Vec::new();
    for _ in 0..count {
        streams.push(file.stream(&mut words)?);
    }
    Ok(msf(&streams))
}

struct File<'a> {
    input: &'a [u8],
    /// The chunk table.
    chunks: &'a [u8],
    /// Decoded chunks by number.
    decoded: BTreeMap<u32, Vec<u8>>,
    /// Number of further bytes to decode or copy.
    left: usize,
}

impl File<'_> {
    /// The next stream in the directory; `None` if it does not exist.
    fn stream(&mut self, words: &mut impl Iterator<Item = u32>) -> Result<Option<Vec<u8>>, Error> {
        let mut stream = Vec::new();
        loop {
            let mut word = || words.next().ok_or_else(|| Error::damaged("its directory is truncated"));
            match word()? {
                NIL => return Ok(None),
                0 => return Ok(Some(stream)),
                size => {
                    let (low, high) = (word()?, word()?);
                    self.spend(size)?;
                    if high & COMPRESSED == 0 {
                        // The file is smaller than 4 GiB, so that a higher offset is beyond its end.
                        let offset = if high & 0xFFFF == 0 { low } else { u32::MAX };
                        stream.extend_from_slice(slice(self.input, offset, size)?);
                    } else {
                        self.fragment(high & !COMPRESSED, low as usize, size as usize, &mut stream)?;
                    }
                }
            }
        }
    }

    /// Appends the contents of a chunk, and of those that follow it.
    fn fragment(&mut self, first: u32, mut offset: usize, mut size: usize, stream: &mut Vec<u8>) -> Result<(), Error> {
        for number in first.. {
            if !self.decoded.contains_key(&number) {
                let chunk = self.chunk(number)?;
                self.decoded.insert(number, chunk);
            }
            let part = self.decoded[&number].get(offset..).unwrap_or_default();
            let part = &part[..part.len().min(size)];
            if part.is_empty() {
                return Err(Error::damaged(format!("chunk {number} is too short")));
            }
            stream.extend_from_slice(part);
            size -= part.len();
            offset = 0;
            if size == 0 {
                break;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, number: u32) -> Result<Vec<u8>, Error> {
        let start = (number as usize).saturating_mul(CHUNK_ENTRY);
        let entry = self.chunks.get(start..).and_then(|rest| rest.get(..CHUNK_ENTRY));
        let entry = entry.ok_or_else(|| Error::damaged(format!("chunk {number} does not exist")))?;
        let field = |offset| u32_at(entry, offset).unwrap_or_default();
        let offset = if field(4) == 0 { field(0) } else { u32::MAX };
        self.decode(field(8), slice(self.input, offset, field(12))?, field(16))
    }

    fn decode(&mut self, compression: u32, packed: &[u8], size: u32) -> Result<Vec<u8>, Error> {
        self.spend(size)?;
        // Chunks can share packed bytes.
        self.spend(packed.len() as u32)?;
        match compression {
            NONE => Ok(packed.to_vec()),
            ZSTD => {
                let mut bytes = vec![0; size as usize];
                let mut decoder = FrameDecoder::new();
                decoder.set_max_window_size(WINDOW.max(size.into()));
                let length = decoder.decode_all(packed, &mut bytes).map_err(|error| Error::damaged(error.to_string()))?;
                bytes.truncate(length);
                Ok(bytes)
            }
            other => Err(Error::Unsupported { what: format!("MSFZ compression {other}") }),
        }
    }

    fn spend(&mut self, bytes: u32) -> Result<(), Error> {
        let too_large = || Error::damaged(format!("its stated unpacked size is more than {RATIO} times as large"));
        self.left = self.left.checked_sub(bytes as usize).ok_or_else(too_large)?;
        Ok(())
    }
}

fn slice(input: &[u8], offset: u32, size: u32) -> Result<&[u8], Error> {
    let part = input.get(offset as usize..).and_then(|rest| rest.get(..size as usize));
    part.ok_or_else(|| truncated(input))
}

fn truncated(input: &[u8]) -> Error {
    Error::Truncated { expected: None, actual: input.len() as u64 }
}

/// An MSF 7.00 with streams: header, two pages for free page maps, the streams, their directory, and the page list of the
/// directory.
fn msf(streams: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut file = vec![0; 3 * PAGE];
    let mut append = |bytes: &[u8]| {
        let first = file.len() / PAGE;
        file.extend_from_slice(bytes);
        file.resize(file.len().next_multiple_of(PAGE), 0);
        (first..file.len() / PAGE).map(|page| page as u32).collect::<Vec<_>>()
    };
    let mut directory = vec![streams.len() as u32];
    directory.extend(streams.iter().map(|stream| stream.as_ref().map_or(NIL, |stream| stream.len() as u32)));
    directory.extend(streams.iter().flatten().flat_map(|stream| append(stream)));
    let size = directory.len() as u32 * 4;
    let directory_pages = append(&bytes(&directory));
    let map_pages = append(&bytes(&directory_pages));
    let pages = (file.len() / PAGE) as u32;
    let mut header = MSF_7.to_vec();
    header.extend(bytes(&[PAGE as u32, 1, pages, size, 0]));
    header.extend(bytes(&map_pages));
    file[..header.len()].copy_from_slice(&header);
    file
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
