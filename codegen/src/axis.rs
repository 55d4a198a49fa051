//! The version axis: kernels in order, their labels, and the targets that ranges and scopes denote.

use crate::source::Span;
pub use etw_layouts_runtime::meta::{Arch, Build};
use std::collections::BTreeMap;

/// The version axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// Labels for several versions, with the versions' indices.
    pub groups: Vec<(String, Vec<usize>)>,
    /// All kernels, oldest first.
    pub kernels: Vec<Kernel>,
    /// All targets, by kernel, then by architecture.
    pub targets: Vec<Target>,
    /// The architectures that have what another has, wherever no scope names them; with the other.
    pub follows: BTreeMap<Arch, Arch>,
    /// The targets that the documents speak of. All, if the axis does not say.
    pub documented: TargetSet,
    /// Releases none of whose kernels is on the axis yet.
    pub releases: Vec<Release>,
    /// Whether it is that of the standard specs, which complete those that have none.
    pub is_standard: bool,
}

/// What the version of a build is called when its first kernel is entered.
#[derive(Clone, Debug)]
pub struct Release {
    /// The build.
    pub build: Build,
    /// The label of the version.
    pub label: String,
    /// The release's names.
    pub release: String,
    /// The module of its first kernel.
    pub module: String,
    /// Other builds that are its kernel.
    pub same: Vec<Build>,
}

/// A release of Windows, as the documents label it.
#[derive(Clone, Debug)]
pub struct Version {
    /// The documents' label, such as `early-6.0` or `1709`.
    pub label: String,
    /// The release's names.
    pub release: String,
    /// Why no public symbols can confirm any of its layouts.
    pub unverifiable: Option<String>,
}

/// A build, and the first revision of which its layouts are known.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Build and revision.
    pub build: Build,
    /// The service pack, where the build is known by one.
    pub service_pack: Option<u32>,
    /// The module of the generated crate.
    pub module: String,
    /// Index of the version.
    pub version: usize,
    /// The architectures that it exists for.
    pub architectures: Vec<Arch>,
    /// Other builds that are this kernel.
    pub same: Vec<Build>,
    /// Whether a file added it that extends an axis.
    pub added: bool,
    /// Where `windows.toml` names it.
    pub span: Span,
}

/// A kernel on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Index of the kernel.
    pub kernel: usize,
    /// The architecture.
    pub arch: Arch,
}

/// A build of three or four numbers, and whether it names a revision.
pub(crate) fn build(text: &str) -> Option<(Build, bool)> {
    let build = text.parse().ok()?;
    Some((build, text.split('.').count() == 4))
}

/// A set of targets, as a bit each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TargetSet(Vec<u64>);

impl Axis {
    /// The targets that a scope denotes, or what is wrong with its text.
    pub fn scope(&self, text: &str) -> Result<TargetSet, String> {
        let named = self.named(text);
        let mut set = None;
        for part in text.split(',') {
            if let Some(targets) = self.scope_part(part.trim(), &named)? {
                set = Some(targets.union(&set.unwrap_or_default()));
            }
        }
        set.ok_or_else(|| format!("`{}` takes from nothing: it stands behind a scope, as in `6.1.. x64, no arm64`", text.trim()))
    }

    /// The architectures that follow another, but are named in a scope's text: it speaks for them itself.
    fn named(&self, text: &str) -> Vec<Arch> {
        let words = text.split([',', ' ', '\t', '\n']).filter_map(|word| word.parse().ok());
        words.filter(|arch| self.follows.contains_key(arch)).collect()
    }

    /// The targets of a part between commas; none is taken by `no arm64`, which only names the architecture.
    fn scope_part(&self, part: &str, named: &[Arch]) -> Result<Option<TargetSet>, String> {
        let mut kernels = 0..self.kernels.len();
        let mut arch: Option<Arch> = None;
        let mut words = part.split_whitespace().peekable();
        let none = words.next_if_eq(&"no").is_some();
        if words.peek().is_none() {
            return Err("an empty scope".into());
        }
        if let Some(word) = words.next_if(|word| !none && word.parse::<Arch>().is_err()) {
            kernels = self.range(word)?;
        }
        if let Some(word) = words.next() {
            arch = word.parse().ok();
            if arch.is_none() {
                return Err(format!("`{word}` is no architecture"));
            }
        }
        if let Some(word) = words.next() {
            return Err(format!("`{word}` follows a complete scope"));
        }
        if none {
            let follows = arch.filter(|arch| self.follows.contains_key(arch));
            return follows
                .map(|_| None)
                .ok_or_else(|| format!("`{part}`: only an architecture that follows another is left out so"));
        }
        let leader = |t: Target| self.follows.get(&t.arch).filter(|_| !named.contains(&t.arch));
        let has = |t: Target| match arch {
            Some(arch) => t.arch == arch || leader(t) == Some(&arch),
            None => !named.contains(&t.arch),
        };
        Ok(Some(self.filter(|t| kernels.contains(&t.kernel) && has(t))))
    }

