//! Entries as JSON: with the project's own names, by the Elastic Common Schema, and by the Open Cybersecurity Schema Framework.

mod ecs;
mod ocsf;

use super::entry::{Entry, Participant, Value};
use super::field::Field;
use etw_layouts_trace::etl::FileTime;
use serde_json::{Map, Value as Json, json};

/// A form of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The names of [`Field`], and the columns that Timesketch requires: `datetime`, `message` and `timestamp_desc`.
    Plain,
    /// The Elastic Common Schema, version 8.12.
    Ecs,
    /// The Open Cybersecurity Schema Framework, version 1.5.0.
    Ocsf,
}

impl Entry<'_> {
    /// The entry as a JSON object. `file` is the name of its file; `host` the name of the computer, if the trace states none.
    #[must_use]
    pub fn document(&self, form: Form, file: &str, host: Option<&str>) -> Json {
        let host = self.host.or(host);
        match form {
            Form::Plain => self.plain(file, host),
            Form::Ecs => ecs::document(self, file, host),
            Form::Ocsf => ocsf::document(self, file, host),
        }
    }

    fn plain(&self, file: &str, host: Option<&str>) -> Json {
        let participant = |of: &Option<Participant<'_>>| of.as_ref().map(participant);
        let mut fields = Map::new();
        for (field, value) in &self.fields {
            for (name, value) in members(field.name(), value) {
                fields.insert(name, value);
            }
        }
        let user = self.user.as_ref();
        json!({
            "datetime": self.datetime(),
            "timestamp": self.microseconds(),
            "timestamp_desc": self.kind.name,
            "message": self.sentence(),
            "time": self.time.map(|time| time.0),
            "time_utc": self.time.map(|time| time.rfc3339().to_string()),
            "kind": self.kind.name,
            "host": host,
            "process": participant(&self.process),
            "by": participant(&self.by),
            "user": user.map(|user| json!({
                "sid": user.sid, "name": user.name(), "known_by": if user.is_of_process { "process" } else { "event" },
            })),
            "fields": fields,
            "provider": self.provider,
            "provider_guid": self.guid.map(|guid| guid.to_string()),
            "event": self.event,
            "id": self.id,
            "file": file,
            "buffer": self.place.buffer,
            "buffer_offset": self.place.buffer_offset,
            "offset": self.place.offset,
        })
    }

    /// The time in the form of ISO 8601, to a microsecond, as Timesketch reads it.
    #[must_use]
    pub fn datetime(&self) -> Option<String> {
        let time = self.time?.rfc3339().to_string();
        // RFC 3339 of a FILETIME has seven digits after the point.
        Some(format!("{}+00:00", time.get(..time.find('.')? + ".000000".len())?))
    }

    /// The time in microseconds since 1970.
    #[must_use]
    pub fn microseconds(&self) -> Option<i64> {
        self.time.map(|time| time.0.div_euclid(10) - FileTime::UNIX_EPOCH.0 / 10)
    }
}

fn participant(of: &Participant<'_>) -> Json {
    let process = of.process;
    json!({
        "id": of.id,
        "name": process.and_then(|process| process.image()),
        "path": process.and_then(|process| process.path.as_ref()).map(|path| &*path.value),
        "command_line": process.and_then(|process| process.command_line()),
        "parent": process.and_then(|process| process.parent_id.as_ref()).map(|parent| parent.value),
        "parent_name": of.parent.and_then(|parent| parent.image()),
    })
}

/// The members of a JSON object for a value: itself, its name, and the path that it replaces.
fn members(name: &str, value: &Value) -> Vec<(String, Json)> {
    let own = match value {
        Value::Number(number) => json!(number),
        Value::Code(code, _) => json!(code),
        value => json!(value.text()),
    };
    let mut members = vec![(name.to_owned(), own)];
    members.extend(value.name().map(|text| (format!("{name}_name"), json!(text))));
    if let Value::Path(_, Some(kernel)) = value {
        members.push((format!("{name}_of_kernel"), json!(kernel)));
    }
    members
}

/// Puts a value at a path such as `process.parent.pid`.
fn put(document: &mut Map<String, Json>, path: &str, value: impl Into<Option<Json>>) {
    let Some(value) = value.into() else { return };
    match path.split_once('.') {
        None => _ = document.insert(path.to_owned(), value),
        Some((first, rest)) => {
            let inner = document.entry(first).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The file name of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or_default()
}

/// The endpoints of a connection: source and destination, each with its address and port.
fn endpoints(entry: &Entry<'_>) -> [(Option<String>, Option<u64>); 2] {
    let number = |field| match entry.get(field) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let address = |field| entry.get(field).map(Value::text).filter(|text| text.parse::<std::net::IpAddr>().is_ok());
    let local = (address(Field::LocalAddress), number(Field::LocalPort));
    let remote = (address(Field::RemoteAddress), number(Field::RemotePort));
    // Others began the connections and log-ons that they came with.
    if is_incoming(entry) { [remote, local] } else { [local, remote] }
}

fn is_incoming(entry: &Entry<'_>) -> bool {
    matches!(entry.kind.name, "connection_accepted" | "logged_on" | "logon_failed")
}
