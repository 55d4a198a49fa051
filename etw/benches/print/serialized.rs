//! Writes the header of an event as JSON with `serde_json`. A line is as long as a line of `etw etl events --format json`, which
//! the program writes without `serde_json`.

use etw_layouts_etl::{EventRecord, Trace, Uuid};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The members of a line with values from the header. Names are left out, because both ways of writing look them up.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    buffer: u32,
    buffer_offset: u64,
    offset: u32,
    time: Option<i64>,
    time_utc: Option<String>,
    processor: u16,
    process: Option<u32>,
    thread: Option<u32>,
    header_process: Option<u32>,
    header_thread: Option<u32>,
    kernel_time: Option<u64>,
    user_time: Option<u64>,
    header: String,
    provider: Option<String>,
    provider_name: Option<&'a str>,
    event: Option<&'a str>,
    id: Option<u16>,
    id_name: Option<&'a str>,
    version: Option<u16>,
    opcode: Option<u8>,
    opcode_name: Option<&'a str>,
    level: Option<u8>,
    keyword: Option<u64>,
    keyword_names: [&'a str; 0],
    task: Option<u16>,
    task_name: Option<&'a str>,
    channel: Option<u8>,
    flags: Option<u16>,
    flags_names: Option<&'a str>,
    activity: Option<String>,
    related: Option<String>,
    items: [&'a str; 0],
    size: usize,
    payload_size: usize,
}

/// Reads a trace and writes a line for each event. Returns the time and the number of lines.
pub fn time(trace: &Path, out: &Path) -> (Duration, usize) {
    let start = Instant::now();
    let trace = Trace::from_bytes(std::fs::read(trace).expect("a file")).expect("a trace");
    let mut out = BufWriter::with_capacity(1 << 17, File::create(out).expect("a file"));
    let mut lines = 0;
    for event in trace.events() {
        let event = event.expect("an event");
        serde_json::to_writer(&mut out, &line(&event)).expect("a line");
        out.write_all(b"\n").expect("a line");
        lines += 1;
    }
    out.flush().expect("a file");
    (start.elapsed(), lines)
}

fn line<'a>(record: &EventRecord<'_>) -> Line<'a> {
    let event = record.event();
    let guid = |guid: Uuid| guid.to_string();
    Line {
        file: "a.etl",
        buffer: record.buffer(),
        buffer_offset: record.buffer_offset(),
        offset: event.offset(),
        time: record.time().map(|time| time.0),
        time_utc: record.time().map(|time| time.to_string()),
        processor: record.processor(),
        process: event.process(),
        thread: event.thread(),
        header_process: event.process(),
        header_thread: event.thread(),
        kernel_time: event.thread_ticks().map(|(kernel, _)| kernel.into()),
        user_time: event.thread_ticks().map(|(_, user)| user.into()),
        header: format!("{:?}", event.header_type()),
        provider: event.provider().map(guid),
        provider_name: None,
        event: None,
        id: event.id(),
        id_name: None,
        version: event.version(),
        opcode: event.opcode(),
        opcode_name: None,
        level: event.level(),
        keyword: event.keyword(),
        keyword_names: [],
        task: event.task(),
        task_name: None,
        channel: event.channel(),
        flags: event.flags().map(|flags| flags.0),
        flags_names: None,
        activity: event.activity_id().map(guid),
        related: event.related_activity_id().map(guid),
        items: [],
        size: event.bytes().len(),
        payload_size: event.payload().len(),
    }
}
