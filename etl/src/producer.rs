//! For which Windows a writer writes.

use crate::head::PROCESSOR_INDEX;
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
    /// A producer by major and minor version and build.
    pub const fn new(major: u32, minor: u32, build: u32, arch: Arch) -> Self {
        Self { build: Build::new(major, minor, build, 0), arch }
    }

    /// Which form the headers have that differ by version.
    pub fn generation(&self) -> Generation {
        Generation::of(self.build.number[0], self.build.number[1])
    }

    /// 4 or 8.
    pub fn pointer_size(&self) -> u32 {
        match self.arch {
            Arch::X86 => 4,
            Arch::X64 | Arch::Arm64 => 8,
        }
    }

    /// Whether buffers have a processor index; before, a byte for a number.
    pub fn has_processor_index(&self) -> bool {
        self.since(6, 2)
    }

    /// How many processors a buffer's header can tell apart.
    pub fn most_processors(&self) -> u32 {
        match self.has_processor_index() {
            true => u32::from(PROCESSOR_INDEX) + 1,
            false => 256,
        }
    }

    /// Whether it is of that version or a later one.
    pub(crate) fn since(&self, major: u32, minor: u32) -> bool {
        (self.build.number[0], self.build.number[1]) >= (major, minor)
    }
}
