//! The keys by which amounts are summed.

use crate::frame::{Frame, FrameKind, Frames};
use crate::functions::Functions;
use etw_layouts_trace::etl::names;
use etw_layouts_trace::{Error, Event, Names, Party, ProcessIndex, Trace};
use std::sync::Arc;

/// A property by which amounts are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Key {
    /// The process, with its image.
    Process,
    /// Identifier of the thread.
    Thread,
    /// The image that contains the address, or the innermost address of the call stack; for a method of .NET outside of images, its module. If neither is known,
    /// the reason in parentheses.
    Module,
    /// The function or method at this address; if neither it nor the image is known, the address with the reason in parentheses.
    Function,
    /// The call stack: functions or modules, the outermost first, separated by semicolons. `(no call stack)` for an event without one.
    Stack,
    /// Path of the file.
    File,
    /// Protocol, address and port of the other computer, or of the group to which a datagram was sent.
    Endpoint,
    /// Protocol and port of this computer.
    Local,
    /// The disk.
    Device,
    /// Why a thread waits, a program is suspended, or memory was allocated as a large object.
    Reason,
    /// The event.
    Event,
    /// The processor that wrote the event.
    Processor,
    /// The type of the allocated object.
    Type,
    /// Generation of the garbage collection.
    Generation,
    /// Why the garbage collection began.
    Cause,
}

/// Names of the keys, and what they are.
const KEYS: [(Key, &str, &str); 15] = [
    (Key::Process, "process", "Process ID and image; process 0 is idle"),
    (Key::Thread, "thread", "Thread ID"),
    (
        Key::Module,
        "module",
        "Image that contains the address, or the innermost one of the call stack; for .NET code that was compiled at run time, its module; or the reason why none is known",
    ),
    (Key::Function, "function", "Function or method at this address; without a name, module and offset"),
    (Key::Stack, "stack", "Call stack: functions, the outermost first, separated by semicolons"),
    (Key::File, "file", "Path of the file"),
    (Key::Endpoint, "endpoint", "Protocol, remote address and port"),
    (Key::Local, "local", "Protocol and local port, such as tcp 443: the service of a server"),
    (Key::Device, "device", "Disk"),
    (Key::Reason, "reason", "Reason of a wait, of a suspension, or kind of an allocation"),
    (Key::Event, "event", "Event, such as DiskIo/Read"),
    (Key::Processor, "processor", "Processor number"),
    (Key::Type, "type", "Type of the allocated object"),
    (Key::Generation, "generation", "Generation of the garbage collection that began in the suspension"),
    (Key::Cause, "cause", "Reason of this garbage collection"),
];

/// The table has the order of the enumeration, by which it is indexed.
const _: () = {
    let mut index = 0;
    while index < KEYS.len() {
        assert!(KEYS[index].0 as usize == index);
        index += 1;
    }
};

impl Key {
    /// All keys.
    pub fn all() -> impl Iterator<Item = Self> {
        KEYS.iter().map(|(key, ..)| *key)
    }

    /// The key with a name, such as `process`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        KEYS.iter().find(|(_, own, _)| *own == name).map(|(key, ..)| *key)
    }

    /// Name, such as `process`.
    #[must_use]
    pub fn name(self) -> &'static str {
        KEYS[self as usize].1
    }

    /// What it is, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        KEYS[self as usize].2
    }

    /// Names of its columns.
    #[must_use]
    pub fn columns(self) -> Vec<&'static str> {
        if self == Self::Process { vec!["process", "image"] } else { vec![self.name()] }
    }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyValue {
    /// A process of a session.
    Process {
        /// Identifier.
        id: u32,
        /// File name of the image, without its path.
        image: Option<Arc<str>>,
        /// Index of the session in the trace, and of the process in its table: identifiers are reused.
        index: (usize, Option<ProcessIndex>),
    },
    /// An identifier.
    Number(u32),
    /// A name.
    Text(Arc<str>),
    /// The trace does not state it.
    Unknown,
    /// The rest, after the limits of memory were reached.
    Others,
}

impl KeyValue {
    /// The text of [`Others`](Self::Others).
    pub const OTHERS: &'static str = "(others)";

    /// A name; unknown if it is empty.
    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::Unknown } else { Self::Text(text) }
    }

    /// Size of its text, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }
}

/// The process of the idle threads.
pub(super) const IDLE: u32 = 0;

/// What an amount is about.
pub(super) struct Subject<'e, 't> {
    pub event: &'e Event<'t>,
    pub party: Party,
    /// Address of an instruction or a routine.
    pub address: Option<u64>,
    /// Address of a file object, or its key.
    pub file_object: Option<u64>,
    values: Vec<(Key, KeyValue)>,
}

impl<'e, 't> Subject<'e, 't> {
    /// The process and thread that did an event.
    pub fn new(event: &'e Event<'t>) -> Self {
        Self::of(event, event.who().by)
    }

    /// A process and thread, at the time of an event.
    pub fn of(event: &'e Event<'t>, party: Party) -> Self {
        Self { event, party, address: None, file_object: None, values: Vec::new() }
    }

    pub fn address(self, address: u64) -> Self {
        Self { address: Some(address), ..self }
    }

    pub fn file_object(self, object: Option<u64>) -> Self {
        Self { file_object: object, ..self }
    }

    /// The value of a key that other properties do not state.
    pub fn with(mut self, key: Key, value: KeyValue) -> Self {
        self.values.push((key, value));
        self
    }
}

