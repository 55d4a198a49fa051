//! The secondary data behind a dump: blobs, each with a tag that tells whose it is.

use crate::finding::{self, Finding, What};
use crate::wire::{DUMP_BLOB_FILE_HEADER, DUMP_BLOB_HEADER, letters, view};
use etw_layouts_etl::Guid;

/// What a driver or a part of the kernel has added to a dump.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    /// Whose it is.
    pub tag: Guid,
    /// Where its data begins, in bytes from the start of the file.
    pub offset: u64,
    /// Its data; fewer bytes than its header says if the file ends before.
    pub data: &'a [u8],
}

/// The blobs from an offset on, up to the end of the file.
pub(crate) fn blobs<'a>(bytes: &'a [u8], at: usize, findings: &mut Vec<Finding>) -> Vec<Blob<'a>> {
    let mut blobs = Vec::new();
    let mut find = |offset: usize, what| finding::find(findings, offset as u64, what);
    if at >= bytes.len() {
        return blobs;
    }
    let header: DUMP_BLOB_FILE_HEADER = match view(bytes, at) {
        Some(header) => header,
        None => {
            find(at, What::NoBlobs);
            return blobs;
        }
    };
    if (header.Signature1, header.Signature2) != (letters(b"Dump"), letters(b"Blob")) {
        find(at, What::NoBlobs);
        return blobs;
    }
    if (header.HeaderSize as usize) < size_of_val(&header) {
        find(at, What::HeaderSize { what: "the header of the secondary data", size: header.HeaderSize });
        return blobs;
    }
    let mut next = at.checked_add(header.HeaderSize as usize);
    while let Some(at) = next.filter(|at| *at < bytes.len()) {
        let Some(header) = view::<DUMP_BLOB_HEADER>(bytes, at) else {
            let (size, there) = (size_of::<DUMP_BLOB_HEADER>() as u64, (bytes.len() - at) as u64);
            find(at, What::Truncated { what: "the header of a blob", size, there });
            break;
        };
        if (header.HeaderSize as usize) < size_of_val(&header) {
            find(at, What::HeaderSize { what: "the header of a blob", size: header.HeaderSize });
            break;
        }
        let start = at.saturating_add(header.HeaderSize as usize).saturating_add(header.PrePad as usize);
        let rest = bytes.get(start..).unwrap_or(&[]);
        let size = header.DataSize as usize;
        let data = &rest[..size.min(rest.len())];
        if data.len() < size {
            find(at, What::Truncated { what: "a blob", size: size as u64, there: data.len() as u64 });
        }
        blobs.push(Blob { tag: header.Tag.into(), offset: start as u64, data });
        next = start.checked_add(size).and_then(|end| end.checked_add(header.PostPad as usize));
    }
    blobs
}
