//! Libraries of the schemas in traces.

use crate::output::{Escaped, Output};
use etw_layouts_etl::payload::Source;
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::trace::Collected;
use serde::Serialize;
use std::fmt::{self, Display};
use std::sync::Arc;

/// The number of diagnostics to print. Further ones are only counted.
const MOST: usize = 8;

/// A library of collected schemas; `None` if there are none. Schemas that cannot be used are reported.
pub fn library(names: &[&str], collected: Collected, out: &Output) -> Option<Arc<[u8]>> {
    let more = collected.more_diagnostics + collected.diagnostics.len().saturating_sub(MOST) as u64;
    for diagnostic in collected.diagnostics.iter().take(MOST) {
        let file = names.get(diagnostic.place.file).copied().unwrap_or_default();
        out.aside(&Unused { file, note: diagnostic.to_string() });
    }
    if more > 0 {
        out.aside(&Unused { file: names.first().copied().unwrap_or_default(), note: format!("{more} more schemas not used") });
    }
    if collected.providers.is_empty() && collected.manifest_providers.is_empty() {
        return None;
    }
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Trace, "", None);
    collected.providers.iter().for_each(|provider| builder.add(provider, origin));
    let origin = builder.origin(Source::EventSource, "", None);
    collected.manifest_providers.iter().for_each(|provider| builder.add(provider, origin));
    Some(builder.build().bytes().into())
}

/// The note on a schema that cannot be used.
#[derive(Serialize)]
struct Unused<'a> {
    file: &'a str,
    note: String,
}

impl Display for Unused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: note: {}", Escaped(self.file), Escaped(&self.note))
    }
}
