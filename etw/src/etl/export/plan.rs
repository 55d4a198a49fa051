//! Decides which traces are exported, and groups them into parts.

use super::hashing::hash;
use super::record::{Exported, Record, Session};
use super::state::State;
use crate::input::Input;
use crate::output::Output;
use crate::output::stop::Stop;
use etw_layouts_cli::{Error, unreadable};
use etw_layouts_trace::{FileSource, TraceFile};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

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
    /// The path as it was given, and a number if another trace has the name.
    pub name: String,
    pub path: PathBuf,
    /// The absolute path.
    pub location: String,
    pub size: u64,
    pub modified: u64,
    pub changed: u64,
    hash: OnceLock<Option<String>>,
}

/// The maximum number of traces in a group.
const TRACES: usize = 1024;

/// Compares the traces with the records. Traces that no part has are grouped up to a size in bytes. A trace is known by its bytes; those of a file
/// with the path, size and times of a recorded one are not read again. No file is read because a record names it: the records can be those of
/// someone else.
pub fn plan(inputs: &[Input], named: &[PathBuf], group: u64, state: &mut State, out: &Output) -> Result<Plan, Error> {
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
    let mut records = std::mem::take(&mut state.records);
    let before: Vec<_> = records.iter().map(marks).collect();
    let found = found(&sources, &records);
    let mut names: HashSet<String> = records.iter().flat_map(|record| &record.traces).map(|trace| trace.trace.clone()).collect();
    let (mut seen, mut new): (HashMap<Place, &Source>, Vec<Source>) = Default::default();
    let mut sizes: HashMap<u64, Vec<usize>> = HashMap::new();
    for (source, place) in sources.iter().zip(&found) {
        if let Some((part, at)) = *place {
            let is_broken = records[part].is_broken;
            let trace = &mut records[part].traces[at];
            if let Some(other) = seen.insert((part, at), source) {
                out.note(&source.name, &format!("the same bytes as {}; exported once", other.name));
                continue;
            }
            if trace.path != source.location {
                out.note(&source.name, &format!("the same bytes as {}; not exported again", trace.trace));
            } else {
                (trace.modified, trace.changed) = (source.modified, source.changed);
            }
            trace.is_gone = false;
            if !is_broken && !trace.is_partial {
                plan.kept.push(trace.clone());
                continue;
            }
        }
        let same = sizes.entry(source.size).or_default();
        if let Some(other) = same.iter().map(|other| &new[*other]).find(|other| hashes_equal(source, other)) {
            out.note(&source.name, &format!("the same bytes as {}; exported once", other.name));
            continue;
        }
        same.push(new.len());
        let known = place.map(|(part, at)| records[part].traces[at].trace.clone());
        let name = known.or_else(|| former(source, &records)).unwrap_or_else(|| unused(&source.name, &mut names));
        new.push(Source { name, ..source.clone() });
    }
    let (roots, paths) = (roots(named), sources.iter().map(|source| source.location.as_str()).collect::<HashSet<_>>());
    for (part, record) in records.iter_mut().enumerate() {
        for (_, trace) in record.traces.iter_mut().enumerate().filter(|(at, _)| !seen.contains_key(&(part, *at))) {
            let is_below = |root: &String| trace.path.strip_prefix(root).is_some_and(|rest| rest.starts_with(['/', '\\']));
            trace.is_gone |= paths.contains(trace.path.as_str()) || roots.iter().any(is_below);
            if record.is_broken || trace.is_partial {
                let note =
                    "rows are missing: a file of the dataset is missing or has another size; name the trace to export it again";
                out.note(&trace.trace, note);
            } else if trace.is_gone {
                out.note(&trace.trace, "no longer on disk; its rows stay unless its file has grown, or until --prune");
            }
        }
    }
    for (record, _) in records.iter().zip(&before).filter(|(record, before)| marks(record) != **before) {
        state.update(record)?;
    }
    let mut size = 0;
    for source in new {
        size += source.size;
        match plan.parts.last_mut() {
            Some(part) if size <= group && part.traces.len() < TRACES => part.traces.push(source),
            _ => {
                size = source.size;
                plan.parts.push(Part { name: String::new(), traces: vec![source] });
            }
        }
    }
    for part in &mut plan.parts {
        part.set_name(state)?;
    }
    state.records = records;
    Ok(plan)
}

/// The index of a record, and of a trace in it.
type Place = (usize, usize);

/// The marks of the traces of a record that a plan can change.
fn marks(record: &Record) -> Vec<(bool, u64, u64)> {
    record.traces.iter().map(|trace| (trace.is_gone, trace.modified, trace.changed)).collect()
}

