//! Compressed buffers: as in a file, consecutive headers with XPRESS streams.

use etw_layouts_etl::wire::{BUFFER_HEADER, Generation};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, xpress};
use etw_layouts_memory::{Buffer, FindingKind, Memory, Place, Session, Walk};

/// The bytes of a buffer that can contain events, as from [`Walk::events_of`]. A compressed buffer, or one that contains compressed
/// buffers, gives the decompressed bytes of each. Failures become findings of the walk.
///
/// The format is known from trace files. No available dump confirms that compressed buffers begin at the start of such a buffer,
/// or after its header.
pub fn decoded_buffers<M: Memory + ?Sized>(walk: &mut Walk<'_, M>, session: &Session, buffer: &Buffer) -> Vec<Vec<u8>> {
    let bytes = walk.events_of(session, buffer);
    if !buffer.is_compressed() {
        return vec![bytes];
    }
    let generation = producer(walk).generation();
    let (size, most) = (session.buffer_size.unwrap_or(0), walk.bytes_left());
    let mut unpacked = unpack(&bytes, size, most, generation);
    if unpacked.buffers.is_empty() {
        unpacked = unpack(bytes.get(BUFFER_HEADER..).unwrap_or_default(), size, most, generation);
        // A buffer that contains others states where they end.
        let rest = buffer.valid_end(size).unwrap_or(0).saturating_sub((BUFFER_HEADER + unpacked.taken) as u32);
        if unpacked.fault.is_none() && !unpacked.buffers.is_empty() && rest > 0 {
            unpacked.fault = Some(format!("the last {rest:#x} bytes are not compressed buffers"));
        }
    }
    walk.spend(unpacked.buffers.iter().map(|image| image.len() as u64).sum());
    let none = unpacked.buffers.is_empty().then(|| "no compressed buffer found".into());
    if let Some(why) = unpacked.fault.or(none) {
        let place = Place { structure: "WMI_BUFFER_HEADER", address: buffer.header.address(), member: "" };
        walk.find(place, FindingKind::Compressed(why));
    }
    unpacked.buffers
}

/// The kernel that wrote the buffers.
pub(crate) fn producer<M: Memory + ?Sized>(walk: &Walk<'_, M>) -> Producer {
    Producer { build: walk.kernel().build(), arch: walk.kernel().arch() }
}

/// The result of decompressing buffers.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    /// Each buffer up to its valid end, header included; fewer bytes if its stream is corrupt.
    pub buffers: Vec<Vec<u8>>,
    /// Number of compressed bytes read.
    pub taken: usize,
    /// Error of the last buffer, if any.
    pub fault: Option<String>,
}

/// Decompresses consecutive buffers, up to the first position without one. `size` is the buffer size of their session in bytes,
/// `most` the maximum size of all decompressed buffers.
pub fn unpack(bytes: &[u8], size: u32, most: u64, generation: Generation) -> Unpacked {
    let mut unpacked = Unpacked::default();
    let mut left = most;
    while let Some(header) = bytes.get(unpacked.taken..).and_then(|rest| header(rest, size, generation)) {
        let rest = &bytes[unpacked.taken..];
        let (there, end) = (rest.len().min(header.size as usize), header.offset as usize);
        let Some(after) = left.checked_sub(end as u64) else {
            unpacked.fault = Some(
                "memory limit: the decompressed buffers of the sessions are too large together; rest of the session skipped"
                    .into(),
            );
            break;
        };
        left = after;
        let mut image = vec![0; end];
        let (header, data) = image.split_at_mut(BUFFER_HEADER);
        header.copy_from_slice(&rest[..BUFFER_HEADER]);
        let (length, fault) = match xpress::decompress(&rest[BUFFER_HEADER..there], data) {
            Ok(length) if length == data.len() => (length, None),
            Ok(length) => (length, Some("compressed buffer is shorter than its header states".into())),
            Err(error) => (error.output, Some(error.to_string())),
        };
        image.truncate(BUFFER_HEADER + length);
        unpacked.buffers.push(image);
        unpacked.taken += there;
        // A corrupt buffer affects no other: its header states where the next one begins.
        unpacked.fault = unpacked.fault.or(fault);
    }
    unpacked
}

/// The header of the compressed buffer at this position, if there is one.
fn header(bytes: &[u8], size: u32, generation: Generation) -> Option<BufferHeader> {
    let fits = |value: u32| (BUFFER_HEADER as u32..=size).contains(&value);
    BufferHeader::read(generation, bytes).filter(|header| header.is_compressed() && fits(header.size) && fits(header.offset))
}
