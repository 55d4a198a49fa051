//! The exports of an image: names for the functions of an image without a program database.

use super::Error;
use crate::identity::{ImageFile, Pdb};
use object::LittleEndian;
use object::pe::{self, ImageNtHeaders32, ImageNtHeaders64};
use object::read::FileKind;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile};
use std::ops::Range;

/// The exports of an image that are code, with the identity of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exports {
    time_stamp: u32,
    image_size: u32,
    pdb: Option<Pdb>,
    /// Sections with code: offsets in the image, in bytes.
    code: Vec<Range<u32>>,
    /// Offset in the image and name of each export, in the order of offsets.
    names: Vec<(u32, Box<str>)>,
    size: usize,
}

/// Maximum length of a name, in bytes. Exports with longer names are left out. Compilers limit names to 4,095 bytes.
const MAX_NAME: usize = 4096;

/// Maximum number of names; ordinals of exports have 16 bits.
const MAX_NAMES: usize = 1 << 16;

/// Maximum number of sections, as of Windows' loader.
const MAX_SECTIONS: usize = 96;

impl Exports {
    /// Reads a PE32 or PE32+ image. Forwarded exports and data are left out. The names have at most as many bytes as the image.
    ///
    /// # Errors
    ///
    /// The input is not a PE image, or is corrupt. No input causes a panic.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        match FileKind::parse(bytes) {
            Ok(FileKind::Pe32) => read::<ImageNtHeaders32>(bytes),
            Ok(FileKind::Pe64) => read::<ImageNtHeaders64>(bytes),
            _ => Err(Error::not_pe(bytes)),
        }
    }

    /// Whether the image has an identity: time stamp and size, or the program database.
    #[must_use]
    pub fn is_of(&self, image: &ImageFile, pdb: Option<&Pdb>) -> bool {
        // A trace without the time stamp has 0.
        let of_image = image.time_stamp != 0 && (self.time_stamp, self.image_size) == (image.time_stamp, image.size);
        let of_pdb = pdb.zip(self.pdb.as_ref()).map(|(one, other)| (one.guid, one.age) == (other.guid, other.age));
        of_pdb.unwrap_or(of_image)
    }

    /// The nearest export at or before an offset in the same section of code, and the distance to it in bytes. The export need not be the function
    /// at the offset: functions that are not exported can follow it.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<(&str, u32)> {
        let section = self.code.iter().find(|section| section.contains(&offset))?;
        let before = self.names.partition_point(|(start, _)| *start <= offset);
        let (start, name) = self.names.get(before.checked_sub(1)?)?;
        section.contains(start).then(|| (&**name, offset - start))
    }

    /// Size in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }
}

fn read<Headers: ImageNtHeaders>(bytes: &[u8]) -> Result<Exports, Error> {
    let file = PeFile::<Headers>::parse(bytes).map_err(Error::damaged("headers"))?;
    let sections = file.section_table();
    if sections.len() > MAX_SECTIONS {
        return Err(Error::Damaged { part: "headers", reason: format!("more than {MAX_SECTIONS} sections") });
    }
    let code = sections
        .iter()
        .filter(|section| section.characteristics.get(LittleEndian) & pe::IMAGE_SCN_MEM_EXECUTE != pe::SectionFlags(0));
    let code: Vec<_> = code
        .map(|section| {
            let start = section.virtual_address.get(LittleEndian);
            start..start.saturating_add(section.virtual_size.get(LittleEndian))
        })
        .collect();
    let (mut names, mut left) = (Vec::new(), bytes.len());
    if let Some(table) = file.export_table().map_err(Error::damaged("export directory"))? {
        for (pointer, index) in table.name_iter().take(MAX_NAMES) {
            let Ok(offset) = table.address_by_index(index) else { continue };
            let is_code = !table.is_forward(offset) && code.iter().any(|section| section.contains(&offset));
            let Some(text) = sections.pe_data_at(bytes, pointer).filter(|_| is_code) else { continue };
            let text = text.get(..MAX_NAME).unwrap_or(text);
            let length = text.iter().position(|byte| *byte == 0);
            let Some(rest) = left.checked_sub(length.unwrap_or(MAX_NAME)) else { break };
            left = rest;
            if let Some(length) = length {
                names.push((offset, String::from_utf8_lossy(&text[..length]).into()));
            }
        }
    }
    names.sort_unstable();
    // Of several names for an address, the first is used.
    names.dedup_by_key(|(offset, _)| *offset);
    let size = bytes.len() - left + names.len() * size_of::<(u32, Box<str>)>();
    Ok(Exports {
        time_stamp: file.nt_headers().file_header().time_date_stamp.get(LittleEndian),
        image_size: file.nt_headers().optional_header().size_of_image(),
        pdb: super::codeview(&file, bytes).ok(),
        code,
        names,
        size,
    })
}
