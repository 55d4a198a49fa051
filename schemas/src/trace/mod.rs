//! Collects the schemas in a trace.
//!
//! A merged trace (WPR, xperf, PerfView, pktmon) has a TRACE_EVENT_INFO for each kind of event in it, and EVENT_MAP_INFOs with names of values.
//! EventSource providers send their manifests as events. A schema can come after the events that it describes. Therefore, [`collect`] reads the
//! file once, and the caller decodes events in a second pass. For a stream, pass each event to [`Collector::add`];
//! [`Collector::providers`] returns the schemas found so far.
//!
//! ```no_run
//! use etw_layouts_etl::Trace;
//! use etw_layouts_schemas::trace::collect;
//!
//! let schemas = collect(&Trace::from_bytes(std::fs::read("merged.etl")?)?);
//! for provider in schemas.providers.iter().chain(&schemas.manifest_providers) {
//!     println!("{} {}: {} events", provider.guid, provider.name, provider.events.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod event_info;
mod event_source;
mod info_bytes;
pub mod map_info;
mod merge;
mod place;

pub use event_source::{Chunk, ChunkError, Incomplete, MANIFEST_EVENT, Manifest, Sender};
pub use info_bytes::InfoError;
pub use place::Place;

use crate::builder::LibraryBuilder;
use crate::library::Library;
use crate::model::Provider;
#[cfg(feature = "manifests")]
use crate::{
    budget::Budget,
    schemas::{SchemaError, Schemas},
};
use etw_layouts_etl::{Event, HeaderType, Scratch, Trace};
use etw_layouts_payload::{Source, Uuid};
use event_source::Manifests;
use merge::Merge;
use std::fmt;

/// GUID of MetaData, the class of the events with schemas that a merge adds.
pub const META_DATA: Uuid = Uuid::from_u128(0xbbccf6c1_6cd1_48c4_80ff_839482e37671);
/// Event type of MetaData/EventInfo.
const EVENT_INFO: u8 = 32;
/// Event type of MetaData/EventMapInfo.
const EVENT_MAP_INFO: u8 = 33;

/// Maximum size of all payloads with schemas, in bytes. Further payloads are reported and not used.
const MOST: usize = 64 << 20;

/// Memory overhead of each TRACE_EVENT_INFO or EVENT_MAP_INFO, in bytes.
const OVERHEAD: usize = 128;

/// Maximum number of diagnostics that are kept. Further ones are counted.
const MOST_DIAGNOSTICS: usize = 1024;

/// The schemas of traces.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// Providers by EventInfo and EventMapInfo, in the order of their first event. If an event has several different schemas, the
    /// first eight are kept. A map that is not in the traces has no entries.
    pub providers: Vec<Provider>,
    /// Manifests of EventSource providers, as they were sent.
    pub manifests: Vec<Manifest>,
    /// The providers of these manifests.
    #[cfg(feature = "manifests")]
    pub manifest_providers: Vec<Provider>,
    /// Schemas that cannot be used.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of further diagnostics, which are not kept.
    pub more_diagnostics: u64,
}

impl Collected {
    /// A library of the schemas; `None` if there are none.
    pub fn library(&self) -> Option<Library> {
        let mut builder = LibraryBuilder::default();
        let mut add = |providers: &[Provider], origin: Source| {
            let origin = builder.origin(origin, "", None);
            providers.iter().for_each(|provider| builder.add(provider, origin));
            !providers.is_empty()
        };
        let has_schemas = add(&self.providers, Source::Trace);
        #[cfg(feature = "manifests")]
        let has_schemas = add(&self.manifest_providers, Source::EventSource) | has_schemas;
        has_schemas.then(|| builder.build())
    }
}

/// A schema that cannot be used, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place of the event.
    pub place: Place,
    /// The kind of diagnostic.
    pub kind: DiagnosticKind,
}

