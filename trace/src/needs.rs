//! The events that other events need, so that a part of a trace can be understood without the rest.

use crate::error::Error;
use crate::event::Event;
use crate::name_event::{NameEvent, PROVIDERS, Subject};
use crate::place::Position;
use crate::providers::KERNEL_PROCESS;
use crate::sorted::{Record, Sorter, Table, word_of_tick};
use crate::specified::{is_of_manifest, number};
use crate::stacks::{Owner, STACK_WALK};
use crate::trace::Trace;
use etw_layouts_etl::payload::{OutType, Uuid};
use etw_layouts_etl::{self as etl, Schemas};
use etw_layouts_schemas::trace::{MANIFEST_EVENT, META_DATA};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

/// The events that selected events depend on: the schemas of their providers; the descriptions of their processes, threads and images; the
/// names of their files and methods; their call stacks; the system configuration.
///
/// There can be more than necessary: if a process identifier is reused, the events of every process with this identifier are
/// included.
#[derive(Debug)]
pub struct Needs {
    /// File and buffer, offset.
    positions: Table<2>,
    sessions: Vec<Stated>,
    session_of: Vec<usize>,
}

/// What the selected events of a session state: records that begin with a kind. There are none if no event is selected.
#[derive(Debug)]
struct Stated(Table<3>);

/// Kinds of records: the provider; a process; a thread; tick and owner of a stack in other events.
const PROVIDER: u64 = 0;
const PROCESS: u64 = 1;
const THREAD: u64 = 2;
const OWNER: u64 = 3;
/// The kind of a position, which is in another table.
const POSITION: u64 = 4;

/// The owner of a stack whose thread is unknown.
const ANY: u64 = u64::MAX;

/// Limit of each table in memory, in bytes.
const MEMORY: usize = 16 << 20;

/// The groups of the hook identifiers of events about the trace, and about the configuration of the system.
const HEADER: u16 = 0x00;
const SYSTEM_CONFIG: u16 = 0x0B;

impl Trace {
    /// The events that the selected events need. The trace is read once more.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or changed since it was opened; a temporary file cannot be written.
    pub fn needs(&self, mut is_selected: impl FnMut(&Event<'_>) -> bool) -> Result<Needs, Error> {
        let failed = |error: io::Error| Error::new(self.files.first().map_or("", |file| &file.name), error);
        let memory = MEMORY / self.sessions.len().max(1);
        let builder = |_| Builder { stated: Sorter::new(memory), seen: HashSet::new() };
        let mut builders: Vec<_> = self.sessions.iter().map(builder).collect();
        let mut positions = Sorter::new(MEMORY);
        for event in self.events().in_file_order() {
            let event = event?;
            if is_selected(&event) {
                builders[event.session_index()].add(&event, &mut positions)?;
            }
        }
        let sessions = builders
            .into_iter()
            .map(|builder| builder.stated.table(|_| {}).map(Stated))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let positions = positions.table(|_| {}).map_err(failed)?;
        if positions.left_out() + sessions.iter().map(|Stated(stated)| stated.left_out()).sum::<u64>() > 0 {
            return Err(failed(io::Error::other("the selected events need more others than fit in memory; select fewer events")));
        }
        Ok(Needs { positions, sessions, session_of: self.session_of.clone() })
    }
}

impl Needs {
    /// Whether an event is needed, by the index of its file and of its buffer in the file.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be read.
    pub fn contains(&self, file: usize, buffer: u32, event: &etl::Event<'_>) -> io::Result<bool> {
        let Some(session) = self.session_of.get(file).and_then(|session| self.sessions.get(*session)) else { return Ok(false) };
        if session.0.is_empty() {
            return Ok(false);
        }
        let position = record(Position { file: file as u32, buffer, offset: event.offset() });
        Ok(session.describes(event)? || session.is_stack(event)? || contains(&self.positions, &position)?)
    }
}

impl Stated {
    fn has(&self, kind: u64, id: impl Into<u64>) -> io::Result<bool> {
        contains(&self.0, &[kind, id.into(), 0])
    }

