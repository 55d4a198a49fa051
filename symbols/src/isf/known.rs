//! Cache of converted definitions per thread, by their text.
//!
//! Tables of two builds have mostly identical definitions; in a set of hundreds of tables, one in forty is new.

use crate::model::TypeFacts;
use std::cell::RefCell;
use std::collections::HashMap;

/// A definition that depends only on its text and the base types, not on the rest of its document.
pub(super) struct Definition {
    pub facts: TypeFacts,
    /// Names of the types that it embeds.
    pub holds: Vec<String>,
}

/// Definitions by text, of tables with the same base types.
#[derive(Default)]
pub(super) struct Known {
    base_types: Box<str>,
    definitions: HashMap<Box<str>, Definition>,
    /// Number of bytes of text in the cache.
    bytes: usize,
}

/// Maximum number of bytes of text cached for the same base types. The types of the specs need a quarter of that for 260 builds.
const KEPT: usize = 2 << 20;

/// Maximum number of different base types; there are a few for each architecture and producer.
const BASES: usize = 8;

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// Calls `then` with the cache for the given text of base types.
pub(super) fn with<T>(base_types: &str, then: impl FnOnce(&mut Known) -> T) -> T {
    KNOWN.with_borrow_mut(|all| {
        let at = all.iter().position(|known| *known.base_types == *base_types).unwrap_or_else(|| {
            all.truncate(BASES - 1);
            all.insert(0, Known { base_types: base_types.into(), ..Known::default() });
            0
        });
        then(&mut all[at])
    })
}

impl Known {
    pub(super) fn get(&self, text: &str) -> Option<&Definition> {
        self.definitions.get(text)
    }

    /// Caches a definition if there is space.
    pub(super) fn keep(&mut self, text: &str, definition: impl FnOnce() -> Definition) {
        if self.base_types.len() + self.bytes + text.len() <= KEPT {
            self.bytes += text.len();
            self.definitions.insert(text.into(), definition());
        }
    }
}
