//! Collects the samples of a profile.

use super::markers::{GcMarkers, Marker, disk};
use super::waits::{Switches, Wait};
use super::{Counts, Interval, Process, Profile, Sample, StackNode, Subject, Thread};
use crate::frame::{Frame, Frames};
use crate::functions::Functions;
use crate::samples::{self, Intervals};
use etw_layouts_trace::etl::{FileTime, Schemas};
use etw_layouts_trace::kernel::thread::CSwitch;
use etw_layouts_trace::{Error, Event, Moment, Party, ProcessIndex, Trace};
use std::collections::HashMap;
use std::sync::Arc;

/// Collects the samples of a profile. All events of the trace are needed, in the order of time.
///
/// Memory: 24 bytes for each sample, 60 bytes for each wait, 8 bytes and an entry of a table for each different call stack, and the names of
/// their frames.
#[derive(Debug)]
pub struct ProfileBuilder<'t> {
    profile: Profile,
    trace: &'t Trace,
    frames: Vec<Frames<'t>>,
    processes: HashMap<(usize, Option<ProcessIndex>, Option<u32>), u32>,
    threads: HashMap<(u32, u32), u32>,
    /// Names of threads, by session and thread.
    names: HashMap<(usize, u32), Arc<str>>,
    /// The index of each frame, by its address in memory, which does not change: the profile keeps it.
    frame_indices: HashMap<*const Frame, u32>,
    stack_indices: HashMap<StackNode, u32>,
    switches: Switches,
    gc: GcMarkers,
    /// For a profile of samples, from its first event on.
    intervals: Option<Intervals>,
}

