//! Joins packets that span several events.

use super::capture::{Part, Source};
use super::pcapng::{Direction, LinkType};
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum length of a packet: Wireshark refuses files with longer packets.
pub const LONGEST: usize = 1 << 18;
/// The maximum number of packets that are joined at the same time: one per processor, and packets that these interrupt.
const MAX_PACKETS: usize = 256;

/// Identifies the fragments of a packet. A thread writes them one after another. An interrupt in between can write packets on
/// behalf of the same thread, usually in the other direction.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Index of the session, which can have written the packet to two files.
    pub session: usize,
    pub thread: Option<u32>,
    /// The processor, if the thread is the idle thread: every processor has its own.
    pub idle: Option<u16>,
    pub source: Source,
    pub link_type: LinkType,
    pub direction: Option<Direction>,
}

/// Packets that are not complete yet.
pub struct Fragments {
    open: HashMap<Key, Open>,
    /// For each file, the number of fragments of packets that are incomplete.
    lost: Vec<u64>,
    /// The number of packets begun so far.
    begun: u64,
}

struct Open {
    /// Index of the file with the first fragment.
    file: usize,
    bytes: Vec<u8>,
    fragments: u64,
    /// The number of the packet.
    number: u64,
}

impl Fragments {
    /// Creates an empty state for a number of files.
    pub fn new(files: usize) -> Self {
        Self { open: HashMap::new(), lost: vec![0; files], begun: 0 }
    }

    /// Adds a fragment in a file. Returns the packet that it completes, and the number of its fragments.
    pub fn add<'a>(&mut self, file: usize, key: Key, part: Part, bytes: &'a [u8]) -> Option<(Cow<'a, [u8]>, u64)> {
        match part {
            Part::Whole => {
                self.lose(&key);
                return Some((Cow::Borrowed(bytes), 1));
            }
            Part::Start => {
                self.lose(&key);
                self.make_room();
                self.begun += 1;
                self.open.insert(key.clone(), Open { file, bytes: Vec::new(), fragments: 0, number: self.begun });
            }
            Part::Middle | Part::End => {}
        }
        let Some(open) = self.open.get_mut(&key) else {
            self.count(file, 1);
            return None;
        };
        open.bytes.extend_from_slice(bytes);
        open.fragments += 1;
        if open.bytes.len() > LONGEST {
            self.lose(&key);
            return None;
        }
        let open = if part == Part::End { self.open.remove(&key)? } else { return None };
        Some((Cow::Owned(open.bytes), open.fragments))
    }

    /// For each file, the number of fragments of packets that stay incomplete.
    pub fn finish(mut self) -> Vec<u64> {
        for open in std::mem::take(&mut self.open).into_values() {
            self.count(open.file, open.fragments);
        }
        self.lost
    }

    /// Drops an incomplete packet, and counts its fragments.
    fn lose(&mut self, key: &Key) {
        if let Some(open) = self.open.remove(key) {
            self.count(open.file, open.fragments);
        }
    }

    /// Drops the oldest packet if there are too many.
    fn make_room(&mut self) {
        if self.open.len() >= MAX_PACKETS
            && let Some((key, _)) = self.open.iter().min_by_key(|(_, open)| open.number)
        {
            let key = key.clone();
            self.lose(&key);
        }
    }

    fn count(&mut self, file: usize, fragments: u64) {
        if let Some(lost) = self.lost.get_mut(file) {
            *lost += fragments;
        }
    }
}
