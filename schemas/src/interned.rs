//! Deduplicated values and lists of a library under construction.

use std::collections::HashMap;
use std::hash::Hash;

/// Values, each stored once.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    pub all: Vec<T>,
    indices: HashMap<T, u32>,
}

/// Lists, each stored once.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    pub all: Vec<T>,
    places: HashMap<Vec<T>, (u32, u32)>,
}

impl<T: Clone + Eq + Hash> Interned<T> {
    /// The index of a value. A new value is added.
    pub fn add(&mut self, value: T) -> u32 {
        *self.indices.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            index(self.all.len() - 1)
        })
    }
}

impl<T: Clone + Eq + Hash> Lists<T> {
    /// The index of the first element of a list, and its length. A new list is added.
    pub fn add(&mut self, list: Vec<T>) -> (u32, u32) {
        *self.places.entry(list).or_insert_with_key(|list| {
            self.all.extend(list.iter().cloned());
            (index(self.all.len() - list.len()), index(list.len()))
        })
    }
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indices: HashMap::new() }
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }
}

/// An index or a count in 32 bits. There are never 2³² elements, because they would exceed memory.
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
