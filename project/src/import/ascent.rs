//! Assignment of members in offset order to entries in declaration order.

use etw_layouts_codegen::spec::{Member, Shape};
use std::collections::BTreeMap;

/// The named entries, each with the index of its child, or of the anonymous group that contains it.
pub struct NamedMembers<'a>(BTreeMap<&'a str, Vec<(usize, &'a Member)>>);

impl<'a> NamedMembers<'a> {
    /// Collects the entries among the children of an entry.
    pub fn of(children: &'a [Member]) -> Self {
        let mut named = Self(BTreeMap::new());
        children.iter().enumerate().for_each(|(index, child)| named.add(index, child));
        named
    }

    fn add(&mut self, index: usize, node: &'a Member) {
        match (&node.name, &node.shape) {
            (None, Shape::Inline(_, members)) => members.iter().for_each(|member| self.add(index, member)),
            (None, Shape::Type(_)) => {}
            (Some(name), _) => self.0.entry(&name.value).or_default().push((index, node)),
        }
    }

    /// The entries with a name, in declaration order.
    pub fn get(&self, name: &str) -> &[(usize, &'a Member)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The child of each member, such that the children ascend and the sum of weights is maximal; the latest of equal sequences. Each
/// member has its possible children, the weight of each, and whether the child can have several members.
pub fn ascending(members: impl ExactSizeIterator<Item = Vec<(usize, i64, bool)>>) -> Vec<Option<usize>> {
    let mut chosen = vec![None; members.len()];
    // Members with a child, each with the step before it in the best sequence.
    let mut steps: Vec<(usize, usize, Option<usize>)> = Vec::new();
    // The best sequences by their last child: total and last step. Totals ascend with children.
    let mut best: BTreeMap<usize, (i64, usize)> = BTreeMap::new();
    for (member, children) in members.enumerate() {
        let mut new = Vec::new();
        for (child, weight, several) in children {
            let before = best.range(..child + usize::from(several)).next_back().map(|(_, sequence)| *sequence);
            new.push((child, before.map_or(0, |(total, _)| total) + weight, before.map(|(_, step)| step)));
        }
        for (child, total, before) in new {
            if best.range(..=child).next_back().is_none_or(|(_, (other, _))| *other <= total) {
                while let Some((&worse, _)) = best.range(child..).next().filter(|(_, (other, _))| *other <= total) {
                    best.remove(&worse);
                }
                best.insert(child, (total, steps.len()));
                steps.push((member, child, before));
            }
        }
    }
    let mut at = best.last_key_value().map(|(_, (_, step))| *step);
    while let Some((member, child, before)) = at.map(|step| steps[step]) {
        chosen[member] = Some(child);
        at = before;
    }
    chosen
}
