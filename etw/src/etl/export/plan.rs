//! Decides which traces are exported, and groups them into parts.

use super::hashing::hash;
use super::paths;
use super::record::{Exported, Record};
use super::state::State;
use crate::input::Input;
use crate::output::stop::Stop;
use crate::output::{Escaped, Output};
use etw_layouts_cli::{Error, unreadable};
use std::collections::HashMap;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use twox_hash::XxHash64;

/// The work to do.
#[derive(Debug, Default)]
pub struct Plan {
    pub parts: Vec<Part>,
    /// Traces that are complete already.
    pub kept: Vec<Exported>,
    /// Files that cannot be read, which are reported.
    pub unusable: usize,
}

/// Traces that are exported together.
#[derive(Debug)]
pub struct Part {
    pub name: String,
    pub traces: Vec<Source>,
}

/// A trace file.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub path: PathBuf,
    pub size: u64,
    pub modified: u64,
}

/// The maximum number of traces in a group.
const TRACES: usize = 1024;

/// Compares the traces with the records, and removes parts with changed traces. Traces without a part are grouped up to a size in
/// bytes. No file is read because a record names it: the records can be those of someone else.
///
/// # Errors
///
/// A part cannot be removed, or has rows of a trace that is not among the inputs.
pub fn plan(inputs: &[Input], group: u64, state: &mut State, out: &Output) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    let mut sources = Vec::new();
    for input in inputs {
        match source(input) {
            Ok(source) => sources.push(source),
            Err(Stop::Input(why)) => {
                plan.unusable += 1;
                out.refused(&input.name, &why);
            }
            Err(_) => plan.unusable += 1,
        }
    }
    let known: HashMap<&str, &Source> = sources.iter().map(|source| (source.name.as_str(), source)).collect();
    let is_kept = |trace: &Exported| known.get(trace.trace.as_str()).is_none_or(|source| is_same(source, trace));
    let (kept, changed): (Vec<Record>, Vec<Record>) =
        std::mem::take(&mut state.records).into_iter().partition(|record| record.traces.iter().all(is_kept));
    for traces in changed.iter().map(|record| &record.traces) {
        let other = traces.iter().find(|trace| !known.contains_key(trace.trace.as_str()));
        if let (Some(other), Some(trace)) = (other, traces.iter().find(|trace| !is_kept(trace))) {
            let [trace, other] = [trace, other].map(|trace| Escaped(&trace.trace));
            return Err(format!(
                "{trace}: changed since it was exported; its rows are in the same files as those of {other}: name both, or export to \
                 another folder"
            )
            .into());
        }
    }
    changed.iter().try_for_each(|record| state.remove(record))?;
    let done: HashMap<&str, &Exported> =
        kept.iter().flat_map(|record| &record.traces).map(|trace| (trace.trace.as_str(), trace)).collect();
    let mut size = 0;
    for source in &sources {
        if let Some(trace) = done.get(source.name.as_str()) {
            plan.kept.push((*trace).clone());
            continue;
        }
        size += source.size;
        match plan.parts.last_mut() {
            Some(part) if size <= group && part.traces.len() < TRACES => part.traces.push(source.clone()),
            _ => {
                size = source.size;
                plan.parts.push(Part { name: String::new(), traces: vec![source.clone()] });
            }
        }
    }
    plan.parts.iter_mut().for_each(Part::set_name);
    state.records = kept;
    Ok(plan)
}

impl Plan {
    /// The size of all traces.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.traces).map(|source| source.size).sum()
    }
}

impl Part {
    /// Sets a name that identifies a part with these traces.
    fn set_name(&mut self) {
        let mut hasher = XxHash64::with_seed(0);
        for source in &self.traces {
            hasher.write(source.name.as_bytes());
            hasher.write(&[0]);
            hasher.write(&source.size.to_le_bytes());
            hasher.write(&source.modified.to_le_bytes());
        }
        self.name = paths::part(hasher.finish());
    }
}

fn source(input: &Input) -> Result<Source, Stop> {
    described(input.name.clone(), input.path()?.to_owned())
}

fn described(name: String, path: PathBuf) -> Result<Source, Stop> {
    let refused = |what: &str| Stop::Input(format!("cannot export {what}, because it is read twice; save it to a file"));
    if path == Path::new("-") {
        return Err(refused("standard input"));
    }
    let metadata = fs::metadata(&path).map_err(|error: io::Error| Stop::Input(unreadable(&error)))?;
    if !metadata.is_file() {
        return Err(refused("a stream"));
    }
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0);
    Ok(Source { name, path, size: metadata.len(), modified })
}

/// Whether a trace is unchanged since it was exported. Its contents are compared only if the modification time differs or is
/// unknown.
fn is_same(source: &Source, trace: &Exported) -> bool {
    source.size == trace.size
        && (source.modified == trace.modified && trace.modified != 0 || hash(&source.path).is_ok_and(|hash| hash == trace.hash))
}
