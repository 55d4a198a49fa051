//! Reads instrumentation manifests: XML files that describe the events of providers, and the manifests that EventSource writes to traces.

mod encoding;
mod provider;
mod strings;
mod template;
mod xml;

use crate::budget::Budget;
use crate::schemas::{SchemaError, Schemas};
use provider::provider;
use strings::Strings;

/// Maximum size of a manifest, in bytes. The largest of Windows have some MB.
pub const MAX_MANIFEST: u64 = 64 << 20;

/// Reads the providers of a manifest in UTF-8 or UTF-16.
///
/// Messages are those of the culture `en-US`, otherwise those of the first culture. An event with a missing or unreadable template or map
/// keeps its other properties. Each such error has its line.
///
/// # Errors
///
/// The input is not XML, has a document type definition, exceeds a limit, or has no provider. No input causes a panic.
pub fn read(bytes: &[u8]) -> Result<Schemas, SchemaError> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_MANIFEST {
        return Err(SchemaError::line(1, format!("manifest too large: more than {MAX_MANIFEST} bytes; divide it")));
    }
    let text = encoding::text(bytes)?;
    let root = xml::parse(&text)?;
    let strings = Strings::of(&root);
    let (mut schemas, mut budget) = (Schemas::default(), Budget::new());
    for events in root.all("events") {
        for element in events.named("provider") {
            match provider(element, &strings, &mut schemas, &mut budget) {
                Ok(provider) => schemas.providers.push(provider),
                Err(error) => schemas.report(error),
            }
        }
    }
    match (schemas.providers.is_empty(), schemas.errors.first()) {
        (true, Some(error)) => Err(error.clone()),
        (true, None) => {
            Err(SchemaError::line(1, "no provider: the XML has no element <events> with <provider> in it; give a manifest"))
        }
        (false, _) => Ok(schemas),
    }
}

/// Whether bytes begin like XML.
#[cfg(feature = "binaries")]
pub(crate) fn is_xml(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    text.starts_with(b"<")
        || [[0xFF, 0xFE, b'<', 0], [0xFE, 0xFF, 0, b'<']].iter().any(|mark| head.starts_with(mark))
        || head.starts_with(b"<\0")
}

/// Whether an XML file mentions providers of events.
#[cfg(feature = "binaries")]
pub(crate) fn is_manifest(bytes: &[u8]) -> bool {
    const MARKS: [&str; 2] = ["instrumentationManifest", "schemas.microsoft.com/win/2004/08/events"];
    encoding::text(bytes).is_ok_and(|text| MARKS.iter().any(|mark| text.contains(mark)))
}
