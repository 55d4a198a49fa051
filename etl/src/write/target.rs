//! For which Windows a writer writes.

use super::Error;
use crate::clock::ClockType;
use crate::header::Header;
use crate::layout::{Arch, Build, Generation};
use crate::walk::Kind;

/// A version of Windows and an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The version.
    pub build: Build,
    /// The architecture, which decides the pointer size.
    pub arch: Arch,
}

impl Target {
    /// A target by major and minor version and build.
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
            Arch::X64 => 8,
        }
    }

    /// Whether buffers have a processor index; before, a byte for a number.
    pub fn has_processor_index(&self) -> bool {
        self.since(6, 2)
    }

    fn since(&self, major: u32, minor: u32) -> bool {
        (self.build.number[0], self.build.number[1]) >= (major, minor)
    }

    /// Whether the version writes the kind of event, with that header.
    pub(crate) fn writes(&self, kind: Kind, header: &Header) -> Result<(), Error> {
        let (what, versions, holds) = match (header, kind) {
            (Header::Compact(_), _) => ("COMPACT headers", "6.2 and later", self.since(6, 2)),
            (Header::PerfInfo(_, counters), _) if counters.size() > 0 => {
                ("counters in PERFINFO headers", "6.2 and later", self.since(6, 2))
            }
            (Header::PerfInfo(..), _) => ("PERFINFO headers", "5.1 and later", self.since(5, 1)),
            (Header::Full(_), Kind::Full64) => ("FULL_HEADER64", "6.0 and later", self.since(6, 0)),
            (Header::Instance(_), Kind::Instance64) => ("INSTANCE64", "6.0 and later", self.since(6, 0)),
            (Header::Instance(_), _) => ("instances by GUID", "5.2 and later", self.since(5, 2)),
            (Header::InstanceHandle(_), _) => ("instances by handle", "5.0 and 5.1", !self.since(5, 2)),
            (Header::Event(_), _) => ("EVENT_HEADER", "6.0 and later", self.since(6, 0)),
            (Header::Message(_), _) => ("messages", "5.1 and later", self.since(5, 1)),
            _ => return Ok(()),
        };
        if holds { Ok(()) } else { Err(Error::Version { what, versions }) }
    }

    /// Whether the version can compress.
    pub(crate) fn compresses(&self) -> Result<(), Error> {
        match self.since(6, 2) {
            true => Ok(()),
            false => Err(Error::Version { what: "compressed buffers", versions: "6.2 and later" }),
        }
    }

    /// Whether the version has the clock.
    pub(crate) fn has_clock(&self, clock: ClockType) -> bool {
        match clock {
            ClockType::CpuCycle => self.since(5, 2),
            _ => true,
        }
    }
}
