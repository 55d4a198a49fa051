//! Entries by the Open Cybersecurity Schema Framework.

use super::{endpoints, file_name, members, put};
use crate::timeline::entry::{Entry, Participant, Value};
use crate::timeline::field::Field;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// The version of the schema.
const VERSION: &str = "1.5.0";

/// Severity: informational. The kinds are not rated.
const INFORMATIONAL: u32 = 1;

pub(super) fn document(entry: &Entry<'_>, file: &str, host: Option<&str>) -> Json {
    let mut out = Map::new();
    // Events that lack what their class requires are base events.
    let (class, activity) = if has_required(entry) { entry.kind.ocsf } else { (BASE, OTHER) };
    put(&mut out, "class_uid", json!(class));
    put(&mut out, "activity_id", json!(activity));
    put(&mut out, "type_uid", json!(u64::from(class) * 100 + u64::from(activity)));
    // The category of a class is in its number; classes of the extension for Windows have 200 in front.
    put(&mut out, "category_uid", json!(class % 200_000 / 1000));
    put(&mut out, "severity_id", json!(INFORMATIONAL));
    if activity == OTHER {
        put(&mut out, "activity_name", json!(entry.kind.name));
    }
    // The schema requires a time, in milliseconds since 1970.
    put(&mut out, "time", entry.microseconds().map(|time| json!(time.div_euclid(1000))));
    put(&mut out, "message", json!(entry.sentence()));
    put(&mut out, "metadata.version", json!(VERSION));
    // The profile that adds `actor` and `device` to all classes.
    put(&mut out, "metadata.profiles", json!(["host"]));
    put(&mut out, "metadata.product.name", json!("etw"));
    put(&mut out, "metadata.product.vendor_name", json!("etw-layouts"));
    put(&mut out, "metadata.log_name", json!(file));
    put(&mut out, "metadata.log_provider", json!(entry.provider));
    put(&mut out, "metadata.event_code", entry.id.map(|id| json!(id.to_string())));
    put(&mut out, "metadata.original_time", entry.time.map(|time| json!(time.rfc3339().to_string())));
    put(&mut out, "metadata.uid", json!(format!("{}:{}", entry.place.buffer_offset, entry.place.offset)));
    if let Some(host) = host {
        put(&mut out, "device", json!({ "hostname": host, "type_id": 0 }));
    }
    let subject = entry.process.as_ref().map(process);
    if class == PROCESS {
        put(&mut out, "process", subject.clone().map(|subject| of_fields(subject, entry)));
        let exit = entry.get(Field::ExitStatus);
        put(
            &mut out,
            "exit_code",
            exit.and_then(|value| if let Value::Code(code, _) = value { Some(json!(code)) } else { None }),
        );
    }
    put(&mut out, "actor.process", entry.by.as_ref().map(process).or(subject));
    let user = user(entry);
    put(&mut out, if class == AUTHENTICATION { "user" } else { "actor.user" }, user);
    class_members(entry, class, host, &mut out);
    let mut unmapped = Map::new();
    for (field, value) in &entry.fields {
        members(field.name(), value).into_iter().for_each(|(name, value)| _ = unmapped.insert(name, value));
    }
    unmapped.insert("kind".into(), json!(entry.kind.name));
    unmapped.insert("event".into(), json!(entry.event));
    unmapped.insert("time".into(), json!(entry.time.map(|time| time.0)));
    unmapped.insert("buffer".into(), json!(entry.place.buffer));
    unmapped.insert(
        "user_known_by".into(),
        json!(entry.user.as_ref().map(|user| if user.is_of_process { "process" } else { "event" })),
    );
    put(&mut out, "unmapped", Json::Object(unmapped));
    Json::Object(out)
}

