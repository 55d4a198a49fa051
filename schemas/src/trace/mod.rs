//! Collects the schemas that a trace carries.
//!
//! A merged trace (WPR, xperf, PerfView, pktmon) has a TRACE_EVENT_INFO for each kind of event in it, and EVENT_MAP_INFOs with names of values.
//! EventSource providers send their manifests as events. Schemas can come after the events that they describe: [`collect`] goes through a
//! file once by event headers, and another pass decodes. While a stream is read, [`Collector::add`] takes each event, and
//! [`Collector::providers`] has what is known so far.
//!
//! ```no_run
//! use etw_layouts_etl::Trace;
//! use etw_layouts_schemas::trace::collect;
//!
//! let schemas = collect(&Trace::open("merged.etl")?);
//! for provider in schemas.providers.iter().chain(&schemas.manifest_providers) {
//!     println!("{} {}: {} events", provider.guid, provider.name, provider.events.len());
//! }
//! # Ok::<(), std::io::Error>(())
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

use crate::model::Provider;
#[cfg(feature = "manifests")]
use crate::{
    budget::Budget,
    schemas::{SchemaError, Schemas},
};
use etw_layouts_etl::{Event, HeaderType, Scratch, Trace};
use etw_layouts_payload::Uuid;
use event_source::Manifests;
use merge::Merge;
use std::fmt;

/// GUID of MetaData, the class of the events with schemas that a merge adds.
const META_DATA: Uuid = Uuid::from_u128(0xbbccf6c1_6cd1_48c4_80ff_839482e37671);
/// Event type of MetaData/EventInfo.
const EVENT_INFO: u8 = 32;
/// Event type of MetaData/EventMapInfo.
const EVENT_MAP_INFO: u8 = 33;

/// Bytes of payloads with schemas that are kept at most; further ones are reported and not used.
const MOST: usize = 64 << 20;

/// Bytes that are counted for a payload in addition to its own: what keeps it.
const OVERHEAD: usize = 128;

/// Diagnostics that are kept at most; further ones are counted.
const MOST_DIAGNOSTICS: usize = 1024;

/// The schemas of traces.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// Providers by EventInfo and EventMapInfo, in the order of their first event. Of an event with several different schemas, the first
    /// eight are there. A map to which fields refer and that the traces do not have has no entries.
    pub providers: Vec<Provider>,
    /// Manifests of EventSource providers, as they were sent.
    pub manifests: Vec<Manifest>,
    /// The providers of these manifests.
    #[cfg(feature = "manifests")]
    pub manifest_providers: Vec<Provider>,
    /// What cannot be used.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of further diagnostics, which are not kept.
    pub more_diagnostics: u64,
}

/// A schema that cannot be used, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where the event is.
    pub place: Place,
    /// What is wrong.
    pub kind: DiagnosticKind,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A TRACE_EVENT_INFO is invalid.
    EventInfo(InfoError),
    /// An EVENT_MAP_INFO is invalid.
    MapInfo(InfoError),
    /// An event, map or manifest differs from an earlier one with the same identity. Of events and manifests, eight are kept, of maps the first.
    Conflict,
    /// A chunk of an EventSource manifest is invalid.
    Chunk(ChunkError),
    /// Chunks of an EventSource manifest are missing. The place is that of a chunk.
    Incomplete(Incomplete),
    /// An EventSource manifest, or a part of it, is invalid.
    #[cfg(feature = "manifests")]
    Manifest(SchemaError),
    /// The schemas together are larger than 64 MiB, or manifests expand to more than 128 MiB; this one is not used.
    Limit,
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EventInfo(error) => write!(f, "cannot read event schema: {error}"),
            Self::MapInfo(error) => write!(f, "cannot read value map: {error}"),
            Self::Conflict => f.write_str("schema differs from an earlier one of the same event, map or provider"),
            Self::Chunk(error) => error.fmt(f),
            Self::Incomplete(Incomplete { sender, there, total }) => {
                write!(f, "incomplete EventSource manifest of provider {}: {there} of {total} chunks", sender.provider)
            }
            #[cfg(feature = "manifests")]
            Self::Manifest(error) => write!(f, "invalid EventSource manifest: {error}"),
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
    /// Bytes of the payloads that are used.
    kept: usize,
    files: usize,
}

impl Collector {
    /// Goes through the events of a trace file, in any order of files: their schemas serve all of them.
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

    /// Takes the schema of an event that carries one. Returns whether it does.
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
        let kept = self.kept + event.payload().len() + OVERHEAD;
        let has_space = kept <= MOST;
        if has_space {
            self.kept = kept;
        } else {
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

    /// The providers by EventInfo and EventMapInfo that are known so far.
    pub fn providers(&self) -> &[Provider] {
        self.infos.providers()
    }

    /// The manifests that are complete so far.
    pub fn manifests(&self) -> &[Manifest] {
        self.manifests.complete()
    }

    /// All schemas. Manifests of which chunks are missing are diagnostics.
    pub fn finish(mut self) -> Collected {
        let (manifests, incomplete) = std::mem::take(&mut self.manifests).finish();
        for (incomplete, place) in incomplete {
            self.report(place, DiagnosticKind::Incomplete(incomplete));
        }
        Collected {
            #[cfg(feature = "manifests")]
            manifest_providers: self.read_manifests(&manifests),
            providers: self.infos.into_providers(),
            manifests,
            diagnostics: self.diagnostics,
            more_diagnostics: self.more_diagnostics,
        }
    }

    /// The providers of manifests. What repeats its parts until the limit of one manifest is used up ends it for all.
    #[cfg(feature = "manifests")]
    fn read_manifests(&mut self, manifests: &[Manifest]) -> Vec<Provider> {
        let (mut providers, mut budget) = (Vec::new(), Budget::new());
        for manifest in manifests {
            let Schemas { providers: read, errors, .. } = match crate::manifest::read(&manifest.xml) {
                Ok(schemas) => schemas,
                Err(error) => Schemas { errors: vec![error], ..Schemas::default() },
            };
            if read.iter().flat_map(|provider| &provider.events).any(|event| budget.event(event).is_err()) {
                self.report(manifest.place, DiagnosticKind::Limit);
                break;
            }
            providers.extend(read);
            errors.into_iter().for_each(|error| self.report(manifest.place, DiagnosticKind::Manifest(error)));
        }
        providers
    }
}

/// Whether an event carries the schema of others, or a part of one.
pub fn carries_schema(event: &Event<'_>) -> bool {
    is_info(event) || is_chunk(event) && Chunk::read(event.payload()).is_some()
}

/// Whether an event is MetaData/EventInfo or MetaData/EventMapInfo. A trace that was written again can have another header for a classic
/// event.
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
