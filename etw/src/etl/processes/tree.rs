//! The order in which processes are listed.

use etw_layouts_trace::{ProcessIndex, ProcessTable};

/// A process in a list or a tree.
#[derive(Clone, Copy)]
pub struct Node {
    pub index: ProcessIndex,
    /// Number of its ancestors.
    pub depth: usize,
}

/// All processes in the order of their start.
pub fn list(table: &ProcessTable) -> Vec<Node> {
    table.iter().map(|(index, _)| Node { index, depth: 0 }).collect()
}

/// All processes, each before its descendants. Processes without a parent in the table, and processes with the same parent, are in the order of
/// their start.
pub fn nodes(table: &ProcessTable) -> Vec<Node> {
    let (mut nodes, mut is_listed) = (Vec::with_capacity(table.len()), vec![false; table.len()]);
    let is_root = |index: &ProcessIndex| table.get(*index).is_some_and(|process| process.parent.is_none());
    let roots = table.iter().map(|(index, _)| index).filter(is_root);
    // In a damaged trace, processes can be each other's ancestors: the first one is listed as a root.
    for root in roots.chain(table.iter().map(|(index, _)| index)) {
        let mut waiting = vec![Node { index: root, depth: 0 }];
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut is_listed[node.index.0 as usize], true) {
                continue;
            }
            nodes.push(node);
            let first = waiting.len();
            waiting.extend(table.children(node.index).map(|index| Node { index, depth: node.depth + 1 }));
            waiting[first..].reverse();
        }
    }
    nodes
}
