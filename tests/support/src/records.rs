//! Traces of given events: kernel events by their hook, and events of a provider.

use etw_layouts::constants::{HOOK_ID, TRACE_HEADER_VERSION_FLAG};
use etw_layouts_etl::header::{Counters, EventHeader, Message};
use etw_layouts_etl::wire::{
    Arch, EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG, EVENT_TRACE_HEADER, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER,
    TRACE_MESSAGE_FLAG, large, wire_guid, zero,
};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{Item, LogFile, Uuid};
use std::io::Cursor;

/// An event of a trace for a test.
#[derive(Clone, Debug)]
pub struct Written {
    tick: i64,
    processor: u16,
    kind: Kind,
    payload: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A hook and the thread and process in the header, if it has them.
    Kernel { hook: u16, version: u16, thread: Option<(u32, u32)> },
    /// An event of a provider, with its ID and version; the thread and process in the header; types of extended items with their data.
    Event { provider: u128, id: u16, version: u8, thread: (u32, u32), items: Vec<(u16, Vec<u8>)> },
    /// An event of a class, with its type.
    Class { class: Uuid, ty: u8 },
    /// An event of a class in version 2 with its type, whose header is that of events with manifests, as relogged traces have it.
    Relogged { class: Uuid, ty: u8 },
    /// A message of WPP of a 64-bit program, with its GUID and number; the thread and process.
    Message { guid: Uuid, number: u16, thread: (u32, u32) },
}

impl Written {
    /// A kernel event with version 2, whose header has no thread.
    pub fn kernel(tick: i64, processor: u16, hook: u16, payload: Vec<u8>) -> Self {
        Self { tick, processor, kind: Kind::Kernel { hook, version: 2, thread: None }, payload }
    }

    /// An event of a provider, by thread and process.
    pub fn event(tick: i64, thread: (u32, u32), (provider, id, version): (u128, u16, u8), payload: Vec<u8>) -> Self {
        Self { tick, processor: 0, kind: Kind::Event { provider, id, version, thread, items: Vec::new() }, payload }
    }

    /// An event of a provider, with an extended item.
    pub fn item(tick: i64, processor: u16, thread: u32, ty: u16, item: Vec<u8>, payload: Vec<u8>) -> Self {
        let kind = Kind::Event { provider: 1, id: 1, version: 0, thread: (thread, 7), items: vec![(ty, item)] };
        Self { tick, processor, kind, payload }
    }

    /// An event of a class, with its type.
    pub fn class(tick: i64, (class, ty): (Uuid, u8), payload: Vec<u8>) -> Self {
        Self { tick, processor: 0, kind: Kind::Class { class, ty }, payload }
    }

    /// An event of a class in version 2 with its type, as relogged traces have it.
    pub fn relogged(tick: i64, (class, ty): (Uuid, u8), payload: Vec<u8>) -> Self {
        Self { tick, processor: 0, kind: Kind::Relogged { class, ty }, payload }
    }

    /// A message of WPP, with its GUID and number, by thread and process.
    pub fn message(tick: i64, thread: (u32, u32), (guid, number): (u128, u16), payload: Vec<u8>) -> Self {
        Self { tick, processor: 0, kind: Kind::Message { guid: Uuid::from_u128(guid), number, thread }, payload }
    }

    /// A kernel event whose header states a thread and a process.
    #[must_use]
    pub fn by(mut self, by: (u32, u32)) -> Self {
        if let Kind::Kernel { thread, .. } = &mut self.kind {
            *thread = Some(by);
        }
        self
    }

    /// An event of a provider with a further extended item.
    #[must_use]
    pub fn with(mut self, ty: u16, item: Vec<u8>) -> Self {
        if let Kind::Event { items, .. } = &mut self.kind {
            items.push((ty, item));
        }
        self
    }

    /// The event on another processor.
    #[must_use]
    pub fn on(self, processor: u16) -> Self {
        Self { processor, ..self }
    }

    /// A kernel event with another version.
    #[must_use]
    pub fn version(mut self, new: u16) -> Self {
        if let Kind::Kernel { version, .. } = &mut self.kind {
            *version = new;
        }
        self
    }
}

/// A 64-bit trace of Windows 10 with these events, which begins at tick 0.
pub fn written(events: &[Written]) -> Vec<u8> {
    const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);
    let log = LogFile { processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).expect("a writer");
    for event in events {
        let (header, items) = match &event.kind {
            Kind::Kernel { hook, version, thread } => {
                let mut system: SYSTEM_TRACE_HEADER = zero();
                let mut packet = system.Packet();
                packet.set_HookId(HOOK_ID(*hook));
                match thread {
                    Some((thread, process)) => {
                        system.set_Packet(packet);
                        system.set_Version(*version);
                        (system.ThreadId, system.ProcessId, system.SystemTime) = (*thread, *process, large(event.tick));
                        (EventHeader::System(system), Vec::new())
                    }
                    None => {
                        let mut header: PERFINFO_TRACE_HEADER = zero();
                        header.set_Packet(packet);
                        header.set_Version(TRACE_HEADER_VERSION_FLAG(*version));
                        header.set_SystemTime(large(event.tick));
                        (EventHeader::PerfInfo(header, Counters::default()), Vec::new())
                    }
                }
            }
            Kind::Event { provider, id, version, thread, items } => {
                let mut header: EVENT_HEADER = zero();
                (header.ThreadId, header.ProcessId) = *thread;
                header.TimeStamp = large(event.tick);
                header.ProviderId = wire_guid(Uuid::from_u128(*provider));
                (header.EventDescriptor.Id, header.EventDescriptor.Version) = (*id, *version);
                let items = items.iter().map(|(ty, data)| Item::new(EVENT_HEADER_EXT_TYPE(*ty), data)).collect();
                (EventHeader::Event(header), items)
            }
            Kind::Class { class, ty } => {
                let mut header: EVENT_TRACE_HEADER = zero();
                header.TimeStamp = large(event.tick);
                header.set_Guid(wire_guid(*class));
                let mut class = header.Class();
                class.Type = *ty;
                header.set_Class(class);
                (EventHeader::Full(header), Vec::new())
            }
            Kind::Relogged { class, ty } => {
                let mut header: EVENT_HEADER = zero();
                header.TimeStamp = large(event.tick);
                header.Flags = EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER;
                header.ProviderId = wire_guid(*class);
                (header.EventDescriptor.Opcode, header.EventDescriptor.Version) = (*ty, 2);
                (EventHeader::Event(header), Vec::new())
            }
            Kind::Message { guid, number, thread } => {
                let message = Message {
                    number: *number,
                    guid: Some(*guid),
                    time_stamp: Some(event.tick),
                    thread_and_process: Some(*thread),
                    other_flags: TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER64.0,
                    ..Message::default()
                };
                (EventHeader::Message(message), Vec::new())
            }
        };
        let record = Record::new(header, true, &event.payload).with_items(items);
        writer.push(event.processor, &record).expect("an event");
    }
    writer.finish(0).expect("a file").into_inner()
}