    /// Settles which of several scopes beside each other, such as the keys of a table, has a target that two give: an
    /// architecture that follows another belongs to the scope that names it.
    pub fn settle(&self, scopes: &mut [(&str, TargetSet)]) {
        let claims = scopes.iter().map(|(text, set)| (self.named(text), set)).map(|(named, set)| match named[..] {
            [] => TargetSet::default(),
            _ => set.intersection(&self.filter(|t| named.contains(&t.arch))),
        });
        let claims: Vec<_> = claims.collect();
        let all = claims.iter().fold(TargetSet::default(), |all, own| all.union(own));
        for ((_, set), own) in scopes.iter_mut().zip(&claims) {
            *set = set.difference(&all.difference(own));
        }
    }

    /// Whether a scope that names a target's architecture, beside one with this text, is the one that has the target.
    pub fn gives_way(&self, text: &str, target: usize) -> bool {
        let arch = self.targets[target].arch;
        self.follows.contains_key(&arch) && !self.named(text).contains(&arch)
    }

    /// The targets of a set whose architecture follows no other.
    pub fn leading(&self, set: &TargetSet) -> TargetSet {
        match self.follows.is_empty() {
            true => set.clone(),
            false => set.difference(&self.filter(|t| self.follows.contains_key(&t.arch))),
        }
    }

    fn range(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let all = 0..self.kernels.len();
        let Some((first, last)) = text.split_once("..") else {
            return match self.point(text)? {
                none if none.is_empty() => Err(format!("no kernel of the axis is `{text}`")),
                kernels => Ok(kernels),
            };
        };
        let start = if first.is_empty() { all.clone() } else { self.point(first)? };
        let end = if last.is_empty() { all.clone() } else { self.point(last)? };
        let newest = self.kernels.len().checked_sub(1).map(|newest| self.kernel_name(newest)).unwrap_or_default();
        match start.start..end.end {
            range if !range.is_empty() => Ok(range),
            range if range.start == all.end => {
                Err(format!("`{first}` is newer than every kernel of the axis, whose newest is {newest}"))
            }
            _ if start.is_empty() || end.is_empty() => Err(format!("no kernel of the axis lies in `{text}`")),
            _ => Err(format!("the range `{text}` is empty: it ends before it starts")),
        }
    }

    /// The kernels that one end of a range stands for. Of a build that no kernel has there are none, at the place where they would be.
    pub(crate) fn point(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let span_of = |test: &dyn Fn(&Kernel) -> bool| {
            let first = self.kernels.iter().position(test)?;
            let last = self.kernels.iter().rposition(test)?;
            Some(first..last + 1)
        };
        let found = if let Some(version) = self.versions.iter().position(|v| v.label == text) {
            span_of(&|k| k.version == version)
        } else if let Some((_, of)) = self.groups.iter().find(|(label, _)| label == text) {
            span_of(&|k| of.contains(&k.version))
        } else if let Some((build, pack)) = text.split_once("-sp") {
            let build = self::build(build).filter(|(_, revision)| !revision).map(|(build, _)| build.number);
            let pack = pack.parse::<u32>().ok();
            build.zip(pack).and_then(|(build, pack)| span_of(&|k| k.build.number == build && k.service_pack == Some(pack)))
        } else if let Some(release) = self.releases.iter().find(|release| release.label == text) {
            Some(self.of_build(release.build))
        } else {
            match self::build(text) {
                Some((build, true)) => Some(self.of_revision(build)?),
                Some((build, false)) => Some(self.of_build(build)),
                None => None,
            }
        };
        found.ok_or_else(|| format!("`{text}` is neither a label nor a build"))
    }

    /// The kernels of a build, whatever their revision.
    fn of_build(&self, build: Build) -> core::ops::Range<usize> {
        let number = self.canonical(build).number;
        let start = self.kernels.partition_point(|kernel| kernel.build.number < number);
        start..start + self.kernels[start..].partition_point(|kernel| kernel.build.number == number)
    }