/// Whether the event has the values that its class requires.
fn has_required(entry: &Entry<'_>) -> bool {
    let has = |field| entry.get(field).is_some();
    let class = entry.kind.ocsf.0;
    let needs_actor = matches!(class, FILE | MODULE | PROCESS | SCRIPT | REGISTRY_KEY | REGISTRY_VALUE | SERVICE);
    if needs_actor && entry.process.is_none() && user(entry).is_none() {
        return false;
    }
    match class {
        PROCESS => entry.process.is_some(),
        FILE => has(Field::Path) || has(Field::RequestedPath) || has(Field::FileObject),
        JOB => has(Field::Task),
        SCRIPT => has(Field::Script) || has(Field::Content),
        NETWORK => endpoints(entry).iter().any(|(address, _)| address.is_some()),
        HTTP => has(Field::Url),
        DNS => has(Field::Query),
        AUTHENTICATION => user(entry).is_some(),
        REGISTRY_KEY => has(Field::RegistryKey),
        REGISTRY_VALUE => has(Field::RegistryKey) && has(Field::RegistryValue),
        SERVICE => has(Field::Service) && (has(Field::ImagePath) || has(Field::Account)),
        _ => true,
    }
}

const BASE: u32 = 0;
const OTHER: u32 = 99;
const FILE: u32 = 1001;
const MODULE: u32 = 1005;
const JOB: u32 = 1006;
const PROCESS: u32 = 1007;
const EVENT_LOG: u32 = 1008;
const SCRIPT: u32 = 1009;
const DETECTION: u32 = 2004;
const AUTHENTICATION: u32 = 3002;
const NETWORK: u32 = 4001;
const HTTP: u32 = 4002;
const DNS: u32 = 4003;
const REGISTRY_KEY: u32 = 201_001;
const REGISTRY_VALUE: u32 = 201_002;
const SERVICE: u32 = 201_004;

fn class_members(entry: &Entry<'_>, class: u32, host: Option<&str>, out: &mut Map<String, Json>) {
    let text = |field| entry.get(field).map(|value| json!(value.text()));
    let here = || host.map(|host| json!({ "hostname": host }));
    let [source, destination] = endpoints(entry).map(|(address, port)| {
        let mut endpoint = Map::new();
        put(&mut endpoint, "ip", address.map(|address| json!(address)));
        put(&mut endpoint, "port", port.map(|port| json!(port)));
        Some(Json::Object(endpoint)).filter(|endpoint| endpoint.get("ip").is_some())
    });
    match class {
        FILE => {
            let path = [Field::Path, Field::RequestedPath, Field::FileObject].into_iter().find_map(|field| entry.get(field));
            put(out, "file", path.map(|path| file(&path.text())));
        }
        MODULE => {
            let path = entry.get(Field::Library).or(entry.get(Field::Path));
            put(out, "module.file", path.map(|path| file(&path.text())));
            put(out, "module.load_type_id", json!(0));
            put(out, "module.base_address", text(Field::Base));
        }
        NETWORK => {
            put(out, "src_endpoint", source);
            put(out, "dst_endpoint", destination);
            put(out, "connection_info", json!({ "protocol_num": 6, "protocol_name": "tcp", "direction_id": direction(entry) }));
        }
        DNS => {
            put(out, "query.hostname", text(Field::Query));
            let ty = entry.get(Field::QueryType).map(|ty| ty.name().map_or_else(|| ty.text(), Cow::into_owned));
            put(out, "query.type", ty.filter(|_| entry.get(Field::Query).is_some()).map(|ty| json!(ty)));
            put(out, "src_endpoint", here());
        }
        HTTP => {
            put(out, "http_request.url.url_string", text(Field::Url));
            let method = entry.get(Field::Method).map(Value::text).filter(|method| METHODS.contains(&method.as_str()));
            put(out, "http_request.http_method", method.map(|method| json!(method)));
        }
        SCRIPT => {
            put(out, "script.type_id", json!(if entry.kind.name == "script_run" { POWERSHELL } else { 0 }));
            put(out, "script.script_content.value", text(Field::Script).or(text(Field::Content)));
            put(out, "script.uid", text(Field::ScriptId));
            put(out, "script.file", entry.get(Field::Path).map(|path| file(&path.text())));
        }
        AUTHENTICATION => {
            put(out, "logon_type_id", entry.get(Field::LogonType).map(logon_type));
            put(out, "src_endpoint", source);
            put(out, "dst_endpoint", here());
            let status = if entry.kind.name == "logon_failed" { 2 } else { 1 };
            put(out, "status_id", json!(status));
        }
        JOB => put(
            out,
            "job",
            text(Field::Task).map(|name| json!({ "name": name, "file": file(name.as_str().unwrap_or_default()) })),
        ),
        EVENT_LOG => put(out, "log_name", text(Field::EventLog).or(Some(json!("Security")))),
        DETECTION => {
            put(out, "finding_info.title", json!(entry.sentence()));
            put(out, "finding_info.uid", json!(format!("{}:{}", entry.place.buffer_offset, entry.place.offset)));
        }
        REGISTRY_KEY => put(out, "reg_key.path", text(Field::RegistryKey)),
        REGISTRY_VALUE => {
            put(out, "reg_value.name", text(Field::RegistryValue));
            put(out, "reg_value.path", text(Field::RegistryKey));
        }
        SERVICE => {
            put(out, "win_service.name", text(Field::Service));
            put(out, "win_service.cmd_line", text(Field::ImagePath));
            put(out, "win_service.service_start_name", text(Field::Account));
        }
        _ => {}
    }
}

