//! The message of pprof: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

use super::{Interval, Profile, Subject};
use crate::frame::ImageKey;
use etw_layouts_trace::etl::FileTime;
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct Document {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// Writes a profile. Returns the number of samples whose value exceeds 63 bits.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write(profile: &Profile, out: &mut impl Write) -> io::Result<u64> {
    let mut strings = Strings::default();
    strings.index("");
    let count = match profile.subject {
        Subject::Samples => "samples",
        Subject::Waits => "waits",
        Subject::Events(_) => "events",
    };
    let mut value_type = |kind: &str, unit: &str| ValueType { kind: strings.index(kind), unit: strings.index(unit) };
    let mut document = Document { sample_type: vec![value_type(count, "count")], ..Document::default() };
    match &profile.subject {
        Subject::Samples => document.sample_type.push(value_type("cpu", "nanoseconds")),
        Subject::Waits => document.sample_type.push(value_type("wait", "nanoseconds")),
        Subject::Events(Some(field)) => {
            let unit = if profile.is_bytes() { "bytes" } else { "count" };
            document.sample_type.push(value_type(field, unit));
        }
        Subject::Events(None) => {}
    }
    if let (Subject::Samples, Interval::Stated(interval)) = (&profile.subject, profile.interval) {
        document.period_type = Some(value_type("cpu", "nanoseconds"));
        document.period = signed(interval);
    }
    document.time_nanos = profile.start.0.saturating_sub(FileTime::UNIX_EPOCH.0).saturating_mul(100);
    let last = profile.samples.iter().map(|sample| sample.time).max();
    document.duration_nanos = signed(last.unwrap_or(0));
    locations(profile, &mut document, &mut strings);

    let mut sums = BTreeMap::<_, (u64, u64)>::new();
    for sample in &profile.samples {
        let sum = sums.entry((sample.thread, sample.stack)).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(sample.value));
    }
    let has_value = document.sample_type.len() > 1;
    for ((thread, stack), (count, value)) in sums {
        let Some(thread) = profile.threads.get(thread as usize) else { continue };
        let process = profile.processes.get(thread.process as usize).map(|process| profile.process_name(process));
        let mut label = |key: &str, text: &str| Label { key: strings.index(key), text: strings.index(text) };
        document.sample.push(Sample {
            location_id: profile.nodes(stack).map(|node| u64::from(node.frame) + 1).collect(),
            value: [count].into_iter().chain(has_value.then_some(value)).map(signed).collect(),
            label: vec![label("process", &process.unwrap_or_default()), label("thread", &profile.thread_name(thread))],
        });
    }
    document.string_table = strings.all;
    out.write_all(&document.encode_to_vec())?;
    Ok(profile.samples.iter().filter(|sample| i64::try_from(sample.value).is_err()).count() as u64)
}

/// A location for each frame, whose number is that of the frame plus 1.
fn locations(profile: &Profile, document: &mut Document, strings: &mut Strings) {
    let mut mappings: HashMap<ImageKey, usize> = HashMap::new();
    let mut functions: HashMap<(i64, i64), u64> = HashMap::new();
    for (frame, id) in profile.frames.iter().zip(1..) {
        let mapping = frame.module.as_ref().map(|module| {
            let all = &mut document.mapping;
            let index = *mappings.entry((module.clone(), frame.pdb.clone())).or_insert_with(|| {
                let build = frame.pdb.as_ref().map(|pdb| format!("{:X}{:x}", pdb.guid.simple(), pdb.age));
                let (filename, build_id) = (strings.index(module), strings.index(&build.unwrap_or_default()));
                all.push(Mapping { id: all.len() as u64 + 1, filename, build_id, ..Mapping::default() });
                all.len() - 1
            });
            let mapping = &mut all[index];
            mapping.has_functions |= frame.function.is_some();
            mapping.has_filenames |= frame.source.is_some();
            mapping.has_line_numbers |= frame.source.is_some();
            mapping.has_inline_frames |= !frame.inlined.is_empty();
            mapping.id
        });
        let inlined = frame.inlined.iter().map(|function| (function.name.to_string(), &function.source));
        let line = inlined.chain([(frame.label().into_owned(), &frame.source)]).map(|(name, source)| {
            let (name, file) = (strings.index(&name), source.as_ref().map_or(0, |(file, _)| strings.index(file)));
            let all = &mut document.function;
            let function_id = *functions.entry((name, file)).or_insert_with(|| {
                all.push(Function { id: all.len() as u64 + 1, name, system_name: name, filename: file });
                all.len() as u64
            });
            Line { function_id, line: source.as_ref().map_or(0, |(_, line)| i64::from(*line)) }
        });
        let line = line.collect();
        document.location.push(Location { id, mapping_id: mapping.unwrap_or(0), address: frame.address, line });
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The texts of the message, each once.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    indices: HashMap<String, i64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> i64 {
        if let Some(index) = self.indices.get(text) {
            return *index;
        }
        let index = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index
    }
}
