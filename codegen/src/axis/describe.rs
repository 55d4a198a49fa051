//! From targets to the shortest scope that denotes them.

use super::scope::{Part, Range, Scope};
use super::set::KernelSet;
use super::{Arch, Axis, TargetSet, Update};

/// What a part of a scope, an end at a label, at an update, at one kernel, and a word more cost a reader.
const PART: usize = 2;
const LABEL: usize = 2;
const UPDATE: usize = 3;
const KERNEL: usize = 7;
const WORD: usize = 1;

impl Axis {
    /// The shortest scope that denotes a set: `6.1..`, or `5.2 x64, 6.0..6.1`.
    pub fn describe(&self, set: &TargetSet) -> String {
        self.since(self.spell(&self.all(), set))
    }

    /// As [`describe`](Self::describe), but shorter for a set that leaves out what no document speaks of:
    /// `6.1.., where documented`.
    pub(crate) fn describe_documented(&self, set: &TargetSet) -> String {
        let whole = self.describe(set);
        if !set.difference(&self.documented).is_empty() {
            return whole;
        }
        match self.since(self.spell(&self.documented, set)) {
            documented if documented == whole => whole,
            documented => format!("{documented}, where documented"),
        }
    }

    /// A scope as text. `x64` alone does not say since when: `5.2.. x64` does.
    fn since(&self, mut scope: Scope) -> String {
        for part in &mut scope.0 {
            if let Part::Of(ranges, Some(arch)) = part
                && ranges.is_empty()
                && let Some(first) = self.targets.values().find(|target| target.arch == *arch)
            {
                let label = &self.versions[self.kernels[first.kernel].version].label;
                ranges.push(Range::Between(label.clone(), String::new()));
            }
        }
        scope.to_string()
    }

    /// The shortest scope that denotes a set among the targets of another: of those outside it says nothing.
    pub fn spell(&self, among: &TargetSet, set: &TargetSet) -> Scope {
        let of = |set: &TargetSet, arch: Arch| set.intersection(&self.filter(|t| t.arch == arch));
        let (leaders, followers): (Vec<_>, Vec<_>) = Arch::ALL.into_iter().partition(|arch| !self.follows.contains_key(arch));
        let (led, wanted) = (self.leading(among), self.leading(set));
        let mut candidates = self.candidates(&led, &wanted, None);
        for arch in leaders {
            candidates.extend(self.candidates(&of(&led, arch), &of(&wanted, arch), Some(arch)));
        }
        let mut scope = Scope(cover(&candidates, &wanted));
        // Those that follow are named where following gives them something else.
        let given = self.targets(&scope).unwrap_or_default().intersection(among);
        for arch in followers {
            let (among, wanted) = (of(among, arch), of(set, arch));
            if wanted == of(&given, arch) {
                continue;
            }
            match cover(&self.candidates(&among, &wanted, Some(arch)), &wanted) {
                none if none.is_empty() => scope.0.push(Part::No(arch)),
                named => scope.0.extend(named),
            }
        }
        scope
    }

    /// The parts that denote some of a set's targets and no other of `among`, on one architecture or on all.
    fn candidates(&self, among: &TargetSet, set: &TargetSet, arch: Option<Arch>) -> Vec<Candidate> {
        if set.is_empty() {
            return Vec::new();
        }
        let word = if arch.is_some() { WORD } else { 0 };
        if among == set && arch.is_some() {
            return vec![Candidate { part: Part::Of(Vec::new(), arch), targets: set.clone(), cost: PART + word }];
        }
        let kernels = |set: &TargetSet| set.iter().map(|t| self.targets[t].kernel).collect::<KernelSet>();
        // A kernel some of whose targets are not in the set is in no part for all architectures.
        let exist: Vec<usize> = kernels(among).iter().collect();
        let other = kernels(&among.difference(set));
        let is_part = *among != arch.map_or_else(|| self.leading(&self.all()), |arch| self.filter(|t| t.arch == arch));
        let having = |update: &Update| exist.iter().copied().filter(|&kernel| update.has(self.kernels[kernel].build)).collect();
        let line = Line {
            axis: self,
            exist: &exist,
            is_part,
            fits: exist.iter().map(|&kernel| !other.contains(kernel)).collect(),
            having: self.updates.iter().map(having).collect(),
        };
        let mut candidates = Vec::new();
        let (mut ends, mut between) = (None, KernelSet::default());
        for bounds in line.bounds() {
            if ends.replace((bounds.first, bounds.last)) != Some((bounds.first, bounds.last)) {
                between = line.between(&bounds);
            }
            let held = line.held(&bounds, &between);
            if held.is_empty() || held.shared(&other) > 0 {
                continue;
            }
            let (ranges, cost) = line.ranges(&bounds);
            let targets = among.intersection(&self.filter(|t| held.contains(t.kernel)));
            candidates.push(Candidate { part: Part::Of(ranges, arch), targets, cost: PART + cost + word });
        }
        candidates
    }
}

