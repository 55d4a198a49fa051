//! From targets to the shortest scope that denotes them.

use super::{Arch, Axis, TargetSet};

impl Axis {
    /// The shortest scope that denotes a set: `6.1..`, or `5.2 x64, 6.0..6.1`.
    pub fn describe(&self, set: &TargetSet) -> String {
        self.describe_among(&self.all(), set)
    }

    /// As [`describe`](Self::describe), but shorter for a set that leaves out what no document speaks of:
    /// `6.1.., where documented`.
    pub(crate) fn describe_documented(&self, set: &TargetSet) -> String {
        let whole = self.describe(set);
        if !set.difference(&self.documented).is_empty() {
            return whole;
        }
        match self.describe_among(&self.documented, set) {
            documented if documented == whole => whole,
            documented => format!("{documented}, where documented"),
        }
    }

    fn describe_among(&self, universe: &TargetSet, set: &TargetSet) -> String {
        let runs = |arch: Arch| {
            let exists = self.filter(|t| t.arch == arch).intersection(universe);
            self.runs(&exists, &set.intersection(&exists))
        };
        let named = |arch: Arch| runs(arch).into_iter().map(move |run| format!("{run} {arch}")).collect::<Vec<_>>();
        let (leaders, followers): (Vec<_>, Vec<_>) = Arch::ALL.into_iter().partition(|arch| !self.follows.contains_key(arch));
        let (among, led) = (self.leading(universe), self.leading(set));
        let mut parts = self.runs(&among, &led);
        if parts.len() > leaders.iter().map(|&arch| runs(arch).len()).max().unwrap_or(0) || !self.whole_kernels(&among, &led) {
            parts = leaders.into_iter().flat_map(named).collect();
        }
        // Those that follow are named where following gives them something else.
        let given = self.scope(&parts.join(", ")).unwrap_or_default().intersection(universe);
        for arch in followers {
            let of = |set: &TargetSet| set.intersection(&self.filter(|t| t.arch == arch));
            match named(arch) {
                _ if of(set) == of(&given) => {}
                none if none.is_empty() => parts.push(format!("no {arch}")),
                named => parts.extend(named),
            }
        }
        parts.join(", ")
    }

    fn whole_kernels(&self, universe: &TargetSet, set: &TargetSet) -> bool {
        let kernels = self.kernels_of(set);
        *set == self.filter(|t| kernels.binary_search(&t.kernel).is_ok()).intersection(universe)
    }

    fn kernels_of(&self, set: &TargetSet) -> Vec<usize> {
        let mut kernels: Vec<_> = set.iter().map(|t| self.targets[t].kernel).collect();
        kernels.dedup();
        kernels
    }

    fn runs(&self, exists: &TargetSet, set: &TargetSet) -> Vec<String> {
        let (exists, kernels) = (self.kernels_of(exists), self.kernels_of(set));
        let mut runs = Vec::new();
        let mut at = 0;
        while at < exists.len() {
            let length = exists[at..].iter().take_while(|k| kernels.binary_search(k).is_ok()).count();
            if length > 0 {
                runs.push(self.run(at, at + length - 1, &exists));
            }
            at += length.max(1);
        }
        runs
    }

    /// The range from one to another of the kernels that exist; those of a version follow each other.
    fn run(&self, first: usize, last: usize, exists: &[usize]) -> String {
        let version = |k: usize| self.kernels[k].version;
        let same = |one: usize, other: Option<usize>| {
            other.and_then(|at| exists.get(at)).is_some_and(|&k| version(k) == version(exists[one]))
        };
        let opens = !same(first, first.checked_sub(1));
        let closes = !same(last, Some(last + 1));
        let newest = last + 1 == exists.len();
        let (first, last) = (exists[first], exists[last]);
        let exact = |k: usize| self.kernels[k].build.to_string();
        let label = |k: usize, whole: bool| match whole {
            true => self.versions[version(k)].label.clone(),
            false => exact(k),
        };
        if opens && closes && !newest {
            let group =
                |(_, of): &&(String, Vec<usize>)| of.first() == Some(&version(first)) && of.last() == Some(&version(last));
            if version(first) == version(last) {
                return label(first, true);
            } else if let Some((group, _)) = self.groups.iter().find(group) {
                return group.clone();
            }
        }
        let start = label(first, opens);
        if newest {
            return format!("{start}..");
        }
        // What the last known update of a version has, those after it have, as far as is known.
        if first == last && !closes {
            return exact(first);
        }
        format!("{start}..{}", label(last, closes))
    }
}
