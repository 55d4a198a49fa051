//! An event as a JSON object.

use super::fields;
use super::line::{self, Line, Names};
use super::{payload, put};
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::wire::EVENT_HEADER_FLAG;

/// Writes the event as one line. Returns the fault if a payload cannot be decoded.
pub fn event(line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
    let event = line.event;
    out.extend_from_slice(b"{\"file\":");
    out.extend_from_slice(&line.file.json);
    if let Some(session) = &line.session {
        out.extend_from_slice(b",\"session\":");
        out.extend_from_slice(&session.name.json);
        number(out, b",\"logger_id\":", Some(session.logger_id));
    }
    number(out, b",\"buffer\":", Some(line.origin.buffer));
    number(out, b",\"buffer_offset\":", Some(line.origin.offset));
    if let Some(address) = line.session.and_then(|session| session.buffer_address) {
        text(out, b",\"buffer_address\":", Some(address), |out, address| put::shown(out, format_args!("{address:#x}")));
    }
    number(out, b",\"offset\":", Some(event.offset()));
    number(out, b",\"time\":", line.time);
    text(out, b",\"time_utc\":", line.time, |out, time| names.times.put(out, time, false));
    number(out, b",\"processor\":", Some(line.origin.processor));
    number(out, b",\"process\":", event.process());
    number(out, b",\"thread\":", event.thread());
    number(out, b",\"thread_process\":", line.thread_process());
    text(out, b",\"header\":", Some(line::header(line.event)), header);
    text(out, b",\"provider\":", line.provider, put::guid);
    out.extend_from_slice(b",\"provider_name\":");
    fields::optional(out, line.provider_name());
    text(out, b",\"event\":", line.event_name(), |out, (provider, event)| {
        put::json_part(out, provider);
        out.push(b'/');
        put::json_part(out, event);
    });
    number(out, b",\"id\":", event.id());
    name(out, b",\"id_name\":", line.id_name());
    number(out, b",\"version\":", event.version());
    number(out, b",\"opcode\":", event.opcode());
    out.extend_from_slice(b",\"opcode_name\":");
    fields::optional(out, line.opcode_name());
    number(out, b",\"level\":", event.level());
    match event.flags() {
        Some(flags) => described(line, flags, names, out),
        None => out.extend_from_slice(
            b",\"keyword\":null,\"keyword_names\":[],\"task\":null,\"task_name\":null,\"channel\":null,\"flags\":null,\"flags_names\":null,\"activity\":null,\
              \"related\":null,\"items\":[]",
        ),
    }
    number(out, b",\"size\":", Some(event.bytes().len()));
    number(out, b",\"payload_size\":", Some(event.payload().len()));
    let fault = payload::json(line, out);
    out.extend_from_slice(b"}\n");
    fault
}

/// Values that only an EVENT_HEADER has.
fn described(line: &Line<'_>, flags: EVENT_HEADER_FLAG, names: &mut Names, out: &mut Vec<u8>) {
    let event = line.event;
    text(out, b",\"keyword\":", event.keyword(), put::keyword);
    out.extend_from_slice(b",\"keyword_names\":[");
    for (index, name) in line.keyword_names().into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        put::json(out, name.chars());
    }
    number(out, b"],\"task\":", event.task());
    out.extend_from_slice(b",\"task_name\":");
    fields::optional(out, line.task_name());
    number(out, b",\"channel\":", event.channel());
    number(out, b",\"flags\":", Some(flags.0));
    name(out, b",\"flags_names\":", Some(names.flags(flags)));
    text(out, b",\"activity\":", line.activity(), put::guid);
    text(out, b",\"related\":", event.related_activity_id(), put::guid);
    out.extend_from_slice(b",\"items\":[");
    for (index, item) in event.items().enumerate() {
        out.extend_from_slice(if index > 0 { &b",{"[..] } else { b"{" });
        number(out, b"\"type\":", Some(item.ty.0));
        name(out, b",\"name\":", Some(names.item(item.ty)));
        number(out, b",\"size\":", Some(item.data.len()));
        text(out, b",\"data\":", Some(item.data), put::hex);
        out.push(b'}');
    }
    out.push(b']');
}

/// An unknown header type is written with its number.
pub fn header(out: &mut Vec<u8>, header: Result<&str, u8>) {
    match header {
        Ok(name) => out.extend_from_slice(name.as_bytes()),
        Err(ty) => put::shown(out, format_args!("UNKNOWN_{ty:02X}")),
    }
}

fn number<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<impl itoa::Integer>) {
    out.extend_from_slice(key);
    match value {
        Some(value) => put::number(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// A string without characters to escape.
fn text<T, const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    out.extend_from_slice(key);
    match value {
        Some(value) => {
            out.push(b'"');
            put(out, value);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
}

fn name<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<&str>) {
    text(out, key, value, |out, value| out.extend_from_slice(value.as_bytes()));
}
