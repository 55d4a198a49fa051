//! Compressed buffers: as in a file, consecutive headers with XPRESS streams.

use etw_layouts_etl::wire::{BUFFER_HEADER, Generation};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, xpress};
use etw_layouts_memory::{Buffer, BufferBytes, FindingKind, MemberLocation, Memory, Session, Walk};

/// The bytes of a buffer that can contain events, as from [`Walk::events_of`]. Compressed buffers are decompressed, one element each;
/// before missing bytes, as far as possible. Failures become findings of the walk.
///
/// The format is known from trace files. It is an assumption that compressed buffers begin at the start of the outer buffer, or after
/// its header: no available dump confirms it.
pub fn decoded_buffers<M: Memory + ?Sized>(walk: &mut Walk<'_, M>, session: &Session, buffer: &Buffer) -> Vec<BufferBytes> {
    let stored = walk.events_of(session, buffer);
    if !buffer.is_compressed() {
        return vec![stored];
    }
    let generation = producer(walk).generation();
    let (size, most) = (session.buffer_size.unwrap_or(0), walk.bytes_left());
    let mut unpacked = unpack(&stored, 0, size, most, generation);
    if unpacked.buffers.is_empty() {
        unpacked = unpack(&stored, BUFFER_HEADER, size, most, generation);
        // A buffer that contains others states where they end.
        let rest = buffer.valid_end(size).unwrap_or(0).saturating_sub(unpacked.end as u32);
        if unpacked.fault.is_none() && !unpacked.buffers.is_empty() && rest > 0 {
            unpacked.fault = Some(format!("the last {rest:#x} bytes are not compressed buffers"));
        }
    }
    walk.spend(unpacked.buffers.iter().map(|image| image.len() as u64).sum());
    let none = unpacked.buffers.is_empty().then(|| "no compressed buffer found".into());
    if let Some(why) = unpacked.fault.or(none) {
        let place = MemberLocation { structure: "WMI_BUFFER_HEADER", address: buffer.header.address(), member: "" };
        walk.report(place, FindingKind::Compressed(why));
    }
    unpacked.buffers.into_iter().map(|bytes| BufferBytes { bytes, holes: Vec::new() }).collect()
}

/// The kernel that wrote the buffers.
pub(crate) fn producer<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> Producer {
    Producer { build: walk.kernel().build(), arch: walk.kernel().arch() }
}

/// The result of decompressing buffers.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    /// Each buffer up to its valid end, header included; fewer bytes if its stream is corrupt, or bytes of it are missing.
    pub buffers: Vec<Vec<u8>>,
    /// Offset of the end of the last buffer.
    pub end: usize,
    /// Error of the last buffer, if any.
    pub fault: Option<String>,
}

/// Decompresses consecutive buffers from an offset on, up to the first position without one. If the header of a buffer is missing, the next buffer
/// is found by its header and its stream. `size` is the buffer size of their session in bytes, `most` the maximum size of all decompressed buffers.
pub fn unpack(stored: &BufferBytes, from: usize, size: u32, most: u64, generation: Generation) -> Unpacked {
    let BufferBytes { bytes, holes } = stored;
    let mut unpacked = Unpacked { end: from, ..Unpacked::default() };
    let mut left = most;
    let at = |at: usize| bytes.get(at..).and_then(|rest| header(rest, size, generation)).map(|header| (at, header));
    let after_hole = |end: usize| {
        let hole = holes.iter().find(|hole| hole.start < end.saturating_add(BUFFER_HEADER) && end < hole.end)?;
        (hole.end..bytes.len()).filter_map(at).take(MAX_CANDIDATES).find(|(at, header)| {
            let mut data = vec![0; header.offset as usize - BUFFER_HEADER];
            let stream = bytes.get(at + BUFFER_HEADER..at + header.size as usize);
            stream.is_some_and(|stream| xpress::decompress(stream, &mut data).is_ok_and(|length| length == data.len()))
        })
    };
    while let Some((start, header)) = at(unpacked.end).or_else(|| after_hole(unpacked.end)) {
        let (rest, valid) = (&bytes[start..], header.offset as usize);
        let present = rest.len().min(header.size as usize);
        let Some(after) = left.checked_sub(valid as u64) else {
            unpacked.fault = Some(
                "memory limit: the decompressed buffers of the sessions are too large together; rest of the session skipped"
                    .into(),
            );
            break;
        };
        left = after;
        // The stream is decompressed up to the first missing bytes.
        let hole = holes.iter().map(|hole| hole.start).find(|hole| (start + BUFFER_HEADER..start + present).contains(hole));
        let complete = hole.map_or(present, |hole| hole - start);
        let mut image = vec![0; valid];
        let (header, data) = image.split_at_mut(BUFFER_HEADER);
        header.copy_from_slice(&rest[..BUFFER_HEADER]);
        let (length, fault) = match xpress::decompress(&rest[BUFFER_HEADER..complete], data) {
            Ok(length) if length == data.len() => (length, None),
            Ok(length) => (length, Some("compressed buffer is shorter than its header states".into())),
            Err(error) => (error.output, Some(error.to_string())),
        };
        image.truncate(BUFFER_HEADER + length);
        unpacked.buffers.push(image);
        unpacked.end = start + present;
        // A corrupt buffer affects no other: its header states where the next one begins.
        unpacked.fault = unpacked.fault.or(fault);
    }
    unpacked
}

/// Maximum number of places after missing bytes at which a stream is decompressed to find the next buffer.
const MAX_CANDIDATES: usize = 64;

/// The header of the compressed buffer at this position, if there is one.
fn header(bytes: &[u8], size: u32, generation: Generation) -> Option<BufferHeader> {
    let fits = |value: u32| (BUFFER_HEADER as u32..=size).contains(&value);
    BufferHeader::read(generation, bytes).filter(|header| header.is_compressed() && fits(header.size) && fits(header.offset))
}
