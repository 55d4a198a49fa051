//! Definitions that a thread has converted before, each by its whole text.
//!
//! Of two kernels' tables most definitions are the same to the letter; over hundreds of tables, one in forty is new.

use crate::model::TypeFacts;
use std::cell::RefCell;
use std::collections::HashMap;

/// A definition that was made from its text and the base types, and nothing else of its document.
pub(super) struct Definition {
    pub facts: TypeFacts,
    /// The names of what it holds by value.
    pub holds: Vec<String>,
}

/// Definitions by their text, of tables with the same base types.
#[derive(Default)]
pub(super) struct Known {
    base_types: Box<str>,
    definitions: HashMap<Box<str>, Definition>,
    /// How many bytes of text these are.
    bytes: usize,
}

/// The most bytes of text that are kept for the same base types. What the specs speak of has a quarter of that, of 260 kernels.
const KEPT: usize = 2 << 20;

/// The most different base types, of which architectures and producers have a few.
const BASES: usize = 8;

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// Hands on what is known of tables with base types of that text, for more to be added.
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

    /// Keeps a definition, if there is room.
    pub(super) fn keep(&mut self, text: &str, definition: impl FnOnce() -> Definition) {
        if self.base_types.len() + self.bytes + text.len() <= KEPT {
            self.bytes += text.len();
            self.definitions.insert(text.into(), definition());
        }
    }
}
