//! Conversion of targets to the shortest scope that denotes them.

use super::scope::{Part, Range, Scope};
use super::set::RevisionSet;
use super::{Arch, Axis, Target, TargetSet, Update};

/// The costs of a scope for its reader: of a part, an end at a label, an end at an update, an end at a single revision, and another
/// word.
const PART: usize = 2;
const LABEL: usize = 2;
const UPDATE: usize = 3;
const REVISION: usize = 7;
const WORD: usize = 1;

impl Axis {
    /// The shortest scope that denotes a set: `6.1..`, or `5.2 x64, 6.0..6.1`.
    pub fn describe(&self, set: &TargetSet) -> String {
        self.since(self.spell(&self.all(), set)).to_string()
    }

    /// A set in words: `6.1 and later`, or `5.2, x64; 6.0 to 6.1`.
    pub fn words(&self, set: &TargetSet) -> String {
        let scope = self.since(self.spell(&self.all(), set));
        scope.0.iter().map(|part| self.part_in_words(part)).collect::<Vec<_>>().join("; ")
    }

    fn part_in_words(&self, part: &Part) -> String {
        match part {
            Part::No(arch) => format!("not {arch}"),
            Part::Of(ranges, arch) => {
                let words = ranges.iter().map(|range| self.range_in_words(range));
                words.chain(arch.map(|arch| arch.to_string())).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// A range that begins with an update has the builds with the update, in any release. A range that ends with one has the builds
    /// without it. Other ends are inclusive.
    fn range_in_words(&self, range: &Range) -> String {
        let is_update = |name: &str| self.updates.iter().any(|update| update.name == name);
        let (first, last) = match range {
            Range::Point(name) => return self.single(name).to_owned(),
            Range::Between(first, last) => (self.single(first), self.single(last)),
        };
        let releases = match (first, last) {
            ("", last) if !last.is_empty() && !is_update(last) => format!("{last} and earlier"),
            (first, last) if is_update(first) && !last.is_empty() && !is_update(last) => format!("{last} and earlier"),
            (first, last) if !first.is_empty() && !is_update(first) && (last.is_empty() || is_update(last)) => {
                format!("{first} and later")
            }
            (first, last) if !first.is_empty() && !is_update(first) => format!("{first} to {last}"),
            _ => String::new(),
        };
        let with = is_update(first).then(|| format!("with update {first}"));
        let without = is_update(last).then(|| format!("without update {last}"));
        let words: Vec<_> = [Some(releases), with, without].into_iter().flatten().filter(|word| !word.is_empty()).collect();
        if words.is_empty() { "all versions".to_owned() } else { words.join(", ") }
    }

    /// As [`describe`](Self::describe), but shorter for a set that omits only targets without published references: `6.1.., where
    /// documented`.
    pub(crate) fn describe_documented(&self, set: &TargetSet) -> String {
        let whole = self.describe(set);
        if !set.difference(&self.documented).is_empty() {
            return whole;
        }
        match self.since(self.spell(&self.documented, set)).to_string() {
            documented if documented == whole => whole,
            documented => format!("{documented}, where documented"),
        }
    }

    /// Adds the first release to parts that name only an architecture: `x64` becomes `5.2.. x64`. An architecture with the
    /// ranges of another one can have an earlier release.
    fn since(&self, mut scope: Scope) -> Scope {
        for part in &mut scope.0 {
            let has = |arch: Arch, target: &Target| target.arch == arch || self.ranges.get(&target.arch) == Some(&arch);
            if let Part::Of(ranges, Some(arch)) = part
                && ranges.is_empty()
                && let Some(first) = self.targets.values().find(|target| has(*arch, target))
            {
                let label = self.releases[self.revisions[first.revision].release].label();
                ranges.push(Range::Between(label.to_owned(), String::new()));
            }
        }
        scope
    }

    /// The shortest scope that denotes a set within another set. It may include any targets outside of the other set.
    pub fn spell(&self, among: &TargetSet, set: &TargetSet) -> Scope {
        let of = |set: &TargetSet, arch: Arch| set.intersection(&self.filter(|t| t.arch == arch));
        let (leaders, followers): (Vec<_>, Vec<_>) = Arch::ALL.into_iter().partition(|arch| !self.ranges.contains_key(arch));
        let (led, wanted) = (self.leading(among), self.leading(set));
        let mut candidates = self.candidates(&led, &wanted, None);
        for arch in leaders {
            candidates.extend(self.candidates(&of(&led, arch), &of(&wanted, arch), Some(arch)));
        }
        let mut scope = Scope(cover(&candidates, &wanted));
        // An architecture with the ranges of another one is named only if it has other targets than that one.
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

    /// The parts that denote targets of a set and no others of `among`, on one architecture or on all.
    fn candidates(&self, among: &TargetSet, set: &TargetSet, arch: Option<Arch>) -> Vec<Candidate> {
        if set.is_empty() {
            return Vec::new();
        }
        let word = if arch.is_some() { WORD } else { 0 };
        if among == set && arch.is_some() {
            return vec![Candidate { part: Part::Of(Vec::new(), arch), targets: set.clone(), cost: PART + word }];
        }
        let revisions = |set: &TargetSet| set.iter().map(|t| self.targets[t].revision).collect::<RevisionSet>();
        // A revision with a target outside of the set cannot be in a part for all architectures.
        let exist: Vec<usize> = revisions(among).iter().collect();
        let other = revisions(&among.difference(set));
        let is_part = *among != arch.map_or_else(|| self.leading(&self.all()), |arch| self.filter(|t| t.arch == arch));
        // For all architectures, a part cannot use an update of only some.
        let is_usable = |update: &Update| arch.map_or(update.architectures.is_none(), |arch| update.is_for(arch));
        let having = |update: &Update| {
            let own = || exist.iter().copied().filter(|&revision| update.has(self.revisions[revision].build));
            is_usable(update).then(|| own().collect())
        };
        let line = Line {
            axis: self,
            exist: &exist,
            is_part,
            fits: exist.iter().map(|&revision| !other.contains(revision)).collect(),
            having: self.updates.iter().map(having).collect(),
        };
        let mut candidates = Vec::new();
        let (mut ends, mut between) = (None, RevisionSet::default());
        for bounds in line.bounds() {
            if ends.replace((bounds.first, bounds.last)) != Some((bounds.first, bounds.last)) {
                between = line.between(&bounds);
            }
            let included = line.with_updates(&bounds, &between);
            if included.is_empty() || included.shared(&other) > 0 {
                continue;
            }
            let (ranges, cost) = line.ranges(&bounds);
            let targets = among.intersection(&self.filter(|t| included.contains(t.revision)));
            candidates.push(Candidate { part: Part::Of(ranges, arch), targets, cost: PART + cost + word });
        }
        candidates
    }
}

/// A part that denotes only targets of the wanted set.
#[derive(Clone)]
struct Candidate {
    part: Part,
    targets: TargetSet,
    cost: usize,
}

/// Cheap parts that together denote a set; empty for an empty set.
fn cover(candidates: &[Candidate], set: &TargetSet) -> Vec<Part> {
    let mut chosen = greedy(candidates, set);
    chosen.sort_by_key(|candidate| candidate.targets.iter().next());
    chosen.into_iter().map(|candidate| candidate.part).collect()
}

/// Chooses candidates, each time the one with the lowest cost per target that is still missing.
fn greedy(candidates: &[Candidate], set: &TargetSet) -> Vec<Candidate> {
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut left = set.clone();
    while !left.is_empty() {
        // If costs are equal, the candidate with more targets is better, because it can make another part unnecessary.
        let by_cost = |(one, new): &(&Candidate, usize), (other, more): &(&Candidate, usize)| {
            (one.cost * more).cmp(&(other.cost * new)).then_with(|| other.targets.len().cmp(&one.targets.len()))
        };
        let useful = candidates.iter().map(|candidate| (candidate, candidate.targets.shared(&left))).filter(|(_, new)| *new > 0);
        let Some((best, _)) = useful.min_by(by_cost) else { break };
        left = left.difference(&best.targets);
        chosen.push(best.clone());
    }
    // Remove parts that other parts cover.
    for at in (0..chosen.len()).rev() {
        let others = chosen.iter().enumerate().filter(|(other, _)| *other != at);
        let rest = others.fold(TargetSet::default(), |all, (_, candidate)| all.union(&candidate.targets));
        if set.difference(&rest).is_empty() {
            chosen.remove(at);
        }
    }
    chosen
}

/// The revisions that a scope may include, oldest first. A place is an index of `exist`.
struct Line<'a> {
    axis: &'a Axis,
    exist: &'a [usize],
    /// Whether the axis has more revisions than `exist`: a range from the first one of `exist` may then be open at its start.
    is_part: bool,
    /// For each revision, whether the scope may denote it.
    fits: Vec<bool>,
    /// For each update that a part can use, the revisions that have it.
    having: Vec<Option<RevisionSet>>,
}

/// The conditions of a part.
#[derive(Clone, Copy, Default)]
struct Bounds {
    /// The place of the first revision.
    first: Option<usize>,
    /// The place of the last revision.
    last: Option<usize>,
    /// The update that the revisions have.
    since: Option<usize>,
    /// The update that the revisions do not have.
    before: Option<usize>,
}

impl Line<'_> {
    /// The possible bounds of parts: runs of revisions, updates, and updates limited to the releases in which runs begin or end.
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
        // The releases in which runs begin or end, from their first revision to their last.
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
        let updates = || (0..self.having.len()).filter(|&update| self.having[update].is_some());
        for (first, last) in within {
            all.extend(updates().map(|update| Bounds { first, last, since: Some(update), before: None }));
            all.extend(updates().map(|update| Bounds { first, last, since: None, before: Some(update) }));
            for since in updates() {
                all.extend(updates().map(|before| Bounds { first, last, since: Some(since), before: Some(before) }));
            }
        }
        all
    }

    /// The revisions from the first place of bounds to the last.
    fn between(&self, bounds: &Bounds) -> RevisionSet {
        let (first, last) = (bounds.first.unwrap_or(0), bounds.last.unwrap_or(self.exist.len().saturating_sub(1)));
        self.exist[first..=last].iter().copied().collect()
    }

    /// The revisions that have the update `since` and lack the update `before`.
    fn with_updates(&self, bounds: &Bounds, between: &RevisionSet) -> RevisionSet {
        let having = |update: Option<usize>| update.and_then(|update| self.having[update].as_ref());
        let since = having(bounds.since).map_or(between.clone(), |since| between.intersection(since));
        having(bounds.before).map_or(since.clone(), |before| since.difference(before))
    }

    /// The ranges for bounds, and their cost.
    fn ranges(&self, bounds: &Bounds) -> (Vec<Range>, usize) {
        let newest = self.exist.len().checked_sub(1);
        let last = bounds.last.filter(|_| bounds.last != newest);
        let update = |update: usize| (self.axis.updates[update].name.clone(), UPDATE);
        let open = (String::new(), 0);
        let named = |at: Option<usize>, whole: &dyn Fn(usize) -> bool| at.map(|at| self.name(at, whole(at)));
        let first = bounds.first.filter(|&first| !(self.is_part && first == 0 && last.is_some() && !self.opens(first)));
        let start =
            named(first, &|at| self.opens(at)).map(|name| self.common(first, name, |releases, own| releases.start == own));
        let end = named(last, &|at| self.closes(at)).map(|name| self.common(last, name, |releases, own| releases.end == own + 1));
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
            // At most one bound at each side.
            None if (start.is_none() || since.is_none()) && (end.is_none() || before.is_none()) => {
                vec![range(start.or(since), end.or(before))]
            }
            None => vec![range(start, end), range(since, before)],
        };
        let cost = ranges.iter().map(|(_, cost)| cost).sum::<usize>() + WORD * (ranges.len() - 1);
        (ranges.into_iter().map(|(range, _)| range).collect(), cost)
    }

