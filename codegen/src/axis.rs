//! The version axis: kernels in order, their labels, and the targets that ranges and scopes denote.

use crate::source::Span;
use core::fmt;

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

/// A build, and the first revision at which its layouts were seen.
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
    /// The architectures whose symbol data was read.
    pub seen: Vec<Arch>,
    /// The architectures whose layouts `cargo xtask import` entered, and enters again whenever another kernel comes.
    pub imported: Vec<Arch>,
    /// Other builds that are this kernel.
    pub same: Vec<Build>,
    /// Where `windows.toml` names it.
    pub span: Span,
}

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X64,
}

/// A build number such as 10.0.19041.1415.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    /// Major and minor version and build.
    pub number: [u32; 3],
    /// The revision; 0 for the first of a build.
    pub revision: u32,
}

/// A kernel on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Index of the kernel.
    pub kernel: usize,
    /// The architecture.
    pub arch: Arch,
}

/// A set of targets, as a bit each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TargetSet(Vec<u64>);

impl Axis {
    /// The targets that a scope denotes, or what is wrong with its text.
    pub fn scope(&self, text: &str) -> Result<TargetSet, String> {
        let mut set = TargetSet::default();
        for part in text.split(',') {
            set = set.union(&self.scope_part(part.trim())?);
        }
        Ok(set)
    }

    fn scope_part(&self, part: &str) -> Result<TargetSet, String> {
        let mut kernels = 0..self.kernels.len();
        let mut arch = None;
        let mut words = part.split_whitespace().peekable();
        if words.peek().is_none() {
            return Err("an empty scope".into());
        }
        if let Some(word) = words.next_if(|word| Arch::parse(word).is_none()) {
            kernels = self.range(word)?;
        }
        if let Some(word) = words.next() {
            arch = Arch::parse(word);
            if arch.is_none() {
                return Err(format!("`{word}` is no architecture"));
            }
        }
        if let Some(word) = words.next() {
            return Err(format!("`{word}` follows a complete scope"));
        }
        Ok(self.filter(|t| kernels.contains(&t.kernel) && arch.is_none_or(|a| a == t.arch)))
    }

    fn range(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let all = 0..self.kernels.len();
        let Some((first, last)) = text.split_once("..") else {
            return self.point(text);
        };
        let start = match first {
            "" => 0,
            end => self.point(end)?.start,
        };
        let end = match last {
            "" => all.end,
            end => self.point(end)?.end,
        };
        if start >= end {
            return Err(format!("the range `{text}` is empty: it ends before it starts"));
        }
        Ok(start..end)
    }

    /// The kernels that one end of a range stands for.
    fn point(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
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
            let build = Build::parse(build).filter(|(_, revision)| !revision).map(|(build, _)| build.number);
            let pack = pack.parse::<u32>().ok();
            build.zip(pack).and_then(|(build, pack)| span_of(&|k| k.build.number == build && k.service_pack == Some(pack)))
        } else {
            match Build::parse(text) {
                Some((build, true)) => span_of(&|k| k.build == build),
                Some((build, false)) => span_of(&|k| k.build.number == build.number || k.same.contains(&build)),
                None => None,
            }
        };
        found.ok_or_else(|| format!("`{text}` is neither a label nor a kernel of the version axis"))
    }

    /// The labels that a range can name.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let versions = self.versions.iter().map(|v| v.label.as_str());
        versions.chain(self.groups.iter().map(|(label, _)| label.as_str()))
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
                format!("{}-sp{pack}", Build { revision: 0, ..kernel.build })
            }
            _ => kernel.build.to_string(),
        }
    }

    /// The shortest scope that denotes a set: `6.1..`, or `5.2 x64, 6.0..6.1`.
    pub fn describe(&self, set: &TargetSet) -> String {
        let runs = |arch: Arch| {
            let exists = self.filter(|t| t.arch == arch);
            self.runs(&exists, &set.intersection(&exists))
        };
        let (x86, x64) = (runs(Arch::X86), runs(Arch::X64));
        let both = self.runs(&self.all(), set);
        if both.len() <= x86.len().max(x64.len()) && self.whole_kernels(set) {
            return both.join(", ");
        }
        let named = |runs: Vec<String>, arch: Arch| runs.into_iter().map(move |r| format!("{r} {arch}"));
        let parts: Vec<_> = named(x86, Arch::X86).chain(named(x64, Arch::X64)).collect();
        parts.join(", ")
    }

    fn whole_kernels(&self, set: &TargetSet) -> bool {
        let kernels = self.kernels_of(set);
        *set == self.filter(|t| kernels.contains(&t.kernel))
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
            let length = exists[at..].iter().take_while(|k| kernels.contains(k)).count();
            if length > 0 {
                runs.push(self.run(exists[at], exists[at + length - 1], &exists));
            }
            at += length.max(1);
        }
        runs
    }

    fn run(&self, first: usize, last: usize, exists: &[usize]) -> String {
        let version = |k: usize| self.kernels[k].version;
        let opens = !exists.iter().any(|&k| k < first && version(k) == version(first));
        let closes = !exists.iter().any(|&k| k > last && version(k) == version(last));
        let newest = exists.last() == Some(&last);
        let exact = |k: usize| match self.kernels[k].build {
            build if build.revision == 0 => format!("{build}.0"),
            build => build.to_string(),
        };
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
        if first == last {
            return exact(first);
        }
        format!("{start}..{}", label(last, closes))
    }
}

impl Arch {
    /// Both.
    pub const ALL: [Arch; 2] = [Arch::X86, Arch::X64];

    /// The architecture of that name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "x86" => Some(Self::X86),
            "x64" => Some(Self::X64),
            _ => None,
        }
    }

    /// Bytes of a pointer.
    pub fn pointer_size(self) -> u64 {
        match self {
            Self::X86 => 4,
            Self::X64 => 8,
        }
    }
}

impl Build {
    /// A build of three or four numbers, and whether it named a revision.
    pub fn parse(text: &str) -> Option<(Self, bool)> {
        let numbers: Option<Vec<u32>> = text.split('.').map(|n| n.parse().ok()).collect();
        match numbers?[..] {
            [a, b, c] => Some((Self { number: [a, b, c], revision: 0 }, false)),
            [a, b, c, revision] => Some((Self { number: [a, b, c], revision }, true)),
            _ => None,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86 => "x86",
            Self::X64 => "x64",
        })
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, build] = self.number;
        write!(f, "{major}.{minor}.{build}")?;
        match self.revision {
            0 => Ok(()),
            revision => write!(f, ".{revision}"),
        }
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
