//! The header of a dump of any kind.

use crate::object::object;
use crate::output::{Escaped, Several};
use etw_layouts_dump::DumpHeader;
use etw_layouts_etl::FileTime;
use etw_layouts_etl::codes::BugCheck;
use serde::Serialize;
use std::fmt::{self, Display};

/// The header of a dump.
pub struct About<'a> {
    pub file: &'a str,
    pub header: &'a DumpHeader,
}

impl About<'_> {
    fn bug_check(&self) -> BugCheck {
        BugCheck { code: self.header.bug_check, parameters: self.header.parameters }
    }

    /// The header as JSON. `None` means that the header does not state the value.
    pub fn json(&self) -> impl Serialize {
        let Self { file, header } = self;
        let check = self.bug_check();
        let parameter = |index: usize| format!("{:#x}", check.parameters[index]);
        object! {
            file: file,
            // Only for full and kernel dumps.
            #[serde(flatten)] kind: (!header.is_triage()).then(|| object! { kind: header.kind.0 }),
            build_number: header.build.number[2],
            architecture: header.arch.to_string(),
            processors: header.processors,
            bug_check: format!("{:#x}", check.code),
            bug_check_name: check.name(),
            // The names of the fields of a time line.
            parameter_1: parameter(0),
            parameter_1_name: check.meaning(0),
            parameter_2: parameter(1),
            parameter_2_name: check.meaning(1),
            parameter_3: parameter(2),
            parameter_3_name: check.meaning(2),
            parameter_4: parameter(3),
            parameter_4_name: check.meaning(3),
            time: header.time,
            time_utc: header.time.map(|time| FileTime(time).rfc3339().to_string()),
            uptime_100ns: header.up_time,
        }
    }
}

/// Lines that end in a line feed.
impl Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, header } = self;
        let processors = Several(header.processors.into(), "processor");
        writeln!(f, "{}", Escaped(file))?;
        writeln!(f, "  windows        build {}, {}, {processors}", header.build.number[2], header.arch)?;
        writeln!(f, "  bug check      {}", self.bug_check())?;
        if let Some(time) = header.time {
            writeln!(f, "  stopped        {}", FileTime(time))?;
        }
        if let Some(time) = header.up_time {
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
