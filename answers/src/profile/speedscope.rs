//! The JSON of speedscope: <https://www.speedscope.app/file-format-schema.json>.

use super::{Profile, Subject};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'p> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    shared: Shared<'p>,
    profiles: Vec<Sampled<'p>>,
    name: &'static str,
    exporter: &'static str,
}

#[derive(Serialize)]
struct Shared<'p> {
    frames: Vec<Named<'p>>,
}

#[derive(Serialize, PartialEq, Eq, Hash, Clone)]
struct Named<'p> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<'p> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Stacks<'p>,
    weights: Vec<u64>,
}

/// The frames of each sample of a thread, the outermost first. They are written one by one, because all together are large.
struct Stacks<'p> {
    profile: &'p Profile,
    /// The shared frames of each frame, the innermost first.
    frames: &'p [Vec<u32>],
    stacks: Vec<Option<u32>>,
}

impl Serialize for Stacks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut samples = serializer.serialize_seq(Some(self.stacks.len()))?;
        let mut path: Vec<u32> = Vec::new();
        for stack in &self.stacks {
            path.clear();
            path.extend(self.profile.nodes(*stack).flat_map(|node| &self.frames[node.frame as usize]));
            path.reverse();
            samples.serialize_element(&path)?;
        }
        samples.end()
    }
}

/// Writes a profile.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let (mut named, mut indices) = (Vec::new(), HashMap::new());
    let mut frames = Vec::new();
    for frame in &profile.frames {
        let functions = frame.inlined.iter().map(|function| (function.name.to_string(), &function.source));
        let functions = functions.chain([(frame.label().into_owned(), &frame.source)]);
        let shared = functions.map(|(name, source)| Named {
            name,
            file: source.as_ref().map(|(file, _)| &**file),
            line: source.as_ref().map(|(_, line)| *line),
        });
        let index = |function| {
            *indices.entry(Named::clone(&function)).or_insert_with(|| {
                named.push(function);
                (named.len() - 1) as u32
            })
        };
        frames.push(shared.map(index).collect::<Vec<_>>());
    }
    let unit = match profile.subject {
        Subject::Waits => "nanoseconds",
        Subject::Events(_) if profile.is_bytes() => "bytes",
        _ => "none",
    };
    let mut profiles: Vec<_> = profile
        .threads
        .iter()
        .map(|thread| {
            let process = profile.processes.get(thread.process as usize).map(|process| profile.process_name(process));
            Sampled {
                kind: "sampled",
                name: format!("{}, {}", process.unwrap_or_default(), profile.thread_name(thread)),
                unit,
                start_value: 0,
                end_value: 0,
                samples: Stacks { profile, frames: &frames, stacks: Vec::new() },
                weights: Vec::new(),
            }
        })
        .collect();
    for sample in &profile.samples {
        let Some(of) = profiles.get_mut(sample.thread as usize) else { continue };
        of.samples.stacks.push(sample.stack);
        of.weights.push(profile.weight(sample));
        of.end_value = of.end_value.saturating_add(profile.weight(sample));
    }
    // Threads that have only markers.
    profiles.retain(|profile| !profile.weights.is_empty());
    profiles.sort_by_key(|profile| std::cmp::Reverse(profile.end_value));
    let document = Document {
        schema: "https://www.speedscope.app/file-format-schema.json",
        shared: Shared { frames: named },
        profiles,
        name: "Event Tracing for Windows",
        exporter: concat!("etw ", env!("CARGO_PKG_VERSION")),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}
