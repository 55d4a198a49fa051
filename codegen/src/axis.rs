//! The version axis: its releases and revisions in order, their labels and targets.

mod describe;
mod names;
mod per_target;
mod range;
mod scope;
mod set;
mod update;

pub use self::names::WindowsName;
pub use self::per_target::{PerTarget, TargetId};
pub(crate) use self::scope::architecture;
pub use self::scope::{Part, Range, Scope};
pub use self::set::{IndexSet, TargetSet};
pub use self::update::Update;

use crate::source::Span;
pub use etw_layouts_runtime::meta::{Arch, Build};
use std::collections::BTreeMap;

/// The version axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// The releases, oldest first.
    pub releases: Vec<Release>,
    /// All revisions with layouts of their own, oldest first.
    pub revisions: Vec<Revision>,
    /// All targets, by revision, then by architecture.
    pub targets: PerTarget<Target>,
    /// The architectures that have the ranges of another one, each with that one. They have its layouts where no scope names them.
    pub ranges: BTreeMap<Arch, Arch>,
    /// The targets that published references cover; all, if the axis does not state them.
    pub documented: TargetSet,
    /// The KB numbers of updates, by build and revision; empty without a list of updates.
    pub kbs: BTreeMap<Build, Vec<u32>>,
    /// Named updates, oldest first.
    pub updates: Vec<Update>,
    /// Releases without a revision on the axis.
    pub unimported: Vec<Unimported>,
    /// The architectures of releases that state none.
    pub architectures: Vec<Arch>,
    /// The range that published references cover, as text.
    pub documented_range: Option<String>,
    /// The comments before keys and tables, by the key, or by the first label or the name of the table. One entry per line; empty
    /// for a blank line.
    pub comments: BTreeMap<String, Vec<String>>,
    /// Whether it is the axis of the standard specs.
    pub is_standard: bool,
}

/// A release of Windows.
#[derive(Clone, Debug)]
pub struct Release {
    /// The labels, such as `late-6.0` and `6.0`. No other release has the first one; adjacent releases can share the others.
    pub labels: Vec<String>,
    /// The full name.
    pub name: String,
    /// The reason why no public symbols can verify any of its layouts.
    pub unverifiable: Option<String>,
    /// The architectures of its revisions that state none.
    pub architectures: Vec<Arch>,
}

/// A release without a revision on the axis.
#[derive(Clone, Debug)]
pub struct Unimported {
    /// The build.
    pub build: Build,
    /// The labels.
    pub labels: Vec<String>,
    /// The full name.
    pub name: String,
    /// The module of its first revision.
    pub module: String,
    /// The releases that share its kernel.
    pub shared: Vec<SharedRelease>,
}

/// A release with the kernel of another release, under its own build number.
#[derive(Clone, Debug)]
pub struct SharedRelease {
    /// The build with its first revision; 0 if that is unknown.
    pub build: Build,
    /// The labels.
    pub labels: Vec<String>,
    /// The full name; empty if the name of the other release includes it.
    pub name: String,
}

/// A revision with layouts of its own. Later revisions of its build, up to the next one on the axis, have its layouts.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Build and revision.
    pub build: Build,
    /// The service pack, if the build is named by one.
    pub service_pack: Option<u32>,
    /// The module of the generated crate.
    pub module: String,
    /// Index of the release.
    pub release: usize,
    /// The architectures of the build.
    pub architectures: Vec<Arch>,
    /// The releases that share its kernel.
    pub shared: Vec<SharedRelease>,
    /// Whether an update lists it, and no release does.
    pub of_update: bool,
    /// Whether a file that extends the axis added it.
    pub added: bool,
    /// The place in `windows.toml`.
    pub span: Span,
}

/// A revision of the axis on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Index of the revision.
    pub revision: usize,
    /// The architecture.
    pub arch: Arch,
}

/// A build of three or four numbers, and whether it names a revision. Fewer numbers are a label in specs.
pub(crate) fn build(text: &str) -> Option<(Build, bool)> {
    let count = text.split('.').count();
    let build = text.parse().ok().filter(|_| count > 2)?;
    Some((build, count == 4))
}

impl Release {
    /// The label that no other release has.
    pub fn label(&self) -> &str {
        self.labels.first().map_or("", String::as_str)
    }
}

