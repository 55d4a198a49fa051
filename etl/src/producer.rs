//! The version of Windows that a writer imitates.

use crate::buffer_header::PROCESSOR_INDEX;
use crate::wire::{Arch, Build, Generation};

/// A version of Windows and an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The version.
    pub build: Build,
    /// The architecture, which decides the pointer size.
    pub arch: Arch,
}

impl Producer {
    /// A producer with major and minor version, build and architecture.
    pub const fn new(major: u32, minor: u32, build: u32, arch: Arch) -> Self {
        Self { build: Build::new(major, minor, build, 0), arch }
    }

    /// Form of the version-dependent headers.
    pub fn generation(&self) -> Generation {
        Generation::from_version(self.build.number[0], self.build.number[1])
    }

    /// Pointer size in bytes: 4 or 8.
    pub fn pointer_size(&self) -> u32 {
        match self.arch {
            Arch::X86 => 4,
            Arch::X64 | Arch::Arm64 => 8,
        }
    }

    /// Whether buffer headers have a processor index; otherwise they have a processor number of one byte.
    pub fn has_processor_index(&self) -> bool {
        self.since(6, 2)
    }

    /// Maximum number of processors that a buffer header can distinguish.
    pub fn most_processors(&self) -> u32 {
        match self.has_processor_index() {
            true => u32::from(PROCESSOR_INDEX) + 1,
            false => 256,
        }
    }

    /// Whether the version is this or a later one.
    pub(crate) fn since(&self, major: u32, minor: u32) -> bool {
        (self.build.number[0], self.build.number[1]) >= (major, minor)
    }
}
