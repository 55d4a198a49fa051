//! Selection of the layout for a build: a single algorithm, for metadata at run time and for the commands.

use super::build::{Arch, Build, UpdateFacts};
use super::confidence::{Absent, Confidence, InferredFrom, SymbolSource};
use core::cmp::Ordering;

/// The known facts about one structure in all builds of Windows. Builds are those of the version axis: of identical builds, the one
/// on the axis.
pub trait Line {
    /// A build of the version axis on an architecture.
    type Revision: Copy;
    /// A layout.
    type Layout: Copy + PartialEq;
    /// A named update.
    type Update<'a>: UpdateFacts
    where
        Self: 'a;

    /// The builds of the version axis on an architecture, oldest first.
    fn revisions(&self, arch: Arch) -> impl Iterator<Item = (Build, Self::Revision)> + Clone;

    /// The newest build of the version axis, of any architecture.
    fn newest(&self) -> Option<Build>;

    /// The layout of a build; `None` if it lacks the structure.
    fn layout(&self, revision: Self::Revision) -> Option<Self::Layout>;

    /// The examined builds of a branch, or of all branches, in any order, with the evidence for the structure.
    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined>;

    /// The named updates.
    fn updates(&self) -> impl Iterator<Item = Self::Update<'_>>;
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
#[non_exhaustive]
pub struct Chosen<K, L> {
    /// The build of the version axis with the selected layout.
    pub revision: K,
    /// The layout; `None` if the build lacks the structure.
    pub layout: Option<L>,
    /// Confidence in the layout, or in the absence of the structure.
    pub confidence: Confidence,
    arch: Arch,
    /// The nearest builds before and after it whose layouts are known on the architecture, if other layouts are candidates.
    known: [Option<Build>; 2],
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
    mut revisions: impl Iterator<Item = (Build, K)> + Clone,
    newest: Option<Build>,
) -> Result<(Build, K), Absent> {
    let mut own = revisions.clone().filter(|(revision, _)| revision.number == build.number);
    if let Some(found) = own.clone().take_while(|(revision, _)| *revision <= build).last().or_else(|| own.next()) {
        return Ok(found);
    }
    let Some((first, _)) = revisions.clone().next() else { return Err(Absent::Arch) };
    let Some((older, _)) = revisions.clone().take_while(|(revision, _)| *revision < build).last() else {
        return Err(Absent::Older { first });
    };
    let ends = |(newest, older): (Build, Build)| newest.number > older.number;
    if !revisions.clone().any(|(revision, _)| revision > build) && newest.is_some_and(|newest| ends((newest, older))) {
        return Err(Absent::Newer { last: older });
    }
    revisions.find(|(revision, _)| revision.number == older.number).ok_or(Absent::Older { first })
}

/// The layout for a build, with its confidence.
///
/// Candidates are the layouts that symbols verified on this architecture in the nearest builds before and after the build. If both are equal,
/// this layout is selected. If they differ, symbols of another architecture select one of them: the layout of the build in which the other
/// architecture has the same layout as in the requested build. Without such symbols, the layout is that of the version axis.
///
/// # Errors
///
/// There is no such build.
pub fn choose<S: Line>(line: &S, build: Build, arch: Arch) -> Result<Chosen<S::Revision, S::Layout>, Absent> {
    let (row, revision) = place(build, line.revisions(arch), line.newest())?;
    let asked = Asked { line, build, arch, row, layout: line.layout(revision) };
    let Answer { confidence, of, known } = asked.answer();
    // Several rows can have the selected layout; that of the build itself comes first.
    let other = of
        .and_then(|of| asked.at(of, arch))
        .map(|(_, revision)| revision)
        .filter(|revision| line.layout(*revision) != asked.layout);
    let revision = other.unwrap_or(revision);
    Ok(Chosen { revision, layout: line.layout(revision), confidence, arch, known })
}

impl<K: Copy, L: Copy + PartialEq> Chosen<K, L> {
    /// The builds of the version axis whose layouts the requested build can have, the selected one first. There are others if the layout is
    /// uncertain or partly verified, or if the symbols of the build lack the structure: those from the nearest known build before it to the nearest after it, oldest first, each distinct layout once.
    pub fn candidates<S: Line<Revision = K, Layout = L>>(&self, line: &S) -> impl Iterator<Item = (K, Option<L>)> {
        let (own, arch) = ((self.revision, self.layout), self.arch);
        let is_open = match self.confidence {
            Confidence::Uncertain { .. } | Confidence::PartlyVerified => true,
            Confidence::Documented { unverifiable } => unverifiable,
            Confidence::Verified(_) | Confidence::Inferred(_) => false,
        };
        let known = if is_open { self.known } else { [None; 2] };
        let [first, last] = known.map(|build| place(build?, line.revisions(arch), line.newest()).ok().map(|(row, _)| row));
        let is_between = move |row: Build| first.is_some_and(|first| first <= row) && last.is_some_and(|last| row <= last);
        let rows = move || {
            let rows = line.revisions(arch).filter(move |(row, _)| is_between(*row));
            rows.map(move |(_, revision)| (revision, line.layout(revision)))
        };
        let is_new = move |(index, layout): (usize, Option<L>)| {
            layout != own.1 && !rows().take(index).any(|(_, earlier)| earlier == layout)
        };
        let others = rows().enumerate().filter(move |&(index, (_, layout))| is_new((index, layout)));
        core::iter::once(own).chain(others.map(|(_, row)| row))
    }
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

/// The confidence, the build whose layout is selected if it is not that of the row, and the nearest known builds before and after.
struct Answer {
    confidence: Confidence,
    of: Option<Build>,
    known: [Option<Build>; 2],
}

impl<S: Line> Asked<'_, S> {
    fn answer(&self) -> Answer {
        let own = self.line.examined(Some(self.build.number)).filter(|seen| seen.arch == self.arch && seen.build == self.build);
        // If a build has several sets of facts, the strongest evidence counts.
        let own = own.map(|seen| seen.evidence).max();
        let branch = || self.nearest(self.arch, self.build, Some(self.build.number));
        let of_row = |confidence, known| Answer { confidence, of: None, known };
        match own {
            // No other layout is a candidate, so the known builds, a search of all examined builds, are not needed.
            Some(Evidence::Symbols) => return of_row(Confidence::Verified(SymbolSource::Pdb), [None; 2]),
            Some(Evidence::Converted) => return of_row(Confidence::Verified(SymbolSource::Converted), [None; 2]),
            // The other layouts of this branch are candidates too.
            Some(Evidence::Partly) if self.is_own_branch() => return of_row(Confidence::PartlyVerified, branch()),
            Some(Evidence::Lacks) => return of_row(Confidence::Documented { unverifiable: true }, branch()),
            _ => {}
        }
        let branch = branch();
        let [before, after] = self.nearest(self.arch, self.build, None);
        let known = [branch[0].or(before), branch[1].or(after)];
        let others = self.other_architectures().map(|arch| Some((arch, self.shown(arch, self.build)?)));
        let others = || others.iter().copied().flatten();
        if let [Some(older), Some(newer)] = branch
            && self.has(older) == self.has(newer)
            && self.can_have(older)
        {
            let reason = match others().find(|&(arch, shown)| self.changes(arch, shown, older, newer)) {
                Some((arch, _)) => InferredFrom::Changed { arch, older, newer },
                None => InferredFrom::Between { older, newer },
            };
            return Answer { confidence: Confidence::Inferred(reason), of: Some(older), known };
        }
        let mut by_others = others().filter_map(|(arch, shown)| self.by_architecture(arch, shown, branch, known));
        // Two architectures can select different layouts; then neither does.
        if let Some((reason, build)) = by_others.next()
            && by_others.all(|(_, other)| self.has(other) == self.has(build))
        {
            return Answer { confidence: Confidence::Inferred(reason), of: Some(build), known };
        }
        let confidence = self.of_row(branch, own, others().next().map(|(arch, _)| arch));
        let known = match confidence {
            Confidence::Uncertain { older, newer, .. } => [known[0].or(Some(older)), known[1].or(Some(newer))],
            _ => known,
        };
        Answer { confidence, of: None, known }
    }

