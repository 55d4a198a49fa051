//! Decodes events with all known schemas.

use etw_layouts_etl::live::EventRecordRef;
use etw_layouts_etl::payload::{Fault, FileTime};
use etw_layouts_etl::wire::EVENT_HEADER_FLAG;
use etw_layouts_etl::write::Error as RecordError;
use etw_layouts_etl::{Decoded, Event, Schemas};
use etw_layouts_lines::kind::LineKinds;
use etw_layouts_lines::line::{Line, Name, Names, Origin, Payload};
use etw_layouts_lines::schemas::SchemaOptions;
use etw_layouts_lines::wpp::{self, WppMessages};
use etw_layouts_lines::{Refusals, document};
use etw_layouts_schemas::trace::{Collector, MANIFEST_EVENT, Place};
use std::cell::RefCell;
use std::path::Path;
use std::{error, fmt};

/// Decodes the events of sessions. It keeps the schemas, the manifests that EventSource providers sent (at most 64 MiB), and the texts of
/// frequent names; it keeps no events.
pub struct Decoder {
    schemas: Schemas,
    messages: WppMessages,
    collector: Collector,
    /// The bytes of the last event.
    bytes: Vec<u8>,
    /// An empty name: the events are not in a file.
    file: Name,
    names: Names,
    kinds: LineKinds,
}

/// An event with the schemas for it.
pub struct LiveEvent<'a> {
    /// The event: its header, its extended items and its payload.
    pub event: Event<'a>,
    /// The schemas.
    pub schemas: &'a Schemas,
    messages: &'a WppMessages,
    /// Its time.
    pub time: FileTime,
    /// The processor that wrote it.
    pub processor: u16,
}

impl<'a> LiveEvent<'a> {
    /// The event with its schema; `None` if no schema is known.
    pub fn decode(&self) -> Option<Decoded<'a>> {
        self.event.decode(self.schemas)
    }

    /// The text of a message of WPP; `None` for other events, and if the format of the message is unknown. A value that cannot be decoded is missing in
    /// the text; [`Decoder::json`] returns the fault.
    pub fn message(&self) -> Option<String> {
        let message = self.messages.of(&self.event)?;
        Some(wpp::text(message, &self.event, self.schemas).0.text)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder with the schemas of kernel events, and of the providers of Windows and .NET.
    pub fn new() -> Self {
        Self::with_schemas(Schemas::built_in().with_static_library(etw_layouts_catalog::library()))
    }

    /// A decoder with these schemas.
    pub fn with_schemas(schemas: Schemas) -> Self {
        Self {
            schemas,
            messages: WppMessages::default(),
            collector: Collector::default(),
            bytes: Vec::new(),
            file: Name::new(""),
            names: Names::default(),
            kinds: LineKinds::default(),
        }
    }

    /// Adds the schemas in a file or folder: manifests (.man, .xml), Windows binaries with compiled manifests, and the formats of WPP messages in trace
    /// message format files (.tmf) or private program databases (.pdb). They have priority over all others. Returns the files, and the parts of files, that are not used, each with the reason.
    ///
    /// # Errors
    ///
    /// The path cannot be read, or has no schemas.
    pub fn add_schemas(&mut self, path: &Path) -> Result<Vec<String>, SchemasError> {
        let (options, unused) = (SchemaOptions::new(vec![path.to_owned()], Vec::new()), Unused::default());
        options.load(&unused).map_err(|error| SchemasError(error.to_string()))?;
        for library in options.of_any().libraries() {
            // The built-in library, which the decoder has already, is the last.
            if library.bytes().as_ptr() != etw_layouts_catalog::library().bytes().as_ptr() {
                self.add(library.bytes());
            }
        }
        self.messages.extend(&options.messages());
        Ok(unused.0.into_inner())
    }

    /// The number of manifests of EventSource providers, and of their parts, that cannot be used.
    pub fn unused_manifests(&self) -> u64 {
        self.collector.diagnostics_total()
    }

    /// The event of a record. A part of an EventSource manifest is added to the schemas.
    ///
    /// # Errors
    ///
    /// Header and extended items exceed 65,535 bytes. Windows writes no such events.
    pub fn event(&mut self, record: &EventRecordRef<'_>) -> Result<LiveEvent<'_>, RecordError> {
        self.read_manifest(record)?;
        let event = record.event(&mut self.bytes)?;
        Ok(LiveEvent {
            event,
            schemas: &self.schemas,
            messages: &self.messages,
            time: record.time(),
            processor: processor(record),
        })
    }

    /// Appends the event as one line of JSON: the document that `etw etl events --payload fields --format json` prints, without the members that
    /// only a trace has (the place in the file, and names of processes). Process and thread are those of the header. Processor times are absent,
    /// because their unit is not in the record. Returns the fault if the payload does not match its schema.
    ///
    /// # Errors
    ///
    /// Header and extended items exceed 65,535 bytes. Windows writes no such events. Nothing is appended then.
    pub fn json(&mut self, record: &EventRecordRef<'_>, out: &mut Vec<u8>) -> Result<Option<Fault>, RecordError> {
        self.read_manifest(record)?;
        let event = record.event(&mut self.bytes)?;
        let origin = Origin { buffer: 0, offset: 0, processor: processor(record) };
        let time = Some(record.time().0);
        let line = Line::new(&self.file, &event, &self.schemas, origin, time, Some(Payload::Fields));
        let line = Line { message: self.messages.of(&event), ..line };
        Ok(document::live(&line, &mut self.names, &mut self.kinds, out))
    }

    /// Reads the part of an EventSource manifest in a record.
    fn read_manifest(&mut self, record: &EventRecordRef<'_>) -> Result<(), RecordError> {
        if record.header.EventDescriptor.Id == MANIFEST_EVENT {
            let event = record.event(&mut self.bytes)?;
            if self.collector.add(&event, Place::default())
                && let Some(library) = self.collector.new_manifests()
            {
                self.add(library.bytes());
            }
        }
        Ok(())
    }

    /// Adds a library that was read successfully before all others.
    fn add(&mut self, library: &[u8]) {
        if let Ok(schemas) = self.schemas.clone().with_first_library(library) {
            self.schemas = schemas;
            self.kinds = LineKinds::default();
        }
    }
}

/// The reason why a file or folder has no schemas that can be read, with its path and a remedy.
#[derive(Clone, Debug)]
pub struct SchemasError(String);

impl fmt::Display for SchemasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for SchemasError {}

/// The processor of a record: a byte, unless the flags of the header announce an index of two bytes.
fn processor(record: &EventRecordRef<'_>) -> u16 {
    let [low, high, ..] = *bytemuck::bytes_of(&record.context) else { return 0 };
    let is_index = record.header.Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_PROCESSOR_INDEX);
    u16::from_le_bytes([low, if is_index { high } else { 0 }])
}

/// Collects the reports of files that are not used.
#[derive(Default)]
struct Unused(RefCell<Vec<String>>);

impl Refusals for Unused {
    fn refused(&self, file: &str, error: &str) {
        self.0.borrow_mut().push(format!("{file}: {error}"));
    }
}
