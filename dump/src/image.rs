//! The image of the kernel in memory, which identifies its symbol file.

use crate::wire::{RSDS, letters, view};
use etw_layouts::runtime::meta;
use etw_layouts_memory::{Address, Memory, ReadError};
use object::pe::{self, ImageDebugDirectory, ImageDosHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader};
use object::{LittleEndian, pod};
use std::cell::Cell;

/// The kernel image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelImage {
    /// Base address.
    pub base: Address,
    /// Time stamp and size, which identify the image.
    pub file: meta::Image,
    /// Symbol file; `None` if its identification is not in the dump.
    pub pdb: Option<Pdb>,
}

/// Identification of a symbol file, from an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// File name, without a path.
    pub name: String,
    /// GUID and age.
    pub id: meta::Pdb,
}

/// Maximum size of the headers of an image, in bytes.
const HEADERS: usize = 0x1000;
/// Maximum number of entries of a debug directory.
const ENTRIES: usize = 64;
/// Maximum size of the record with the name of the symbol file, in bytes.
const RECORD: usize = 0x400;

impl KernelImage {
    /// Reads the image at an address; `None` if there is none.
    pub(crate) fn read(memory: &impl Memory, base: Address, is_64_bit: bool) -> Result<Option<Self>, ReadError> {
        // The first error of the memory.
        let failed = Cell::new(None);
        let memory = |address: Address, out: &mut [u8]| match memory.read(address, out) {
            Ok(present) => present,
            Err(error) => {
                failed.set(Some(failed.take().unwrap_or(error)));
                0
            }
        };
        let image = Self::of_memory(&memory, base, is_64_bit);
        failed.take().map_or(Ok(image), Err)
    }

    fn of_memory(memory: &impl Fn(Address, &mut [u8]) -> usize, base: Address, is_64_bit: bool) -> Option<Self> {
        let headers = bytes(memory, base, 0, HEADERS)?;
        match is_64_bit {
            true => Self::of::<ImageNtHeaders64>(memory, base, &headers),
            false => Self::of::<ImageNtHeaders32>(memory, base, &headers),
        }
    }

    fn of<Headers: ImageNtHeaders>(memory: &impl Fn(Address, &mut [u8]) -> usize, base: Address, headers: &[u8]) -> Option<Self> {
        let mut at = ImageDosHeader::parse(headers).ok()?.nt_headers_offset().into();
        let (headers, directories) = Headers::parse(headers, &mut at).ok()?;
        let time_stamp = headers.file_header().time_date_stamp.get(LittleEndian);
        let file = meta::Image { time_stamp, size: headers.optional_header().size_of_image() };
        let directory = directories.get(pe::IMAGE_DIRECTORY_ENTRY_DEBUG);
        let pdb = directory.and_then(|directory| {
            let (at, size) = directory.address_range();
            let size = (size as usize).min(ENTRIES * size_of::<ImageDebugDirectory>());
            let entries = bytes(memory, base, at, size - size % size_of::<ImageDebugDirectory>())?;
            let entries = pod::slice_from_all_bytes::<ImageDebugDirectory>(&entries).ok()?;
            let of_pdb = entries.iter().filter(|entry| entry.typ.get(LittleEndian) == pe::IMAGE_DEBUG_TYPE_CODEVIEW);
            of_pdb.filter_map(|entry| pdb(memory, base, entry)).next()
        });
        Some(Self { base, file, pdb })
    }
}

/// The symbol file that an entry of the debug directory identifies.
fn pdb(memory: &impl Fn(Address, &mut [u8]) -> usize, base: Address, entry: &ImageDebugDirectory) -> Option<Pdb> {
    let size = (entry.size_of_data.get(LittleEndian) as usize).min(RECORD);
    let record = bytes(memory, base, entry.address_of_raw_data.get(LittleEndian), size)?;
    // The structure ends with the first character of the name, followed by padding.
    let name = record.get(core::mem::offset_of!(RSDS, PdbName)..)?;
    let head: RSDS = view(&[&record[..], &[0; size_of::<RSDS>()]].concat(), 0)?;
    if head.Signature != letters(b"RSDS") {
        return None;
    }
    let name = String::from_utf8_lossy(name.split(|byte| *byte == 0).next()?);
    let name = name.rsplit(['\\', '/']).next().filter(|name| is_file_name(name))?.to_owned();
    let guid = etw_layouts_etl::wire::guid(head.Guid);
    Some(Pdb { name, id: meta::Pdb { guid, age: head.Age } })
}

/// Whether a name is a plain file name on every system: no path, drive or stream.
fn is_file_name(name: &str) -> bool {
    let forbidden = |c: char| c.is_control() || ":*?\"<>|".contains(c);
    !name.bytes().all(|byte| byte == b'.') && !name.contains(forbidden)
}

/// Bytes of an image; `None` if the dump lacks any of them.
fn bytes(memory: &impl Fn(Address, &mut [u8]) -> usize, base: Address, at: u32, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let present = memory(base.plus(at.into())?, &mut bytes);
    (present == size).then_some(bytes)
}