    /// The examined build of this architecture, before or after, in which another architecture has the layout that it has in this
    /// build.
    fn by_architecture(
        &self,
        arch: Arch,
        shown: Option<S::Layout>,
        branch: [Option<Build>; 2],
        known: [Option<Build>; 2],
    ) -> Option<(InferredFrom, Build)> {
        let is_same = |build: &Build| self.can_have(*build) && self.shown(arch, *build) == Some(shown);
        let (build, is_sure) = match known.map(|build| build.filter(is_same)) {
            [Some(before), Some(after)] if self.has(before) == self.has(after) => (before, true),
            // Only this architecture changed, at an unknown revision.
            [Some(_), Some(_)] | [None, None] => return None,
            [Some(build), None] | [None, Some(build)] => (build, branch.contains(&Some(build))),
        };
        let reason = if is_sure { InferredFrom::Architecture { arch, build } } else { InferredFrom::Release { arch, build } };
        Some((reason, build))
    }

    /// Whether another architecture has a layout in this build that it had not before, and that it may not have in two builds before and
    /// after.
    fn changes(&self, arch: Arch, shown: Option<S::Layout>, older: Build, newer: Build) -> bool {
        let [before, _] = self.nearest(arch, self.build, Some(self.build.number));
        let is_kept = || [older, newer].into_iter().any(|build| self.shown(arch, build) == Some(shown));
        before.is_some_and(|before| self.layout_of(before, arch) != shown) && !is_kept()
    }

