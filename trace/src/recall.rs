//! The buffers that were read again last.

use crate::buffer::Buffer;
use etw_layouts_etl::Extent;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The buffers that were read again last, each with its events. Names and call stacks that are close in time are close in the files.
#[derive(Debug, Default)]
pub(crate) struct Recall(Mutex<VecDeque<Arc<Recalled>>>);

/// A buffer with its events.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub buffer: Arc<Buffer>,
    /// The events with their offsets and ticks, by offset.
    pub events: Vec<(u32, i64, Extent)>,
}

/// Limit of the size of the buffers that are kept, in bytes. Their events need about as much.
const MEMORY: u64 = 4 << 20;

impl Recall {
    /// A buffer, by its index in a file.
    pub fn get(&self, file: u32, buffer: u32) -> Option<Arc<Recalled>> {
        let mut all = self.lock();
        let index = all.iter().position(|known| (known.buffer.file, known.buffer.entry.index) == (file, buffer))?;
        let found = all.remove(index)?;
        all.push_back(found.clone());
        Some(found)
    }

    /// Keeps a buffer, and removes those that were not used for the longest time.
    pub fn keep(&self, new: Arc<Recalled>) {
        let mut all = self.lock();
        let mut size: u64 = all.iter().chain([&new]).map(|known| u64::from(known.buffer.entry.decoded)).sum();
        while size > MEMORY
            && let Some(first) = all.pop_front()
        {
            size -= u64::from(first.buffer.entry.decoded);
        }
        all.push_back(new);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Recalled>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
