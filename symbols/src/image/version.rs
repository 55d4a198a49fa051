//! The version resource.

use super::Error;
use object::LittleEndian;
use object::pe::{self, ImageResourceDirectoryEntry};
use object::read::pe::{ImageNtHeaders, PeFile, ResourceDirectory, ResourceDirectoryTable};

/// Offset of VS_FIXEDFILEINFO: after three words and the key `VS_VERSION_INFO` in UTF-16, aligned to four bytes.
const FIXED: usize = 40;
const SIGNATURE: u32 = 0xFEEF_04BD;

/// The file version: major and minor version, build, revision.
pub(super) fn file<Headers: ImageNtHeaders>(file: &PeFile<Headers>, bytes: &[u8]) -> Result<[u32; 4], Error> {
    let damaged = Error::damaged("resources");
    let sections = file.section_table();
    let section = file.data_directories().resource_directory(bytes, &sections).map_err(&damaged)?.ok_or(Error::NoVersion)?;
    let types = section.root().map_err(&damaged)?;
    let version = |entry: &&ImageResourceDirectoryEntry| entry.name_or_id().id() == Some(pe::RT_VERSION);
    let version = types.entries.iter().find(version).ok_or(Error::NoVersion)?;
    // Below the type are tables of names and of languages; only the first entry of each matters.
    let names = table(version, section)?;
    let languages = table(names.entries.first().ok_or(Error::NoVersion)?, section)?;
    let leaf = languages.entries.first().ok_or(Error::NoVersion)?.data(section).map_err(&damaged)?;
    let leaf = leaf.data().ok_or(Error::NoVersion)?;
    let data = sections.pe_data_at(bytes, leaf.offset_to_data.get(LittleEndian));
    fixed(data.unwrap_or_default().get(..leaf.size.get(LittleEndian) as usize).unwrap_or_default()).ok_or_else(|| {
        let reason = "the version resource has no VS_FIXEDFILEINFO".to_owned();
        Error::Damaged { part: "resources", reason }
    })
}

fn table<'data>(
    entry: &ImageResourceDirectoryEntry,
    section: ResourceDirectory<'data>,
) -> Result<ResourceDirectoryTable<'data>, Error> {
    entry.data(section).map_err(Error::damaged("resources"))?.table().ok_or(Error::NoVersion)
}

fn fixed(resource: &[u8]) -> Option<[u32; 4]> {
    let word = |at: usize| Some(u32::from_le_bytes(*resource.get(FIXED + at..)?.first_chunk()?));
    let (high, low) = (word(8)?, word(12)?);
    (word(0)? == SIGNATURE).then_some([high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF])
}
