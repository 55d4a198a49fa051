//! Named updates: changes that reach several branches of Windows at about the same time.

use super::{Arch, Axis, Build};
use crate::source::Span;
use etw_layouts_runtime::{generated, meta};

/// A change of layouts that Windows was serviced with. Each branch, that is each build, has it from one of its revisions on.
#[derive(Clone, Debug)]
pub struct Update {
    /// How ranges call it: `2022-01`.
    pub name: String,
    /// The first kernel of each branch that has it, oldest branch first. Builds after the last of them have it from the start.
    pub kernels: Vec<Build>,
    /// Builds after the last of the kernels, or between them, that never got it.
    pub without: Vec<[u32; 3]>,
    /// The architectures whose kernels it changed, if not all.
    pub architectures: Option<Vec<Arch>>,
    /// What it changed.
    pub doc: String,
    /// Where `windows.toml` names it.
    pub span: Span,
}

impl Update {
    /// Whether a kernel has it.
    pub fn has(&self, build: Build) -> bool {
        self.data().has(build)
    }

    /// The first kernel of a build's branch that has it, if the branch got it by an update.
    pub fn first_of(&self, build: Build) -> Option<Build> {
        self.data().first_of(build)
    }

    /// As the metadata of generated code has it.
    pub fn data(&self) -> meta::Update<'_> {
        generated::update(&self.name, &self.kernels, &self.without)
    }
}

impl Axis {
    /// The update of that name.
    pub fn update(&self, name: &str) -> Option<&Update> {
        self.updates.iter().find(|update| update.name == name)
    }
}
