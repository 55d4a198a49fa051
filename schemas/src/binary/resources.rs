//! Reads resources of a PE file: only the headers, the resource directory, and the data of two resource types.

use object::ReadRef;
use object::pe::{self, ImageDosHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::FileKind;
use object::read::pe::{ImageNtHeaders, SectionTable};

/// The resources with schemas, and those with messages.
#[derive(Default)]
pub(super) struct Resources<'a> {
    /// Resources of the type `WEVT_TEMPLATE`.
    pub templates: Vec<&'a [u8]>,
    /// Message tables with their language identifiers.
    pub messages: Vec<(u32, &'a [u8])>,
}

/// Maximum size of all resources of a type, in bytes. The largest message tables of Windows have some MB.
const MAX_SIZE: u64 = 32 << 20;

/// Maximum number of resources of a type, and maximum number of directory entries that are read.
const MAX_RESOURCES: usize = 64;
const MAX_ENTRIES: u16 = 4096;

/// A part of the file that cannot be read.
pub(super) type Corrupt = &'static str;

/// The resources of a file; `None` if it is not a PE file.
pub(super) fn read<'a, R: ReadRef<'a>>(data: R) -> Result<Option<Resources<'a>>, Corrupt> {
    match FileKind::parse(data) {
        Ok(FileKind::Pe32) => found::<ImageNtHeaders32, R>(data).map(Some),
        Ok(FileKind::Pe64) => found::<ImageNtHeaders64, R>(data).map(Some),
        _ => Ok(None),
    }
}

fn found<'a, Headers: ImageNtHeaders, R: ReadRef<'a>>(data: R) -> Result<Resources<'a>, Corrupt> {
    const HEADERS: Corrupt = "corrupt headers of a PE file";
    let mut offset = ImageDosHeader::parse(data).map_err(|_| HEADERS)?.nt_headers_offset().into();
    let (headers, directories) = Headers::parse(data, &mut offset).map_err(|_| HEADERS)?;
    let sections = headers.sections(data, offset).map_err(|_| HEADERS)?;
    let mut resources = Resources::default();
    let Some(directory) = directories.get(pe::IMAGE_DIRECTORY_ENTRY_RESOURCE) else { return Ok(resources) };
    let root = directory.virtual_address.get(object::LittleEndian);
    if root == 0 {
        return Ok(resources);
    }
    let tree = Tree { data, sections, root: place(&sections, root).ok_or("resource directory beyond the end of the PE file")? };
    for (id, child) in tree.entries(0)? {
        if id == u32::from(pe::RT_MESSAGETABLE) {
            resources.messages = tree.leaves(child)?;
        } else if id & Tree::<R>::IS_NAME != 0 && tree.is_named(id, "WEVT_TEMPLATE")? {
            resources.templates = tree.leaves(child)?.into_iter().map(|(_, data)| data).collect();
        }
    }
    Ok(resources)
}

/// The file offset of an address.
fn place(sections: &SectionTable<'_>, address: u32) -> Option<u64> {
    sections.pe_file_range_at(address).map(|(offset, _)| offset.into())
}

struct Tree<'a, R> {
    data: R,
    sections: SectionTable<'a>,
    /// Offset of the resource directory in the file.
    root: u64,
}

impl<'a, R: ReadRef<'a>> Tree<'a, R> {
    /// Flag of an identifier that is the offset of a name, and of a child that is a directory.
    const IS_NAME: u32 = 1 << 31;

    fn bytes(&self, at: u64, size: u64) -> Result<&'a [u8], Corrupt> {
        self.data.read_bytes_at(at, size).map_err(|()| "truncated PE file: its resources exceed the end of the file")
    }

    /// Identifier and child of each entry of the directory at an offset from the root.
    fn entries(&self, directory: u32) -> Result<Vec<(u32, u32)>, Corrupt> {
        let at = self.root + u64::from(directory & !Self::IS_NAME);
        let header = self.bytes(at, 16)?;
        let count =
            |at: usize| header.get(at..at + 2).and_then(|bytes| bytes.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b));
        let count = count(12).saturating_add(count(14)).min(MAX_ENTRIES);
        let words = self.bytes(at + 16, u64::from(count) * 8)?.as_chunks::<4>().0;
        Ok(words.as_chunks::<2>().0.iter().map(|[id, child]| (u32::from_le_bytes(*id), u32::from_le_bytes(*child))).collect())
    }

    fn is_named(&self, id: u32, name: &str) -> Result<bool, Corrupt> {
        let at = self.root + u64::from(id & !Self::IS_NAME);
        let length = self.bytes(at, 2)?.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
        if usize::from(length) != name.len() {
            return Ok(false);
        }
        let units = self.bytes(at + 2, u64::from(length) * 2)?.as_chunks::<2>().0;
        Ok(name.encode_utf16().eq(units.iter().map(|unit| u16::from_le_bytes(*unit))))
    }

    /// Language and data of all resources of a type. The directory of the type contains names, each name contains languages, each with data.
    fn leaves(&self, names: u32) -> Result<Vec<(u32, &'a [u8])>, Corrupt> {
        let (mut leaves, mut left) = (Vec::new(), MAX_SIZE);
        for (_, languages) in self.entries(names)? {
            for (language, leaf) in self.entries(languages)? {
                if leaves.len() == MAX_RESOURCES {
                    return Ok(leaves);
                }
                leaves.push((language, self.leaf(leaf, &mut left)?));
            }
        }
        Ok(leaves)
    }

    fn leaf(&self, leaf: u32, left: &mut u64) -> Result<&'a [u8], Corrupt> {
        let entry = self.bytes(self.root + u64::from(leaf), 16)?;
        let word = |at: usize| entry.get(at..at + 4).and_then(|bytes| bytes.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
        let (address, size) = (word(0), u64::from(word(4)));
        *left = left.checked_sub(size).ok_or("resources too large: more than 32 MiB")?;
        self.bytes(place(&self.sections, address).ok_or("resource outside of the sections of the PE file")?, size)
    }
}
