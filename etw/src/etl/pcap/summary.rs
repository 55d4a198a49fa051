//! The counts that `pcap` reports.

use crate::output::{Escaped, Grouped, Several};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// The maximum number of reasons that are counted separately.
const MAX_REASONS: usize = 64;

/// The result for an input file.
#[derive(Default, Serialize)]
pub struct Summary<'a> {
    pub file: &'a str,
    pub output: String,
    /// Events of the input, including the log file header.
    pub read: u64,
    #[serde(skip)]
    pub matching: u64,
    pub packets: u64,
    pub truncated: u64,
    /// Packets of ndiscap without keywords for medium, start and end: whole Ethernet packets are assumed.
    pub assumed: u64,
    /// Packets written after a packet with a later time, because buffers are too far out of order to be sorted.
    pub out_of_order: u64,
    pub incomplete_fragments: u64,
    /// The number of other packets that are not written, by reason.
    pub skipped: BTreeMap<String, u64>,
    pub without_packet: u64,
}

impl Summary<'_> {
    /// Counts a packet that is not written.
    pub fn skip(&mut self, reason: String) {
        let is_counted = self.skipped.len() < MAX_REASONS || self.skipped.contains_key(&reason);
        let reason = if is_counted { reason } else { "other reasons".into() };
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Whether every packet was written, in order of time.
    pub fn is_whole(&self) -> bool {
        self.out_of_order == 0 && self.incomplete_fragments == 0 && self.skipped.is_empty()
    }
}

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, output) = (Escaped(self.file), Escaped(&self.output));
        let (packets, all) = (Several(self.packets, "packet"), Several(self.read, "event"));
        write!(f, "{output}: {packets}, {} truncated, of {all} of {file}", Grouped(self.truncated))?;
        if self.without_packet > 0 {
            write!(f, "\n  {} without a packet", Several(self.without_packet, "event"))?;
        }
        if self.assumed > 0 {
            let packets = Several(self.assumed, "packet");
            write!(f, "\n  {packets} without keywords for medium, start and end: assumed to be whole Ethernet packets")?;
        }
        if self.out_of_order > 0 {
            let packets = Several(self.out_of_order, "packet");
            write!(f, "\n  {packets} out of order: buffers are too far out of order to be sorted; sort them with reordercap")?;
        }
        if self.incomplete_fragments > 0 {
            let fragments = Several(self.incomplete_fragments, "fragment");
            write!(f, "\n  {fragments} of incomplete packets skipped: events of the packets are missing")?;
        }
        for (why, count) in &self.skipped {
            write!(f, "\n  {} skipped: {why}", Several(*count, "packet"))?;
        }
        Ok(())
    }
}