/// Finds the values of keys.
pub(super) struct Keys<'t> {
    trace: &'t Trace,
    /// Of each session.
    names: Vec<Names<'t>>,
    frames: Vec<Frames<'t>>,
    /// Number of named frames in images whose functions are not known.
    pub without_function: u64,
}

impl<'t> Keys<'t> {
    pub fn new(trace: &'t Trace, functions: &Functions) -> Self {
        let names: Vec<_> = (0..trace.sessions().len()).filter_map(|session| trace.names(session)).collect();
        let frames = names.iter().map(|names| Frames::with_functions(*names, functions.clone())).collect();
        Self { trace, names, frames, without_function: 0 }
    }

    pub fn value(&mut self, key: Key, subject: &Subject<'_, 't>) -> Result<KeyValue, Error> {
        if let Some((_, value)) = subject.values.iter().find(|(own, _)| *own == key) {
            return Ok(value.clone());
        }
        let (event, party) = (subject.event, subject.party);
        Ok(match key {
            Key::Process => party.process.map_or(KeyValue::Unknown, |id| self.process(event.session_index(), id, party.index)),
            Key::Thread => party.thread.map_or(KeyValue::Unknown, KeyValue::Number),
            Key::Processor => KeyValue::Number(event.processor().into()),
            Key::Event => KeyValue::text(event_name(event)),
            Key::File => match subject.file_object {
                Some(object) => {
                    let name = self.names[event.session_index()].file_name(object, event.tick())?;
                    name.map_or(KeyValue::Unknown, |name| KeyValue::text(&*event.session().user_path(&name)))
                }
                None => KeyValue::Unknown,
            },
            Key::Module => match self.first_frame(subject)? {
                Some(frame) => match frame.module.clone().or_else(|| frame.method_module.clone()) {
                    Some(module) => KeyValue::text(module),
                    None => KeyValue::text(self.reason(subject, &frame)?),
                },
                None => KeyValue::text(NO_STACK),
            },
            Key::Function => match self.first_frame(subject)? {
                Some(frame) if frame.module.is_none() && frame.function.is_none() => {
                    KeyValue::text(format!("{} {}", frame.label(), self.reason(subject, &frame)?))
                }
                Some(frame) => KeyValue::text(self.function(&frame)),
                None => KeyValue::text(NO_STACK),
            },
            Key::Stack => self.stack(event)?,
            Key::Endpoint | Key::Local | Key::Device | Key::Reason | Key::Type | Key::Generation | Key::Cause => {
                KeyValue::Unknown
            }
        })
    }

    fn process(&self, session: usize, id: u32, index: Option<ProcessIndex>) -> KeyValue {
        let process = index.and_then(|index| self.trace.sessions()[session].processes().get(index));
        let stated = process.and_then(|process| process.image.as_ref()).map(|image| image.value.clone());
        // The idle process has no image, and few traces name it.
        let image = if id == IDLE { Some(stated.unwrap_or_else(|| "Idle".into())) } else { stated };
        KeyValue::Process { id, image, index: (session, index) }
    }

    /// The frame at the address; without one, the innermost frame of the call stack.
    fn first_frame(&mut self, subject: &Subject<'_, 't>) -> Result<Option<Arc<Frame>>, Error> {
        let frames = &mut self.frames[subject.event.session_index()];
        match subject.address {
            // Addresses of the kernel are the same in every process.
            Some(address) => frames.frame(subject.party.process.unwrap_or_default(), address, subject.event.tick()).map(Some),
            None => Ok(frames.of(subject.event)?.and_then(|frames| frames.first().cloned())),
        }
    }

    /// Why the module of a frame is not known.
    fn reason(&self, subject: &Subject<'_, 't>, frame: &Frame) -> Result<&'static str, Error> {
        // Addresses of the kernel have the highest bit, if addresses have 64 bits.
        let has_methods = |process| self.frames[subject.event.session_index()].has_methods(process);
        Ok(match (frame.kind, subject.party.process) {
            (FrameKind::Method, _) => "(jitted code)",
            (FrameKind::OtherTime, _) => "(an image or method that is there at another time)",
            (FrameKind::NoImages, _) => "(no images of the process in the trace)",
            (_, Some(process)) if frame.address >> 63 == 0 && has_methods(process)? => {
                "(outside of images and methods: maybe jitted code)"
            }
            _ => "(outside of images)",
        })
    }

    fn stack(&mut self, event: &Event<'t>) -> Result<KeyValue, Error> {
        let Some(frames) = self.frames[event.session_index()].of(event)? else { return Ok(KeyValue::text(NO_STACK)) };
        let names: Vec<_> = frames.iter().rev().map(|frame| self.function(frame)).collect();
        Ok(KeyValue::text(names.join(";")))
    }

    /// Module and function of a frame, module and offset, or the address. A frame whose function is not known is counted.
    fn function(&mut self, frame: &Frame) -> String {
        self.without_function += u64::from(frame.kind == FrameKind::Module);
        frame.qualified().unwrap_or_else(|| frame.label()).into_owned()
    }
}

/// The value of keys of call stacks, for an event without one.
const NO_STACK: &str = "(no call stack)";

/// The name of an event. Another provider that has the name of an event class of the kernel is not this class.
pub(super) fn event_name(event: &Event<'_>) -> String {
    let (header, schemas) = (event.header(), event.schemas());
    let Some((provider, name)) = names::event_of(&header, schemas) else { return names::identity(&header, schemas) };
    match names::other_than_class(&header, provider, schemas) {
        Some(source) => format!("{provider}/{name} ({source})"),
        None => format!("{provider}/{name}"),
    }
}
