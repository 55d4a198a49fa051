//! Descriptions of columns, with their units, for the metadata of Parquet files.

use crate::table::{Kind, Table};
use serde_json::{Map, Value};

/// The descriptions of the columns of a table, as a JSON object: those of the tables `events`, `stacks` and `traces`, and the key columns of tables of one
/// event. Fields of events and the columns of sums have none.
pub(super) fn of(table: &Table) -> String {
    let known = |name: &str| COLUMNS.iter().find(|(own, _)| *own == name).map(|(_, text)| Value::from(*text));
    let names = table.schema.fields().iter().map(|field| field.name());
    let count = match table.kind {
        Kind::Events | Kind::Stacks | Kind::Traces => usize::MAX,
        Kind::Event { .. } => names.clone().position(|name| name == LAST_KEY).map_or(0, |last| last + 1),
        Kind::Sums => 0,
    };
    let all = names.take(count).filter_map(|name| Some((name.clone(), known(name)?)));
    Value::Object(all.collect::<Map<_, _>>()).to_string()
}

/// The last of the key columns, which fields of an event follow.
const LAST_KEY: &str = "related";

const COLUMNS: [(&str, &str); 48] = [
    ("trace", "path of the trace file as given"),
    ("host", "name of the computer"),
    ("sequence", "index of the buffer * 2^32 + offset in the decompressed buffer"),
    ("time", "time in UTC"),
    ("tick", "time stamp by the clock of the session; its rate is clock_frequency in the table traces"),
    ("provider_guid", "provider"),
    ("id", "event ID; hook ID of a kernel event; number of a WPP message"),
    ("version", "version of the event"),
    ("opcode", "opcode"),
    ("level", "level: 1 critical to 5 verbose"),
    ("keyword", "keyword bits"),
    ("processor", "number of the processor"),
    ("process", "ID of the process that caused the event"),
    ("thread", "ID of the thread that caused the event"),
    ("process_name", "image of the process"),
    ("header_process", "process ID in the header"),
    ("header_thread", "thread ID in the header"),
    ("kernel_time", "time that the thread in the header has run in kernel mode so far, in units of 100 ns"),
    ("user_time", "time that the thread in the header has run in user mode so far, in units of 100 ns"),
    ("activity", "activity"),
    ("related", "activity that started this one"),
    ("provider", "class of a kernel event, or name of the provider"),
    ("event", "name of the event"),
    ("task", "task"),
    ("channel", "channel"),
    ("flags", "flags of the header"),
    ("header", "type of the header"),
    ("size", "size of the event record, or of the trace file, in bytes"),
    ("payload_size", "size of the payload, in bytes"),
    ("source", "source of the schema"),
    ("fields", "decoded fields as a JSON object"),
    ("payload", "payload that is not decoded to its end"),
    ("kind", "source of the call stack"),
    ("key", "key of the call stack; it is only unique at one time"),
    ("frames", "return addresses, the innermost first"),
    ("path", "absolute path of the trace file"),
    ("hash", "SHA-256 of the trace file"),
    ("session", "name of the session"),
    ("pointer_size", "size of pointers, in bytes"),
    ("boot", "time of the start of Windows"),
    ("start", "time of the start of the session"),
    ("end", "time of the end of the session"),
    ("start_tick", "time stamp at the start of the session"),
    ("clock", "clock of the time stamps"),
    ("clock_frequency", "rate of the clock, in Hz"),
    ("timer_resolution", "resolution of the timer, in units of 100 ns"),
    ("events_lost", "number of events that the session has lost"),
    ("buffers_lost", "number of buffers that the session has lost"),
];
