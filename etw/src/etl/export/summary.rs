//! The result of an export.

use super::Args;
use super::record::{Exported, Record};
use crate::output::printer::none_matches;
use crate::output::stop::Unread;
use crate::output::{Escaped, Format, Output, Several};
use etw_layouts_cli::{Error, Outcome};
use std::io::Write;

#[derive(Default)]
pub struct Summary {
    /// The parts of this run.
    pub new: Vec<Record>,
    /// Traces that were complete before.
    pub kept: Vec<Exported>,
    /// Files that cannot be read, which are reported.
    pub unusable: usize,
    /// Whether a diagnostic has stopped the export.
    pub is_stopped: bool,
}

impl Summary {
    /// Prints a line. Returns the result of the command.
    pub fn print(&self, args: &Args, inputs: usize) -> Result<Outcome, Error> {
        let traces = || self.new.iter().flat_map(|record| &record.traces);
        let (events, rows): (u64, u64) = (traces().map(|trace| trace.events).sum(), traces().map(|trace| trace.rows).sum());
        let files = self.new.iter().map(|record| record.files.len() as u64).sum();
        let bytes = self.new.iter().flat_map(|record| &record.files).map(|file| file.bytes).sum();
        let output = args.output.display().to_string();
        let mut out = Output::new(Format::Text);
        if self.new.is_empty() && self.kept.is_empty() && !self.is_stopped {
            return Err(Unread { unusable: self.unusable, files: inputs }.into());
        }
        write!(
            out,
            "{}: {} of {} of {} in {} with {}",
            Escaped(&output),
            Several(rows, "row"),
            Several(events, "event"),
            Several(traces().count() as u64, "trace"),
            Several(files, "file"),
            Several(bytes, "byte")
        )?;
        if !self.kept.is_empty() {
            write!(out, "; {} exported before", Several(self.kept.len() as u64, "trace"))?;
        }
        writeln!(out)?;
        out.flush()?;
        if self.is_stopped {
            out.note(&output, "stopped at the first diagnostic; groups of traces that were not complete are not written");
        } else if rows == 0 {
            none_matches(events, &args.wanted, &out);
        }
        if self.unusable > 0 {
            return Err(Unread { unusable: self.unusable, files: inputs }.into());
        }
        for trace in self.kept.iter().filter(|trace| trace.has_diagnostics()) {
            out.refused(&trace.trace, &format!("exported before, with diagnostics: {}", trace.summary()));
        }
        let has_diagnostics = traces().chain(&self.kept).any(Exported::has_diagnostics);
        Ok(if has_diagnostics || self.is_stopped { Outcome::Differs } else { Outcome::Good })
    }
}
