//! Buffers in memory, for events that are read again.

use crate::buffer::Buffer;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The buffers of the current slices, and those that were read again last. Names and call stacks that are close in time are close in the files.
#[derive(Debug, Default)]
pub(crate) struct Recall(Mutex<Buffers>);

#[derive(Debug, Default)]
struct Buffers {
    /// By file and index in the file. A slice that is no longer read drops its buffers.
    of_slices: HashMap<(u32, u32), Weak<Buffer>>,
    kept: VecDeque<Arc<Buffer>>,
}

/// Limit of the size of the buffers that are kept, in bytes.
const MEMORY: u64 = 8 << 20;

impl Recall {
    /// A buffer, by its index in a file.
    pub fn get(&self, file: u32, buffer: u32) -> Option<Arc<Buffer>> {
        let mut all = self.lock();
        if let Some(known) = all.of_slices.get(&(file, buffer)).and_then(Weak::upgrade) {
            return Some(known);
        }
        let index = all.kept.iter().rposition(|known| (known.file, known.entry.index) == (file, buffer))?;
        let found = all.kept.remove(index)?;
        all.kept.push_back(found.clone());
        Some(found)
    }

    /// Adds the buffers of a slice.
    pub fn share(&self, slice: &[Arc<Buffer>]) {
        let mut all = self.lock();
        all.of_slices.retain(|_, buffer| buffer.strong_count() > 0);
        all.of_slices.extend(slice.iter().map(|buffer| ((buffer.file, buffer.entry.index), Arc::downgrade(buffer))));
    }

    /// Keeps a buffer, and removes those that were not used for the longest time.
    pub fn keep(&self, new: Arc<Buffer>) {
        let mut all = self.lock();
        let mut size: u64 = all.kept.iter().chain([&new]).map(|known| u64::from(known.entry.decoded)).sum();
        while size > MEMORY
            && let Some(first) = all.kept.pop_front()
        {
            size -= u64::from(first.entry.decoded);
        }
        all.kept.push_back(new);
    }

    fn lock(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