impl Axis {
    /// The labels that select builds: the first one of each release, then the others.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let mut others: Vec<&str> = Vec::new();
        for (index, release) in self.releases.iter().enumerate() {
            let own = self.revisions.iter().filter(|revision| revision.release == index);
            let shared = own.flat_map(|revision| &revision.shared).flat_map(|shared| &shared.labels);
            for label in release.labels.iter().skip(1).chain(shared) {
                if !others.contains(&label.as_str()) {
                    others.push(label);
                }
            }
        }
        self.releases.iter().map(Release::label).chain(others)
    }

    /// The releases with a label, or the release whose kernel the release with the label shares.
    pub fn labelled(&self, label: &str) -> Option<core::ops::Range<usize>> {
        let has = |release: &Release| release.labels.iter().any(|own| own == label);
        if let Some(first) = self.releases.iter().position(has) {
            return Some(first..self.releases.iter().rposition(has)? + 1);
        }
        let has = |revision: &&Revision| revision.shared.iter().any(|shared| shared.labels.iter().any(|own| own == label));
        let release = self.revisions.iter().find(has)?.release;
        Some(release..release + 1)
    }

    /// The build number of the release with a label, if it shares the kernel of another one: `10-22H2` is 10.0.19045.
    pub fn shared_build(&self, label: &str) -> Option<Build> {
        let shared = self.revisions.iter().flat_map(|revision| &revision.shared);
        let found = shared.into_iter().find(|shared| shared.labels.iter().any(|own| own == label))?;
        Some(Build { revision: 0, ..found.build })
    }

    /// The words that a range can begin or end with: labels and updates.
    pub fn ends(&self) -> impl Iterator<Item = &str> {
        self.labels().chain(self.updates.iter().map(|update| update.name.as_str()))
    }

    /// The build that a text names. Without a revision, it is the first revision on the axis, if there is one.
    pub fn build(&self, text: &str) -> Option<Build> {
        let (build, has_revision) = self::build(text)?;
        let first = || self.revisions.iter().find(|own| own.build.number == build.number).map(|own| own.build);
        Some(if has_revision { build } else { self.shared(build).map(|(_, first)| first).or_else(first).unwrap_or(build) })
    }

    /// The build with the number that the axis uses for its kernel, and the same revision.
    pub fn canonical(&self, build: Build) -> Build {
        self.shared(build).map_or(build, |(own, _)| Build { number: own.build.number, ..build })
    }

    /// The revision whose kernel a release with this build number shares, and the first build of that release.
    pub(crate) fn shared(&self, build: Build) -> Option<(&Revision, Build)> {
        let first = |own: &Revision| own.shared.iter().map(|shared| shared.build).find(|other| other.number == build.number);
        self.revisions.iter().find_map(|own| Some((own, first(own)?)))
    }

    /// The targets of an architecture, oldest first, each with its build.
    pub fn along(&self, arch: Arch) -> impl Iterator<Item = (Build, TargetId)> + Clone {
        let own = self.targets.iter().filter(move |(_, target)| target.arch == arch);
        own.map(|(id, target)| (self.revisions[target.revision].build, id))
    }

    /// The targets of a build on an architecture, oldest first.
    pub fn line(&self, build: Build, arch: Arch) -> Vec<TargetId> {
        let number = self.canonical(build).number;
        self.along(arch).filter(|(build, _)| build.number == number).map(|(_, target)| target).collect()
    }

    /// Every target.
    pub fn all(&self) -> TargetSet {
        self.filter(|_| true)
    }

    /// The targets that pass a test.
    pub fn filter(&self, mut test: impl FnMut(Target) -> bool) -> TargetSet {
        self.targets.iter().filter(|(_, target)| test(**target)).map(|(id, _)| id).collect()
    }

    /// The revision of a target.
    pub fn revision_of(&self, target: TargetId) -> &Revision {
        &self.revisions[self.targets[target].revision]
    }

    /// The name of a target, such as `10.0.19041.1415-x64`.
    pub fn target_name(&self, target: TargetId) -> String {
        let Target { revision, arch } = self.targets[target];
        format!("{}-{arch}", self.revision_name(revision))
    }

    /// The name of a revision: build and revision, or service pack.
    pub fn revision_name(&self, revision: usize) -> String {
        let revision = &self.revisions[revision];
        match revision.service_pack {
            Some(pack) if revision.build.number[0] == 5 => {
                format!("{:#}-sp{pack}", Build { revision: 0, ..revision.build })
            }
            _ => format!("{:#}", revision.build),
        }
    }
}
