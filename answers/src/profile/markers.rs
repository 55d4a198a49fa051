//! What happened at a time: garbage collections of .NET, requests to disks, and events that the user selects.

use crate::collections::{Collection, Ended, Suspension};
use etw_layouts_trace::etl::Schemas;
use etw_layouts_trace::etl::text::{Escaped, Style, fields as text};
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::diskio::{Read, Write};
use etw_layouts_trace::{Error, Event, EventKind};
use std::sync::Arc;

/// A time, or an interval, with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Marker {
    /// Index of its thread.
    pub thread: u32,
    /// Its start.
    pub start: u64,
    /// Its end.
    pub end: u64,
    /// What it is: `GC`, `Disk`, or the name of an event.
    pub name: Arc<str>,
    /// Details.
    pub text: String,
}

/// The start and the text of what an event of the .NET runtime ends.
pub(super) fn collection(ended: Ended) -> Option<(i64, String)> {
    let text = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    match ended {
        Ended::Suspension(Suspension { start, reason, .. }) => Some((start, format!("suspension: {}", text(reason)))),
        Ended::Collection(Collection { start, generation, cause }) => {
            Some((start, format!("collection of generation {}: {}", text(generation), text(cause))))
        }
        Ended::Unknown => None,
    }
}

/// The duration of a request to a disk in ticks, the number of the disk, and a text.
///
/// # Errors
///
/// The trace cannot be read, or changed since it was opened.
pub(super) fn disk(event: &Event<'_>, kind: EventKind) -> Result<Option<(u64, u32, String)>, Error> {
    if kind.0 != <Read>::CLASS {
        return Ok(None);
    }
    let header = event.header();
    let read = header
        .get::<Read<'_>>(Schemas::BUILT_IN)
        .map(|read| ("read", read.high_res_response_time(), read.transfer_size(), read.disk_number()));
    let write = || {
        header
            .get::<Write<'_>>(Schemas::BUILT_IN)
            .map(|write| ("write", write.high_res_response_time(), write.transfer_size(), write.disk_number()))
    };
    let Some((what, Some(duration), bytes, disk)) = read.or_else(write) else { return Ok(None) };
    let file = event.file_name()?.map(|name| format!(" of {}", event.session().user_path(&name))).unwrap_or_default();
    Ok(Some((duration, disk, format!("{what} of {bytes} bytes{file}"))))
}

/// The fields of an event as text.
pub(super) fn fields(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    if let Some(decoded) = event.decode() {
        text::fields(&decoded.fields, Some(event.file().clock()), Style::Text, &mut out);
    }
    Escaped(&String::from_utf8_lossy(&out)).to_string()
}