    /// The kernel of a revision; revision 0 is the first of its build.
    fn of_revision(&self, build: Build) -> Result<core::ops::Range<usize>, String> {
        let (all, wanted) = (self.of_build(build), self.canonical(build));
        let kernels = &self.kernels[all.clone()];
        let before = kernels.partition_point(|kernel| kernel.build < wanted);
        let is = kernels.get(before).is_some_and(|kernel| kernel.build == wanted);
        match before {
            0 => Ok(all.start..all.start + usize::from(is || build.revision == 0 && !kernels.is_empty())),
            _ if is => Ok(all.start + before..all.start + before + 1),
            // The kernels up to the next have the layouts of this one: what an update between them changed would be lost.
            _ => Err(format!("no kernel of the axis is `{build:#}`; the one before it is {:#}", kernels[before - 1].build)),
        }
    }

    /// The labels that a range can name.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let versions = self.versions.iter().map(|v| v.label.as_str());
        versions.chain(self.groups.iter().map(|(label, _)| label.as_str()))
    }

    /// The build that a text names. One without a revision is that of the first kernel, if the axis has it.
    pub fn build(&self, text: &str) -> Option<Build> {
        let (build, revision) = self::build(text)?;
        let wanted = self.canonical(build).number;
        let first = self.kernels.iter().find(|kernel| kernel.build.number == wanted).filter(|_| !revision);
        Some(first.map_or(build, |kernel| kernel.build))
    }

    /// The build that another is the same kernel as; its revision stays.
    pub fn canonical(&self, build: Build) -> Build {
        let same = self.kernels.iter().find(|kernel| kernel.same.iter().any(|same| same.number == build.number));
        same.map_or(build, |kernel| Build { number: kernel.build.number, ..build })
    }

    /// The targets of an architecture, oldest first, each with its build.
    pub fn along(&self, arch: Arch) -> impl Iterator<Item = (Build, usize)> + Clone {
        let own = self.targets.iter().enumerate().filter(move |(_, target)| target.arch == arch);
        own.map(|(index, target)| (self.kernels[target.kernel].build, index))
    }

    /// The targets of a build on an architecture, oldest first.
    pub fn line(&self, build: Build, arch: Arch) -> Vec<usize> {
        let number = self.canonical(build).number;
        self.along(arch).filter(|(build, _)| build.number == number).map(|(_, target)| target).collect()
    }

    /// Every target.
    pub fn all(&self) -> TargetSet {
        self.filter(|_| true)
    }

    /// The targets that pass a test.
    pub fn filter(&self, mut test: impl FnMut(Target) -> bool) -> TargetSet {
        let mut set = TargetSet::default();
        for (index, target) in self.targets.iter().enumerate() {
            if test(*target) {
                set.insert(index);
            }
        }
        set
    }

    /// The name of a target, such as `10.0.19041.1415-x64`.
    pub fn target_name(&self, target: usize) -> String {
        let Target { kernel, arch } = self.targets[target];
        format!("{}-{arch}", self.kernel_name(kernel))
    }

    /// The name of a kernel: build and revision, or service pack.
    pub fn kernel_name(&self, kernel: usize) -> String {
        let kernel = &self.kernels[kernel];
        match kernel.service_pack {
            Some(pack) if kernel.build.number[0] == 5 => {
                format!("{:#}-sp{pack}", Build { revision: 0, ..kernel.build })
            }
            _ => format!("{:#}", kernel.build),
        }
    }

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

impl TargetSet {
    /// Adds a target by its index.
    pub fn insert(&mut self, target: usize) {
        let word = target / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (target % 64);
    }

    /// Whether a target is in the set.
    pub fn contains(&self, target: usize) -> bool {
        let word = self.0.get(target / 64).copied().unwrap_or(0);
        word >> (target % 64) & 1 == 1
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The targets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|&target| self.contains(target))
    }

    /// Targets in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Targets in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Targets in this set that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let word = |set: &Self, i: usize| set.0.get(i).copied().unwrap_or(0);
        let length = self.0.len().max(other.0.len());
        let mut words: Vec<_> = (0..length).map(|i| combine(word(self, i), word(other, i))).collect();
        // Equal sets must compare equal: no zero words at the end.
        while words.last() == Some(&0) {
            words.pop();
        }
        Self(words)
    }
}
