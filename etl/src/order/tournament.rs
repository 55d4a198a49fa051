//! The minimum of keys that change one at a time.

/// Finds the index of the least key, the first of equal keys: a binary tree in which each node has the lesser of its children.
#[derive(Debug)]
pub(super) struct Tournament {
    /// The root is at index 1, the children of node `n` at `2n` and `2n + 1`; the second half are the leaves.
    nodes: Vec<(u64, u32)>,
}

impl Tournament {
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(1);
        let mut nodes = vec![(u64::MAX, 0); 2 * leaves];
        for (index, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = index as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes }
    }

    /// Index of the least key.
    #[inline]
    pub(super) fn winner(&self) -> usize {
        self.nodes[1].1 as usize
    }

    /// Changes a key.
    #[inline]
    pub(super) fn set(&mut self, index: usize, key: u64) {
        let mut node = self.nodes.len() / 2 + index;
        self.nodes[node].0 = key;
        while node > 1 {
            let (left, right) = (self.nodes[node & !1], self.nodes[node | 1]);
            node /= 2;
            self.nodes[node] = if right.0 < left.0 { right } else { left };
        }
    }
}
