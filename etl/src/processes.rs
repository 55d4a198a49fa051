//! The processes of a trace, from the events of their start, end and rundown.

use crate::event::Event;
use crate::schemas::{Decoded, Schemas};
use etw_layouts_payload::{Fault, Value};
use std::collections::HashMap;

/// A process. Properties that the trace does not contain are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Identifier of the process. Windows reuses identifiers.
    pub id: u32,
    /// Identifier of the process that created this one.
    pub parent: Option<u32>,
    /// Identifier of the terminal session; `None` also if the process has none.
    pub session: Option<u32>,
    /// System time of its start, in units of 100 ns since 1601. `None` if it started before the trace.
    pub start: Option<i64>,
    /// System time of its end. `None` if it did not end in the trace.
    pub end: Option<i64>,
    /// Exit code. `None` if it did not end in the trace.
    pub exit_status: Option<u32>,
    /// File name of the image.
    pub image: Option<String>,
    /// Command line.
    pub command_line: Option<String>,
    /// Security identifier of the user, such as `S-1-5-18`.
    pub user: Option<String>,
    /// Full name of the application package.
    pub package: Option<String>,
    /// Images that were loaded, in time order.
    pub images: Vec<LoadedImage>,
}

/// An image in a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedImage {
    /// Path of the image file.
    pub path: String,
    /// Address at which it is mapped.
    pub base: u64,
    /// Size in memory, in bytes.
    pub size: u64,
    /// System time at which it was loaded, in units of 100 ns since 1601. `None` if it was loaded before the trace.
    pub load: Option<i64>,
    /// System time at which it was unloaded. `None` if it was not unloaded in the trace.
    pub unload: Option<i64>,
}

/// Collects the processes of one trace. Events can come in any order: they are sorted by time at the end.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// Memory grows with the number of events of processes and images.
    records: Vec<(i64, Record)>,
}

#[derive(Clone, Debug)]
enum Record {
    Process(Step, Process),
    Image(Step, u32, LoadedImage),
}

/// A change of a process or an image, or its existence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Start,
    End,
    /// It existed when the trace began or ended.
    Exists,
}

impl Processes {
    /// Adds an event at a system time. Other events than those of processes and images are ignored.
    ///
    /// # Errors
    ///
    /// The payload of such an event cannot be decoded. The fields before the error are used.
    pub fn add(&mut self, event: &Event<'_>, time: i64) -> Result<(), Fault> {
        let is_candidate = matches!(event.opcode(), Some(1..=4 | 10 | 39));
        let Some(decoded) = is_candidate.then(|| event.decode(Schemas::BUILT_IN)).flatten() else { return Ok(()) };
        let step = match decoded.schema.event {
            "Start" | "Load" => Step::Start,
            "End" | "UnLoad" | "Defunct" => Step::End,
            "DCStart" | "DCEnd" => Step::Exists,
            _ => return Ok(()),
        };
        let record = match decoded.schema.provider {
            "Process" => process(&decoded, step, time).map(|process| Record::Process(step, process)),
            "Image" => image(&decoded, step, time)
                .map(|image| Record::Image(step, number(&decoded, "ProcessId").or(event.process()).unwrap_or_default(), image)),
            _ => None,
        };
        let Some(record) = record else { return Ok(()) };
        self.records.push((time, record));
        // A later version of the event has more fields.
        if decoded.is_exact { decoded.fields.check() } else { Ok(()) }
    }

    /// All processes in the order of their start; those that started before the trace come first.
    pub fn finish(mut self) -> Vec<Process> {
        self.records.sort_by_key(|(time, _)| *time);
        let mut all = All::default();
        for (_, record) in self.records {
            match record {
                Record::Process(step, process) => all.process(step, process),
                Record::Image(step, id, image) => all.image(step, id, image),
            }
        }
        all.processes.sort_by_key(|process| process.start);
        all.processes
    }
}

#[derive(Default)]
struct All {
    processes: Vec<Process>,
    /// Processes that did not end yet, by identifier.
    running: HashMap<u32, usize>,
}

impl All {
    fn process(&mut self, step: Step, new: Process) {
        let id = new.id;
        if step == Step::Start {
            // The trace lacks the end of an earlier process with this identifier.
            self.running.remove(&id);
        }
        let index = self.running(id);
        let known = &mut self.processes[index];
        let images = std::mem::take(&mut known.images);
        *known = Process {
            id,
            parent: known.parent.or(new.parent),
            session: known.session.or(new.session),
            start: known.start.or(new.start),
            end: new.end,
            exit_status: new.exit_status,
            image: known.image.take().or(new.image),
            command_line: known.command_line.take().or(new.command_line),
            user: known.user.take().or(new.user),
            package: known.package.take().or(new.package),
            images,
        };
        if step == Step::End {
            self.running.remove(&id);
        }
    }

    fn image(&mut self, step: Step, process: u32, new: LoadedImage) {
        let index = self.running(process);
        let images = &mut self.processes[index].images;
        let loaded = images.iter_mut().rev().find(|image| image.base == new.base && image.unload.is_none());
        match (loaded, step) {
            (Some(image), Step::End) => image.unload = new.unload,
            (Some(image), _) if image.path == new.path => {}
            _ => images.push(new),
        }
    }

    /// The index of the running process with this identifier; a new process if there is none.
    fn running(&mut self, id: u32) -> usize {
        *self.running.entry(id).or_insert_with(|| {
            self.processes.push(Process { id, ..Process::default() });
            self.processes.len() - 1
        })
    }
}

fn process(decoded: &Decoded<'_>, step: Step, time: i64) -> Option<Process> {
    let text = |name| decoded.get(name).map(|value| value.to_string()).filter(|text| !text.is_empty());
    Some(Process {
        id: number(decoded, "ProcessId")?,
        parent: number(decoded, "ParentId"),
        session: number(decoded, "SessionId").filter(|session| *session != u32::MAX),
        start: (step == Step::Start).then_some(time),
        end: (step == Step::End).then_some(time),
        exit_status: number(decoded, "ExitStatus").filter(|_| step == Step::End),
        image: text("ImageFileName"),
        command_line: text("CommandLine"),
        user: text("UserSID"),
        package: text("PackageFullName"),
        images: Vec::new(),
    })
}

fn image(decoded: &Decoded<'_>, step: Step, time: i64) -> Option<LoadedImage> {
    let get = |names: [&str; 2]| names.iter().find_map(|name| decoded.get(name));
    let value = |names| get(names).as_ref().and_then(Value::number);
    Some(LoadedImage {
        path: get(["FileName", "ImageFileName"])?.to_string(),
        base: value(["ImageBase", "BaseAddress"])?,
        size: value(["ImageSize", "ModuleSize"])?,
        load: (step == Step::Start).then_some(time),
        unload: (step == Step::End).then_some(time),
    })
}

fn number(decoded: &Decoded<'_>, name: &str) -> Option<u32> {
    decoded.get(name)?.number().map(|number| number as u32)
}
