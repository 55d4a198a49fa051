//! Events of all files in order of time.

use super::events::{Events, Part};
use crate::carried;
use crate::input::{Input, Opened};
use crate::output::file_progress::FileProgress;
use crate::output::line::Origin;
use crate::output::stop::Stop;
use crate::output::{Grouped, Output};
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_etl::{Trace, merge};
use std::fs;
use std::rc::Rc;
use std::sync::Arc;

/// The limit for several files in memory together: 4 GiB. A single file has no limit.
const MOST: u64 = 4 << 30;

/// A file in memory.
pub struct Loaded<'n> {
    pub name: &'n str,
    pub bytes: Shared,
}

/// The bytes of a file, which several readers share.
#[derive(Clone)]
pub struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Reads files into memory. Returns them and the number of files that could not be read, which are reported.
///
/// # Errors
///
/// Returns an error if the files are too large together.
pub fn load<'n>(inputs: &'n [Input], out: &Output) -> Result<(Vec<Loaded<'n>>, usize), Error> {
    let length = |input: &Input| input.path().ok().and_then(|path| fs::metadata(path).ok()).map_or(0, |metadata| metadata.len());
    let bytes: u64 = inputs.iter().map(length).fold(0, u64::saturating_add);
    if inputs.len() > 1 && bytes > MOST {
        let (files, bytes) = (Grouped(inputs.len() as u64), Grouped(bytes));
        return Err(format!(
            "input too large: {files} files with {bytes} bytes exceed the limit of 4 GiB for several files; name fewer files"
        )
        .into());
    }
    let mut loaded = Vec::new();
    for input in inputs {
        match input.open().and_then(Opened::bytes) {
            Ok(bytes) => loaded.push(Loaded { name: &input.name, bytes: Shared(Arc::new(bytes)) }),
            Err(Stop::Input(why)) => out.refused(&input.name, &why),
            Err(Stop::Output(error)) => return Err(error.into()),
            Err(Stop::Strict) => {}
        }
    }
    let unusable = inputs.len() - loaded.len();
    Ok((loaded, unusable))
}

/// The files that are traces, and the number of other files, which are reported.
pub fn traces<'l, 'n>(loaded: &'l [Loaded<'n>], out: &Output) -> (Vec<(&'l Loaded<'n>, Trace<'l>)>, usize) {
    let mut traces = Vec::new();
    for file in loaded {
        match Trace::from_bytes(file.bytes.as_ref()) {
            Ok(trace) => traces.push((file, trace)),
            Err(error) => out.refused(file.name, &error.to_string()),
        }
    }
    let unusable = loaded.len() - traces.len();
    (traces, unusable)
}

/// Prints the events.
pub fn run(traces: &[(&Loaded<'_>, Trace<'_>)], events: &mut Events<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    if traces.is_empty() {
        return Ok(Outcome::Good);
    }
    events.printer.head(out)?;
    let mut parts = Vec::new();
    let names: Vec<_> = traces.iter().map(|(file, _)| file.name).collect();
    let own = carried::of_traces(&names, traces.iter().map(|(_, trace)| trace), out);
    for (file, trace) in traces {
        let progress = Rc::new(FileProgress::new(file.name));
        parts.push(Part::new(file.name, progress, trace.log_file(), own.clone(), events, out));
    }
    let (mut latest, mut order) = (i64::MIN, merge(traces.iter().map(|(_, trace)| trace)));
    while !events.is_done() {
        let Some((file, event)) = order.next_event() else { break };
        let part = &mut parts[file];
        match event {
            Ok(timed) => {
                let origin = Origin { buffer: timed.buffer, offset: timed.buffer_offset, processor: timed.processor };
                if let Some(time) = part.event(&timed.event, origin, events, out)? {
                    if time < latest {
                        part.late(latest.abs_diff(time), events, out)?;
                    }
                    latest = time.max(latest);
                }
            }
            Err(diagnostic) => part.diagnostic(&diagnostic, events, out)?,
        }
    }
    let outcomes: Vec<_> = parts.iter().map(|part| part.end(out)).collect();
    Ok(if outcomes.contains(&Outcome::Differs) { Outcome::Differs } else { Outcome::Good })
}
