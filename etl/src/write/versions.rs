//! The features that each version of Windows supports.

use super::Error;
use crate::clock::ClockType;
use crate::header::EventHeader;
use crate::header_type::HeaderType;
use crate::producer::Producer;

impl Producer {
    /// Verifies that the version writes events of this type with this header.
    pub(crate) fn writes(&self, header_type: HeaderType, header: &EventHeader) -> Result<(), Error> {
        let (feature, versions, holds) = match (header, header_type) {
            (EventHeader::Compact(_), _) => ("COMPACT headers", "6.2 and later", self.since(6, 2)),
            (EventHeader::PerfInfo(_, counters), _) if counters.size() > 0 => {
                ("counters in PERFINFO headers", "6.2 and later", self.since(6, 2))
            }
            (EventHeader::PerfInfo(..), _) => ("PERFINFO headers", "5.1 and later", self.since(5, 1)),
            (EventHeader::Full(_), HeaderType::Full64) => ("FULL_HEADER64", "6.0 and later", self.since(6, 0)),
            (EventHeader::Instance(_), HeaderType::Instance64) => ("INSTANCE64", "6.0 and later", self.since(6, 0)),
            (EventHeader::Instance(_), _) => ("instances by GUID", "5.2 and later", self.since(5, 2)),
            (EventHeader::InstanceHandle(_), _) => ("instances by handle", "5.0 and 5.1", !self.since(5, 2)),
            (EventHeader::Event(_), _) => ("EVENT_HEADER", "6.0 and later", self.since(6, 0)),
            (EventHeader::Message(_), _) => ("messages", "5.1 and later", self.since(5, 1)),
            _ => return Ok(()),
        };
        if holds { Ok(()) } else { Err(Error::Version { feature, versions }) }
    }

    /// Verifies that the version compresses buffers.
    pub(crate) fn compresses(&self) -> Result<(), Error> {
        match self.since(6, 2) {
            true => Ok(()),
            false => Err(Error::Version { feature: "compressed buffers", versions: "6.2 and later" }),
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
