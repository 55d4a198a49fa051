//! The payload of an event: its fields with the source of their schema, or its bytes.

use crate::line::{Line, Payload};
use crate::wpp;
use crate::{message, structure};
use etw_layouts_etl::payload::Source;
use etw_layouts_etl::text::Style;
use etw_layouts_etl::text::fields::{self, Members, undecoded};
use etw_layouts_etl::text::{Escaped, put};
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::{Decoded, names};
use etw_layouts_schemas::tmf::{WppMessage, WppText};

/// Writes the cell of a table: the message, the fields, or the bytes in hexadecimal digits. Returns the fault if fields cannot be decoded.
pub fn text(line: &Line<'_>, out: &mut Vec<u8>) -> Option<Fault> {
    let payload = line.event.payload();
    if matches!(line.payload, None | Some(Payload::Hex)) {
        put::hex(out, payload);
        return None;
    }
    if let Some(log) = line.log_file()
        && structure::log_file(payload, &log, Style::Text, out)
    {
        return None;
    }
    if let Some(message) = line.message {
        let (text, fault) = wpp::text(message, line.event, line.schemas);
        put::shown(out, Escaped(&text.text));
        if !text.others.is_empty() {
            out.push(b' ');
            arguments(message, &text, Style::Text, out);
        }
        if let Some(fault) = &fault {
            undecoded(payload, fault, Style::Text, out);
        }
        return fault;
    }
    let Some(decoded) = line.decoded() else {
        let fault = line.invalid_schema();
        match &fault {
            Some(fault) => {
                out.extend_from_slice(b"{}");
                undecoded(payload, fault, Style::Text, out);
            }
            None => put::hex(out, payload),
        }
        return fault;
    };
    if line.payload == Some(Payload::Message) && message::message(&decoded, line.clock.as_ref(), out) {
        return None;
    }
    let fault = fields::fields(&decoded.fields, line.clock.as_ref(), Style::Text, out);
    if !decoded.is_exact {
        put::shown(out, format_args!(" by the schema of version {}", decoded.schema.version));
    }
    if let Some(fault) = &fault {
        undecoded(payload, fault, Style::Text, out);
    }
    reported(line, &decoded, fault)
}

/// Writes members of a JSON object: `"schema":{…},"fields":{…}` and `"message":…`, or `"payload":"…"`. Returns the fault if fields cannot be
/// decoded.
pub fn json(line: &Line<'_>, out: &mut Vec<u8>) -> Option<Fault> {
    let payload = line.event.payload();
    let style = line.payload?;
    if style != Payload::Hex {
        if let Some(log) = line.log_file() {
            let start = out.len();
            out.extend_from_slice(b",\"schema\":{\"source\":\"layout\",\"name\":\"TRACE_LOGFILE_HEADER\"},\"fields\":");
            if structure::log_file(payload, &log, Style::Json, out) {
                return None;
            }
            out.truncate(start);
        }
        if let Some(message) = line.message {
            return message_json(message, line, out);
        }
        if let Some(decoded) = line.decoded() {
            return decoded_json(line, &decoded, style, out);
        }
        if let Some(fault) = line.invalid_schema() {
            out.extend_from_slice(b",\"schema\":{\"source\":\"TraceLogging\"},\"fields\":{}");
            undecoded(payload, &fault, Style::Json, out);
            return Some(fault);
        }
    }
    out.extend_from_slice(b",\"payload\":\"");
    put::hex(out, payload);
    out.push(b'"');
    None
}

fn decoded_json(line: &Line<'_>, decoded: &Decoded<'_>, style: Payload, out: &mut Vec<u8>) -> Option<Fault> {
    schema(line, decoded, out);
    out.extend_from_slice(b",\"fields\":");
    let fault = fields::fields(&decoded.fields, line.clock.as_ref(), Style::Json, out);
    if let Some(fault) = &fault {
        undecoded(line.event.payload(), fault, Style::Json, out);
    }
    if style == Payload::Message {
        let mut text = Vec::new();
        let has_message = message::message(decoded, line.clock.as_ref(), &mut text);
        out.extend_from_slice(b",\"message\":");
        fields::optional(out, has_message.then(|| String::from_utf8_lossy(&text)).as_deref());
    }
    reported(line, decoded, fault)
}

/// Writes the arguments that a message does not contain, with their expressions in the source.
fn arguments(message: &WppMessage, text: &WppText, style: Style, out: &mut Vec<u8>) {
    let mut members = Members::default();
    out.push(b'{');
    let named = text.others.iter().filter_map(|(index, text)| Some((&message.arguments.get(*index)?.name, text)));
    for (index, (name, text)) in named.enumerate() {
        fields::member(&mut members, name, index == 0, style, out);
        match style {
            Style::Text => put::quoted(out, text.chars()),
            Style::Json => put::json(out, text.chars()),
        }
    }
    out.push(b'}');
}

/// Writes the text of a WPP event.
fn message_json(message: &WppMessage, line: &Line<'_>, out: &mut Vec<u8>) -> Option<Fault> {
    let (text, fault) = wpp::text(message, line.event, line.schemas);
    out.extend_from_slice(b",\"schema\":{\"source\":\"TMF\"");
    for (key, value) in [("function", &*message.function), ("level", &message.level), ("flags", &message.flags)] {
        if !value.is_empty() {
            put::shown(out, format_args!(",\"{key}\":"));
            put::json(out, value.chars());
        }
    }
    out.extend_from_slice(b"},\"message\":");
    put::json(out, text.text.chars());
    if !text.others.is_empty() {
        out.extend_from_slice(b",\"arguments\":");
        arguments(message, &text, Style::Json, out);
    }
    if let Some(fault) = &fault {
        undecoded(line.event.payload(), fault, Style::Json, out);
    }
    fault
}

/// Writes the source of the schema.
pub fn schema(line: &Line<'_>, decoded: &Decoded<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"schema\":{\"source\":\"");
    out.extend_from_slice(names::source(decoded.source()).as_bytes());
    out.push(b'"');
    match decoded.variant {
        Some(variant) => {
            let names = || variant.origins().map(|origin| origin.name).filter(|name| !name.is_empty());
            if names().next().is_some() {
                out.extend_from_slice(b",\"origins\":[");
                for (index, name) in names().enumerate() {
                    out.extend_from_slice(if index > 0 { b"," } else { b"" });
                    put::json(out, name.chars());
                }
                out.push(b']');
            }
            put::shown(out, format_args!(",\"disputed\":{}", decoded.is_disputed));
        }
        None if decoded.source() == Source::TraceLogging => {
            if let Some(group) = line.event.traits().and_then(Result::ok).and_then(|traits| traits.group) {
                put::shown(out, format_args!(",\"provider_group\":\"{group}\""));
            }
            put::shown(out, format_args!(",\"tags\":{}", decoded.schema.tags));
        }
        None => {
            out.extend_from_slice(b",\"version\":");
            put::number(out, decoded.schema.version);
        }
    }
    out.push(b'}');
}

/// The fault to report as a diagnostic. If the schema is of another version, an incomplete decoding is expected. Corrupt provider
/// traits are reported too.
pub fn reported(line: &Line<'_>, decoded: &Decoded<'_>, fault: Option<Fault>) -> Option<Fault> {
    let traits = || line.event.traits().and_then(Result::err).filter(|_| decoded.source() == Source::TraceLogging);
    fault.filter(|_| decoded.is_exact).or_else(traits)
}
