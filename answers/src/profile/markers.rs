//! What happened at a time: garbage collections of .NET, requests to disks, and events that the user selects.

use etw_layouts_trace::Event;
use etw_layouts_trace::etl::Schemas;
use etw_layouts_trace::etl::text::{Escaped, Style, fields as text};
use etw_layouts_trace::kernel::diskio::{Read, Write};
use etw_layouts_trace::providers::RUNTIME;
use std::collections::HashMap;
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

/// The garbage collections and suspensions that did not end yet, by session, process and event that ends them.
#[derive(Debug, Default)]
pub(super) struct GcMarkers {
    begun: HashMap<(usize, Option<u32>, u16), (u64, String)>,
}

/// IDs of its events: the start and the end of a collection; the start of a suspension of all threads and the end of their restart.
const START: u16 = 1;
const END: u16 = 2;
const RESTARTED: u16 = 3;
const SUSPEND: u16 = 9;

/// Reasons of collections and of suspensions, by the manifest of the runtime.
const COLLECTIONS: [&str; 8] = [
    "small object heap allocation",
    "induced",
    "low memory",
    "empty",
    "large object heap allocation",
    "out of space in the small object heap",
    "out of space in the large object heap",
    "induced, not forced",
];
const SUSPENSIONS: [&str; 7] = ["other", "GC", "AppDomain shutdown", "code pitching", "shutdown", "debugger", "GC preparation"];

impl GcMarkers {
    /// The start and the text of what ends with an event. Starts and ends are paired by process, in the order of time.
    pub fn marker(&mut self, event: &Event<'_>, time: u64) -> Option<(u64, String)> {
        let header = event.header();
        if header.provider() != Some(RUNTIME) {
            return None;
        }
        let number = |at: usize| header.payload().get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let named = |names: &[&str], number: Option<u32>| match number {
            Some(number) => names.get(number as usize).map_or(format!("reason {number}"), |name| (*name).to_owned()),
            None => "no reason".to_owned(),
        };
        let key = |end| (event.session_index(), header.process(), end);
        match header.id()? {
            // Count, generation and reason.
            START => {
                let generation = number(4).map_or(String::new(), |generation| format!(" of generation {generation}"));
                self.begun.insert(key(END), (time, format!("collection{generation}: {}", named(&COLLECTIONS, number(8)))));
                None
            }
            SUSPEND => {
                self.begun.insert(key(RESTARTED), (time, format!("suspension: {}", named(&SUSPENSIONS, number(0)))));
                None
            }
            end @ (END | RESTARTED) => self.begun.remove(&key(end)),
            _ => None,
        }
    }
}

/// The duration of a request to a disk in ticks, the number of the disk, and a text.
pub(super) fn disk(event: &Event<'_>) -> Option<(u64, u32, String)> {
    let header = event.header();
    if !matches!(header.hook(), Some(0x010A | 0x010B)) {
        return None;
    }
    let read = header
        .get::<Read<'_>>(Schemas::BUILT_IN)
        .map(|read| ("read", read.high_res_response_time(), read.transfer_size(), read.disk_number()));
    let write = || {
        header
            .get::<Write<'_>>(Schemas::BUILT_IN)
            .map(|write| ("write", write.high_res_response_time(), write.transfer_size(), write.disk_number()))
    };
    let (what, duration, bytes, disk) = read.or_else(write)?;
    let file = event.file_name().ok().flatten().map(|name| format!(" of {name}")).unwrap_or_default();
    Some((duration?, disk, format!("{what} of {bytes} bytes{file}")))
}

/// The fields of an event as text.
pub(super) fn fields(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    if let Some(decoded) = event.decode() {
        text::fields(&decoded.fields, Some(event.file().clock()), Style::Text, &mut out);
    }
    Escaped(&String::from_utf8_lossy(&out)).to_string()
}
