//! Selection of the layout for a build: a single algorithm, for metadata at run time and for the commands.

use super::axis::{Arch, Build, Update};
use super::confidence::{Absent, Confidence, Reason, SymbolSource};
use core::cmp::{Ordering, Reverse};

/// The known facts about one structure in all builds of Windows. Builds are those of the version axis: of identical builds, the one
/// on the axis.
pub trait Line {
    /// A build of the version axis on an architecture.
    type Kernel: Copy;
    /// A layout.
    type Layout: Copy + PartialEq;

    /// The builds of the version axis on an architecture, oldest first.
    fn kernels(&self, arch: Arch) -> impl Iterator<Item = (Build, Self::Kernel)> + Clone;

    /// The newest build of the version axis, of any architecture.
    fn newest(&self) -> Option<Build>;

    /// The layout of a build; `None` if it lacks the structure.
    fn layout(&self, kernel: Self::Kernel) -> Option<Self::Layout>;

    /// The examined builds of a branch, or of all branches, in any order, with the evidence for the structure.
    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined>;

    /// The named updates.
    fn updates(&self) -> impl Iterator<Item = Update<'_>>;
}

/// Evidence for a structure from an examined build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The build.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// The evidence level.
    pub evidence: Evidence,
}

/// Evidence level of a set of facts for a structure, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// A complete symbol table that lacks the structure.
    Lacks,
    /// Facts about some members.
    Partly,
    /// Facts about the whole structure, converted from another form.
    Converted,
    /// Facts about the whole structure.
    Symbols,
}

/// Result of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen<K, L> {
    /// The build of the version axis with the selected layout.
    pub kernel: K,
    /// The layout.
    pub layout: L,
    /// Build and layout of a neighbor with a different layout, if the selection is uncertain.
    pub other: Option<(K, L)>,
    /// Confidence in the layout.
    pub confidence: Confidence,
}

/// The build of an axis that has the layouts of a build. This is the last row of the same build with the same or an earlier
/// revision, otherwise its first row. For a build that is not on the axis, it is the first release of the previous build, because
/// later updates of that build are a separate branch.
///
/// # Errors
///
/// There is no such build.
pub fn place<K>(
    build: Build,
    mut kernels: impl Iterator<Item = (Build, K)> + Clone,
    newest: Option<Build>,
) -> Result<(Build, K), Absent> {
    let mut own = kernels.clone().filter(|(kernel, _)| kernel.number == build.number);
    if let Some(found) = own.clone().take_while(|(kernel, _)| *kernel <= build).last().or_else(|| own.next()) {
        return Ok(found);
    }
    let Some((first, _)) = kernels.clone().next() else { return Err(Absent::Arch) };
    let Some((older, _)) = kernels.clone().take_while(|(kernel, _)| *kernel < build).last() else {
        return Err(Absent::Older { first });
    };
    let ends = |(newest, older): (Build, Build)| newest.number > older.number;
    if !kernels.clone().any(|(kernel, _)| kernel > build) && newest.is_some_and(|newest| ends((newest, older))) {
        return Err(Absent::Newer { last: older });
    }
    kernels.find(|(kernel, _)| kernel.number == older.number).ok_or(Absent::Older { first })
}

/// The layout for a build, with its confidence.
///
/// # Errors
///
/// There is no such build, or it lacks the structure.
pub fn choose<S: Line>(line: &S, build: Build, arch: Arch) -> Result<Chosen<S::Kernel, S::Layout>, Absent> {
    let (row, kernel) = place(build, line.kernels(arch), line.newest())?;
    let asked = Asked { line, build, arch, row, layout: line.layout(kernel) };
    let (confidence, neighbours) = asked.judged();
    let Some(layout) = asked.layout else { return Err(Absent::Structure { confidence }) };
    let other = |build: Build| {
        let (_, kernel) = asked.at(build, arch)?;
        Some((kernel, line.layout(kernel).filter(|other| *other != layout)?))
    };
    let [before, after] = neighbours.map(|build| build.filter(|_| !confidence.is_sure()).and_then(other));
    Ok(Chosen { kernel, layout, other: after.or(before), confidence })
}

