//! The header of a dump of any kind.

use crate::output::{Escaped, Several};
use etw_layouts_dump::DumpHeader;
use etw_layouts_etl::FileTime;
use serde::Serialize;
use std::fmt::{self, Display};

/// The header of a dump. `None` means that the header does not state the value.
#[derive(Serialize)]
pub struct About<'a> {
    file: &'a str,
    /// Only for full and kernel dumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<u32>,
    build_number: u32,
    architecture: String,
    processors: u32,
    bug_check: String,
    parameters: [String; 4],
    time: Option<i64>,
    time_utc: Option<String>,
    uptime_100ns: Option<i64>,
}

impl<'a> About<'a> {
    pub fn new(file: &'a str, header: &DumpHeader) -> Self {
        Self {
            file,
            kind: (!header.is_triage()).then_some(header.kind.0),
            build_number: header.build.number[2],
            architecture: header.arch.to_string(),
            processors: header.processors,
            bug_check: format!("{:#x}", header.bug_check),
            parameters: header.parameters.map(|parameter| format!("{parameter:#x}")),
            time: header.time,
            time_utc: header.time.map(|time| FileTime(time).rfc3339().to_string()),
            uptime_100ns: header.up_time,
        }
    }
}

/// Lines that end in a line feed.
impl Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, build_number: build, architecture, .. } = self;
        let processors = Several(self.processors.into(), "processor");
        writeln!(f, "{}", Escaped(file))?;
        writeln!(f, "  windows        build {build}, {architecture}, {processors}")?;
        writeln!(f, "  bug check      {} ({})", self.bug_check, self.parameters.join(", "))?;
        if let Some(time) = self.time {
            writeln!(f, "  stopped        {}", FileTime(time))?;
        }
        if let Some(time) = self.uptime_100ns {
            let seconds = time.unsigned_abs() / 10_000_000;
            let (days, hours, minutes) = (seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60);
            let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")];
            let parts = parts.iter().filter(|(count, unit)| *count > 0 || *unit == "s");
            let parts: Vec<_> = parts.map(|(count, unit)| format!("{count} {unit}")).collect();
            writeln!(f, "  uptime         {}", parts.join(" "))?;
        }
        Ok(())
    }
}