/// The reason why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A TRACE_EVENT_INFO is invalid.
    EventInfo(InfoError),
    /// An EVENT_MAP_INFO is invalid.
    MapInfo(InfoError),
    /// An event, map or manifest differs from an earlier one with the same identity. Eight different events or manifests are kept, but only
    /// the first map.
    Conflict,
    /// A chunk of an EventSource manifest is invalid.
    Chunk(ChunkError),
    /// Chunks of an EventSource manifest are missing. The place is the place of a chunk.
    Incomplete(Incomplete),
    /// An EventSource manifest, or a part of it, is invalid.
    #[cfg(feature = "manifests")]
    Manifest(SchemaError),
    /// An EventSource manifest describes a provider that did not send it. That provider is not used.
    #[cfg(feature = "manifests")]
    OtherProvider {
        /// GUID of the sender.
        sender: Uuid,
        /// GUID of the described provider.
        described: Uuid,
    },
    /// All schemas together exceed 64 MiB, or 128 MiB with manifests expanded. This one is not used.
    Limit,
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EventInfo(error) => write!(f, "cannot read event schema: {error}"),
            Self::MapInfo(error) => write!(f, "cannot read value map: {error}"),
            Self::Conflict => f.write_str("schema differs from an earlier one of the same event, map or provider"),
            Self::Chunk(error) => error.fmt(f),
            Self::Incomplete(Incomplete { sender, present, total }) => {
                write!(f, "incomplete EventSource manifest of provider {}: {present} of {total} chunks", sender.provider)
            }
            #[cfg(feature = "manifests")]
            Self::Manifest(error) => write!(f, "invalid EventSource manifest: {error}"),
            #[cfg(feature = "manifests")]
            Self::OtherProvider { sender, described } => {
                write!(f, "EventSource manifest of another provider: {sender} describes {described}; schemas not used")
            }
            Self::Limit => {
                f.write_str("too many schemas: they exceed 64 MiB, or 128 MiB with manifests expanded; schema not used")
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { buffer, buffer_offset, offset, .. } = self.place;
        write!(f, "buffer {buffer} at {buffer_offset:#x}, event at {offset:#x}: {}", self.kind)
    }
}

impl std::error::Error for Diagnostic {}

/// Collects the schemas of a trace file in one pass.
pub fn collect(trace: &Trace<'_>) -> Collected {
    let mut collector = Collector::default();
    collector.add_trace(trace);
    collector.finish()
}

/// Collects schemas from events.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    infos: Merge,
    manifests: Manifests,
    diagnostics: Vec<Diagnostic>,
    more_diagnostics: u64,
    /// Size of the used TRACE_EVENT_INFO and EVENT_MAP_INFO, in bytes.
    kept: usize,
    files: usize,
    /// Number of the manifests that [`new_manifests`](Self::new_manifests) has read.
    #[cfg(feature = "manifests")]
    read: usize,
    /// The rest of the memory for their schemas.
    #[cfg(feature = "manifests")]
    budget: Budget,
}

impl Collector {
    /// Adds the schemas in a trace file. Files can be added in any order, because the schemas apply to all files.
    pub fn add_trace(&mut self, trace: &Trace<'_>) {
        let mut scratch = Scratch::default();
        for buffer in trace.buffers().filter_map(Result::ok) {
            let (index, buffer_offset) = (buffer.index(), buffer.offset());
            for event in buffer.decode(&mut scratch).events().filter_map(Result::ok) {
                self.add(&event, Place { file: self.files, buffer: index, buffer_offset, offset: event.offset() });
            }
        }
        self.files += 1;
    }