    /// The name of exactly the revisions from one index to another, if such a name exists. The newest one has no such name,
    /// because its layouts also apply to later builds.
    fn point(&self, first: usize, last: usize) -> Option<(Range, usize)> {
        let (opens, closes, newest) = (self.opens(first), self.closes(last), last + 1 == self.exist.len());
        let (one, other) = (self.release(first)?, self.release(last)?);
        let (name, cost) = match () {
            () if newest => return None,
            () if opens && closes && one == other => self.name(first, true),
            () if opens && closes => (self.common_label(one, |releases| *releases == (one..other + 1))?.to_owned(), LABEL),
            // The last known update of a release has no single name either, because its layouts also apply to later updates.
            () if first == last && !closes => self.name(first, false),
            () => return None,
        };
        Some((Range::Point(name), cost))
    }

    fn name(&self, at: usize, whole: bool) -> (String, usize) {
        let revision = self.exist[at];
        let own = &self.axis.revisions[revision];
        match whole {
            true => (self.axis.releases[own.release].label().to_owned(), LABEL),
            false => {
                let name = self.axis.revision_name(revision);
                // Three numbers denote all revisions of a build.
                let is_whole = super::build(&name).is_some_and(|(_, revision)| !revision);
                (if is_whole { name + ".0" } else { name }, REVISION)
            }
        }
    }

