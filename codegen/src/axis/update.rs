//! Named updates: changes that reach several branches of Windows at about the same time.

use super::{Arch, Axis, Build};
use crate::source::Span;
use etw_layouts_runtime::meta::UpdateFacts;

/// A change of layouts by Windows servicing. Each branch (build) has it from one of its revisions on.
#[derive(Clone, Debug)]
pub struct Update {
    /// Its name in ranges, such as `2022-01`.
    pub name: String,
    /// The first revision of each branch that has it, oldest branch first. Newer builds than the last one have it from the start.
    pub revisions: Vec<Build>,
    /// Builds between or after these that never got it.
    pub without: Vec<[u32; 3]>,
    /// The architectures that it changed, if not all.
    pub architectures: Option<Vec<Arch>>,
    /// Description of the change.
    pub doc: String,
    /// The place in `windows.toml`.
    pub span: Span,
}

impl Update {
    /// Whether a build has it, on the architectures that it changed.
    pub fn has(&self, build: Build) -> bool {
        UpdateFacts::has(&self, build)
    }

    /// Whether it changed an architecture.
    pub fn is_for(&self, arch: Arch) -> bool {
        self.architectures.as_ref().is_none_or(|of| of.contains(&arch))
    }

    /// The first revision of a build's branch that has it, if the branch got it by an update.
    pub fn first_of(&self, build: Build) -> Option<Build> {
        UpdateFacts::first_of(&self, build)
    }
}

impl UpdateFacts for &Update {
    fn revisions(&self) -> impl Iterator<Item = Build> {
        self.revisions.iter().copied()
    }

    fn is_without(&self, number: [u32; 3]) -> bool {
        self.without.contains(&number)
    }

    fn changes(&self, arch: Arch) -> bool {
        self.is_for(arch)
    }
}

impl Axis {
    /// The update with a name.
    pub fn update(&self, name: &str) -> Option<&Update> {
        self.updates.iter().find(|update| update.name == name)
    }
}
