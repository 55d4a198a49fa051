//! Made events of the kernel and of Microsoft-Windows-Kernel-Process.

use etw_layouts::constants::{HOOK_ID, TRACE_HEADER_VERSION_FLAG};
use etw_layouts::events;
use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::payload::packed::EventKey;
use etw_layouts_etl::payload::{InType, Schema};
use etw_layouts_etl::wire::{EVENT_HEADER, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, large, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{Event, LogFile, Schemas, Scratch, Trace, Uuid};
use std::io::Cursor;
use test_support::traces::PRODUCERS;

/// Kernel events, and those of providers with manifests.
pub fn schemas() -> Schemas {
    Schemas::built_in().with_static_library(etw_layouts_catalog::library())
}

/// An event to write. Fields that it does not name are 0 or empty.
#[derive(Clone)]
pub struct Made {
    kind: Kind,
    /// Process and thread in the header.
    header: Option<(u32, u32)>,
    numbers: Vec<(&'static str, u64)>,
    text: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    Hook(u16),
    Manifest(Uuid, u16),
}

/// An event with its version.
fn made(kind: Kind, header: Option<(u32, u32)>, numbers: &[(&'static str, u64)], text: &'static str) -> Made {
    Made { kind, header, numbers: numbers.to_vec(), text }
}

/// A kernel event in its latest version.
pub fn kernel(hook: u16, header: Option<(u32, u32)>, numbers: &[(&'static str, u64)], text: &'static str) -> Made {
    made(Kind::Hook(hook), header, numbers, text)
}

/// An event with a manifest in version 0.
pub fn manifest(provider: Uuid, id: u16, header: (u32, u32), numbers: &[(&'static str, u64)], text: &'static str) -> Made {
    made(Kind::Manifest(provider, id), Some(header), numbers, text)
}

impl Made {
    fn payload(&self, schema: &Schema<'_>) -> Vec<u8> {
        let bytes = schema.fields.iter().flat_map(|field| {
            let number = self.numbers.iter().find(|(name, _)| *name == field.name).map_or(0, |(_, number)| *number);
            let width = match field.in_type {
                InType::INT8 | InType::UINT8 => 1,
                InType::INT16 | InType::UINT16 => 2,
                InType::INT32 | InType::UINT32 | InType::HEXINT32 | InType::WBEMSID => 4,
                InType::POINTER | InType::SIZET | InType::INT64 | InType::UINT64 | InType::FILETIME => 8,
                InType::ANSISTRING => return [self.text.as_bytes(), &[0]].concat(),
                InType::UNICODESTRING => return self.text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect(),
                other => panic!("{}: {other:?}", field.name),
            };
            number.to_le_bytes()[..width].to_vec()
        });
        bytes.collect()
    }

    /// The version that the numbers require, for kernel events: "version", or the latest.
    fn record(&self, schemas: &Schemas) -> (EventHeader, Vec<u8>) {
        let version = self.numbers.iter().find(|(name, _)| *name == "version").map(|(_, version)| *version as u8);
        match self.kind {
            Kind::Hook(hook) => {
                let found = events::find((hook >> 8) as u8, hook as u8, version.unwrap_or(u8::MAX)).expect("a schema");
                let (version, payload) = (found.schema.version, self.payload(found.schema));
                let mut system: SYSTEM_TRACE_HEADER = zero();
                let mut packet = system.Packet();
                packet.set_HookId(HOOK_ID(hook));
                if let Some((process, thread)) = self.header {
                    system.set_Packet(packet);
                    system.set_Version(version.into());
                    (system.ProcessId, system.ThreadId) = (process, thread);
                    return (EventHeader::System(system), payload);
                }
                let mut header: PERFINFO_TRACE_HEADER = zero();
                header.set_Packet(packet);
                header.set_Version(TRACE_HEADER_VERSION_FLAG(version.into()));
                (EventHeader::PerfInfo(header, Counters::default()), payload)
            }
            Kind::Manifest(provider, id) => {
                let key = EventKey::from_id(id, version.unwrap_or(0));
                let schema = schemas.known(provider, key).expect("an event").schema().expect("its fields");
                let mut header: EVENT_HEADER = zero();
                header.ProviderId = wire_guid(provider);
                (header.EventDescriptor.Id, header.EventDescriptor.Version) = (id, version.unwrap_or(0));
                (header.ProcessId, header.ThreadId) = self.header.unwrap_or_default();
                (EventHeader::Event(header), self.payload(&schema))
            }
        }
    }
}

/// A trace of the events, each with its number from 1 as time stamp.
pub fn written(made: &[Made], schemas: &Schemas) -> Vec<u8> {
    let producer = PRODUCERS[7];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, LogFile::new(&producer)).expect("a writer");
    for (made, tick) in made.iter().zip(1..) {
        let (mut header, payload) = made.record(schemas);
        match &mut header {
            EventHeader::System(header) => header.SystemTime = large(tick),
            EventHeader::PerfInfo(header, _) => header.set_SystemTime(large(tick)),
            EventHeader::Event(header) => header.TimeStamp = large(tick),
            _ => {}
        }
        writer.push(0, &Record::new(header, true, &payload)).expect("an event");
    }
    writer.finish(0).expect("a file").into_inner()
}

/// Calls a function with each event, and its number from 1 as time stamp.
pub fn each(made: &[Made], schemas: &Schemas, mut visit: impl FnMut(&Event<'_>, i64)) {
    let bytes = written(made, schemas);
    let (trace, mut scratch) = (Trace::from_bytes(&bytes).expect("a trace"), Scratch::default());
    for buffer in trace.buffers().skip(1) {
        for event in buffer.expect("a buffer").decode(&mut scratch).events() {
            let event = event.expect("an event");
            visit(&event, event.time_stamp().expect("a time stamp"));
        }
    }
}
