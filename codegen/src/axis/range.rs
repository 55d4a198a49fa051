//! Conversion of a scope to the targets that it denotes.

use super::scope::{Part, Range, Scope};
use super::{Arch, Axis, Build, Revision, Target, TargetSet, Update};

impl Axis {
    /// The targets that the text of a scope denotes, or a message about an error in it.
    pub fn scope(&self, text: &str) -> Result<TargetSet, String> {
        self.targets(&text.parse()?)
    }

    /// The targets that a scope denotes, or a message about an error in it.
    pub fn targets(&self, scope: &Scope) -> Result<TargetSet, String> {
        let named: Vec<Arch> = self.named(scope);
        let mut set = None;
        for part in &scope.0 {
            match part {
                Part::No(arch) if self.ranges.contains_key(arch) => {}
                Part::No(_) => {
                    return Err(format!("invalid exclusion `{part}`: only an architecture that follows another can be excluded"));
                }
                Part::Of(ranges, arch) => {
                    let within = self.ranges(ranges)?;
                    let leader = |t: Target| self.ranges.get(&t.arch).filter(|_| !named.contains(&t.arch));
                    let has = |t: Target| match *arch {
                        Some(arch) => t.arch == arch || leader(t) == Some(&arch),
                        None => !named.contains(&t.arch),
                    };
                    let targets = within.intersection(&self.filter(has));
                    set = Some(targets.union(&set.unwrap_or_default()));
                }
            }
        }
        set.ok_or_else(|| {
            format!("exclusion `{scope}` without a range before it; write a range first, as in `6.1.. x64, no arm64`")
        })
    }

    /// The architectures that follow another one but are named in a scope. Only the scope decides about their targets.
    fn named(&self, scope: &Scope) -> Vec<Arch> {
        self.ranges.keys().copied().filter(|arch| scope.speaks_of(*arch)).collect()
    }

    /// Makes several scopes, such as the keys of a table, disjoint. The targets of an architecture that follows another one
    /// belong only to the scope that names the architecture.
    pub fn settle(&self, scopes: &mut [(&str, TargetSet)]) {
        let claims = scopes.iter().map(|(text, set)| match text.parse().map(|scope| self.named(&scope)).as_deref() {
            Err(_) | Ok([]) => TargetSet::default(),
            Ok(named) => set.intersection(&self.filter(|t| named.contains(&t.arch))),
        });
        let claims: Vec<_> = claims.collect();
        let all = claims.iter().fold(TargetSet::default(), |all, own| all.union(own));
        for ((_, set), own) in scopes.iter_mut().zip(&claims) {
            *set = set.difference(&all.difference(own));
        }
    }

    /// The targets of a set without those of architectures that follow another one.
    pub fn leading(&self, set: &TargetSet) -> TargetSet {
        match self.ranges.is_empty() {
            true => set.clone(),
            false => set.difference(&self.filter(|t| self.ranges.contains_key(&t.arch))),
        }
    }

    /// The targets that are in all of the ranges.
    fn ranges(&self, ranges: &[Range]) -> Result<TargetSet, String> {
        let mut targets = self.all();
        for range in ranges {
            targets = targets.intersection(&self.range(range)?);
        }
        match targets.is_empty() && ranges.len() > 1 {
            true => Err(format!("no build of the version axis is in `{}`", Part::Of(ranges.to_vec(), None))),
            false => Ok(targets),
        }
    }

    /// The targets of a range. The range `..2022-01` has the targets without the update.
    fn range(&self, range: &Range) -> Result<TargetSet, String> {
        let all = 0..self.revisions.len();
        let (first, last) = match range {
            Range::Point(name) if self.update(name).is_some() => {
                return Err(format!(
                    "update `{name}` is not a range; write `{name}..` for builds with the update, `..{name}` for builds without it"
                ));
            }
            Range::Point(name) => {
                return match self.point(name)? {
                    none if none.is_empty() => Err(format!("build `{name}` is not on the version axis")),
                    revisions => Ok(self.filter(|target| revisions.contains(&target.revision))),
                };
            }
            Range::Between(first, last) => (first, last),
        };
        let end = |name: &str| match self.update(name) {
            _ if name.is_empty() => Ok((all.clone(), None)),
            Some(update) => Ok((all.clone(), Some(update))),
            None => self.point(name).map(|revisions| (revisions, None)),
        };
        let ((start, from), (end, before)) = (end(first)?, end(last)?);
        let newest = || self.revisions.len().checked_sub(1).map(|newest| self.revision_name(newest)).unwrap_or_default();
        let has =
            |update: &Update, target: Target| update.is_for(target.arch) && update.has(self.revisions[target.revision].build);
        let targets = self.filter(|target| {
            let between = (start.start..end.end).contains(&target.revision);
            between && from.is_none_or(|update| has(update, target)) && before.is_none_or(|update| !has(update, target))
        });
        match () {
            () if !targets.is_empty() => Ok(targets),
            () if start.start == all.end => {
                Err(format!("`{first}` is newer than the version axis; its newest build is {}", newest()))
            }
            () if start.is_empty() || end.is_empty() || start.start < end.end => {
                Err(format!("no build of the version axis is in `{range}`"))
            }
            () => Err(format!("empty range `{range}`: it ends before it starts")),
        }
    }

    /// The revisions that one end of a range denotes. For a build without a revision on the axis it is an empty range, at the place of the build in the
    /// order.
    pub(crate) fn point(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let span_of = |test: &dyn Fn(&Revision) -> bool| {
            let first = self.revisions.iter().position(test)?;
            let last = self.revisions.iter().rposition(test)?;
            Some(first..last + 1)
        };
        let found = if let Some(releases) = self.labelled(text) {
            span_of(&|k| releases.contains(&k.release))
        } else if let Some((build, pack)) = text.split_once("-sp") {
            let build = super::build(build).filter(|(_, revision)| !revision).map(|(build, _)| build.number);
            let pack = pack.parse::<u32>().ok();
            build.zip(pack).and_then(|(build, pack)| span_of(&|k| k.build.number == build && k.service_pack == Some(pack)))
        } else if let Some(release) = self.unimported.iter().find(|release| release.labels.iter().any(|label| label == text)) {
            Some(self.of_build(release.build))
        } else {
            match super::build(text) {
                Some((build, true)) => Some(self.of_revision(build)?),
                Some((build, false)) => Some(self.of_build(build)),
                None => None,
            }
        };
        found.ok_or_else(|| format!("unknown label, build, update or architecture `{text}`"))
    }

    /// The revisions of a build.
    fn of_build(&self, build: Build) -> core::ops::Range<usize> {
        let number = self.canonical(build).number;
        let start = self.revisions.partition_point(|revision| revision.build.number < number);
        start..start + self.revisions[start..].partition_point(|revision| revision.build.number == number)
    }

    /// A revision as a range of indices; revision 0 is the first one of its build.
    fn of_revision(&self, build: Build) -> Result<core::ops::Range<usize>, String> {
        let (all, wanted) = (self.of_build(build), self.canonical(build));
        let revisions = &self.revisions[all.clone()];
        let before = revisions.partition_point(|revision| revision.build < wanted);
        let is = revisions.get(before).is_some_and(|revision| revision.build == wanted);
        match before {
            0 => Ok(all.start..all.start + usize::from(is || build.revision == 0 && !revisions.is_empty())),
            _ if is => Ok(all.start + before..all.start + before + 1),
            // A range cannot end between two revisions: all revisions between them have the layouts of the first one.
            _ => Err(format!(
                "build `{build:#}` is not on the version axis; the previous build is {:#}",
                revisions[before - 1].build
            )),
        }
    }
}
