//! The secondary data of a dump: blocks of data with tags, after its end.

use crate::diagnostic::{self, Diagnostic, DiagnosticKind};
use crate::header::TriageOffsets;
use crate::wire::{DUMP_BLOB_FILE_HEADER, DUMP_BLOB_HEADER, letters, view};
use etw_layouts_etl::Uuid;
use etw_layouts_etl::wire::guid;

/// A secondary data block, which a driver or a kernel component added to a dump; a "dump blob" in the names of Microsoft.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    /// Tag of the component that added the data.
    pub tag: Uuid,
    /// File offset of the data, in bytes.
    pub offset: u64,
    /// The data; fewer bytes than the header states if the file is truncated.
    pub data: &'a [u8],
}

/// Size of a block header in all known dumps, in bytes.
const HEADER: usize = size_of::<DUMP_BLOB_HEADER>();

/// Maximum size of a block header; a greater value is damage.
const MAX_HEADER_SIZE: usize = 0x100;

/// Alignment of the data and padding, in bytes.
const UNIT: u64 = 8;

/// The blocks after a dump, up to the end of the file.
pub(crate) fn blobs<'a>(bytes: &'a [u8], offsets: &TriageOffsets, diagnostics: &mut Vec<Diagnostic>) -> Vec<Blob<'a>> {
    let mut chain = Chain { bytes, at: start(bytes, offsets, diagnostics), diagnostics };
    let mut blobs = Vec::new();
    if chain.at < bytes.len() {
        chain.begin();
    }
    while chain.at < bytes.len() {
        match chain.blob() {
            Some(blob) => blobs.push(blob),
            None => break,
        }
    }
    blobs
}

/// Start of the secondary data. The header states it twice: as the size of the dump, and as the position of the end signature.
fn start(bytes: &[u8], offsets: &TriageOffsets, diagnostics: &mut Vec<Diagnostic>) -> usize {
    let stated = offsets.size as usize;
    let ends_at = |end: usize| end.checked_sub(4).and_then(|at| view(bytes, at)) == Some(letters(b"TRGD"));
    let begins_at = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(b"DumpBlob"));
    let letters = (offsets.valid as usize).saturating_add(4);
    if begins_at(stated) {
        return stated;
    }
    let end = if ends_at(letters) {
        letters
    } else {
        let whole = bytes.windows(12).position(|window| window == b"TRGDDumpBlob");
        whole.map_or(stated, |at| at + 4)
    };
    if end != stated {
        diagnostic::report(diagnostics, end as u64, DiagnosticKind::Size { stated: offsets.size });
    }
    end
}

/// An iteration over the blocks.
struct Chain<'f, 'a> {
    bytes: &'a [u8],
    at: usize,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'a> Chain<'_, 'a> {
    fn report(&mut self, kind: DiagnosticKind) {
        diagnostic::report(self.diagnostics, self.at as u64, kind);
    }

    /// Finds the first block.
    fn begin(&mut self) {
        let header = view::<DUMP_BLOB_FILE_HEADER>(self.bytes, self.at);
        let is_header =
            |header: &DUMP_BLOB_FILE_HEADER| (header.Signature1, header.Signature2) == (letters(b"Dump"), letters(b"Blob"));
        let Some(header) = header.filter(is_header) else {
            let is_dump = self.is_dump(self.at);
            self.report(if is_dump { DiagnosticKind::Another(self.at as u64) } else { DiagnosticKind::NoBlobs });
            self.at = self.next(self.at).filter(|_| !is_dump).unwrap_or(self.bytes.len());
            return;
        };
        let end = self.at.saturating_add(header.HeaderSize as usize);
        if header.HeaderSize as usize >= size_of_val(&header) && self.may_begin(end) {
            self.at = end;
            return;
        }
        self.report(DiagnosticKind::HeaderSize { header: "the header of the secondary data", size: header.HeaderSize });
        self.at = self.next(self.at).unwrap_or(self.bytes.len());
    }