    /// Adds the schema in an event. Returns whether the event contains a schema or a part of one.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, place: Place) -> bool {
        if is_info(event) {
            self.add_info(event, place);
            return true;
        }
        is_chunk(event) && self.add_chunk(event, place)
    }

    fn add_info(&mut self, event: &Event<'_>, place: Place) {
        if !self.has_space(event, place) {
            return;
        }
        self.kept += event.payload().len() + OVERHEAD;
        let read = match event.opcode().unwrap_or_default() {
            EVENT_INFO => event_info::read(event.payload()).map_err(DiagnosticKind::EventInfo),
            _ => map_info::read_payload(event.payload()).map_err(DiagnosticKind::MapInfo),
        };
        let added = read.and_then(|provider| self.infos.add(provider).map_err(|_| DiagnosticKind::Conflict));
        if let Err(kind) = added {
            self.report(place, kind);
        }
    }

    fn add_chunk(&mut self, event: &Event<'_>, place: Place) -> bool {
        let (Some(chunk), Some(provider)) = (Chunk::read(event.payload()), event.provider()) else { return false };
        match chunk {
            Ok(_) if !self.has_space(event, place) => {}
            Ok(chunk) => {
                let sender = Sender { provider, process: event.process(), thread: event.thread() };
                if self.manifests.add(sender, chunk, place) {
                    self.report(place, DiagnosticKind::Conflict);
                }
            }
            Err(error) => self.report(place, DiagnosticKind::Chunk(error)),
        }
        true
    }

    fn has_space(&mut self, event: &Event<'_>, place: Place) -> bool {
        let has_space = self.kept + self.manifests.size() + event.payload().len() + OVERHEAD <= MOST;
        if !has_space {
            self.report(place, DiagnosticKind::Limit);
        }
        has_space
    }

    fn report(&mut self, place: Place, kind: DiagnosticKind) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(Diagnostic { place, kind });
        } else {
            self.more_diagnostics += 1;
        }
    }

    /// The providers by EventInfo and EventMapInfo found so far.
    pub fn providers(&self) -> &[Provider] {
        self.infos.providers()
    }

    /// The manifests that are complete so far.
    pub fn manifests(&self) -> &[Manifest] {
        self.manifests.complete()
    }

    /// The schemas of the manifests that became complete since the last call, as a library; `None` if there are none. For sessions in real time:
    /// call it after [`add`](Self::add).
    #[cfg(feature = "manifests")]
    pub fn new_manifests(&mut self) -> Option<Library> {
        let new = self.manifests.complete().get(self.read..).filter(|new| !new.is_empty())?.to_vec();
        self.read += new.len();
        let mut budget = std::mem::take(&mut self.budget);
        let manifest_providers = self.read_manifests(&new, &mut budget);
        self.budget = budget;
        Collected { manifest_providers, ..Collected::default() }.library()
    }

    /// The number of schemas that cannot be used so far.
    pub fn diagnostics_total(&self) -> u64 {
        self.diagnostics.len() as u64 + self.more_diagnostics
    }

    /// All schemas. Manifests with missing chunks are diagnostics.
    pub fn finish(mut self) -> Collected {
        let (manifests, incomplete) = std::mem::take(&mut self.manifests).finish();
        for (incomplete, place) in incomplete {
            self.report(place, DiagnosticKind::Incomplete(incomplete));
        }
        Collected {
            #[cfg(feature = "manifests")]
            manifest_providers: self.read_manifests(&manifests, &mut Budget::new()),
            providers: self.infos.into_providers(),
            manifests,
            diagnostics: self.diagnostics,
            more_diagnostics: self.more_diagnostics,
        }
    }

    /// The providers of manifests. All manifests share one limit of expanded size. The manifest that exceeds it and all later ones are not used.
    #[cfg(feature = "manifests")]
    fn read_manifests(&mut self, manifests: &[Manifest], budget: &mut Budget) -> Vec<Provider> {
        let mut providers = Vec::new();
        for manifest in manifests {
            let Schemas { providers: read, errors, .. } = match crate::manifest::read(&manifest.xml) {
                Ok(schemas) => schemas,
                Err(error) => Schemas { errors: vec![error], ..Schemas::default() },
            };
            let (read, others): (Vec<_>, Vec<_>) = read.into_iter().partition(|provider| provider.guid == manifest.provider);
            if read.iter().flat_map(|provider| &provider.events).any(|event| budget.event(event).is_err()) {
                self.report(manifest.place, DiagnosticKind::Limit);
                break;
            }
            providers.extend(read);
            errors.into_iter().for_each(|error| self.report(manifest.place, DiagnosticKind::Manifest(error)));
            // Anybody can send a manifest. It is good for the events of its sender only.
            for Provider { guid: described, .. } in others {
                let kind = DiagnosticKind::OtherProvider { sender: manifest.provider, described };
                self.report(manifest.place, kind);
            }
        }
        providers
    }
}

/// Whether an event is MetaData/EventInfo or MetaData/EventMapInfo. In a relogged trace, a classic event can have a different header type.
#[inline]
fn is_info(event: &Event<'_>) -> bool {
    use HeaderType::{Event32, Event64, Full32, Full64};
    matches!(event.header_type(), Full32 | Full64 | Event32 | Event64)
        && matches!(event.opcode(), Some(EVENT_INFO | EVENT_MAP_INFO))
        && event.provider() == Some(META_DATA)
}

/// Whether an event can be a part of an EventSource manifest.
#[inline]
fn is_chunk(event: &Event<'_>) -> bool {
    matches!(event.header_type(), HeaderType::Event32 | HeaderType::Event64) && event.id() == Some(MANIFEST_EVENT)
}
