//! Collects the samples of a profile.

use super::markers::{self, Marker};
use super::waits::{Readied, Wait};
use super::{Counts, Interval, Process, Profile, Sample, StackNode, Subject, Thread};
use crate::collections::Collections;
use crate::frame::{Frame, Frames};
use crate::functions::Functions;
use crate::pending::Pending;
use crate::samples::{self, Intervals};
use crate::thread_states::{IDLE, Switched, ThreadStates};
use etw_layouts_trace::etl::FileTime;
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::thread::{CSwitch, ReadyThread};
use etw_layouts_trace::{Error, Event, EventKind, Moment, Party, ProcessIndex, StackCounter, Trace, kind};
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
    names: Pending<(usize, u32), Arc<str>>,
    /// Size of all names so far, in bytes.
    names_size: usize,
    frame_indices: HashMap<Arc<Frame>, u32>,
    stack_indices: HashMap<StackNode, u32>,
    states: ThreadStates<Readied>,
    collections: Collections,
    stacks: StackCounter,
    intervals: Intervals,
}

/// Limit of the size of the names of threads, in bytes.
const MAX_NAMES: usize = 64 << 20;

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
            names: Pending::default(),
            names_size: 0,
            frame_indices: HashMap::new(),
            stack_indices: HashMap::new(),
            states: ThreadStates::default(),
            collections: Collections::default(),
            stacks: StackCounter::default(),
            intervals: Intervals::new(trace),
        }
    }

    /// Adds an event. `matches` is whether a filter selects it; other events can describe the selected ones. With
    /// `is_mark`, the event is a marker too.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn add(&mut self, event: &Event<'_>, matches: bool, is_mark: bool) -> Result<(), Error> {
        self.stacks.add(event)?;
        let kind = kind(&event.header());
        if let Some(kind) = kind {
            self.describe(event, kind);
            self.mark(event, kind, matches)?;
        }
        if is_mark && let Some((time, by, thread)) = self.place(event) {
            let thread = self.thread(event.session_index(), &by, thread);
            let text = markers::fields(event);
            self.profile.markers.push(Marker { thread, start: time, end: time, name: event.name().into(), text });
        }
        match &self.profile.subject {
            Subject::Samples => self.sample(event, matches),
            Subject::Waits if kind.is_some_and(|kind| kind.0 == CSwitch::CLASS) => self.wait(event, matches),
            Subject::Waits => Ok(()),
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
        let counts = &mut self.profile.counts;
        counts.unbound_stacks = self.stacks.unbound(self.trace);
        counts.unfinished = self.states.unfinished().count() as u64;
        counts.other_states = self.states.other_states();
        counts.dropped += self.states.dropped() + self.collections.dropped() + self.names.dropped();
        for frames in &mut self.frames {
            let counts = frames.counts();
            let all = &mut self.profile.counts.frames;
            counts.kinds.iter().for_each(|(kind, count)| *all.kinds.entry(*kind).or_default() += count);
            all.cut += counts.cut;
            all.unresolved_others += counts.unresolved_others;
            counts.unresolved.iter().for_each(|(key, count)| *all.unresolved.entry(key.clone()).or_default() += count);
        }
        // The same order for both, because a wait ends at the time of its sample.
        self.profile.samples.sort_by_key(|sample| sample.time);
        self.profile.waits.sort_by_key(|wait| wait.end);
        self.profile
    }

    /// Reads what an event states about threads and the timer.
    fn describe(&mut self, event: &Event<'_>, kind: EventKind) {
        self.intervals.add(&event.header(), event.session_index());
        // Start, End, DCStart, DCEnd and SetName.
        const START: u16 = 1;
        if kind.0 != CSwitch::CLASS || !matches!(kind.1, START..=4 | 72) {
            return;
        }
        let Some(decoded) = event.decode() else { return };
        let thread = decoded.get("TThreadId").or_else(|| decoded.get("ThreadId")).and_then(|value| value.number());
        let name = decoded.get("ThreadName").map(|value| value.to_string()).filter(|name| !name.is_empty());
        let key = thread.and_then(|thread| u32::try_from(thread).ok()).map(|thread| (event.session_index(), thread));
        match (key, name) {
            (Some(_), Some(name)) if self.names_size + name.len() > MAX_NAMES => self.profile.counts.dropped += 1,
            (Some(key), Some(name)) => {
                self.names_size += name.len();
                self.names.insert(key, name.into());
            }
            // A thread without a name, whose identifier another one had before.
            (Some(key), None) if kind.1 == START => _ = self.names.remove(&key),
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
        let stated = self.intervals.get(event.session_index());
        let nanoseconds = u64::from(stated.unwrap_or(samples::DEFAULT_INTERVAL)) * 100;
        if self.profile.samples.is_empty() && stated.is_some() {
            self.profile.interval = Interval::Stated(nanoseconds);
        }
        self.push(event, &by, thread, stack, nanoseconds);
        Ok(())
    }

    fn wait(&mut self, event: &Event<'_>, matches: bool) -> Result<(), Error> {
        if let Some(ready) = event.get::<ReadyThread<'_>>() {
            let readied = self.readied(event)?;
            self.states.ready(event, &ready, readied);
            return Ok(());
        }
        let Some(switch) = event.get::<CSwitch<'_>>() else { return Ok(()) };
        let (thread, Switched { stopped, .. }) = (switch.new_thread_id(), self.states.switch(event, &switch));
        let counts = &mut self.profile.counts;
        counts.events += 1;
        if !matches {
            counts.filtered += 1;
        } else if thread == IDLE {
            counts.idle += 1;
        } else if let Some(stopped) = stopped
            && let Some(since) = stopped.since
        {
            let session = event.session_index();
            let (start, end) = (self.at_tick(event, since), self.at_tick(event, event.tick()));
            let stack = self.stack(event)?;
            self.profile.counts.without_callers += u64::from(stack.is_none());
            self.push(event, &event.who().by, thread, stack, end.saturating_sub(start));
            let thread = self.profile.samples.last().map_or(0, |sample| sample.thread);
            let (ready, readied) = stopped.ready.unzip();
            let by = readied.and_then(|readied| readied.by);
            let ready_by = by.and_then(|by| Some(self.thread(session, &by, by.thread?)));
            self.profile.waits.push(Wait {
                thread,
                start,
                end,
                reason: stopped.reason,
                ready: ready.map(|tick| self.at_tick(event, tick)),
                ready_by,
                ready_stack: readied.and_then(|readied| readied.stack),
            });
        } else {
            counts.without_start += 1;
        }
        Ok(())
    }

    /// What made a thread ready: the thread of the header, or else the one that runs on the processor.
    fn readied(&mut self, event: &Event<'_>) -> Result<Readied, Error> {
        let (header, session) = (event.header(), event.session());
        let thread = header.thread().filter(|thread| *thread != u32::MAX).or_else(|| self.states.running(event));
        let process = header.process().filter(|process| *process != u32::MAX);
        let process = process.or_else(|| session.threads().at(thread?, event.tick()));
        let index = process.and_then(|process| session.processes().at(process, event.tick()));
        let by = thread.filter(|thread| *thread != IDLE);
        let stack = match event.stack()? {
            Some(stack) => {
                let frames = self.frames[event.session_index()].of_process(process, event, &stack)?;
                self.intern(&frames)
            }
            None => None,
        };
        Ok(Readied { by: by.map(|thread| Party { process, thread: Some(thread), index, ..Party::default() }), stack })
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
        let time = event.relative_time().map_or(0, |time| self.since_start(time));
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
            let frame = *self.frame_indices.entry(frame.clone()).or_insert_with(|| {
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

    /// Adds the garbage collection, the suspension or the request to a disk that an event ends, if the event matches.
    fn mark(&mut self, event: &Event<'_>, kind: EventKind, matches: bool) -> Result<(), Error> {
        // Their starts are paired whether they match or not.
        let collection = self.collections.add(event, kind).and_then(markers::collection);
        if !matches {
            return Ok(());
        }
        let session = event.session_index();
        if let Some((start, text)) = collection
            && let Some((end, by, thread)) = self.place(event)
        {
            let (thread, start) = (self.thread(session, &by, thread), self.at_tick(event, start));
            self.profile.markers.push(Marker { thread, start, end, name: "GC".into(), text });
        }
        if let Some((duration, number, text)) = markers::disk(event, kind)? {
            let [start, end] =
                [event.tick().saturating_sub_unsigned(duration), event.tick()].map(|tick| self.at_tick(event, tick));
            let by = event.who().by;
            let thread = match by.thread {
                Some(thread) => self.thread(session, &by, thread),
                None => self.disk(session, number),
            };
            self.profile.markers.push(Marker { thread, start, end, name: "Disk".into(), text });
        }
        Ok(())
    }

    /// The time and the thread of a marker; `None` if the event does not state them.
    fn place(&self, event: &Event<'_>) -> Option<(u64, Party, u32)> {
        let by = event.who().by;
        Some((self.since_start(event.relative_time()?), by, by.thread?))
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

    /// The time of a tick of the session of an event.
    fn at_tick(&self, event: &Event<'_>, tick: i64) -> u64 {
        self.since_start(FileTime(event.file().clock().system_time(tick)))
    }

    fn since_start(&self, time: FileTime) -> u64 {
        since(self.profile.start, time)
    }
}

/// Nanoseconds since the start, or 0 before it.
fn since(start: FileTime, time: FileTime) -> u64 {
    u64::try_from(i128::from(time.0) - i128::from(start.0)).unwrap_or(0).saturating_mul(100)
}