    /// The block at this position; `None` if there are no more.
    fn blob(&mut self) -> Option<Blob<'a>> {
        if self.is_dump(self.at) {
            self.report(DiagnosticKind::Another(self.at as u64));
            return None;
        }
        let Some(header) = view::<DUMP_BLOB_HEADER>(self.bytes, self.at) else {
            self.report(DiagnosticKind::Truncated {
                part: "the header of a secondary data block",
                size: HEADER as u64,
                present: (self.bytes.len() - self.at) as u64,
            });
            return None;
        };
        let (stated, size) = (header.HeaderSize as usize, header.DataSize as usize);
        let at = self.at;
        let start = |header_size: usize| at.saturating_add(header_size).saturating_add(header.PrePad as usize);
        let end = |start: usize| start.saturating_add(size).saturating_add(header.PostPad as usize);
        // The header has the size as in all known dumps, or the stated size: the first that leads to the next block. If neither
        // does, another member is corrupt.
        let sound = [HEADER, stated].into_iter().find(|size| is_size(*size) && self.may_begin(end(start(*size))));
        let (header_size, next) = match sound {
            Some(header_size) => (header_size, end(start(header_size))),
            None => {
                let header_size = if is_size(stated) { stated } else { HEADER };
                let next = self.next(at + HEADER);
                (header_size, next.unwrap_or(self.bytes.len()))
            }
        };
        let start = match start(header_size) {
            start if start <= next => start,
            _ => at + HEADER,
        };
        if header_size != stated {
            self.report(DiagnosticKind::HeaderSize { header: "the header of a secondary data block", size: header.HeaderSize });
        }
        let present = next - start;
        match sound {
            None if next == self.bytes.len() && present < size => {
                self.report(DiagnosticKind::Truncated {
                    part: "a secondary data block",
                    size: size as u64,
                    present: present as u64,
                });
            }
            None => self.report(DiagnosticKind::BlobSize { stated: header.DataSize, found: present as u64 }),
            Some(_) => {}
        }
        let length = if sound.is_some() { size } else { present };
        let data = self.bytes.get(start..).and_then(|rest| rest.get(..length)).unwrap_or_default();
        self.at = next;
        Some(Blob { tag: guid(header.Tag), offset: start as u64, data })
    }

    fn is_dump(&self, at: usize) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(b"PAGEDU64") || rest.starts_with(b"PAGEDUMP"))
    }

    /// Whether a block may begin here, or the data may end: the header size is valid, or the other sizes lead to a position where
    /// another block may begin.
    fn may_begin(&self, at: usize) -> bool {
        let Some(rest) = self.bytes.get(at..) else { return false };
        let Some(header) = view::<DUMP_BLOB_HEADER>(rest, 0) else { return true };
        is_size(header.HeaderSize as usize) || self.is_dump(at) || self.end(at).is_some_and(|end| end > at + HEADER)
    }

    /// End of the block at this position, if it resembles all known blocks except for its header size, and is within the file.
    fn end(&self, at: usize) -> Option<usize> {
        let header = view::<DUMP_BLOB_HEADER>(self.bytes, at)?;
        let size = u64::from(header.DataSize) + u64::from(header.PostPad);
        let is_usual = header.PrePad == 0 && u64::from(header.PostPad) < UNIT && size.is_multiple_of(UNIT);
        let end = (at + HEADER).checked_add(usize::try_from(size).ok()?)?;
        (is_usual && end <= self.bytes.len()).then_some(end)
    }

    /// Start of the next block that resembles all known blocks, and that another one or the end follows; or start of another dump.
    fn next(&self, from: usize) -> Option<usize> {
        let size = (HEADER as u32).to_le_bytes();
        let begins = |at: usize| self.bytes.get(at..).is_some_and(|rest| rest.starts_with(&size));
        let is_last = |at: usize| at == self.bytes.len() || self.is_dump(at);
        let is_one = |at: &usize| {
            self.is_dump(*at)
                || begins(*at) && self.end(*at).is_some_and(|end| is_last(end) || begins(end) && self.end(end).is_some())
        };
        (from..self.bytes.len()).find(is_one)
    }
}

/// Whether this size is valid for the header of a block.
fn is_size(size: usize) -> bool {
    (HEADER..=MAX_HEADER_SIZE).contains(&size)
}
