//! The JSON of the Firefox Profiler.

use super::{Interval, Profile, Subject};
use crate::frame::{Frame, FrameKind, ImageKey};
use etw_layouts_trace::etl::FileTime;
use fxprof_processed_profile::debugid::DebugId;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame as FrameAddress, FrameFlags, FrameInfo, LibraryHandle, LibraryInfo,
    MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile as Firefox, ReferenceTimestamp, SamplingInterval, StackHandle,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, Symbol, SymbolTable, ThreadHandle, Timestamp, WeightType,
};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// Interval of the timer, if the profile is not of its samples, in nanoseconds: the profiler needs one to scale its graphs.
const INTERVAL: u64 = 1_000_000;

/// Writes a profile. Returns the number of samples whose weight is cut to the largest of the format.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write(profile: &Profile, out: &mut impl Write) -> io::Result<u64> {
    let since = u64::try_from(profile.start.0.saturating_sub(FileTime::UNIX_EPOCH.0)).unwrap_or(0);
    let start = ReferenceTimestamp::from_duration_since_unix_epoch(Duration::from_nanos(since.saturating_mul(100)));
    let interval = match profile.interval {
        Interval::Stated(interval) => interval,
        Interval::Assumed => INTERVAL,
    };
    let mut firefox = Firefox::new("Event Tracing for Windows", start, SamplingInterval::from_nanos(interval));
    firefox.set_os_name("Windows");
    let categories = Categories {
        kernel: firefox.add_category("Kernel", CategoryColor::Orange),
        user: firefox.add_category("User", CategoryColor::Yellow),
        managed: firefox.add_category(".NET", CategoryColor::Green),
    };
    let threads = threads(profile, &mut firefox);
    let frames = frames(profile, &mut firefox, &categories);
    let mut stacks = Stacks { profile, frames: &frames, known: HashMap::new() };
    // Whole milliseconds are written; each thread keeps the rest for its next sample.
    let mut rests = vec![0_u64; threads.len()];
    let (mut cut, mut parts_left) = (0, MAX_PARTS);
    for sample in &profile.samples {
        let Some(thread) = threads.get(sample.thread as usize).copied() else { continue };
        let stack = sample.stack.and_then(|stack| stacks.handle(&mut firefox, thread, stack));
        let time = Timestamp::from_nanos_since_reference(sample.time);
        let (weight, used) = match profile.subject {
            Subject::Samples => (1, CpuDelta::from_nanos(sample.value)),
            Subject::Waits => {
                let rest = &mut rests[sample.thread as usize];
                *rest = rest.saturating_add(sample.value);
                (std::mem::replace(rest, *rest % 1_000_000) / 1_000_000, CpuDelta::ZERO)
            }
            Subject::Events(_) => (sample.value, CpuDelta::ZERO),
        };
        // The format has weights of 32 bits.
        let (mut left, more_parts) = (weight, weight.div_ceil(MAX_WEIGHT).saturating_sub(1));
        if more_parts > parts_left {
            cut += 1;
            left = MAX_WEIGHT;
        } else {
            parts_left -= more_parts;
        }
        loop {
            let part = i32::try_from(left).unwrap_or(i32::MAX);
            firefox.add_sample(thread, time, stack, used, part);
            left -= u64::from(part.unsigned_abs());
            if left == 0 {
                break;
            }
        }
    }
    for wait in &profile.waits {
        let Some(thread) = threads.get(wait.thread as usize).copied() else { continue };
        let by = wait.ready_by.and_then(|by| profile.threads.get(by as usize)).map(|by| {
            let process = profile.processes.get(by.process as usize).map(|process| profile.process_name(process));
            format!("; readied by {}, {}", process.unwrap_or_default(), profile.thread_name(by))
        });
        let after = wait.ready.map(|ready| format!("; ready after {:.4} ms", ready.saturating_sub(wait.start) as f64 / 1e6));
        let text =
            format!("{}{}{}", crate::thread_states::reason(wait.reason), after.unwrap_or_default(), by.unwrap_or_default());
        let stack = wait.ready_stack.and_then(|stack| stacks.handle(&mut firefox, thread, stack));
        let times = (wait.start, wait.end);
        marker(&mut firefox, thread, times, ("Wait", &text), stack);
    }
    for mark in &profile.markers {
        let Some(thread) = threads.get(mark.thread as usize).copied() else { continue };
        marker(&mut firefox, thread, (mark.start, mark.end), (&mark.name, &mark.text), None);
    }
    serde_json::to_writer(out, &firefox)?;
    Ok(cut)
}

/// Maximum weight of a sample.
const MAX_WEIGHT: u64 = i32::MAX as u64;

/// Maximum number of samples that are added for weights above [`MAX_WEIGHT`].
const MAX_PARTS: u64 = 1 << 16;

struct Categories {
    kernel: CategoryHandle,
    user: CategoryHandle,
    managed: CategoryHandle,
}

/// The thread of each thread of the profile. The first of a process is its main thread for the profiler.
fn threads(profile: &Profile, firefox: &mut Firefox) -> Vec<ThreadHandle> {
    let time = |time: Option<u64>| Timestamp::from_nanos_since_reference(time.unwrap_or(0));
    let mut processes = Vec::new();
    for process in &profile.processes {
        let name = process.name.as_deref().map_or_else(|| profile.process_name(process), str::to_owned);
        let handle = firefox.add_process(&name, process.id.unwrap_or(0), time(process.start));
        if process.end.is_some() {
            firefox.set_process_end_time(handle, time(process.end));
        }
        processes.push((handle, false));
    }
    let weights = || match &profile.subject {
        Subject::Waits => WeightType::TracingMs,
        Subject::Events(_) if profile.is_bytes() => WeightType::Bytes,
        _ => WeightType::Samples,
    };
    let mut threads = Vec::new();
    for thread in &profile.threads {
        let Some((process, has_main)) = processes.get_mut(thread.process as usize) else { continue };
        let start = profile.processes[thread.process as usize].start;
        let handle = firefox.add_thread(*process, thread.id, time(start), !std::mem::replace(has_main, true));
        firefox.set_thread_name(handle, &profile.thread_name(thread));
        firefox.set_thread_samples_weight_type(handle, weights());
        threads.push(handle);
    }
    threads
}