/// A part that denotes targets of the set that is wanted, and no others.
#[derive(Clone)]
struct Candidate {
    part: Part,
    targets: TargetSet,
    cost: usize,
}

/// Parts that together denote a set, cheap ones; none for no targets.
fn cover(candidates: &[Candidate], set: &TargetSet) -> Vec<Part> {
    let mut chosen = greedy(candidates, set);
    chosen.sort_by_key(|candidate| candidate.targets.iter().next());
    chosen.into_iter().map(|candidate| candidate.part).collect()
}

/// Of the candidates, again and again the one that costs least for each target that is left.
fn greedy(candidates: &[Candidate], set: &TargetSet) -> Vec<Candidate> {
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut left = set.clone();
    while !left.is_empty() {
        // Of equal ones the one that denotes more may make another part needless.
        let dearer = |(one, new): &(&Candidate, usize), (other, more): &(&Candidate, usize)| {
            (one.cost * more).cmp(&(other.cost * new)).then_with(|| other.targets.len().cmp(&one.targets.len()))
        };
        let useful = candidates.iter().map(|candidate| (candidate, candidate.targets.shared(&left))).filter(|(_, new)| *new > 0);
        let Some((best, _)) = useful.min_by(dearer) else { break };
        left = left.difference(&best.targets);
        chosen.push(best.clone());
    }
    // What later parts denote as well is not said twice.
    for at in (0..chosen.len()).rev() {
        let others = chosen.iter().enumerate().filter(|(other, _)| *other != at);
        let rest = others.fold(TargetSet::default(), |all, (_, candidate)| all.union(&candidate.targets));
        if set.difference(&rest).is_empty() {
            chosen.remove(at);
        }
    }
    chosen
}

/// The kernels that exist for what is to be said, oldest first, by their places.
struct Line<'a> {
    axis: &'a Axis,
    exist: &'a [usize],
    /// Whether more kernels exist than there is something to say of: a range that begins with the first of these may be open there.
    is_part: bool,
    /// Which of them are to be denoted.
    fits: Vec<bool>,
    /// Which of them have each update.
    having: Vec<KernelSet>,
}

/// What a part asks of kernels.
#[derive(Clone, Copy, Default)]
struct Bounds {
    /// The place of the first.
    first: Option<usize>,
    /// The place of the last.
    last: Option<usize>,
    /// The update that they have.
    since: Option<usize>,
    /// The update that they do not have.
    before: Option<usize>,
}