impl<'t> ProfileBuilder<'t> {
    /// Begins a profile of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, subject: Subject, functions: &Functions) -> Self {
        let names = (0..trace.sessions().len()).filter_map(|session| trace.names(session));
        let start = trace.files().iter().map(|file| file.log_file().start_time).min().unwrap_or_default();
        let profile = Profile {
            subject,
            start: FileTime(start),
            interval: Interval::Assumed,
            processes: Vec::new(),
            threads: Vec::new(),
            frames: Vec::new(),
            stacks: Vec::new(),
            samples: Vec::new(),
            markers: Vec::new(),
            waits: Vec::new(),
            counts: Counts::default(),
        };
        Self {
            profile,
            trace,
            frames: names.map(|names| Frames::with_functions(names, functions.clone())).collect(),
            processes: HashMap::new(),
            threads: HashMap::new(),
            names: HashMap::new(),
            frame_indices: HashMap::new(),
            stack_indices: HashMap::new(),
            switches: Switches::default(),
            gc: GcMarkers::default(),
            intervals: None,
        }
    }

    /// Adds an event. `matches` is whether a filter selects it; other events can describe the selected ones. With
    /// `is_mark`, the event is a marker too.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn add(&mut self, event: &Event<'_>, matches: bool, is_mark: bool) -> Result<(), Error> {
        if self.intervals.is_none() && self.profile.subject == Subject::Samples {
            self.intervals = Some(Intervals::new(self.trace)?);
        }
        self.describe(event);
        if matches || is_mark {
            self.mark(event, is_mark);
        }
        match &self.profile.subject {
            Subject::Samples => self.sample(event, matches),
            Subject::Waits => self.wait(event, matches),
            Subject::Events(field) if matches => {
                let field = field.clone();
                self.event(event, field.as_deref())
            }
            Subject::Events(_) => Ok(()),
        }
    }

    /// The profile.
    #[must_use]
    pub fn finish(mut self) -> Profile {
        self.profile.counts.unfinished = self.switches.unfinished();
        for frames in &mut self.frames {
            let counts = frames.counts();
            let all = &mut self.profile.counts.frames;
            counts.kinds.iter().for_each(|(kind, count)| *all.kinds.entry(*kind).or_default() += count);
            all.cut += counts.cut;
            counts.unresolved.iter().for_each(|(key, count)| *all.unresolved.entry(key.clone()).or_default() += count);
        }
        // The same order for both, because a wait ends at the time of its sample.
        self.profile.samples.sort_by_key(|sample| sample.time);
        self.profile.waits.sort_by_key(|wait| wait.end);
        self.profile
    }

    /// Reads what an event states about threads and the timer.
    fn describe(&mut self, event: &Event<'_>) {
        let header = event.header();
        match header.hook() {
            Some(0x0501..=0x0504 | 0x0548) => {
                let Some(decoded) = header.decode(Schemas::BUILT_IN) else { return };
                let thread = decoded.get("TThreadId").or_else(|| decoded.get("ThreadId")).and_then(|value| value.number());
                let name = decoded.get("ThreadName").map(|value| value.to_string()).filter(|name| !name.is_empty());
                let key = thread.and_then(|thread| u32::try_from(thread).ok()).map(|thread| (event.session_index(), thread));
                match (key, name) {
                    (Some(key), Some(name)) => _ = self.names.insert(key, name.into()),
                    // A thread without a name, whose identifier another one had before.
                    (Some(key), None) if header.hook() == Some(0x0501) => _ = self.names.remove(&key),
                    _ => {}
                }
            }
            Some(0x0F48..=0x0F4A) => {
                if let Some(intervals) = &mut self.intervals {
                    intervals.add(&header, event.session_index());
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, event: &Event<'_>, matches: bool) -> Result<(), Error> {
        let Some(address) = samples::instruction(&event.header()) else { return Ok(()) };
        self.profile.counts.events += 1;
        if !matches {
            self.profile.counts.filtered += 1;
            return Ok(());
        }
        let by = event.who().by;
        let Some(thread) = by.thread else {
            self.profile.counts.without_thread += 1;
            return Ok(());
        };
        if thread == 0 {
            self.profile.counts.idle += 1;
            return Ok(());
        }
        let stack = match self.stack(event)? {
            Some(stack) => Some(stack),
            None => {
                self.profile.counts.without_callers += 1;
                let frames = &mut self.frames[event.session_index()];
                let frame = frames.frame(by.process.unwrap_or_default(), address, event.tick())?;
                self.intern(&[frame])
            }
        };
        let stated = self.intervals.as_ref().and_then(|intervals| intervals.get(event.session_index()));
        let nanoseconds = u64::from(stated.unwrap_or(samples::DEFAULT_INTERVAL)) * 100;
        if self.profile.samples.is_empty() && stated.is_some() {
            self.profile.interval = Interval::Stated(nanoseconds);
        }
        self.push(event, &by, thread, stack, nanoseconds);
        Ok(())
    }

    fn wait(&mut self, event: &Event<'_>, matches: bool) -> Result<(), Error> {
        let (header, session) = (event.header(), event.session_index());
        let Some(time) = event.time().map(|time| self.since_start(time)) else { return Ok(()) };
        match header.hook() {
            Some(0x0532) => {
                let (by, process) = self.switches.readying(event);
                let by = by.filter(|thread| *thread != 0).map(|thread| {
                    let index = process.and_then(|process| event.session().processes().at(process, event.tick()));
                    self.thread(session, &Party { process, thread: Some(thread), index, ..Party::default() }, thread)
                });
                let stack = match event.stack()? {
                    Some(stack) => {
                        let frames = self.frames[session].of_process(process, event, &stack)?;
                        self.intern(&frames)
                    }
                    None => None,
                };
                self.switches.ready(event, time, by, stack);
                return Ok(());
            }
            Some(0x0524) => {}
            _ => return Ok(()),
        }
        let Some(switch) = header.get::<CSwitch<'_>>(Schemas::BUILT_IN) else { return Ok(()) };
        let (thread, wait) = (switch.new_thread_id(), self.switches.switch(event, &switch, time));
        let counts = &mut self.profile.counts;
        counts.events += 1;
        if !matches {
            counts.filtered += 1;
        } else if thread == 0 {
            counts.idle += 1;
        } else if let Some(wait) = wait {
            let stack = self.stack(event)?;
            self.profile.counts.without_callers += u64::from(stack.is_none());
            self.push(event, &event.who().by, thread, stack, time - wait.start);
            self.profile.waits.push(Wait { thread: self.profile.samples.last().map_or(0, |sample| sample.thread), ..wait });
        } else {
            counts.without_start += 1;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>, field: Option<&str>) -> Result<(), Error> {
        self.profile.counts.events += 1;
        let by = event.who().by;
        let Some(thread) = by.thread.or(event.header().thread()) else {
            self.profile.counts.without_thread += 1;
            return Ok(());
        };
        let value = match field {
            Some(field) => event.decode().and_then(|decoded| decoded.get(field)?.number()),
            None => Some(1),
        };
        let Some(value) = value else {
            self.profile.counts.without_value += 1;
            return Ok(());
        };
        match self.stack(event)? {
            Some(stack) => self.push(event, &by, thread, Some(stack), value),
            None => self.profile.counts.without_stack += 1,
        }
        Ok(())
    }

    fn push(&mut self, event: &Event<'_>, by: &Party, thread: u32, stack: Option<u32>, value: u64) {
        let time = event.time().map_or(0, |time| self.since_start(time));
        let thread = self.thread(event.session_index(), by, thread);
        self.profile.counts.samples += 1;
        self.profile.samples.push(Sample { time, thread, stack, value });
    }

    /// The index of the call stack of an event; `None` if it has none.
    fn stack(&mut self, event: &Event<'_>) -> Result<Option<u32>, Error> {
        let frames = self.frames[event.session_index()].of(event)?;
        Ok(frames.and_then(|frames| self.intern(&frames)))
    }

    /// The index of a call stack, whose innermost frame is the first.
    fn intern(&mut self, frames: &[Arc<Frame>]) -> Option<u32> {
        let mut parent = None;
        for frame in frames.iter().rev() {
            let all = &mut self.profile.frames;
            let frame = *self.frame_indices.entry(Arc::as_ptr(frame)).or_insert_with(|| {
                all.push(frame.clone());
                (all.len() - 1) as u32
            });
            let (node, stacks) = (StackNode { parent, frame }, &mut self.profile.stacks);
            parent = Some(*self.stack_indices.entry(node).or_insert_with(|| {
                stacks.push(node);
                (stacks.len() - 1) as u32
            }));
        }
        parent
    }

    /// The index of a thread of a session, which is that of the party.
    fn thread(&mut self, session: usize, by: &Party, thread: u32) -> u32 {
        let process = self.process(session, by);
        let threads = &mut self.profile.threads;
        let name = self.names.get(&(session, thread));
        let index = *self.threads.entry((process, thread)).or_insert_with(|| {
            threads.push(Thread { process, id: thread, name: None });
            (threads.len() - 1) as u32
        });
        if let (Some(name), Some(thread)) = (name, threads.get_mut(index as usize)) {
            thread.name.get_or_insert_with(|| name.clone());
        }
        index
    }

    fn process(&mut self, session: usize, by: &Party) -> u32 {
        let (trace, start) = (self.trace, self.profile.start);
        let processes = &mut self.profile.processes;
        *self.processes.entry((session, by.index, by.process)).or_insert_with(|| {
            let known = by.index.and_then(|index| trace.sessions().get(session)?.processes().get(index));
            let time = |moment: Option<Moment>| moment?.time().map(|time| since(start, time));
            processes.push(Process {
                id: by.process,
                name: known.and_then(|known| known.image.as_ref()).map(|image| image.value.clone()),
                start: time(known.and_then(|known| known.start.as_ref()).map(|start| start.value)),
                end: time(known.and_then(|known| known.end.as_ref()).map(|end| end.value)),
            });
            (processes.len() - 1) as u32
        })
    }

    fn mark(&mut self, event: &Event<'_>, is_mark: bool) {
        let Some(time) = event.time().map(|time| self.since_start(time)) else { return };
        let session = event.session_index();
        let (collection, disk) = (self.gc.marker(event, time), disk(event));
        // Most events are no markers.
        if collection.is_none() && disk.is_none() && !is_mark {
            return;
        }
        let by = event.who().by;
        if let (Some((start, text)), Some(thread)) = (collection, by.thread) {
            let thread = self.thread(session, &by, thread);
            self.profile.markers.push(Marker { thread, start, end: time, name: "GC".into(), text });
        }
        if let Some((duration, number, text)) = disk {
            let begun = event.file().clock().system_time(event.tick().saturating_sub_unsigned(duration));
            let start = self.since_start(FileTime(begun)).min(time);
            let thread = match by.thread {
                Some(thread) => self.thread(session, &by, thread),
                None => self.disk(session, number),
            };
            self.profile.markers.push(Marker { thread, start, end: time, name: "Disk".into(), text });
        }
        if is_mark && let Some(thread) = by.thread {
            let thread = self.thread(session, &by, thread);
            let text = super::markers::fields(event);
            self.profile.markers.push(Marker { thread, start: time, end: time, name: event.name().into(), text });
        }
    }

    /// The thread that stands for a disk, for requests whose thread is not stated.
    fn disk(&mut self, session: usize, number: u32) -> u32 {
        let process = self.process(session, &Party { process: None, index: None, ..Party::default() });
        let threads = &mut self.profile.threads;
        *self.threads.entry((process, number)).or_insert_with(|| {
            threads.push(Thread { process, id: number, name: Some("Disk".into()) });
            (threads.len() - 1) as u32
        })
    }

    fn since_start(&self, time: FileTime) -> u64 {
        since(self.profile.start, time)
    }
}

/// Nanoseconds since the start, or 0 before it.
fn since(start: FileTime, time: FileTime) -> u64 {
    u64::try_from(i128::from(time.0) - i128::from(start.0)).unwrap_or(0).saturating_mul(100)
}