    /// Whether a provider is that of a selected event, or of events that describe processes, threads and names.
    fn has_provider(&self, provider: Uuid) -> io::Result<bool> {
        Ok(PROVIDERS.contains(&provider) || contains(&self.0, &of_provider(provider))?)
    }

    /// Whether an event describes the trace, a provider, a process, a thread or an image.
    fn describes(&self, event: &etl::Event<'_>) -> io::Result<bool> {
        if let Some((process, thread)) = of_process(event) {
            return match (process, thread) {
                (_, Some(thread)) => self.has(THREAD, thread),
                (Some(process), None) => self.has(PROCESS, process),
                (None, None) => Ok(false),
            };
        }
        // Process 0 has the images of the kernel.
        let is_image = |process: u32| Ok(process == 0 || self.has(PROCESS, process)?);
        if let Some(NameEvent { subject: Subject::Image(image), .. }) = NameEvent::read(event) {
            return is_image(image.process);
        }
        if let Some(hook) = event.hook() {
            return Ok(matches!(hook >> 8, HEADER | SYSTEM_CONFIG));
        }
        let Some(provider) = event.provider() else { return Ok(false) };
        if provider == META_DATA {
            // Both kinds of schemas begin with GUIDs of providers or classes.
            for guid in event.payload().chunks_exact(16).take(2).filter_map(|guid| guid.first_chunk()) {
                if self.has_provider(Uuid::from_bytes_le(*guid))? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if is_of_manifest(event) {
            return Ok(event.id() == Some(MANIFEST_EVENT) && self.has_provider(provider)?);
        }
        match event.decode(Schemas::BUILT_IN) {
            Some(decoded) if decoded.schema.provider == "ImageID" => match number(&decoded.fields, &["ProcessId"]) {
                Some(process) => is_image(process as u32),
                None => Ok(false),
            },
            Some(decoded) => Ok(decoded.schema.provider == "SysConfig"),
            None => Ok(false),
        }
    }

    /// Whether an event has a part of the stack of a selected event, or its key.
    fn is_stack(&self, event: &etl::Event<'_>) -> io::Result<bool> {
        if event.hook().is_none_or(|hook| hook >> 8 != STACK_WALK) {
            return Ok(false);
        }
        let Some((tick, thread)) = stack_of(event) else { return Ok(false) };
        let of = |owner| contains(&self.0, &[OWNER, word_of_tick(tick), owner]);
        Ok(of(thread.into())? || of(ANY)?)
    }
}

/// Collects what the selected events of a session state.
struct Builder {
    stated: Sorter<3>,
    /// Records that were added before. They are forgotten when there are many.
    seen: HashSet<Record<3>>,
}

/// Maximum number of records that are kept only to find equal ones.
const SEEN: usize = 1 << 16;

impl Builder {
    /// Whether a record was not added before, as far as that is known.
    fn is_new(&mut self, record: Record<3>) -> bool {
        if self.seen.len() >= SEEN {
            self.seen.clear();
        }
        self.seen.insert(record)
    }

    /// Adds a position, and returns it if it was not added before, as far as that is known.
    fn need(&mut self, at: Option<Position>, positions: &mut Sorter<2>) -> io::Result<Option<Position>> {
        let Some(at) = at else { return Ok(None) };
        let record = record(at);
        if !self.is_new([POSITION, record[0], record[1]]) {
            return Ok(None);
        }
        positions.push(record).map(|()| Some(at))
    }

    fn state(&mut self, record: Record<3>) -> io::Result<()> {
        if self.is_new(record) { self.stated.push(record) } else { Ok(()) }
    }

    fn add(&mut self, event: &Event<'_>, positions: &mut Sorter<2>) -> Result<(), Error> {
        let failed = |error: io::Error| Error::new(event.file().name(), error);
        let header = event.header();
        self.state(of_provider(header.provider().unwrap_or_default())).map_err(failed)?;
        // The identifiers, files and addresses that it states.
        let (mut of, mut threads, mut files, mut addresses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        of.extend(header.process());
        threads.extend(header.thread());
        for value in event.decode().iter().flat_map(|decoded| decoded.iter()) {
            let Some(number) = value.number() else { continue };
            match (value.name(), value.out_type) {
                (_, OutType::PID) => of.push(number as u32),
                (_, OutType::TID) => threads.push(number as u32),
                ("FileKey" | "FileObject", _) => files.push(number),
                ("InstructionPointer" | "Stack", _) => addresses.push(number),
                _ => {}
            }
        }
        let names = &event.session().names;
        for object in files {
            let name = names.file(object, event.tick()).map_err(failed)?;
            self.need(name, positions).map_err(failed)?;
        }
        let walk = header.hook().filter(|hook| hook >> 8 == STACK_WALK).and_then(|_| stack_of(&header));
        let found = match walk {
            // The definition of the key that it refers to.
            Some((tick, thread)) => {
                let stacks = &event.session().stacks;
                stacks.parts(tick, Owner::Thread(thread), event.processor()).map_err(failed)?
            }
            None => event.found_parts()?,
        };
        if let (None, false, Some(owner)) = (walk, found.is_empty(), event.owner()) {
            let word = if matches!(owner, Owner::Processor) { ANY } else { owner.word() };
            self.state([OWNER, word_of_tick(event.tick()), word]).map_err(failed)?;
        }
        for found in found {
            self.need(found.at, positions).map_err(failed)?;
        }
        for thread in threads {
            self.state([THREAD, thread.into(), 0]).map_err(failed)?;
            of.extend(event.session().threads().at(thread, event.tick()));
        }
        if names.has_methods()
            && let Some(stack) = event.stack()?
        {
            addresses.extend(stack.frames());
        }
        for process in of {
            self.state([PROCESS, process.into(), 0]).map_err(failed)?;
            for address in &addresses {
                let method = names.method(process, *address, event.tick()).map_err(failed)?;
                let new = self.need(method.at, positions).map_err(failed)?;
                let stated = new.map(|at| event.trace().event_at(at)).transpose()?.flatten();
                if let Some(module) = stated.and_then(|stated| NameEvent::read(&stated.header())?.module()) {
                    let module = names.module(process, module, event.tick()).map_err(failed)?;
                    self.need(module, positions).map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}

fn of_provider(provider: Uuid) -> Record<3> {
    let (high, low) = provider.as_u64_pair();
    [PROVIDER, high, low]
}

/// The process and the thread that an event of their start, end or rundown is about; `None` for other events.
fn of_process(event: &etl::Event<'_>) -> Option<(Option<u32>, Option<u32>)> {
    let is_class = match event.hook() {
        Some(hook) => matches!((hook >> 8, hook & 0xFF), (0x03, 1..=4 | 39) | (0x05, 1..=4)),
        None if is_of_manifest(event) => {
            let is_provider = event.provider() == Some(KERNEL_PROCESS);
            return (is_provider && matches!(event.id(), Some(1..=4 | 15))).then(|| {
                // Events of processes begin with the process, those of threads with process and thread.
                let word = |at: usize| event.payload().get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                (word(0), word(4).filter(|_| matches!(event.id(), Some(3 | 4))))
            });
        }
        None => matches!(event.opcode(), Some(1..=4 | 39)),
    };
    let decoded = is_class.then(|| event.decode(Schemas::BUILT_IN)).flatten()?;
    let id = |name: &str| number(&decoded.fields, &[name]).map(|id| id as u32);
    match decoded.schema.provider {
        "Process" => Some((id("ProcessId"), None)),
        "Thread" => Some((id("ProcessId"), Some(id("TThreadId")?))),
        _ => None,
    }
}

/// The tick and the thread of the event whose stack a StackWalk event states.
fn stack_of(event: &etl::Event<'_>) -> Option<(i64, u32)> {
    let decoded = event.decode(Schemas::BUILT_IN)?;
    Some((number(&decoded.fields, &["EventTimeStamp"])? as i64, number(&decoded.fields, &["StackThread"])? as u32))
}

fn record(at: Position) -> Record<2> {
    [u64::from(at.file) << 32 | u64::from(at.buffer), at.offset.into()]
}

fn contains<const N: usize>(table: &Table<N>, record: &Record<N>) -> io::Result<bool> {
    let mut found = false;
    table.ascend(record, |next| {
        found = next == record;
        ControlFlow::Break(())
    })?;
    Ok(found)
}