/// The trace in the records that each source is, if there is one.
fn found(sources: &[Source], records: &[Record]) -> Vec<Option<Place>> {
    let mut by_size: HashMap<u64, Vec<Place>> = HashMap::new();
    for (part, record) in records.iter().enumerate() {
        for (at, trace) in record.traces.iter().enumerate() {
            by_size.entry(trace.size).or_default().push((part, at));
        }
    }
    // Complete rows come first.
    let is_partial = |(part, at): &Place| records[*part].is_broken || records[*part].traces[*at].is_partial;
    by_size.values_mut().for_each(|places| places.sort_by_key(is_partial));
    let of = |source: &Source| {
        let places = by_size.get(&source.size)?;
        let trace = |place: &&Place| &records[place.0].traces[place.1];
        let is_same = |trace: &Exported| {
            let times = (trace.modified, trace.changed);
            trace.path == source.location && times == (source.modified, source.changed) && times.0 != 0 && times.1 != 0
        };
        let same = places.iter().find(|place| is_same(trace(place)));
        let equal = || places.iter().find(|place| source.hash().is_some_and(|hash| hash == trace(place).hash));
        same.or_else(equal).copied()
    };
    sources.iter().map(of).collect()
}

fn hashes_equal(one: &Source, other: &Source) -> bool {
    one.hash().is_some_and(|hash| other.hash() == Some(hash))
}

/// The name of the trace whose file has grown to this one.
fn former(source: &Source, records: &[Record]) -> Option<String> {
    let traces = records.iter().flat_map(|record| &record.traces);
    let mut smaller = traces.filter(|trace| trace.path == source.location && trace.size < source.size).peekable();
    smaller.peek()?;
    let file = TraceFile::new("", FileSource::open(&source.path).ok()?).ok()?;
    let session = Session::of(file.log_file());
    smaller.find(|trace| trace.session == session).map(|trace| trace.trace.clone())
}

/// A name that no trace of the dataset has: the name itself, or the name with a number.
fn unused(name: &str, names: &mut HashSet<String>) -> String {
    let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
    let new = (1..).map(numbered).find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(new.clone());
    new
}

/// The absolute paths of the folders among the named paths.
fn roots(named: &[PathBuf]) -> Vec<String> {
    let folders = named.iter().filter(|path| path.is_dir());
    let text = |path: &PathBuf| Some(lossless(&fs::canonicalize(path).ok()?).trim_end_matches(['/', '\\']).to_owned());
    folders.filter_map(text).collect()
}

/// The absolute path of a file without links, as text.
pub fn location(path: &Path) -> io::Result<String> {
    Ok(lossless(&fs::canonicalize(path)?))
}

/// A path as text. One that is not Unicode becomes `file:` and the path with such bytes, and `%`, as `%` and two digits.
fn lossless(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut text = "file:".to_owned();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text += &chunk.valid().replace('%', "%25");
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    text
}

impl Plan {
    /// The size of all traces.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.traces).map(|source| source.size).sum()
    }
}

impl Part {
    /// Sets a name that no part has.
    fn set_name(&mut self, state: &State) -> io::Result<()> {
        let text = |source: &Source| format!("{} {} {}", source.name, source.size, source.modified);
        let texts: Vec<_> = self.traces.iter().map(text).collect();
        self.name = state.unused_name(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(())
    }
}

impl Source {
    /// The SHA-256 of the file; `None` if it cannot be read.
    fn hash(&self) -> Option<&str> {
        self.hash.get_or_init(|| hash(&self.path).ok()).as_deref()
    }
}

fn source(input: &Input) -> Result<Source, Stop> {
    let path = input.path()?.to_owned();
    let refused = |what: &str| Stop::Input(format!("cannot export {what}, because it is read twice; save it to a file"));
    if path == Path::new("-") {
        return Err(refused("standard input"));
    }
    let failed = |error: io::Error| Stop::Input(unreadable(&error));
    let metadata = fs::metadata(&path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(refused("a stream"));
    }
    let since_1970 = |time: SystemTime| Some(u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).unwrap_or(0));
    Ok(Source {
        name: lossless(&path),
        location: location(&path).map_err(failed)?,
        size: metadata.len(),
        modified: metadata.modified().ok().and_then(since_1970).unwrap_or(0),
        changed: changed(&metadata),
        path,
        hash: OnceLock::new(),
    })
}

/// When the inode of a file changed last, in nanoseconds since 1970: a program that sets the time of modification cannot set it.
#[cfg(unix)]
fn changed(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    u64::try_from(i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())).unwrap_or(0)
}

/// Other systems do not state it, so the bytes are always compared.
#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> u64 {
    0
}