    /// The confidence in the layout of the version axis.
    fn of_row(&self, branch: [Option<Build>; 2], own: Option<Evidence>, other: Option<Arch>) -> Confidence {
        let is_own = |build: Build| self.has(build) == self.layout;
        if let Some(older) = branch[0]
            && !is_own(older)
            && let Some(build) = self.of_branch()
        {
            // The change to this layout came after the last examined update without it, so it is known from another source.
            return Confidence::Inferred(InferredFrom::Branch { build });
        }
        match (branch, other) {
            ([Some(older), Some(newer)], _) => Confidence::Uncertain { older, newer, is_verified: true },
            (_, Some(arch)) => Confidence::Inferred(InferredFrom::Unverified { arch }),
            ([Some(last), None], _) if is_own(last) => self.after(last, InferredFrom::After { last }),
            ([None, Some(first)], _) if is_own(first) => Confidence::Inferred(InferredFrom::Before { first }),
            ([None, Some(newer)], _) => Confidence::Uncertain { older: self.row, newer, is_verified: false },
            _ => self.of_other_architecture().unwrap_or_else(|| self.of_no_symbols(own)),
        }
    }

    /// The confidence if the nearest symbols of the branch are those of another architecture.
    fn of_other_architecture(&self) -> Option<Confidence> {
        let near = self.other_architectures().map(|arch| (arch, self.nearest(arch, self.build, Some(self.build.number))));
        let (arch, near) = near.into_iter().find(|(_, near)| near.iter().any(Option::is_some))?;
        let unverified = InferredFrom::Unverified { arch };
        Some(match near {
            [Some(older), Some(newer)] if self.has(older) != self.has(newer) => {
                Confidence::Uncertain { older, newer, is_verified: false }
            }
            [Some(last), None] => self.after(last, unverified),
            _ => Confidence::Inferred(unverified),
        })
    }

    /// The confidence if no symbols of the branch were examined.
    fn of_no_symbols(&self, own: Option<Evidence>) -> Confidence {
        if self.lacks() {
            return Confidence::Documented { unverifiable: true };
        }
        if self.is_own_branch() {
            return Confidence::Documented { unverifiable: false };
        }
        let older = self.row;
        match self.next() {
            Some(newer) if self.has(newer) != self.layout => Confidence::Uncertain { older, newer, is_verified: false },
            // The image shows the offsets of one of the neighbors' layouts, which decides only if both neighbors have the same layout.
            _ if own.is_some() => Confidence::PartlyVerified,
            Some(newer) => Confidence::Inferred(InferredFrom::Releases { older, newer }),
            None => Confidence::Inferred(InferredFrom::Newest { last: older }),
        }
    }

    /// The confidence in the layout after the last examined update of a branch. A change of newer releases may apply to this one too.
    fn after(&self, last: Build, reason: InferredFrom) -> Confidence {
        let is_own = |build: Build| self.has(build) == self.layout;
        match self.next().filter(|next| is_own(last) && !is_own(*next)) {
            Some(newer) => Confidence::Uncertain { older: last, newer, is_verified: false },
            None => Confidence::Inferred(reason),
        }
    }

    /// The next build of this branch with another layout; otherwise the first build of a newer branch that has all updates of
    /// this build. Later changes of other branches do not apply to this one.
    fn next(&self) -> Option<Build> {
        let is_ahead = |revision| self.updates().all(|update| !update.has(self.build) || update.has(revision));
        let mut later = self.line.revisions(self.arch).filter(|(revision, _)| *revision > self.build);
        let next = later.find(|(revision, row)| match revision.number > self.build.number {
            true => is_ahead(*revision),
            false => self.line.layout(*row) != self.layout,
        });
        next.map(|(revision, _)| revision)
    }

    /// The other architectures, the most similar first.
    fn other_architectures(&self) -> [Arch; 2] {
        match self.arch {
            Arch::X86 => [Arch::X64, Arch::Arm64],
            Arch::X64 => [Arch::Arm64, Arch::X86],
            Arch::Arm64 => [Arch::X64, Arch::X86],
        }
    }

    /// The updates that changed the architecture.
    fn updates(&self) -> impl Iterator<Item = S::Update<'_>> {
        self.line.updates().filter(|update| update.changes(self.arch))
    }

