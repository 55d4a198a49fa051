//! Compressed buffers in memory: as in a file, each a header and a stream of XPRESS, one behind the other.

use crate::buffer::Buffer;
use crate::finding::{Place, What};
use crate::memory::Memory;
use crate::session::Session;
use crate::walk::Walk;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use etw_layouts_etl::wire::{BUFFER_HEADER, Generation};
use etw_layouts_etl::{Head, xpress};

/// What compressed buffers decompress to.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    /// Each of them up to its valid end, header included; fewer bytes of one whose stream is damaged.
    pub buffers: Vec<Vec<u8>>,
    /// How many bytes they took.
    pub taken: usize,
    /// What is wrong with the last one.
    pub fault: Option<String>,
}

/// Decompresses buffers that lie one behind the other, to the first place where none is. They are of a session whose buffers have `size` bytes, and
/// together become no more than `most`.
pub fn unpack(bytes: &[u8], size: u32, most: u64, generation: Generation) -> Unpacked {
    let mut unpacked = Unpacked::default();
    let mut left = most;
    while let Some(head) = bytes.get(unpacked.taken..).and_then(|rest| head(rest, size, generation)) {
        let rest = &bytes[unpacked.taken..];
        let (there, end) = (rest.len().min(head.size as usize), head.offset as usize);
        let Some(after) = left.checked_sub(end as u64) else {
            unpacked.fault = Some("compressed buffers become more than the walk may read".into());
            break;
        };
        left = after;
        let mut image = vec![0; end];
        let (header, data) = image.split_at_mut(BUFFER_HEADER);
        header.copy_from_slice(&rest[..BUFFER_HEADER]);
        let (length, fault) = match xpress::decompress(&rest[BUFFER_HEADER..there], data) {
            Ok(length) if length == data.len() => (length, None),
            Ok(length) => (length, Some("a compressed buffer is shorter than its header states".into())),
            Err(error) => (error.output, Some(error.to_string())),
        };
        image.truncate(BUFFER_HEADER + length);
        unpacked.buffers.push(image);
        unpacked.taken += there;
        // A damaged one costs no other: its header tells where the next begins.
        unpacked.fault = unpacked.fault.or(fault);
    }
    unpacked
}

/// The header of the compressed buffer here, if there is one.
fn head(bytes: &[u8], size: u32, generation: Generation) -> Option<Head> {
    let fits = |value: u32| (BUFFER_HEADER as u32..=size).contains(&value);
    Head::read(generation, bytes).filter(|head| head.is_compressed() && fits(head.size) && fits(head.offset))
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The bytes of a buffer that events can be in, as [`events_of`](Self::events_of) has them; of one that is compressed, or holds compressed
    /// ones, those of each of these, decompressed. Where that fails is a finding.
    ///
    /// What such a buffer looks like is known of files. That compressed buffers begin where it begins, or behind its header, no dump at hand
    /// confirms.
    pub fn images_of(&mut self, session: &Session, buffer: &Buffer, generation: Generation) -> Vec<Vec<u8>> {
        let bytes = self.events_of(session, buffer);
        if !buffer.is_compressed() {
            return vec![bytes];
        }
        let size = session.buffer_size.unwrap_or(0);
        let most = self.left();
        let mut unpacked = unpack(&bytes, size, most, generation);
        if unpacked.buffers.is_empty() {
            unpacked = unpack(bytes.get(BUFFER_HEADER..).unwrap_or_default(), size, most, generation);
            // What holds others states where they end.
            let rest = buffer.valid_end(size).unwrap_or(0).saturating_sub((BUFFER_HEADER + unpacked.taken) as u32);
            if unpacked.fault.is_none() && !unpacked.buffers.is_empty() && rest > 0 {
                unpacked.fault = Some(alloc::format!("the last {rest:#x} bytes are no compressed buffers"));
            }
        }
        self.spend(unpacked.buffers.iter().map(|image| image.len() as u64).sum());
        let place = Place { structure: "WMI_BUFFER_HEADER", address: buffer.header.address(), member: "" };
        let none = || unpacked.buffers.is_empty().then(|| "no compressed buffer begins in it".into());
        if let Some(why) = unpacked.fault.clone().or_else(none) {
            self.find(place, What::Compressed(why));
        }
        unpacked.buffers
    }
}
