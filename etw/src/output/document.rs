//! An event as a JSON object.

use super::kind::{Kind, LineKinds};
use super::line::{Line, Names};
use super::{fields, payload, put};
use etw_layouts_etl::text::Recent;
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_trace::KnownBy;

/// Writes the event as one line. Returns the fault if a payload cannot be decoded.
pub fn event(line: &Line<'_>, names: &mut Names, kinds: &mut LineKinds, out: &mut Vec<u8>) -> Option<Fault> {
    let LineKinds { kinds, recent } = kinds;
    let kind = kinds.get(line.event, || Kind::compiled(line, names, recent));
    write(line, names, kind, recent, out)
}

/// Writes a single event as one line, as [`event`] does.
pub fn single(line: &Line<'_>, out: &mut Vec<u8>) -> Option<Fault> {
    let mut names = Names::default();
    let kind = Kind::new(line, &mut names);
    write(line, &mut names, &kind, &mut Recent::default(), out)
}

fn write(line: &Line<'_>, names: &mut Names, kind: &Kind, recent: &mut Recent, out: &mut Vec<u8>) -> Option<Fault> {
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
    number(out, b",\"process\":", line.process());
    number(out, b",\"thread\":", line.thread());
    if let Some(who) = &line.who {
        out.extend_from_slice(b",\"process_name\":");
        fields::optional(out, line.process_name());
        name(out, b",\"process_by\":", known(who.by.known));
        number(out, b",\"subject\":", line.subject());
        out.extend_from_slice(b",\"subject_name\":");
        fields::optional(out, line.subject_name());
        name(out, b",\"subject_by\":", known(who.about.known));
    }
    number(out, b",\"header_process\":", event.process());
    number(out, b",\"header_thread\":", event.thread());
    let times = line.thread_times();
    number(out, b",\"kernel_time\":", times.map(|(kernel, _)| kernel));
    number(out, b",\"user_time\":", times.map(|(_, user)| user));
    out.extend_from_slice(&kind.head);
    if kind.is_described {
        text(out, b",\"activity\":", line.activity(), put::guid);
        text(out, b",\"related\":", event.related_activity_id(), put::guid);
        items(line, names, out);
    }
    number(out, b",\"size\":", Some(event.bytes().len()));
    number(out, b",\"payload_size\":", Some(event.payload().len()));
    let fault = match &kind.fields {
        Some(fields) => fields.write(line, recent, out),
        None => payload::json(line, out),
    };
    out.extend_from_slice(b"}\n");
    fault
}

fn known(by: KnownBy) -> Option<&'static str> {
    Some(by.as_str()).filter(|by| !by.is_empty())
}

fn items(line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"items\":[");
    for (index, item) in line.event.items().enumerate() {
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

pub fn number<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<impl itoa::Integer>) {
    out.extend_from_slice(key);
    match value {
        Some(value) => put::number(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// A string without characters to escape.
pub fn text<T, const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
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

pub fn name<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<&str>) {
    text(out, key, value, |out, value| out.extend_from_slice(value.as_bytes()));
}
