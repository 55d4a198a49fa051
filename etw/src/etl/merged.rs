//! Events of all files in order of time.

use super::events::{Events, Part};
use super::input::{Input, Opened};
use super::line::Origin;
use super::output::{Grouped, Output};
use super::progress::Progress;
use super::stop::Stop;
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_etl::{ByTime, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::rc::Rc;

/// The limit for several files in memory together: 4 GiB. A single file has no limit.
const MOST: u64 = 4 << 30;

/// A file in memory.
pub struct Loaded<'n> {
    pub name: &'n str,
    bytes: Vec<u8>,
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
            Ok(bytes) => loaded.push(Loaded { name: &input.name, bytes }),
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
        match Trace::new(&file.bytes) {
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
    for (file, trace) in traces {
        parts.push(Part::new(file.name, Rc::new(Progress::new(file.name)), trace.log_file(), events, out));
    }
    let mut latest = i64::MIN;
    if let ([(_, trace)], [part]) = (traces, parts.as_mut_slice()) {
        trace.by_time_ahead(|order| one(order, part, &mut latest, i64::MAX, events, out))?;
    } else {
        several(traces, &mut parts, events, out)?;
    }
    let outcomes: Vec<_> = parts.iter().map(|part| part.end(out)).collect();
    Ok(if outcomes.contains(&Outcome::Differs) { Outcome::Differs } else { Outcome::Good })
}

/// Merges the events of several files. A file is decompressed only from its first event on, so that consecutive files are not in
/// memory at the same time.
fn several(
    traces: &[(&Loaded<'_>, Trace<'_>)],
    parts: &mut [Part<'_>],
    events: &mut Events<'_>,
    out: &mut Output,
) -> Result<(), Stop> {
    let mut orders: Vec<Option<ByTime<'_>>> = traces.iter().map(|_| None).collect();
    let starts = traces.iter().enumerate().map(|(file, (_, trace))| Reverse((trace.log_file().start_time, file)));
    let (mut next, mut latest): (BinaryHeap<_>, _) = (starts.collect(), i64::MIN);
    while let Some(Reverse((_, file))) = next.pop() {
        let order = orders[file].get_or_insert_with(|| traces[file].1.by_time());
        // Events with equal times keep the order of the files.
        let until =
            next.peek().map_or(i64::MAX, |Reverse((time, other))| if *other < file { time.saturating_sub(1) } else { *time });
        match one(order, &mut parts[file], &mut latest, until, events, out)? {
            Some(time) => next.push(Reverse((time, file))),
            None => orders[file] = None,
        }
        if events.is_done() {
            break;
        }
    }
    Ok(())
}

/// Prints the events of a file up to a time. Returns the time of the next event.
fn one(
    order: &mut ByTime<'_>,
    part: &mut Part<'_>,
    latest: &mut i64,
    until: i64,
    events: &mut Events<'_>,
    out: &mut Output,
) -> Result<Option<i64>, Stop> {
    while !events.is_done() {
        if until < i64::MAX {
            match order.next_stamp() {
                Some(Ok(stamp)) => {
                    let time = part.clock.system_time(stamp);
                    if time > until {
                        return Ok(Some(time));
                    }
                }
                Some(Err(finding)) => {
                    part.finding(&finding, events, out)?;
                    continue;
                }
                None => return Ok(None),
            }
        }
        match order.next_event() {
            Some(Ok(timed)) => {
                let origin = Origin { buffer: timed.buffer, offset: timed.buffer_offset, processor: timed.processor };
                if let Some(time) = part.event(&timed.event, origin, events, out)? {
                    if time < *latest {
                        part.late(latest.abs_diff(time), events, out)?;
                    }
                    *latest = time.max(*latest);
                }
            }
            Some(Err(finding)) => part.finding(&finding, events, out)?,
            None => return Ok(None),
        }
    }
    Ok(None)
}