impl Line<'_> {
    /// The bounds that parts can have: those of runs of kernels, updates, and updates within the versions that runs begin or end in.
    fn bounds(&self) -> Vec<Bounds> {
        let fits = |at: usize| self.fits.get(at).copied().unwrap_or(false);
        let places = 0..self.exist.len();
        let starts: Vec<usize> = places.clone().filter(|&at| fits(at) && !at.checked_sub(1).is_some_and(fits)).collect();
        let ends: Vec<usize> = places.clone().filter(|&at| fits(at) && !fits(at + 1)).collect();
        let pairs = |starts: &[usize], ends: &[usize]| {
            let mut all = Vec::new();
            for &first in starts {
                all.extend(ends.iter().filter(|&&last| first <= last).map(|&last| (Some(first), Some(last))));
            }
            all
        };
        let runs: Vec<_> = pairs(&starts, &ends);
        let mut all: Vec<_> = runs.into_iter().map(|(first, last)| Bounds { first, last, ..Bounds::default() }).collect();
        if starts.len() < 2 && starts.iter().all(|&at| self.opens(at)) && ends.iter().all(|&at| self.closes(at)) {
            return all;
        }
        // The versions that runs begin and end in, from their first kernel to their last.
        let opening = |&at: &usize| (0..=at).rev().find(|&at| self.opens(at));
        let closing = |&at: &usize| places.clone().skip(at).find(|&at| self.closes(at));
        let (mut opened, mut closed): (Vec<_>, Vec<_>) =
            (starts.iter().filter_map(opening).collect(), ends.iter().filter_map(closing).collect());
        opened.dedup();
        closed.dedup();
        let mut within = pairs(&opened, &closed);
        within.extend(opened.iter().map(|&first| (Some(first), None)));
        within.extend(closed.iter().map(|&last| (None, Some(last))));
        within.push((None, None));
        let updates = || 0..self.having.len();
        for (first, last) in within {
            all.extend(updates().map(|update| Bounds { first, last, since: Some(update), before: None }));
            all.extend(updates().map(|update| Bounds { first, last, since: None, before: Some(update) }));
            for since in updates() {
                all.extend(updates().map(|before| Bounds { first, last, since: Some(since), before: Some(before) }));
            }
        }
        all
    }

    /// The kernels from the first of bounds to the last.
    fn between(&self, bounds: &Bounds) -> KernelSet {
        let (first, last) = (bounds.first.unwrap_or(0), bounds.last.unwrap_or(self.exist.len().saturating_sub(1)));
        self.exist[first..=last].iter().copied().collect()
    }

    /// Those of them that have the one update and not the other.
    fn held(&self, bounds: &Bounds, between: &KernelSet) -> KernelSet {
        let since = bounds.since.map(|update| between.intersection(&self.having[update]));
        match (since, bounds.before) {
            (None, None) => between.clone(),
            (Some(since), None) => since,
            (None, Some(before)) => between.difference(&self.having[before]),
            (Some(since), Some(before)) => since.difference(&self.having[before]),
        }
    }

    /// How bounds are written, and what that costs.
    fn ranges(&self, bounds: &Bounds) -> (Vec<Range>, usize) {
        let newest = self.exist.len().checked_sub(1);
        let last = bounds.last.filter(|_| bounds.last != newest);
        let update = |update: usize| (self.axis.updates[update].name.clone(), UPDATE);
        let open = (String::new(), 0);
        let named = |at: Option<usize>, whole: &dyn Fn(usize) -> bool| at.map(|at| self.name(at, whole(at)));
        let first = bounds.first.filter(|&first| !(self.is_part && first == 0 && last.is_some() && !self.opens(first)));
        let start = named(first, &|at| self.opens(at)).map(|name| self.group(name, &|of| of.first()));
        let end = named(last, &|at| self.closes(at)).map(|name| self.group(name, &|of| of.last()));
        let (since, before) = (bounds.since.map(update), bounds.before.map(update));
        let range = |first: Option<(String, usize)>, last: Option<(String, usize)>| {
            let ((first, cost), (last, more)) = (first.unwrap_or(open.clone()), last.unwrap_or(open.clone()));
            (Range::Between(first, last), cost + more)
        };
        let point = bounds.first.zip(bounds.last).and_then(|(first, last)| self.point(first, last));
        let has_update = since.is_some() || before.is_some();
        let ranges = match point {
            Some(point) if has_update => vec![point, range(since, before)],
            Some(point) => vec![point],
            // Only one bound at either side.
            None if (start.is_none() || since.is_none()) && (end.is_none() || before.is_none()) => {
                vec![range(start.or(since), end.or(before))]
            }
            None => vec![range(start, end), range(since, before)],
        };
        let cost = ranges.iter().map(|(_, cost)| cost).sum::<usize>() + WORD * (ranges.len() - 1);
        (ranges.into_iter().map(|(range, _)| range).collect(), cost)
    }

    /// The one name for all kernels from a place to another, if there is one. What the newest kernel has, later ones have as far as is known:
    /// that is no one name.
    fn point(&self, first: usize, last: usize) -> Option<(Range, usize)> {
        let (opens, closes, newest) = (self.opens(first), self.closes(last), last + 1 == self.exist.len());
        let (one, other) = (self.version(first)?, self.version(last)?);
        let (name, cost) = match () {
            () if newest => return None,
            () if opens && closes && one == other => self.name(first, true),
            () if opens && closes => {
                let is = |of: &[usize]| of.first() == Some(&one) && of.last() == Some(&other);
                let (label, _) = self.axis.groups.iter().find(|(_, of)| is(of))?;
                (label.clone(), LABEL)
            }
            // What the last known update of a version has, those after it have, as far as is known.
            () if first == last && !closes => self.name(first, false),
            () => return None,
        };
        Some((Range::Point(name), cost))
    }

    fn name(&self, at: usize, whole: bool) -> (String, usize) {
        let kernel = self.exist[at];
        let own = &self.axis.kernels[kernel];
        match whole {
            true => (self.axis.versions[own.version].label.clone(), LABEL),
            // Three numbers are every kernel of a build.
            false if own.build.revision == 0 && own.service_pack.is_none() => (format!("{:#}.0", own.build), KERNEL),
            false => (self.axis.kernel_name(kernel), KERNEL),
        }
    }

    /// The label of several versions, in place of that of the one at its end.
    fn group(&self, (label, cost): (String, usize), end: &dyn Fn(&[usize]) -> Option<&usize>) -> (String, usize) {
        let is = |of: &[usize]| of.len() > 1 && end(of).is_some_and(|&version| self.axis.versions[version].label == label);
        let group = self.axis.groups.iter().find(|(_, of)| is(of));
        (group.map_or(label, |(group, _)| group.clone()), cost)
    }

    fn version(&self, at: usize) -> Option<usize> {
        Some(self.axis.kernels[*self.exist.get(at)?].version)
    }

    /// Whether a place is the first of its version.
    fn opens(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.version(before)) != self.version(at)
    }

    /// Whether a place is the last of its version.
    fn closes(&self, at: usize) -> bool {
        self.version(at + 1) != self.version(at)
    }
}
