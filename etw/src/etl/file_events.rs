//! The events of a file, for commands that read all of them in file order.

use crate::input::{Images, Opened};
use crate::output::Output;
use crate::output::file_progress::FileProgress;
use crate::output::line::Origin;
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use etw_layouts_etl::{BufferHeader, DiagnosticKind, Event};
use std::rc::Rc;

/// An open trace file.
pub struct FileEvents<'a> {
    name: &'a str,
    progress: Rc<FileProgress>,
    pub buffers: Images,
}

impl<'a> FileEvents<'a> {
    pub fn open(source: Opened<'a>) -> Result<Self, Stop> {
        let (name, progress) = (source.name, source.progress.clone());
        Ok(Self { name, progress, buffers: source.reader()? })
    }

    /// Passes each buffer and each event to a function. Prints the diagnostics of the file, and those that `event` returns. Returns their
    /// counts.
    pub fn read(
        mut self,
        out: &Output,
        mut buffer: impl FnMut(&BufferHeader),
        mut event: impl FnMut(&Event<'_>, Origin) -> Option<DiagnosticKind>,
    ) -> Result<Tally, Stop> {
        let Self { name, progress, .. } = self;
        let mut tally = Tally::default();
        let mut found = |diagnostic| {
            if let Some(line) = tally.add(Some(name), &diagnostic) {
                progress.beside(|| out.aside(&line));
            }
        };
        while let Some(next) = self.buffers.next()? {
            let decoded = match next {
                Ok(decoded) => decoded,
                Err(diagnostic) => {
                    found(diagnostic);
                    continue;
                }
            };
            let origin = Origin::of(decoded.buffer());
            buffer(decoded.buffer().header());
            for next in decoded.events() {
                match next {
                    Ok(next) => {
                        let kinds = [next.fault(), event(&next, origin)];
                        kinds.into_iter().flatten().for_each(|kind| found(origin.diagnostic(&next, kind)));
                    }
                    Err(diagnostic) => found(diagnostic),
                }
            }
        }
        for line in tally.more(Some(name)) {
            progress.beside(|| out.aside(&line));
        }
        Ok(tally)
    }
}
