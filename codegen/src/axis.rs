//! The version axis: its rows in order, their labels and targets.

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
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// Labels for several versions, with the versions' indices.
    pub groups: Vec<(String, Vec<usize>)>,
    /// The build that a group's label denotes, if it denotes a single one: `10-22H2` is 10.0.19045.
    pub builds: BTreeMap<String, Build>,
    /// The release name of a group, if it has its own: `10-22H2` is Windows 10 version 22H2.
    pub names: BTreeMap<String, String>,
    /// All rows, oldest first.
    pub kernels: Vec<Kernel>,
    /// All targets, by row, then by architecture.
    pub targets: PerTarget<Target>,
    /// The architectures that follow another one, each with that one. They have its layouts where no scope names them.
    pub follows: BTreeMap<Arch, Arch>,
    /// The targets that published references cover; all, if the axis does not state them.
    pub documented: TargetSet,
    /// The KB numbers of updates, by build and revision; empty without a list of updates.
    pub kbs: BTreeMap<Build, Vec<u32>>,
    /// Named updates, oldest first.
    pub updates: Vec<Update>,
    /// Releases without a row on the axis.
    pub releases: Vec<Release>,
    /// The architectures of versions that state none.
    pub architectures: Vec<Arch>,
    /// The range that published references cover, as text.
    pub documents: Option<String>,
    /// The comments before keys and tables, by the key, or by the label or name of the table. One entry per line; empty for a
    /// blank line.
    pub comments: BTreeMap<String, Vec<String>>,
    /// Whether it is the axis of the standard specs.
    pub is_standard: bool,
}

/// The names for the version of a build that has no row on the axis yet.
#[derive(Clone, Debug)]
pub struct Release {
    /// The build.
    pub build: Build,
    /// The label of the version.
    pub label: String,
    /// The names of the release.
    pub release: String,
    /// The module of its first row.
    pub module: String,
    /// Other build numbers of the same kernel, each with its first revision.
    pub same: Vec<Build>,
}

/// A release of Windows, with its label in published references.
#[derive(Clone, Debug)]
pub struct Version {
    /// The label, such as `early-6.0` or `1709`.
    pub label: String,
    /// The names of the release.
    pub release: String,
    /// The reason why no public symbols can verify any of its layouts.
    pub unverifiable: Option<String>,
    /// The architectures of its rows that state none.
    pub architectures: Vec<Arch>,
}

/// A row of the axis: a build, and its first revision with known layouts.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Build and revision.
    pub build: Build,
    /// The service pack, if the build is named by one.
    pub service_pack: Option<u32>,
    /// The module of the generated crate.
    pub module: String,
    /// Index of the version.
    pub version: usize,
    /// The architectures of the build.
    pub architectures: Vec<Arch>,
    /// Other build numbers of the same kernel, each with its first revision; 0 if that is unknown.
    pub same: Vec<Build>,
    /// Whether an update lists it, and no version does.
    pub of_update: bool,
    /// Whether a file that extends the axis added it.
    pub added: bool,
    /// The place in `windows.toml`.
    pub span: Span,
}

/// A row of the axis on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Index of the row.
    pub kernel: usize,
    /// The architecture.
    pub arch: Arch,
}

/// A build of three or four numbers, and whether it names a revision. Fewer numbers are a label in specs.
pub(crate) fn build(text: &str) -> Option<(Build, bool)> {
    let count = text.split('.').count();
    let build = text.parse().ok().filter(|_| count > 2)?;
    Some((build, count == 4))
}

impl Axis {
    /// The labels that select builds.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let versions = self.versions.iter().map(|v| v.label.as_str());
        versions.chain(self.groups.iter().map(|(label, _)| label.as_str()))
    }

    /// The words that a range can begin or end with: labels and updates.
    pub fn ends(&self) -> impl Iterator<Item = &str> {
        self.labels().chain(self.updates.iter().map(|update| update.name.as_str()))
    }

    /// The build that a text names. Without a revision, it is the first revision on the axis, if there is one.
    pub fn build(&self, text: &str) -> Option<Build> {
        let (build, revision) = self::build(text)?;
        let first = || self.kernels.iter().find(|kernel| kernel.build.number == build.number).map(|kernel| kernel.build);
        Some(if revision { build } else { self.same(build).map(|(_, first)| first).or_else(first).unwrap_or(build) })
    }

    /// The build with the number that the axis uses for its kernel, and the same revision.
    pub fn canonical(&self, build: Build) -> Build {
        self.same(build).map_or(build, |(kernel, _)| Build { number: kernel.build.number, ..build })
    }

    /// The row that lists the number of a build as another number of its kernel, and the build with its first revision.
    pub(crate) fn same(&self, build: Build) -> Option<(&Kernel, Build)> {
        let first = |kernel: &Kernel| kernel.same.iter().copied().find(|same| same.number == build.number);
        self.kernels.iter().find_map(|kernel| Some((kernel, first(kernel)?)))
    }

    /// The targets of an architecture, oldest first, each with its build.
    pub fn along(&self, arch: Arch) -> impl Iterator<Item = (Build, TargetId)> + Clone {
        let own = self.targets.iter().filter(move |(_, target)| target.arch == arch);
        own.map(|(id, target)| (self.kernels[target.kernel].build, id))
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

    /// The row of a target.
    pub fn kernel_of(&self, target: TargetId) -> &Kernel {
        &self.kernels[self.targets[target].kernel]
    }

    /// The name of a target, such as `10.0.19041.1415-x64`.
    pub fn target_name(&self, target: TargetId) -> String {
        let Target { kernel, arch } = self.targets[target];
        format!("{}-{arch}", self.kernel_name(kernel))
    }

    /// The name of a row: build and revision, or service pack.
    pub fn kernel_name(&self, kernel: usize) -> String {
        let kernel = &self.kernels[kernel];
        match kernel.service_pack {
            Some(pack) if kernel.build.number[0] == 5 => {
                format!("{:#}-sp{pack}", Build { revision: 0, ..kernel.build })
            }
            _ => format!("{:#}", kernel.build),
        }
    }
}
