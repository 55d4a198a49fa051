//! Lost events and buffers, as stated by log file headers and buffers.

use crate::output::Several;
use etw_layouts_etl::LogFile;
use etw_layouts_trace::Losses;
use serde::Serialize;
use std::fmt::{self, Display};

/// Lost events and buffers. A file that was not closed has no counts in its header, but its buffers can have flags.
#[derive(Default, Serialize)]
pub struct Lost {
    events_lost: u64,
    buffers_lost: u64,
    /// The number of buffers with the flag EVENTS_LOST.
    buffers_with_events_lost: u64,
    /// The number of buffers with the flag BUFFER_LOST.
    buffers_with_buffer_lost: u64,
}

impl Lost {
    /// What the log file headers state, without flags of buffers.
    pub fn stated<'l>(logs: impl IntoIterator<Item = &'l LogFile>) -> Self {
        let (events_lost, buffers_lost) = LogFile::lost(logs);
        Self { events_lost, buffers_lost, ..Self::default() }
    }

    /// Adds what the flags of buffers state.
    pub fn add(&mut self, losses: Losses) {
        self.buffers_with_events_lost += losses.buffers_with_events_lost;
        self.buffers_with_buffer_lost += losses.buffers_with_buffer_lost;
    }
}

impl Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", Several(self.events_lost, "event"), Several(self.buffers_lost, "buffer"))?;
        for (count, flag) in [(self.buffers_with_events_lost, "EVENTS_LOST"), (self.buffers_with_buffer_lost, "BUFFER_LOST")] {
            if count > 0 {
                write!(f, "; {} with the flag {flag}", Several(count, "buffer"))?;
            }
        }
        Ok(())
    }
}
