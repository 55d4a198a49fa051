//! An event as a JSON object.

use crate::column::Column;
use crate::kind::{Kind, LineKinds, members};
use crate::line::{Line, Names};
use crate::payload;
use crate::value::Value;
use etw_layouts_etl::text::put;
use etw_layouts_etl::tracelogging::Fault;

/// Writes the event as one line. Returns the fault if a payload cannot be decoded.
pub fn event(line: &Line<'_>, names: &mut Names, kinds: &mut LineKinds, out: &mut Vec<u8>) -> Option<Fault> {
    out.extend_from_slice(b"{\"file\":");
    out.extend_from_slice(&line.file.json);
    if let Some(session) = &line.session {
        out.extend_from_slice(b",\"session\":");
        out.extend_from_slice(&session.name.json);
        Value::Unsigned(session.logger_id.into()).member(",\"logger_id\":", names, out);
    }
    Value::Unsigned(line.origin.buffer.into()).member(",\"buffer\":", names, out);
    Value::Unsigned(line.origin.offset).member(",\"buffer_offset\":", names, out);
    if let Some(address) = line.session.and_then(|session| session.buffer_address) {
        Value::Address(address).member(",\"buffer_address\":", names, out);
    }
    Value::Unsigned(line.event.offset().into()).member(",\"offset\":", names, out);
    out.push(b',');
    without_place(line, names, kinds, out)
}

/// Writes an event that is not in a file as one line: the same members, except those of its place. Returns the fault if a payload cannot be decoded.
pub fn live(line: &Line<'_>, names: &mut Names, kinds: &mut LineKinds, out: &mut Vec<u8>) -> Option<Fault> {
    out.push(b'{');
    without_place(line, names, kinds, out)
}

fn without_place(line: &Line<'_>, names: &mut Names, kinds: &mut LineKinds, out: &mut Vec<u8>) -> Option<Fault> {
    let LineKinds { kinds, recent } = kinds;
    let kind = kinds.get(line.event, || Kind::new(line, names, recent));
    Column::Time.value(line).member("\"time\":", names, out);
    members!(line, names, out, TimeUtc "time_utc", Processor "processor", Process "process", Thread "thread");
    if line.who.is_some() {
        members!(
            line, names, out, ProcessName "process_name", ProcessBy "process_by", Subject "subject", SubjectName "subject_name",
            SubjectBy "subject_by"
        );
    }
    members!(
        line, names, out, HeaderProcess "header_process", HeaderThread "header_thread", KernelTime "kernel_time",
        UserTime "user_time"
    );
    out.extend_from_slice(&kind.head);
    if kind.is_described {
        members!(line, names, out, Activity "activity", Related "related");
        items(line, names, out);
    }
    Value::Unsigned(line.event.bytes().len() as u64).member(",\"size\":", names, out);
    members!(line, names, out, PayloadSize "payload_size");
    let fault = match &kind.fields {
        Some(fields) => fields.write(line, recent, out),
        None => payload::json(line, out),
    };
    if let Some(stack) = line.stack {
        stack.write_json(out);
    }
    out.extend_from_slice(b"}\n");
    fault
}

fn items(line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"items\":[");
    for (index, item) in line.event.items().enumerate() {
        out.extend_from_slice(if index > 0 { &b",{"[..] } else { b"{" });
        Value::number(Some(item.ty.0)).member("\"type\":", names, out);
        Value::Item(item.ty).member(",\"name\":", names, out);
        Value::Unsigned(item.data.len() as u64).member(",\"size\":", names, out);
        out.extend_from_slice(b",\"data\":\"");
        put::hex(out, item.data);
        out.extend_from_slice(b"\"}");
    }
    out.push(b']');
}
