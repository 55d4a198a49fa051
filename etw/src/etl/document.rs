//! An event as a document of JSON.

use super::fields::{self, Style};
use super::line::{Line, Names, Payload};
use super::put;
use etw_layouts_etl::tracelogging::Fault;

/// Prints it in a line; what of its fields could not be decoded.
pub fn event(line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
    let event = line.event;
    put_file(line, out);
    out.extend_from_slice(b",\"buffer\":");
    put::number(out, line.origin.buffer);
    out.extend_from_slice(b",\"buffer_offset\":");
    put::number(out, line.origin.offset);
    out.extend_from_slice(b",\"offset\":");
    put::number(out, event.offset());
    number(out, "time", line.time);
    text(out, "time_utc", line.time, |out, time| put::rfc3339(out, time));
    number(out, "cpu", Some(line.origin.processor));
    number(out, "pid", event.process());
    number(out, "tid", event.thread());
    text(out, "header", Some(line.header()), header);
    text(out, "provider", line.provider, put::guid);
    name(out, "provider_name", line.provider_name());
    number(out, "id", event.id());
    name(out, "id_name", line.id_name());
    number(out, "version", event.version());
    number(out, "opcode", event.opcode());
    name(out, "opcode_name", line.opcode_name());
    number(out, "level", event.level());
    // Numbers that are bits: as numbers, those beyond 2^53 would lose some where they become floating point.
    text(out, "keyword", event.keyword(), |out, keyword| put::shown(out, format_args!("{keyword:#x}")));
    number(out, "task", event.task());
    number(out, "channel", event.channel());
    let flags = event.flags();
    number(out, "flags", flags.map(|flags| flags.0));
    name(out, "flags_names", flags.map(|flags| names.flags(flags)));
    text(out, "activity_id", line.activity(), put::guid);
    text(out, "related_id", event.related_activity_id(), put::guid);
    items(line, names, out);
    number(out, "size", Some(event.bytes().len()));
    number(out, "payload_size", Some(event.payload().len()));
    let fault = payload(line, out);
    out.extend_from_slice(b"}\n");
    fault
}

fn put_file(line: &Line<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"file\":");
    out.extend_from_slice(line.file.json.as_bytes());
}

/// A header of a type that has no name has its number.
pub fn header(out: &mut Vec<u8>, header: Result<&str, u8>) {
    match header {
        Ok(name) => out.extend_from_slice(name.as_bytes()),
        Err(ty) => put::shown(out, format_args!("UNKNOWN_{ty:02X}")),
    }
}

fn items(line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) {
    key(out, "items");
    out.push(b'[');
    for (index, item) in line.event.items().enumerate() {
        out.extend_from_slice(if index > 0 { b",{\"type\":" } else { b"{\"type\":" });
        put::number(out, item.ty.0);
        name(out, "name", Some(names.item(item.ty)));
        number(out, "size", Some(item.data.len()));
        text(out, "data", Some(item.data), put::hex);
        out.push(b'}');
    }
    out.push(b']');
}

fn payload(line: &Line<'_>, out: &mut Vec<u8>) -> Option<Fault> {
    if line.payload == Some(Payload::Fields)
        && let Some(logging) = line.event.trace_logging()
    {
        key(out, "trace_logging");
        return fields::event(&logging, Style::Json, out);
    }
    if line.payload.is_some() {
        text(out, "payload", Some(line.event.payload()), put::hex);
    }
    None
}

fn key(out: &mut Vec<u8>, key: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn number(out: &mut Vec<u8>, name: &str, value: Option<impl itoa::Integer>) {
    key(out, name);
    match value {
        Some(value) => put::number(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// A text that needs no escapes.
fn text<T>(out: &mut Vec<u8>, name: &str, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    key(out, name);
    match value {
        Some(value) => {
            out.push(b'"');
            put(out, value);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
}

fn name(out: &mut Vec<u8>, key: &str, value: Option<&str>) {
    text(out, key, value, |out, value| out.extend_from_slice(value.as_bytes()));
}
