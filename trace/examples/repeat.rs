//! Writes a large trace: copies of a real one, each later than the one before and with its own identifiers of processes and threads, and keys of files,
//! methods and call stacks. The size is that of the events in memory.
//!
//!     cargo run --release --example repeat -- TRACE.etl MEGABYTES LARGE.etl

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, LARGE_INTEGER, large, quad};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{Item, Schemas};
use etw_layouts_trace::{Event, FileSource, Options, Trace, TraceFile};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [path, megabytes, new] = &arguments[..] else { return Err("name a trace, a size in MB, and the file to write".into()) };
    let size = megabytes.parse::<usize>()? << 20;
    let options = Options::new().schemas(Schemas::built_in().with_static_library(etw_layouts_catalog::library()));
    let trace = Trace::new(vec![TraceFile::new(path, FileSource::open(path)?)?], options)?;
    let events = trace.events().in_file_order().collect::<Result<Vec<_>, _>>()?;
    let mut templates: Vec<_> =
        events.iter().filter(|event| event.header().hook() != Some(LOG_FILE)).map(Template::new).collect();
    let ticks = || events.iter().map(Event::tick);
    let duration = ticks().max().zip(ticks().min()).map_or(0, |(last, first)| last - first + 1);

    let log = trace.files()[0].log_file().clone();
    let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
    let producer = Producer::new(log.version[0].into(), log.version[1].into(), log.build, arch);
    let end = log.end_time;
    let mut writer = FileWriter::new(BufWriter::new(File::create(new)?), producer, log)?;
    let (mut written, mut copies) = (0, 0);
    while written < size {
        for template in &mut templates {
            let record = template.record();
            written += record.length().next_multiple_of(8);
            writer.push(template.processor, &record)?;
            template.renew(duration);
        }
        copies += 1;
    }
    writer.finish(end)?;
    println!("{copies} copies of {} events, {written} bytes of events", templates.len());
    Ok(())
}

/// The hook identifier of the log file header: the writer writes its own.
const LOG_FILE: u16 = 0;

/// An event as it is in the next copy.
struct Template<'e> {
    header: EventHeader,
    is_64_bit: bool,
    items: Vec<Item<'e>>,
    payload: Vec<u8>,
    /// The fields that differ between copies: their offsets and sizes.
    fields: Vec<(usize, usize, Field)>,
    processor: u16,
}

#[derive(Clone, Copy)]
enum Field {
    /// An identifier of a process or thread.
    Id,
    Key,
    Time,
}

impl<'e> Template<'e> {
    fn new(event: &'e Event<'_>) -> Self {
        let (record, decoded) = (event.header(), event.decode());
        let payload = record.payload();
        let fields = decoded.iter().flat_map(|decoded| decoded.fields.iter()).filter_map(|value| {
            let field = Field::named(value.name())?;
            let is_kept = value.number().is_none_or(|number| number == 0 || number == u64::from(u32::MAX));
            (!is_kept).then(|| (value.bytes.as_ptr().addr() - payload.as_ptr().addr(), value.bytes.len(), field))
        });
        Self {
            header: record.header(),
            is_64_bit: record.header_type().is_64_bit().unwrap_or_default(),
            items: record.items().collect(),
            fields: fields.collect(),
            payload: payload.to_vec(),
            processor: event.processor(),
        }
    }

    fn record(&self) -> Record<'_> {
        match self.header {
            EventHeader::Raw => Record::raw(&self.payload),
            header => Record::new(header, self.is_64_bit, &self.payload).with_items(self.items.clone()),
        }
    }

    /// Becomes the event of the next copy.
    fn renew(&mut self, duration: i64) {
        let later = |time: &mut LARGE_INTEGER| *time = large(quad(*time) + duration);
        match &mut self.header {
            EventHeader::System(header) | EventHeader::Compact(header) => {
                later(&mut header.SystemTime);
                [&mut header.ThreadId, &mut header.ProcessId].into_iter().for_each(renew_id);
            }
            EventHeader::PerfInfo(header, _) => header.set_SystemTime(large(quad(header.SystemTime()) + duration)),
            EventHeader::Full(header) => {
                later(&mut header.TimeStamp);
                [&mut header.ThreadId, &mut header.ProcessId].into_iter().for_each(renew_id);
            }
            EventHeader::Event(header) => {
                later(&mut header.TimeStamp);
                [&mut header.ThreadId, &mut header.ProcessId].into_iter().for_each(renew_id);
            }
            _ => {}
        }
        for (at, size, field) in &self.fields {
            let bytes = &mut self.payload[*at..*at + *size];
            let mut word = [0; 8];
            word[..*size].copy_from_slice(bytes);
            let next = u64::from_le_bytes(word).wrapping_add(match field {
                Field::Id => NEXT_ID.into(),
                Field::Key => NEXT_KEY,
                Field::Time => duration as u64,
            });
            bytes.copy_from_slice(&next.to_le_bytes()[..*size]);
        }
    }
}

/// The differences between the identifiers and keys of two copies.
const NEXT_ID: u32 = 1 << 17;
const NEXT_KEY: u64 = 0x0001_0000_0011;

fn renew_id(id: &mut u32) {
    if !matches!(*id, 0 | u32::MAX) {
        *id = id.wrapping_add(NEXT_ID);
    }
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        match name {
            "ProcessId" | "ProcessID" | "ParentId" | "PID" | "StackProcess" | "ThreadId" | "ThreadID" | "TThreadId"
            | "StackThread" | "IssuingThreadId" | "NewThreadId" | "OldThreadId" => Some(Self::Id),
            "UniqueProcessKey" | "FileObject" | "FileKey" | "MethodID" | "key" | "StackKey" => Some(Self::Key),
            "EventTimeStamp" => Some(Self::Time),
            _ => None,
        }
    }
}
