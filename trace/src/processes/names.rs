//! Strings, each kept once.

use std::collections::HashSet;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    all: HashSet<Arc<str>>,
    bytes: usize,
    is_full: bool,
}

/// Maximum total size of the strings, in bytes.
const MAX_BYTES: usize = 32 << 20;

impl Names {
    /// The kept string; `None` once the strings have 32 MiB.
    pub fn intern(&mut self, text: &str) -> Option<Arc<str>> {
        if let Some(known) = self.all.get(text) {
            return Some(known.clone());
        }
        self.is_full |= self.bytes + text.len() > MAX_BYTES;
        if self.is_full {
            return None;
        }
        self.bytes += text.len();
        let new: Arc<str> = text.into();
        self.all.insert(new.clone());
        Some(new)
    }

    /// Whether strings were dropped.
    pub fn is_full(&self) -> bool {
        self.is_full
    }
}
