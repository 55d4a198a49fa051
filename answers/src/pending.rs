//! States that wait for a later event.

use std::collections::HashMap;
use std::hash::Hash;

/// States that wait for a later event, by a key. Their number is limited; those beyond the limit are dropped, and counted.
#[derive(Debug)]
pub(crate) struct Pending<K, V> {
    states: HashMap<K, V>,
    dropped: u64,
}

/// Maximum number of states.
const MAX_PENDING: usize = 1 << 18;

impl<K, V> Default for Pending<K, V> {
    fn default() -> Self {
        Self { states: HashMap::new(), dropped: 0 }
    }
}

impl<K: Eq + Hash, V> Pending<K, V> {
    /// Inserts a state, and returns the one that it replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.states.len() >= MAX_PENDING && !self.states.contains_key(&key) {
            self.dropped += 1;
            return None;
        }
        self.states.insert(key, value)
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.states.remove(key)
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.states.get(key)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.states.get_mut(key)
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.states.values()
    }

    /// The number of states that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