/// A requested build, and its layout on the version axis.
struct Asked<'a, S: Line> {
    line: &'a S,
    build: Build,
    arch: Arch,
    /// The row of the version axis with that layout.
    row: Build,
    layout: Option<S::Layout>,
}

impl<S: Line> Asked<'_, S> {
    /// The confidence, and the builds before and after it that determine the confidence.
    fn judged(&self) -> (Confidence, [Option<Build>; 2]) {
        let near = self.near();
        let [older, newer] = [near.older, near.newer].map(|side| side.map(|side| side.build));
        let inferred = |reason| (Confidence::Inferred(reason), [older, newer]);
        let is_own_branch = self.row.number == self.build.number;
        match near.own {
            Some(Evidence::Symbols) => return (Confidence::Verified(SymbolSource::Pdb), [None; 2]),
            Some(Evidence::Converted) => return (Confidence::Verified(SymbolSource::Converted), [None; 2]),
            Some(Evidence::Partly) if is_own_branch => return (Confidence::PartlyVerified, [older, newer]),
            Some(Evidence::Lacks) => return (Confidence::Documented { unverifiable: true }, [older, newer]),
            _ => {}
        }
        if let Some(same) = near.same {
            return inferred(Reason::Architecture { arch: same.arch, older: self.build, newer: self.build });
        }
        let fits = |side: Option<Examined>| side.is_some_and(|side| self.has(side.build) == self.layout);
        // The change to this layout came after the last examined update without it, so it is known from another source.
        if near.older.is_some()
            && !fits(near.older)
            && let Some(reason) = self.of_branch()
        {
            return inferred(reason);
        }
        match (near.older, near.newer) {
            (Some(one), Some(other)) if fits(near.older) && fits(near.newer) => {
                let (older, newer) = (one.build, other.build);
                match [one.arch, other.arch].into_iter().find(|arch| *arch != self.arch) {
                    Some(arch) => inferred(Reason::Architecture { arch, older, newer }),
                    None => inferred(Reason::Between { older, newer }),
                }
            }
            (Some(older), Some(newer)) => {
                // The first build with the other layout may be known although it was not examined.
                let first = self.next().filter(|_| fits(near.older)).unwrap_or(newer.build);
                let (older, newer) = (older.build, newer.build.min(first));
                (Confidence::Uncertain { older, newer }, [Some(older), Some(newer)])
            }
            (Some(last), None) => {
                let last = last.build;
                // A change of newer releases may apply to this one too.
                match self.next().filter(|next| fits(near.older) && self.has(*next) != self.layout) {
                    Some(newer) => (Confidence::Uncertain { older: last, newer }, [Some(last), Some(newer)]),
                    None => inferred(Reason::After { last }),
                }
            }
            (None, Some(first)) => inferred(Reason::Before { first: first.build }),
            (None, None) if near.lacks => (Confidence::Documented { unverifiable: true }, [None; 2]),
            (None, None) if is_own_branch => (Confidence::Documented { unverifiable: false }, [None; 2]),
            (None, None) => match self.unknown() {
                // The image shows the offsets of one of the neighbors' layouts, which decides only if both neighbors have the
                // same layout.
                (Confidence::Inferred(_), sides) if near.own.is_some() => (Confidence::PartlyVerified, sides),
                unknown => unknown,
            },
        }
    }

    /// The confidence for a build of a branch that is neither examined nor on the version axis.
    fn unknown(&self) -> (Confidence, [Option<Build>; 2]) {
        let older = self.row;
        match self.next() {
            None => (Confidence::Inferred(Reason::Newest { last: older }), [None; 2]),
            Some(newer) if self.has(newer) == self.layout => {
                (Confidence::Inferred(Reason::Releases { older, newer }), [None, Some(newer)])
            }
            Some(newer) => (Confidence::Uncertain { older, newer }, [None, Some(newer)]),
        }
    }

    /// The next build of this branch with another layout; otherwise the first build of a newer branch that has all updates of
    /// this build. Later changes of other branches do not apply to this one.
    fn next(&self) -> Option<Build> {
        let is_ahead = |kernel| self.line.updates().all(|update| !update.has(self.build) || update.has(kernel));
        let mut later = self.line.kernels(self.arch).filter(|(kernel, _)| *kernel > self.build);
        let next = later.find(|(kernel, row)| match kernel.number > self.build.number {
            true => is_ahead(*kernel),
            false => self.line.layout(*row) != self.layout,
        });
        next.map(|(kernel, _)| kernel)
    }

    /// The row of the version axis for a build.
    fn at(&self, build: Build, arch: Arch) -> Option<(Build, S::Kernel)> {
        place(build, self.line.kernels(arch), self.line.newest()).ok()
    }

    /// The layout of a build on the requested architecture.
    fn has(&self, build: Build) -> Option<S::Layout> {
        self.at(build, self.arch).and_then(|(_, kernel)| self.line.layout(kernel))
    }

    /// The nearest examined builds of this branch.
    fn near(&self) -> Near {
        let mut near = Near::default();
        // If a build has several sets of facts, the strongest evidence counts.
        let rank = |seen: Examined| {
            let distance = seen.build.revision.abs_diff(self.build.revision);
            (Reverse(distance), self.kinship(seen.arch), seen.evidence)
        };
        for seen in self.line.examined(Some(self.build.number)) {
            let is_own = seen.arch == self.arch;
            let side = match seen.build.cmp(&self.build) {
                Ordering::Equal if is_own => {
                    near.own = near.own.max(Some(seen.evidence));
                    continue;
                }
                Ordering::Less => &mut near.older,
                Ordering::Equal => &mut near.same,
                Ordering::Greater => &mut near.newer,
            };
            near.lacks |= is_own && seen.evidence == Evidence::Lacks;
            if side.is_none_or(|best| rank(seen) > rank(best)) && self.is_shown_by(seen) {
                *side = Some(seen);
            }
        }
        near
    }

    /// Whether an examined build shows its layout on the requested architecture. Another architecture does so only if its layout
    /// changed between the same two builds.
    fn is_shown_by(&self, seen: Examined) -> bool {
        let holds = matches!(seen.evidence, Evidence::Symbols | Evidence::Converted);
        if seen.evidence == Evidence::Partly {
            return false;
        }
        if seen.arch == self.arch {
            return holds || self.has(seen.build).is_none();
        }
        let of = |build| self.at(build, seen.arch).map(|(_, kernel)| self.line.layout(kernel));
        let (Some(there), Some(now), here) = (of(seen.build), of(self.build), self.has(seen.build)) else { return false };
        there.is_some() == holds && here.is_some() == holds && (there == now) == (here == self.layout)
    }

    /// Similarity of an architecture to the requested one: the same, then the same pointer size, then others.
    fn kinship(&self, arch: Arch) -> (bool, bool) {
        (arch == self.arch, arch.pointer_size() == self.arch.pointer_size())
    }

    /// An examined build of another branch that has the updates that gave this branch its layout.
    fn of_branch(&self) -> Option<Reason> {
        let branch = self.line.kernels(self.arch).filter(|(kernel, _)| kernel.number == self.build.number && *kernel <= self.row);
        let mut since = None;
        for (kernel, layout) in branch.map(|(kernel, row)| (kernel, self.line.layout(row))) {
            since = if layout == self.layout { since.or(Some(kernel)) } else { None };
        }
        let since = since?;
        let is_own = |update: &Update| update.first_of(since) == Some(since);
        self.line.updates().find(is_own)?;
        let has = |build: Build| self.line.updates().filter(is_own).all(|update| update.has(build));
        let shows = |seen: &Examined| matches!(seen.evidence, Evidence::Symbols | Evidence::Converted);
        let others = self.line.examined(None).filter(|seen| seen.build.number != self.build.number);
        let others = others.filter(|seen| shows(seen) && has(seen.build));
        let build = others.max_by_key(|seen| (self.kinship(seen.arch), seen.evidence, seen.build))?.build;
        Some(Reason::Branch { build })
    }
}

/// The nearest examined builds of a branch that show the layout.
#[derive(Default)]
struct Near {
    /// Evidence from the build itself.
    own: Option<Evidence>,
    /// The build itself on another architecture.
    same: Option<Examined>,
    older: Option<Examined>,
    newer: Option<Examined>,
    /// Whether symbols of other builds lack the structure.
    lacks: bool,
}
