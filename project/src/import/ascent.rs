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

/// Search for the best ascending sequence of children, one step per member.
pub struct Ascent {
    steps: Vec<Step>,
    /// The best sequences by last child, as a Fenwick tree of prefixes: entry `i` covers as many children as the value of the
    /// lowest set bit of `i`.
    best: Vec<Option<(i64, usize)>>,
}

struct Step {
    member: usize,
    child: usize,
    before: Option<usize>,
}

impl Ascent {
    /// Starts without members, for the given number of children.
    pub fn over(children: usize) -> Self {
        Self { steps: Vec::new(), best: vec![None; children + 1] }
    }

    /// Adds the next member, with its possible children: the weight of each, and whether the child can have several members.
    pub fn step(&mut self, member: usize, children: impl Iterator<Item = (usize, i64, bool)>) {
        let mut new = Vec::new();
        for (child, weight, several) in children {
            let before = self.before(if several { child + 1 } else { child });
            new.push((child, before.map_or(0, |(total, _)| total) + weight, before.map(|(_, step)| step)));
        }
        for (child, total, before) in new {
            let ascent = (total, self.steps.len());
            self.steps.push(Step { member, child, before });
            let mut at = child + 1;
            while at < self.best.len() {
                self.best[at] = self.best[at].max(Some(ascent));
                at += at & at.wrapping_neg();
            }
        }
    }

    /// The best sequence that ends before a child, the latest of equal ones: its total and its last step.
    fn before(&self, child: usize) -> Option<(i64, usize)> {
        let mut best = None;
        let mut at = child;
        while at > 0 {
            best = best.max(self.best[at]);
            at &= at - 1;
        }
        best
    }

    /// The child of each member in the best sequence.
    pub fn highest(&self, members: usize) -> Vec<Option<usize>> {
        let mut chosen = vec![None; members];
        let mut at = self.before(self.best.len() - 1).map(|(_, step)| step);
        while let Some(step) = at.map(|at| &self.steps[at]) {
            chosen[step.member] = Some(step.child);
            at = step.before;
        }
        chosen
    }
}