/// The methods of HTTP that the schema allows.
const METHODS: [&str; 8] = ["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT"];

/// The identifier of the type of a PowerShell script.
const POWERSHELL: u32 = 2;

/// The kind of log-on in the numbers of the schema: those of Windows, except for two.
fn logon_type(value: &Value) -> Json {
    json!(match value {
        Value::Code(0, _) => 1,
        Value::Code(ty @ (2..=5 | 7..=13), _) => *ty,
        _ => OTHER,
    })
}

/// Inbound or outbound, if the event states which side began the connection.
fn direction(entry: &Entry<'_>) -> u32 {
    match entry.kind.name {
        "connection_accepted" => 1,
        "connection_made" => 2,
        _ => 0,
    }
}

fn file(path: &str) -> Json {
    json!({ "name": file_name(path), "path": path, "type_id": 1 })
}

fn process(participant: &Participant<'_>) -> Json {
    let mut out = Map::new();
    put(&mut out, "pid", json!(participant.id));
    if let Some(process) = participant.process {
        put(&mut out, "name", process.image().map(|image| json!(image)));
        put(&mut out, "cmd_line", process.command_line().map(|line| json!(line)));
        put(&mut out, "file", process.path.as_ref().map(|path| file(&path.value)));
        put(&mut out, "parent_process.pid", process.parent_id.as_ref().map(|parent| json!(parent.value)));
        put(&mut out, "parent_process.name", participant.parent.and_then(|parent| parent.image()).map(|image| json!(image)));
    }
    Json::Object(out)
}

/// The process with what the event itself states.
fn of_fields(process: Json, entry: &Entry<'_>) -> Json {
    let Json::Object(mut out) = process else { return process };
    if !out.contains_key("cmd_line") {
        put(&mut out, "cmd_line", entry.get(Field::CommandLine).map(|line| json!(line.text())));
    }
    if !out.contains_key("file") {
        put(&mut out, "file", entry.get(Field::ImagePath).map(|path| file(&path.text())));
    }
    Json::Object(out)
}

fn user(entry: &Entry<'_>) -> Option<Json> {
    let mut out = Map::new();
    if let Some(user) = &entry.user {
        put(&mut out, "uid", json!(user.sid));
        put(&mut out, "name", user.name().map(|name| json!(name)));
    }
    put(&mut out, "name", entry.get(Field::UserName).map(|name| json!(name.text())));
    put(&mut out, "domain", entry.get(Field::UserDomain).map(|domain| json!(domain.text())));
    Some(Json::Object(out)).filter(|user| user.as_object().is_some_and(|user| !user.is_empty()))
}
