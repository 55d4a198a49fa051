//! The header of a dump of any kind.

use crate::etl::output::{Escaped, Grouped};
use etw_layouts_dump::Header;
use etw_layouts_etl::Stamp;
use serde::Serialize;
use std::fmt::{self, Display};

/// The header of a dump. `None` means that the header does not state the value.
#[derive(Serialize)]
pub struct About<'a> {
    file: &'a str,
    /// Only for full and kernel dumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<u32>,
    build: u32,
    architecture: String,
    processors: u32,
    bug_check: u32,
    parameters: [String; 4],
    time: Option<i64>,
    time_utc: Option<String>,
    /// In units of 100 ns.
    up_time: Option<i64>,
}

impl<'a> About<'a> {
    pub fn new(file: &'a str, header: &Header) -> Self {
        Self {
            file,
            kind: (!header.is_triage()).then_some(header.kind.0),
            build: header.build.number[2],
            architecture: header.arch.to_string(),
            processors: header.processors,
            bug_check: header.bug_check,
            parameters: header.parameters.map(|parameter| format!("{parameter:#x}")),
            time: header.time,
            time_utc: header.time.map(|time| Stamp(time).rfc3339().to_string()),
            up_time: header.up_time,
        }
    }
}

/// Lines that end in a line feed.
impl Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, build, architecture, processors, .. } = self;
        writeln!(f, "{}", Escaped(file))?;
        writeln!(f, "  windows     build {build}, {architecture}, {processors} processors")?;
        writeln!(f, "  bug check   {:#x} ({})", self.bug_check, self.parameters.join(", "))?;
        if let Some(time) = self.time {
            writeln!(f, "  stopped     {}", Stamp(time))?;
        }
        if let Some(time) = self.up_time {
            writeln!(f, "  ran for     {} s", Grouped(time as u64 / 10_000_000))?;
        }
        Ok(())
    }
}
