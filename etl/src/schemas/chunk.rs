//! Events with a part of the manifest of an EventSource provider.

use crate::event::Event;
use crate::header_type::HeaderType;
use etw_layouts_payload::{Field, InType, OutType, Schema, Source};

/// The schema of these events, by `ManifestEnvelope` of EventSource in dotnet/runtime. The parts of the text can begin and end within a character.
pub(super) const MANIFEST_CHUNK: Schema<'static> = {
    const FIELDS: &[Field<'static>] = &[
        Field::new("Format", InType::UINT8),
        Field::new("MajorVersion", InType::UINT8),
        Field::new("MinorVersion", InType::UINT8),
        Field::new("Magic", InType::UINT8).out(OutType::HEXINT8),
        Field::new("TotalChunks", InType::UINT16),
        Field::new("ChunkNumber", InType::UINT16),
        Field::new("Data", InType::NONNULLTERMINATEDANSISTRING).out(OutType::UTF8),
    ];
    let mut schema = Schema::specified("", "ManifestData", 0, FIELDS);
    schema.source = Source::EventSource;
    schema
};

/// Whether an event has the ID and the envelope of a part of a manifest.
pub(super) fn is_manifest_chunk(event: &Event<'_>) -> bool {
    const ID: u16 = 0xFFFE;
    const MAGIC: u8 = 0x5B;
    matches!(event.header_type(), HeaderType::Event32 | HeaderType::Event64)
        && event.id() == Some(ID)
        && event.payload().len() >= 8
        && event.payload().get(3) == Some(&MAGIC)
}