/// The frames of each frame of the profile, the outermost function first.
fn frames(profile: &Profile, firefox: &mut Firefox, categories: &Categories) -> Vec<Vec<FrameInfo>> {
    let mut libraries: HashMap<ImageKey, (LibraryHandle, Vec<Symbol>)> = HashMap::new();
    let mut all = Vec::new();
    for frame in &profile.frames {
        let category = match frame.kind {
            FrameKind::Method => categories.managed,
            _ if frame.address >> 63 == 1 => categories.kernel,
            _ => categories.user,
        };
        let info = |frame| FrameInfo { frame, category_pair: category.into(), flags: FrameFlags::empty() };
        let offset = frame.offset.and_then(|offset| u32::try_from(offset).ok());
        let outer = match (frame.kind, &frame.module, offset) {
            (FrameKind::Function | FrameKind::Export | FrameKind::Module, Some(module), Some(offset)) => {
                let key = (module.clone(), frame.pdb.clone());
                let (library, symbols) = libraries.entry(key).or_insert_with(|| (firefox.add_lib(library(frame)), Vec::new()));
                let inside = offset.saturating_sub(frame.is_return.into());
                if let Some(function) = &frame.function {
                    symbols.push(Symbol { address: inside, size: Some(1), name: function.to_string() });
                }
                match frame.is_return {
                    true => FrameAddress::RelativeAddressFromAdjustedReturnAddress(*library, inside),
                    false => FrameAddress::RelativeAddressFromInstructionPointer(*library, inside),
                }
            }
            _ => FrameAddress::Label(firefox.intern_string(&frame.label())),
        };
        let mut infos = vec![info(outer)];
        for function in frame.inlined.iter().rev() {
            infos.push(info(FrameAddress::Label(firefox.intern_string(&function.name))));
        }
        all.push(infos);
    }
    for (library, mut symbols) in libraries.into_values() {
        if !symbols.is_empty() {
            symbols.sort_by_key(|symbol| symbol.address);
            symbols.dedup_by_key(|symbol| symbol.address);
            firefox.set_lib_symbol_table(library, Arc::new(SymbolTable::new(symbols)));
        }
    }
    all
}

fn library(frame: &Frame) -> LibraryInfo {
    let name = frame.module_name().unwrap_or_default().to_owned();
    let path = frame.module.as_deref().unwrap_or_default().to_owned();
    let pdb = frame.pdb.as_ref().map(|pdb| pdb.name.clone());
    LibraryInfo {
        debug_name: pdb.as_deref().map_or(name.clone(), |pdb| pdb.rsplit(['\\', '/']).next().unwrap_or(pdb).to_owned()),
        name,
        path,
        debug_path: pdb.unwrap_or_default(),
        debug_id: frame.pdb.as_ref().map(|pdb| DebugId::from_parts(pdb.guid, pdb.age)).unwrap_or_default(),
        code_id: None,
        arch: None,
        symbol_table: None,
    }
}

/// The call stacks of each thread.
struct Stacks<'p> {
    profile: &'p Profile,
    frames: &'p [Vec<FrameInfo>],
    known: HashMap<(ThreadHandle, u32), StackHandle>,
}

impl Stacks<'_> {
    fn handle(&mut self, firefox: &mut Firefox, thread: ThreadHandle, stack: u32) -> Option<StackHandle> {
        // Callers are known first, without recursion.
        let (mut path, mut next, mut handle) = (Vec::new(), Some(stack), None);
        while let Some(stack) = next {
            handle = self.known.get(&(thread, stack)).copied();
            if handle.is_some() {
                break;
            }
            path.push(stack);
            next = self.profile.stacks.get(stack as usize)?.parent;
        }
        while let Some(stack) = path.pop() {
            for info in self.frames.get(self.profile.stacks.get(stack as usize)?.frame as usize)? {
                let frame = firefox.intern_frame(thread, info.clone());
                handle = Some(firefox.intern_stack(thread, handle, frame));
            }
            self.known.insert((thread, stack), handle?);
        }
        handle
    }
}

fn marker(
    firefox: &mut Firefox,
    thread: ThreadHandle,
    (start, end): (u64, u64),
    (name, text): (&str, &str),
    stack: Option<StackHandle>,
) {
    let time = Timestamp::from_nanos_since_reference;
    let timing = if start == end { MarkerTiming::Instant(time(start)) } else { MarkerTiming::Interval(time(start), time(end)) };
    let (name, text) = (firefox.intern_string(name), firefox.intern_string(text));
    let marker = firefox.add_marker(thread, timing, TextMarker { name, text });
    if stack.is_some() {
        firefox.set_marker_stack(thread, marker, stack);
    }
}

struct TextMarker {
    name: StringHandle,
    text: StringHandle,
}

impl StaticSchemaMarker for TextMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Text";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "text",
        label: "Details",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _: &mut Firefox) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Firefox) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    fn string_field_value(&self, _: u32) -> StringHandle {
        self.text
    }

    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}