    /// Whether the version axis has the build number.
    fn is_own_branch(&self) -> bool {
        self.row.number == self.build.number
    }

    /// The row of the version axis for a build.
    fn at(&self, build: Build, arch: Arch) -> Option<(Build, S::Revision)> {
        place(build, self.line.revisions(arch), self.line.newest()).ok()
    }

    /// Whether this build can have the layout of another one. Symbols that lack a structure do not show that it is absent in a build for
    /// which the specs state it: a type can leave the public symbols, and return.
    fn can_have(&self, build: Build) -> bool {
        self.layout.is_none() || self.has(build).is_some()
    }

    /// The layout of a build on the requested architecture.
    fn has(&self, build: Build) -> Option<S::Layout> {
        self.layout_of(build, self.arch)
    }

    fn layout_of(&self, build: Build, arch: Arch) -> Option<S::Layout> {
        self.at(build, arch).and_then(|(_, revision)| self.line.layout(revision))
    }

    /// Whether symbols of other builds of this branch lack the structure, although it exists there.
    fn lacks(&self) -> bool {
        let mut own = self.line.examined(Some(self.build.number)).filter(|seen| seen.arch == self.arch);
        own.any(|seen| seen.evidence == Evidence::Lacks)
    }

    /// The layout of another architecture in a build, if symbols show it: those of the build, or of builds before and after it with
    /// the same layout. `None` inside means that the structure does not exist.
    fn shown(&self, arch: Arch, build: Build) -> Option<Option<S::Layout>> {
        let mut own = self.line.examined(Some(build.number)).filter(|seen| seen.arch == arch && seen.build == build);
        if own.any(|seen| self.is_verified_by(seen)) {
            return Some(self.layout_of(build, arch));
        }
        let [older, newer] = self.nearest(arch, build, Some(build.number)).map(|near| Some(self.layout_of(near?, arch)));
        older.filter(|_| older == newer)
    }

    /// The nearest builds before and after a build, of a branch or of all branches, whose symbols verify the layout.
    fn nearest(&self, arch: Arch, build: Build, branch: Option<[u32; 3]>) -> [Option<Build>; 2] {
        let [mut older, mut newer]: [Option<Build>; 2] = [None; 2];
        for seen in self.line.examined(branch).filter(|seen| seen.arch == arch) {
            let is_nearer = match seen.build.cmp(&build) {
                Ordering::Less => older.is_none_or(|older| older < seen.build),
                Ordering::Greater => newer.is_none_or(|newer| seen.build < newer),
                Ordering::Equal => false,
            };
            if is_nearer && self.is_verified_by(seen) {
                *(if seen.build < build { &mut older } else { &mut newer }) = Some(seen.build);
            }
        }
        [older, newer]
    }

    /// Whether symbols verify the layout of their own build, or that it lacks the structure.
    fn is_verified_by(&self, seen: Examined) -> bool {
        match seen.evidence {
            Evidence::Symbols | Evidence::Converted => true,
            Evidence::Lacks => self.layout_of(seen.build, seen.arch).is_none(),
            Evidence::Partly => false,
        }
    }

    /// An examined build of another branch that has the updates that gave this branch its layout, if symbols verify this layout on the
    /// architecture.
    fn of_branch(&self) -> Option<Build> {
        let branch =
            self.line.revisions(self.arch).filter(|(revision, _)| revision.number == self.build.number && *revision <= self.row);
        let mut since = None;
        for (revision, layout) in branch.map(|(revision, row)| (revision, self.line.layout(row))) {
            since = if layout == self.layout { since.or(Some(revision)) } else { None };
        }
        let since = since?;
        let is_own = |update: &S::Update<'_>| update.first_of(since) == Some(since);
        self.updates().find(is_own)?;
        let mut own = self.line.examined(None).filter(|seen| seen.arch == self.arch);
        own.find(|seen| self.is_verified_by(*seen) && self.has(seen.build) == self.layout)?;
        let has = |build: Build| self.updates().filter(is_own).all(|update| update.has(build));
        let shows = |seen: &Examined| matches!(seen.evidence, Evidence::Symbols | Evidence::Converted);
        let others = self.line.examined(None).filter(|seen| seen.build.number != self.build.number);
        // On this architecture, symbols show whether the update brought the layout there, too.
        let is_same = |seen: &Examined| seen.arch != self.arch || self.has(seen.build) == self.layout;
        let others = others.filter(|seen| shows(seen) && has(seen.build) && is_same(seen));
        let kinship = |arch: Arch| (arch == self.arch, arch.pointer_size() == self.arch.pointer_size());
        Some(others.max_by_key(|seen| (kinship(seen.arch), seen.evidence, seen.build))?.build)
    }
}
