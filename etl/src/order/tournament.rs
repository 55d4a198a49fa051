//! The least of some keys that change one at a time.

/// Finds the least of some keys, of equal ones the first: a binary tree, in which each node has the lesser of its children.
#[derive(Debug)]
pub(super) struct Tournament {
    /// The root at 1, the children of each node at twice its place and behind; the leaves are the second half.
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

    /// Which key is the least.
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
