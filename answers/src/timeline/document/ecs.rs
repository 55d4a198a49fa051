//! Entries by the Elastic Common Schema.

use super::{endpoints, file_name, is_incoming, members, put};
use crate::timeline::entry::{Entry, Value};
use crate::timeline::field::Field;
use serde_json::{Map, Value as Json, json};

/// The version of the schema.
const VERSION: &str = "8.12.0";

pub(super) fn document(entry: &Entry<'_>, file: &str, host: Option<&str>) -> Json {
    let mut out = Map::new();
    put(&mut out, "@timestamp", entry.time.map(|time| json!(time.rfc3339().to_string())));
    put(&mut out, "ecs.version", json!(VERSION));
    put(&mut out, "message", json!(entry.sentence()));
    let (category, ty) = entry.kind.ecs;
    put(&mut out, "event.kind", json!("event"));
    put(&mut out, "event.category", json!([category]));
    put(&mut out, "event.type", json!([ty]));
    put(&mut out, "event.action", json!(entry.kind.name));
    put(&mut out, "event.provider", json!(entry.provider));
    put(&mut out, "event.code", entry.id.map(|id| json!(id.to_string())));
    put(&mut out, "event.outcome", outcome(entry).map(|outcome| json!(outcome)));
    put(&mut out, "host.name", host.map(|host| json!(host)));
    put(&mut out, "log.file.path", json!(file));
    process(entry, &mut out);
    if let Some(user) = &entry.user {
        put(&mut out, "user.id", json!(user.sid));
        put(&mut out, "user.name", user.name().map(|name| json!(file_name(&name))));
    }
    for (field, value) in &entry.fields {
        put_field(*field, value, &mut out);
    }
    network(entry, &mut out);
    let label = |out: &mut Map<String, Json>, name: &str, value: Option<Json>| {
        // Labels are texts.
        let text = |value: Json| value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
        put(out, &format!("labels.{name}"), value.map(|value| json!(text(value))));
    };
    label(&mut out, "etw_event", Some(json!(entry.event)));
    label(&mut out, "etw_provider_guid", entry.guid.map(|guid| json!(guid.to_string())));
    label(&mut out, "etw_time", entry.time.map(|time| json!(time.0)));
    label(&mut out, "etw_buffer", Some(json!(entry.place.buffer)));
    label(&mut out, "etw_buffer_offset", Some(json!(entry.place.buffer_offset)));
    label(&mut out, "etw_offset", Some(json!(entry.place.offset)));
    if let Some(by) = &entry.by {
        label(&mut out, "by_process", Some(json!(by.id)));
        label(&mut out, "by_process_name", by.image().map(|image| json!(image)));
    }
    if entry.user.as_ref().is_some_and(|user| user.is_of_process) {
        label(&mut out, "user_known_by", Some(json!("process")));
    }
    for (field, value) in &entry.fields {
        for (index, (name, value)) in members(field.name(), value).into_iter().enumerate() {
            // The field of the schema has the value; its name and the path of the kernel have no other place.
            if index > 0 || field.ecs().is_empty() || matches!(field, Field::Failure | Field::BugCheck) {
                label(&mut out, &name, Some(value));
            }
        }
    }
    Json::Object(out)
}

fn process(entry: &Entry<'_>, out: &mut Map<String, Json>) {
    let Some(participant) = &entry.process else { return };
    put(out, "process.pid", json!(participant.id));
    let Some(process) = participant.process else { return };
    put(out, "process.name", process.image().map(|image| json!(image)));
    put(out, "process.executable", process.path.as_ref().map(|path| json!(&*path.value)));
    put(out, "process.command_line", process.command_line().map(|line| json!(line)));
    put(out, "process.parent.pid", process.parent_id.as_ref().map(|parent| json!(parent.value)));
    put(out, "process.parent.name", participant.parent.and_then(|parent| parent.image()).map(|image| json!(image)));
}

fn put_field(field: Field, value: &Value, out: &mut Map<String, Json>) {
    let path = field.ecs();
    if path.is_empty() {
        return;
    }
    let text = value.text();
    let json = match (field, value) {
        // A status of success is no error.
        (Field::Win32Status | Field::NtStatus | Field::Hresult, Value::Code(0, _)) => return,
        (Field::QueryType, Value::Code(_, Some(name))) => json!(name),
        (Field::ExitStatus, Value::Code(code, _)) => json!(code),
        // The name of the code says more, where it has one.
        (_, Value::Code(_, Some(name))) if path == "error.code" => json!(name),
        (_, Value::Code(..)) => json!(text),
        (Field::Failure, _) => json!(text),
        (_, Value::Number(number)) => json!(number),
        _ => json!(text),
    };
    put(out, path, json);
    match field {
        Field::Path => put(out, "file.name", json!(file_name(&text))),
        Field::Library => put(out, "dll.name", json!(file_name(&text))),
        Field::ImagePath if entry_has_no_name(out) => put(out, "process.name", json!(file_name(&text))),
        _ => {}
    }
}

fn entry_has_no_name(out: &Map<String, Json>) -> bool {
    out.get("process").is_none_or(|process| process.get("name").is_none())
}

fn network(entry: &Entry<'_>, out: &mut Map<String, Json>) {
    for (side, (address, port)) in ["source", "destination"].into_iter().zip(endpoints(entry)) {
        if let Some(address) = address {
            put(out, "network.type", json!(if address.contains(':') { "ipv6" } else { "ipv4" }));
            put(out, &format!("{side}.ip"), json!(address));
        }
        put(out, &format!("{side}.port"), port.map(|port| json!(port)));
    }
    if entry.kind.name.starts_with("connection_") {
        put(out, "network.transport", json!("tcp"));
        let direction = if is_incoming(entry) { "ingress" } else { "egress" };
        // Which side began an ended connection is not in the event.
        put(out, "network.direction", Some(json!(direction)).filter(|_| entry.kind.name != "connection_ended"));
    }
    match entry.kind.name {
        "dns_query" => put(out, "dns.type", json!("query")),
        "dns_answer" => {
            put(out, "dns.type", json!("answer"));
            let answers = entry.get(Field::Answers).map(Value::text).unwrap_or_default();
            let addresses: Vec<_> = answers.split([';', ' ']).filter_map(|text| text.parse::<std::net::IpAddr>().ok()).collect();
            let addresses: Vec<_> = addresses.into_iter().map(|address| address.to_canonical().to_string()).collect();
            put(out, "dns.resolved_ip", Some(json!(addresses)).filter(|_| !addresses.is_empty()));
        }
        _ => {}
    }
}

/// Whether it succeeded, if the event states it.
fn outcome(entry: &Entry<'_>) -> Option<&'static str> {
    if entry.kind.name == "logon_failed" {
        return Some("failure");
    }
    let status = [Field::Win32Status, Field::NtStatus, Field::Hresult].into_iter().find_map(|field| match entry.get(field) {
        Some(Value::Code(code, _)) => Some((field, *code)),
        _ => None,
    });
    Some(match status? {
        (Field::Win32Status, code) if code != 0 => "failure",
        (_, code) if (code as i32) < 0 => "failure",
        _ => "success",
    })
}