    /// Replaces the label of the release of a place by a label that it shares with other releases, if these begin or end with it.
    fn common(
        &self,
        at: Option<usize>,
        (name, cost): (String, usize),
        is_end: impl Fn(&core::ops::Range<usize>, usize) -> bool,
    ) -> (String, usize) {
        let release = at.and_then(|at| self.release(at)).filter(|&release| self.axis.releases[release].label() == name);
        let label = release.and_then(|own| self.common_label(own, |releases| releases.len() > 1 && is_end(releases, own)));
        (label.map_or(name, str::to_owned), cost)
    }

    /// A label of a release whose releases pass a test.
    fn common_label(&self, release: usize, is: impl Fn(&core::ops::Range<usize>) -> bool) -> Option<&str> {
        let mut others = self.axis.releases[release].labels.iter().skip(1).map(String::as_str);
        others.find(|label| self.axis.labelled(label).is_some_and(|releases| is(&releases)))
    }

    fn release(&self, at: usize) -> Option<usize> {
        Some(self.axis.revisions[*self.exist.get(at)?].release)
    }

    /// Whether a place is the first of its release.
    fn opens(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.release(before)) != self.release(at)
    }

    /// Whether a place is the last of its release.
    fn closes(&self, at: usize) -> bool {
        self.release(at + 1) != self.release(at)
    }
}
