//! Members in the order of their offsets, given to entries in the order of the declaration.

use etw_layouts_codegen::spec::{Member, Shape};
use std::collections::BTreeMap;

/// The entries of a name, each with the index of the child that it is, or that is an anonymous group around it.
pub struct Named<'a>(BTreeMap<&'a str, Vec<(usize, &'a Member)>>);

impl<'a> Named<'a> {
    /// Among the children of an entry.
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

    /// Those of a name, in the order of the declaration.
    pub fn get(&self, name: &str) -> &[(usize, &'a Member)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Steps from child to child, each member's after those of the members before it, of which the best ascent is looked for.
pub struct Ascent {
    steps: Vec<Step>,
    /// The best ascents that end at children, as a tree of prefixes: the entry at `i` is the best of the children that end at it,
    /// as many as the lowest bit of `i` says.
    best: Vec<Option<(i64, usize)>>,
}

struct Step {
    member: usize,
    child: usize,
    before: Option<usize>,
}

impl Ascent {
    /// Of no member yet, over so many children.
    pub fn over(children: usize) -> Self {
        Self { steps: Vec::new(), best: vec![None; children + 1] }
    }

    /// The next member, and the children that it may belong to: how well each suits it, and whether several members may belong to it.
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

    /// The best ascent that ends before a child, the latest of equals: its total and its last step.
    fn before(&self, child: usize) -> Option<(i64, usize)> {
        let mut best = None;
        let mut at = child;
        while at > 0 {
            best = best.max(self.best[at]);
            at &= at - 1;
        }
        best
    }

    /// The child of each member on the best ascent.
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
