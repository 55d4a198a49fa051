//! The kinds of a time line: for each row of the table, an event with a value in each field, written by its schema, is read as an entry.

use etw_layouts_answers::timeline::{Entry, Field, Form, Format, KINDS, ROWS, Row, Source, Timeline, Value, kind_named};
use etw_layouts_catalog::library;
use etw_layouts_trace::etl::payload::{Count, Field as SchemaField, InType, Length, OutType, Schema};
use etw_layouts_trace::etl::{FileTime, Schemas, Uuid, codes};
use etw_layouts_trace::{BytesSource, Options, Trace, TraceFile, kernel};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use test_support::records::{Written, written};

/// An event that a row is about: how it is written, and its schema.
struct Made {
    schema: Schema<'static>,
    event: EventOf,
}

#[derive(Clone, Copy)]
enum EventOf {
    Hook(u16),
    Provider(Uuid, u16),
}

/// All events of a source in all versions.
fn events(source: &Source) -> Vec<Made> {
    match source {
        Source::Kernel(class, names) => kernel::all()
            .filter(|(.., schema)| schema.provider == *class && names.contains(&schema.event))
            .filter_map(|(_, group, ty, schema)| {
                Some(Made { schema: *schema, event: EventOf::Hook(u16::from(group?) << 8 | u16::from(ty)) })
            })
            .collect(),
        Source::Provider(name, guid, ids) => {
            let guid = Uuid::from_u128(*guid);
            let provider = library().provider(guid).unwrap_or_else(|| panic!("{name}: not in the catalogue"));
            assert_eq!(provider.name(), *name);
            let variants =
                provider.events().flatten().filter(|variant| !variant.key().is_classic() && ids.contains(&variant.id()));
            let made = variants
                .filter_map(|variant| Some(Made { schema: variant.schema()?, event: EventOf::Provider(guid, variant.id()) }));
            made.collect()
        }
    }
}

fn alternatives(names: &str) -> impl Iterator<Item = &str> {
    names.trim_start_matches('@').split('|')
}

/// The number that the field with a name has in made events. Each name has its own.
fn number(row: &Row, name: &str) -> u64 {
    match row.only {
        Some((field, value)) if field == name => value,
        _ => 1000 + name.bytes().map(u64::from).sum::<u64>() % 1000,
    }
}

/// Size of texts and bytes whose size another field states.
const SIZED: usize = 4;

/// The text of a field.
fn text(field: &SchemaField<'_>) -> String {
    let is_sized = matches!(field.length, Length::Field(_)) || matches!(field.count, Count::Field(_));
    if is_sized { field.name.trim_start_matches('_')[..SIZED].to_owned() } else { field.name.to_owned() }
}

/// The payload of an event, with a text or a number for each field. It ends before a field whose size no schema states.
fn payload(row: &Row, schema: &Schema<'_>) -> Vec<u8> {
    let bytes = |field: SchemaField<'_>| {
        let number = if field.is_size { SIZED as u64 } else { number(row, field.name) }.to_le_bytes();
        let end = if field.length == Length::Type && field.count == Count::One { "\0" } else { "" };
        Some(match (field.in_type, field.length) {
            (InType::BINARY | InType::HEXDUMP, Length::Constant(size)) => vec![9; size.into()],
            (InType::BINARY | InType::HEXDUMP, _) => vec![9; SIZED],
            (InType::INT8 | InType::UINT8, _) => number[..1].to_vec(),
            (InType::INT16 | InType::UINT16, _) => number[..2].to_vec(),
            (InType::INT32 | InType::UINT32 | InType::HEXINT32 | InType::BOOLEAN | InType::FLOAT, _) => number[..4].to_vec(),
            (InType::WBEMSID, _) => vec![0; 4],
            (InType::POINTER | InType::SIZET | InType::INT64 | InType::UINT64 | InType::HEXINT64 | InType::FILETIME, _) => {
                number.to_vec()
            }
            (InType::GUID | InType::SYSTEMTIME, _) => vec![0; 16],
            // S-1-5-18
            (InType::SID, _) => vec![1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0],
            (InType::ANSISTRING | InType::ANSICHAR, _) => (text(&field) + end).into_bytes(),
            (InType::UNICODESTRING | InType::UNICODECHAR, _) => wide(&(text(&field) + end)),
            _ => return None,
        })
    };
    schema.fields.iter().map_while(bytes).flatten().collect()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn event(tick: i64, made: &Made, payload: Vec<u8>) -> Written {
    match made.event {
        EventOf::Hook(hook) => Written::kernel(tick, 0, hook, payload).version(made.schema.version.into()).by((11, 7)),
        EventOf::Provider(guid, id) => Written::event(tick, (11, 7), (guid.as_u128(), id, made.schema.version), payload),
    }
}

fn trace(events: &[Written]) -> Trace {
    let file = TraceFile::new("made.etl", BytesSource(written(events))).unwrap();
    let schemas = Schemas::built_in().with_static_library(library());
    Trace::new(vec![file], Options::new().schemas(schemas)).unwrap()
}

fn entries<'t>(trace: &'t Trace, kinds: &[&str]) -> Vec<Entry<'t>> {
    let mut timeline = Timeline::new(trace, kinds);
    trace.events().filter_map(|event| timeline.entry(&event.unwrap(), true).unwrap()).collect()
}

/// The name of the field of an event, as it is in the payload, that a value comes from.
fn stated<'s>(schema: &Schema<'_>, names: &'s str) -> Option<&'s str> {
    if names.starts_with('@') {
        return None;
    }
    alternatives(names).find(|name| schema.fields.iter().any(|field| field.name == *name))
}

#[test]
fn tables() {
    let names: BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    assert_eq!(ROWS.iter().map(|row| row.kind).collect::<BTreeSet<_>>(), names, "kinds without events, or events without a kind");
    let fields: BTreeSet<_> = Field::ALL.iter().map(|field| field.name()).collect();
    assert_eq!(fields.len(), Field::ALL.len());
    for row in ROWS {
        let made = events(&row.source);
        let ids: &[u16] = if let Source::Provider(.., ids) = &row.source { ids } else { &[] };
        for id in ids {
            assert!(made.iter().any(|made| matches!(made.event, EventOf::Provider(_, own) if own == *id)), "{}: {id}", row.kind);
        }
        let has = |name: &str| made.iter().any(|made| made.schema.fields.iter().any(|field| field.name == name));
        let only = row.only.map(|(name, _)| name);
        let request = row.completion.map(|completion| completion.request);
        for name in row.fields.iter().flat_map(|(_, names)| alternatives(names)).chain(only).chain(request) {
            assert!(has(name) || name.contains(' '), "{}: no schema of its events has the field {name}", row.kind);
        }
        if let Some(completion) = row.completion {
            for name in [completion.packet, completion.status, completion.information] {
                assert!(
                    events(&completion.source).iter().all(|made| made.schema.fields.iter().any(|field| field.name == name)),
                    "{name}"
                );
            }
        }
    }
}

/// Writes an event of each row in each version, and compares the entry with the row: kind, values, sentence, ECS and OCSF.
#[test]
fn each_row() {
    let (mut rows, mut versions, mut bracketed) = (BTreeSet::new(), 0, 0);
    let (ecs, ocsf, mut columns) = (Ecs::new(), Ocsf::new(), BTreeSet::new());
    for (at, row) in ROWS.iter().enumerate() {
        for made in events(&row.source) {
            // A condition on a field that a version lacks is never met.
            if row.only.is_some_and(|(name, _)| !made.schema.fields.iter().any(|field| field.name == name)) {
                continue;
            }
            let mut written = vec![event(10, &made, payload(row, &made.schema))];
            if let Some(completion) = row.completion {
                let ends = events(&completion.source);
                let end = ends.iter().max_by_key(|end| end.schema.version).unwrap();
                let packet = number(row, completion.request).to_le_bytes().to_vec();
                let status = 0_u32.to_le_bytes().to_vec();
                written.push(event(20, end, [packet, 2_u64.to_le_bytes().to_vec(), status].concat()));
            }
            let trace = trace(&written);
            let found = entries(&trace, &[row.kind]);
            let [entry] = &found[..] else { panic!("{} {}: {} entries", row.kind, made.schema.event, found.len()) };
            assert_eq!((entry.kind.name, entry.time.unwrap().0), (row.kind, if row.completion.is_some() { 20 } else { 10 }));
            check(row, &made.schema, entry);
            let sentence = entry.sentence();
            // An address of IPv6 before a port is in brackets.
            let address = format!("[{}]:", std::net::Ipv6Addr::from([9; 16]));
            bracketed += usize::from(sentence.contains(&address));
            let rest = sentence.replace(&address, "");
            assert!(!rest.contains(['{', '[', ']', '}']) || rest.contains("[::"), "{sentence}");
            let document = entry.document(Form::Ecs, "made.etl", Some("HOST"));
            ecs.check(&document);
            paths("", &document, &mut columns);
            ocsf.check(&entry.document(Form::Ocsf, "made.etl", Some("HOST")));
            rows.insert(at);
            versions += 1;
        }
    }
    println!("{} of {} rows in {versions} versions", rows.len(), ROWS.len());
    assert!(bracketed >= 3, "{bracketed} sentences with an address of IPv6");
    let missing: Vec<_> = ROWS.iter().enumerate().filter(|(at, _)| !rows.contains(at)).map(|(_, row)| row.kind).collect();
    assert_eq!(missing, Vec::<&str>::new());
    paths("", &child_of_known_parent(), &mut columns);
    check_dashboards(&columns);
}

/// The document of a process whose parent was started before it.
fn child_of_known_parent() -> Json {
    let row = ROWS.iter().find(|row| row.kind == "process_started" && matches!(row.source, Source::Kernel(..))).unwrap();
    let made = events(&row.source).into_iter().next_back().unwrap();
    let child = payload(row, &made.schema);
    let mut parent = child.clone();
    let [own, other] = ["ProcessId", "ParentId"].map(|name| (number(row, name) as u32).to_le_bytes());
    let at = parent.windows(4).position(|window| window == own).unwrap();
    parent[at..at + 4].copy_from_slice(&other);
    let trace = trace(&[event(5, &made, parent), event(10, &made, child)]);
    let found = entries(&trace, &[row.kind]);
    found.last().unwrap().document(Form::Ecs, "made.etl", None)
}

/// The paths of all values of a document.
fn paths(parent: &str, value: &Json, found: &mut BTreeSet<String>) {
    match value.as_object() {
        Some(members) => {
            let name = |name: &String| if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
            members.iter().for_each(|(own, value)| paths(&name(own), value, found));
        }
        None => _ = found.insert(parent.to_owned()),
    }
}

/// The dashboards for Grafana and Kibana use fields that entries have.
fn check_dashboards(columns: &BTreeSet<String>) {
    let grafana = include_str!("../../docs/dashboards/grafana-timeline.json");
    let kibana = include_str!("../../docs/dashboards/kibana-timeline.ndjson");
    let objects: Vec<Json> = kibana.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let known: BTreeSet<_> = objects.iter().map(|one| (one["type"].to_string(), one["id"].to_string())).collect();
    for one in &objects {
        // Without its version, Kibana migrates an object as one of the oldest format.
        assert!(one["coreMigrationVersion"].is_string() && one["typeMigrationVersion"].is_string(), "{one}");
        let mut references = one["references"].as_array().unwrap().iter();
        assert!(references.all(|to| known.contains(&(to["type"].to_string(), to["id"].to_string()))), "{one}");
    }
    let mut used = BTreeSet::new();
    for document in [grafana].into_iter().chain(kibana.lines()) {
        used_fields("", &serde_json::from_str(document).unwrap(), &mut used);
    }
    assert!(used.len() >= 10, "{used:?}");
    assert_eq!(used.difference(columns).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The fields that a dashboard uses: in members that state a field, and before the colons of queries. A text can be a document itself.
fn used_fields(name: &str, value: &Json, used: &mut BTreeSet<String>) {
    match value {
        Json::Object(members) => members.iter().for_each(|(name, value)| used_fields(name, value, used)),
        Json::Array(values) => values.iter().for_each(|value| used_fields(name, value, used)),
        Json::String(text) if text.starts_with('{') && name != "find" => {
            used_fields(name, &serde_json::from_str(text).unwrap(), used);
        }
        Json::String(text) if ["field", "timeField", "timeFieldName", "columns"].contains(&name) => _ = used.insert(text.clone()),
        Json::String(text) if name == "query" => {
            let words = text.split_whitespace().filter_map(|word| word.split_once(':'));
            used.extend(words.map(|(field, _)| field.to_owned()));
        }
        // The order of rows: a field and a direction.
        Json::String(text) if name == "sort" && text != "asc" => _ = used.insert(text.clone()),
        _ => {}
    }
}

fn check(row: &Row, schema: &Schema<'_>, entry: &Entry<'_>) {
    for (field, names) in row.fields {
        let Some(name) = stated(schema, names) else { continue };
        let written = schema.fields.iter().find(|field| field.name == name).unwrap();
        let number = if written.is_size { SIZED as u64 } else { number(row, name) };
        let masked = match written.in_type {
            InType::INT8 | InType::UINT8 => number & 0xFF,
            InType::INT16 | InType::UINT16 => number & 0xFFFF,
            _ => number,
        };
        let masked = if written.out_type == OutType::PORT { u64::from((masked as u16).swap_bytes()) } else { masked };
        let is_text =
            matches!(written.in_type, InType::UNICODESTRING | InType::ANSISTRING | InType::UNICODECHAR | InType::ANSICHAR);
        let place = format!("{} {}: {name}", row.kind, schema.event);
        if *field == Field::Process {
            assert_eq!(entry.process.unwrap().id, masked as u32, "{place}");
            continue;
        }
        match (field.format(), entry.get(*field)) {
            (Format::Number, Some(Value::Number(own)))
            | (Format::Hexadecimal, Some(Value::Hexadecimal(own)))
            | (Format::BugCheck, Some(Value::BugCheck(own, _))) => {
                assert_eq!(*own, masked, "{place}");
            }
            (Format::Code(_), Some(Value::Code(own, _))) => assert_eq!(u64::from(*own), masked, "{place}"),
            (Format::Path, Some(Value::Path(own, None))) if is_text => assert_eq!(*own, text(&written), "{place}"),
            (Format::Text | Format::Sid, Some(Value::Text(own))) if is_text => assert_eq!(*own, text(&written), "{place}"),
            (Format::Sid, Some(Value::Text(own))) if written.in_type == InType::SID => assert_eq!(own, "S-1-5-18", "{place}"),
            (Format::Text, Some(Value::Text(own))) if written.out_type == OutType::IPV4 => {
                let [a, b, c, d] = (masked as u32).to_le_bytes();
                assert_eq!(*own, format!("{a}.{b}.{c}.{d}"), "{place}");
            }
            (Format::Text, Some(Value::Text(own))) if written.in_type == InType::BINARY => {
                let address = std::net::Ipv6Addr::from([9; 16]).to_string();
                assert!([address.as_str(), "0x09090909"].contains(&own.as_str()), "{place}: {own}");
            }
            (Format::Text, Some(Value::Text(own))) => assert_eq!(*own, masked.to_string(), "{place}"),
            // A text where the event log has a number, and a user without SID.
            (Format::Number | Format::Code(_), None) if is_text => {}
            (Format::Sid, None) if written.in_type == InType::WBEMSID => {}
            (format, value) => panic!("{place}: {format:?} {value:?}"),
        }
    }
}

/// The fields of the Elastic Common Schema.
struct Ecs(BTreeMap<&'static str, &'static str>);

impl Ecs {
    fn new() -> Self {
        Self(include_str!("ecs.tsv").lines().filter_map(|line| line.split_once('\t')).collect())
    }

    fn check(&self, document: &Json) {
        self.object("", document);
    }

    fn object(&self, parent: &str, value: &Json) {
        for (name, value) in value.as_object().unwrap() {
            let path = if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
            let is_right = |value: &Json| match self.0.get(path.as_str()) {
                Some(&"long") => value.is_u64(),
                Some(&"ip") => value.as_str().is_some_and(|text| text.parse::<std::net::IpAddr>().is_ok()),
                Some(&"object") => value.as_object().unwrap().values().all(Json::is_string),
                Some(_) => value.is_string(),
                None => false,
            };
            match value {
                Json::Object(_) if !self.0.contains_key(path.as_str()) => self.object(&path, value),
                Json::Array(values) => assert!(values.iter().all(is_right), "{path}: {value}"),
                value => assert!(is_right(value), "{path}: {value}"),
            }
        }
    }
}

/// The classes and objects of the Open Cybersecurity Schema Framework.
struct Ocsf(BTreeMap<&'static str, Vec<&'static str>>);

impl Ocsf {
    fn new() -> Self {
        let line = |line: &'static str| {
            let mut cells = line.split('\t').skip(1);
            Some((cells.next()?, cells.next()?.split(' ').collect()))
        };
        Self(include_str!("ocsf.tsv").lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
    }

    fn check(&self, document: &Json) {
        let class = document["class_uid"].to_string();
        assert_eq!(
            document["type_uid"].as_u64().unwrap(),
            document["class_uid"].as_u64().unwrap() * 100 + document["activity_id"].as_u64().unwrap()
        );
        self.object(&class, document);
    }

    fn object(&self, name: &str, value: &Json) {
        let attributes = self.0.get(name).unwrap_or_else(|| panic!("{name}: not in the schema"));
        let own = value.as_object().unwrap();
        let split = |attribute: &&'static str| {
            let (name, rest) = attribute.split_once(':').unwrap();
            let (ty, values) = rest.trim_end_matches('!').split_once('=').unwrap_or((rest.trim_end_matches('!'), ""));
            (name, ty, values, rest.ends_with('!'))
        };
        let known: Vec<_> = attributes.iter().map(split).collect();
        for (attribute, .., is_required) in &known {
            assert!(!is_required || own.contains_key(*attribute), "{name}: no {attribute} in {value}");
        }
        for (attribute, value) in own {
            if (name, attribute.as_str()) == ("metadata", "profiles") {
                continue;
            }
            let Some((_, ty, values, _)) = known.iter().find(|known| known.0 == attribute) else {
                panic!("{name}: no attribute {attribute}");
            };
            assert!(
                values.is_empty() || values.split('|').any(|one| one.parse() == Ok(value.as_i64().unwrap_or(-1))),
                "{name}.{attribute}: {value}"
            );
            match *ty {
                "integer" | "long" | "port" => assert!(value.is_i64(), "{name}.{attribute}: {value}"),
                "object" => {}
                _ if value.is_object() => self.object(ty, value),
                _ => assert!(value.is_string(), "{name}.{attribute}: {value} is no {ty}"),
            }
        }
    }
}

/// Processes that existed, requests that created nothing, and a start that two providers state.
#[test]
fn not_listed() {
    let specs = |class: &'static str, name: &'static str| {
        events(&Source::Kernel(class, Vec::leak(vec![name]))).into_iter().next_back().unwrap()
    };
    let start = kind_named("process_started").unwrap();
    let [kernel_row, provider_row] = [0, 1].map(|at| ROWS.iter().filter(|row| row.kind == start.name).nth(at).unwrap());
    let with_id = |row: &'static Row, made: &Made, name: &str| {
        let mut bytes = payload(row, &made.schema);
        // The process identifier of both.
        let place = bytes.windows(4).position(|bytes| bytes == (number(row, name) as u32).to_le_bytes()).unwrap();
        bytes[place..place + 4].copy_from_slice(&77_u32.to_le_bytes());
        bytes
    };
    let (process, rundown) = (specs("Process", "Start"), specs("Process", "DCStart"));
    let manifest = events(&provider_row.source).into_iter().next().unwrap();
    let (create, end) = (specs("FileIo", "Create"), specs("FileIo", "OperationEnd"));
    let file = ROWS.iter().find(|row| row.completion.is_some()).unwrap();
    let ended = |packet: u64, information: u64, status: u32| {
        [packet.to_le_bytes().to_vec(), information.to_le_bytes().to_vec(), status.to_le_bytes().to_vec()].concat()
    };
    let (request, packet) = (payload(file, &create.schema), number(file, "IrpPtr"));
    let trace = trace(&[
        event(1, &rundown, payload(kernel_row, &rundown.schema)),
        event(2, &process, with_id(kernel_row, &process, "ProcessId")),
        event(3, &manifest, with_id(provider_row, &manifest, "ProcessID")),
        // It opened a file; it failed; it created one; its end is missing.
        event(10, &create, request.clone()),
        event(11, &end, ended(packet, 1, 0)),
        event(12, &create, request.clone()),
        event(13, &end, ended(packet, 2, 0xC000_0022)),
        event(14, &create, request.clone()),
        event(15, &end, ended(packet, 2, 0)),
        event(16, &create, request),
    ]);
    let mut timeline = Timeline::new(&trace, &[]);
    let listed: Vec<_> = trace
        .events()
        .filter_map(|event| timeline.entry(&event.unwrap(), true).unwrap())
        .map(|entry| (entry.time.unwrap().0, entry.kind.name))
        .collect();
    assert_eq!(listed, [(2, "process_started"), (15, "file_created")]);
    let counts = timeline.counts();
    assert_eq!((counts.repeated, counts.not_created, counts.not_ended), (1, 2, 1));
    // A filter that leaves out one provider leaves the start that the other one states.
    for (tick, other) in [(2, 3), (3, 2)] {
        let mut timeline = Timeline::new(&trace, &["process_started"]);
        let listed = trace.events().filter_map(|event| {
            let event = event.unwrap();
            timeline.entry(&event, event.tick() != other).unwrap()
        });
        let times: Vec<_> = listed.map(|entry| entry.time.unwrap().0).collect();
        assert_eq!((times, timeline.counts().repeated), (vec![tick], 0));
    }
    // A filter leaves out the request, and not its end.
    let mut timeline = Timeline::new(&trace, &[]);
    let is_wanted = |tick: i64| tick < 14;
    let listed = trace.events().filter_map(|event| {
        let event = event.unwrap();
        timeline.entry(&event, is_wanted(event.tick())).unwrap()
    });
    assert_eq!(listed.count(), 1);
}

/// Requests that have not ended are kept only up to a limit; entries after it are not affected.
#[test]
fn many_requests() {
    let of = |name: &'static str| events(&Source::Kernel("FileIo", Vec::leak(vec![name]))).into_iter().next_back().unwrap();
    let (create, end) = (of("Create"), of("OperationEnd"));
    let file = ROWS.iter().find(|row| row.completion.is_some()).unwrap();
    let head = payload(file, &create.schema);
    let head = &head[8..head.len() - wide("OpenPath\0").len()];
    let path = wide(&("x".repeat(30_000) + "\0"));
    let request = |packet: u64| [&packet.to_le_bytes()[..], head, &path].concat();
    let requests = 1..=1500;
    let ended = [1500_u64.to_le_bytes().to_vec(), 2_u64.to_le_bytes().to_vec(), vec![0; 4]].concat();
    let mut written: Vec<_> = requests.map(|packet| event(packet, &create, request(packet as u64))).collect();
    written.push(event(2000, &end, [1_u64.to_le_bytes().to_vec(), 2_u64.to_le_bytes().to_vec(), vec![0; 4]].concat()));
    written.push(event(2001, &end, ended));
    let trace = trace(&written);
    let mut timeline = Timeline::new(&trace, &[]);
    let listed = trace.events().filter_map(|event| timeline.entry(&event.unwrap(), true).unwrap());
    // The first request is kept, and the last one is not.
    assert_eq!(listed.map(|entry| entry.time.unwrap().0).collect::<Vec<_>>(), [2000]);
    assert_eq!(timeline.counts().not_ended, 1499);
}

/// Names of codes: the tables are read to their last line, and codes in other codes have the name of the inner one.
#[test]
fn names_of_codes() {
    type NameOf = fn(u32) -> Option<&'static str>;
    let tables: [(&str, NameOf); 3] = [
        (include_str!("../../etl/src/codes/win32.tsv"), codes::win32),
        (include_str!("../../etl/src/codes/hresult.tsv"), codes::hresult),
        (include_str!("../../etl/src/codes/bug_check.tsv"), codes::bug_check),
    ];
    let mut counts = Vec::new();
    for (table, name_of) in tables {
        let rows: Vec<_> =
            table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap()).collect();
        for (code, name) in &rows {
            let code = code.strip_prefix("0x").map_or_else(|| code.parse(), |digits| u32::from_str_radix(digits, 16)).unwrap();
            assert_eq!(name_of(code), Some(*name));
        }
        counts.push(rows.len());
    }
    assert_eq!(counts, [1847, 1340, 315]);
    let names = [
        codes::win32(5),
        codes::hresult(0x8007_0005),
        codes::hresult(0x8007_0002),
        codes::hresult(0xD000_0022),
        codes::ntstatus(0xC000_0005),
        codes::bug_check(0xD1),
        codes::exit_status(1),
        codes::exit_status(0xC000_013A),
    ];
    let expected = [
        "ERROR_ACCESS_DENIED",
        "E_ACCESSDENIED",
        "ERROR_FILE_NOT_FOUND",
        "STATUS_ACCESS_DENIED",
        "STATUS_ACCESS_VIOLATION",
        "DRIVER_IRQL_NOT_LESS_OR_EQUAL",
        "",
        "STATUS_CONTROL_C_EXIT",
    ];
    assert_eq!(names.map(Option::unwrap_or_default), expected);
    let names = ["S-1-5-18", "S-1-5-21-1-2-3-500", "S-1-5-90-0-3", "S-1-5-90-0-x", "S-1-5-96-0-0"].map(codes::sid);
    let expected = ["NT AUTHORITY\\SYSTEM", "", "Window Manager\\DWM-3", "", "Font Driver Host\\UMFD-0"];
    assert_eq!(names.map(Option::unwrap_or_default), expected);
}

/// A bug check has its name, and its parameters have their meanings: by the numbers of an event, and by the text of another one.
#[test]
fn bug_checks() {
    let rows: Vec<_> = ROWS.iter().filter(|row| row.kind == "bug_check").collect();
    let [of_numbers, of_text] = rows[..] else { panic!("{} rows", rows.len()) };
    let made = |row: &Row, payload: Vec<u8>| {
        let made = events(&row.source).into_iter().next_back().unwrap();
        event(10, &made, payload)
    };
    let numbers = |code: u32, parameters: [u64; 4]| {
        [code.to_le_bytes().to_vec(), parameters.map(u64::to_le_bytes).concat(), vec![0; 64]].concat()
    };
    let description =
        wide("0x0000009f (0x0000000000000003, 0xffffe00013cae060, 0xfffff8010386c3d8, 0xffffe00013d07420)\0C:\\MEMORY.DMP\0\0");
    let trace = trace(&[
        made(of_numbers, numbers(0xD1, [0x10, 2, 0, 0xFFFF_F803_1234_5678])),
        made(of_numbers, numbers(0x3B, [0xC000_0005, 1, 2, 0])),
        made(of_numbers, numbers(0xDEAD, [1, 2, 3, 4])),
        made(of_text, description),
    ]);
    let found = entries(&trace, &["bug_check"]);
    let expected = [
        "0xd1 DRIVER_IRQL_NOT_LESS_OR_EQUAL (0x10 memory referenced, 0x2 IRQL, 0x0 access (0 read, 1 write, 8 execute), 0xfffff80312345678 instruction)",
        "0x3b SYSTEM_SERVICE_EXCEPTION (0xc0000005 exception code STATUS_ACCESS_VIOLATION, 0x1 instruction, 0x2 context record, 0x0)",
        "0xdead (0x1, 0x2, 0x3, 0x4)",
        "0x9f DRIVER_POWER_STATE_FAILURE (0x3 kind of violation: device blocks an IRP, 0xffffe00013cae060 physical device object, \
         0xfffff8010386c3d8 functional device object (TRIAGE_9F_POWER in Windows 7 and later), 0xffffe00013d07420 blocked IRP)",
    ];
    let sentences: Vec<_> = found.iter().map(Entry::sentence).collect();
    assert_eq!(sentences, expected.map(|text| format!("Windows restarted after a bug check: {text}")));
    let document = found[0].document(Form::Plain, "made.etl", None);
    assert_eq!(document["fields"]["bug_check"], "0xd1");
    assert_eq!(document["fields"]["parameter_2_name"], "IRQL");
    let check = codes::BugCheck { code: 0xD1, parameters: [0x10, 2, 0, 0xFFFF_F803_1234_5678] };
    assert_eq!(check.to_string(), expected[0]);
    // Each code of the table has a name.
    let table = include_str!("../../etl/src/codes/bug_check_parameters.tsv");
    let mut of_table = BTreeSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<_> = line.split('\t').collect();
        let code = u32::from_str_radix(cells[0].strip_prefix("0x").unwrap(), 16).unwrap();
        assert!(cells.len() == 6 && codes::bug_check(code).is_some(), "{line}");
        let first = cells[1].parse().unwrap_or(u64::MAX);
        assert_eq!(codes::bug_check_parameters(code, first).unwrap(), cells[2..]);
        of_table.insert(code);
    }
    assert_eq!(of_table.len(), 27);
}

/// Damaged traces have times in any year.
#[test]
fn times_of_any_year() {
    let row = &ROWS[0];
    let made = events(&row.source).into_iter().next_back().unwrap();
    let trace = trace(&[event(10, &made, payload(row, &made.schema))]);
    let mut entry = entries(&trace, &[row.kind]).remove(0);
    for (time, datetime, microseconds) in [
        (0, "1601-01-01T00:00:00.000000+00:00", -11_644_473_600_000_000),
        (132_404_799_797_984_239, "2020-07-29T07:06:19.798423+00:00", 1_596_006_379_798_423),
        (i64::MAX, "30828-09-14T02:48:05.477580+00:00", 910_692_730_085_477_580),
        (i64::MIN, "", -933_981_677_285_477_581),
    ] {
        entry.time = Some(FileTime(time));
        let own = entry.datetime().unwrap();
        assert!(own == datetime || datetime.is_empty() && own.starts_with('-'), "{own}");
        assert_eq!(entry.microseconds(), Some(microseconds));
        for form in [Form::Plain, Form::Ecs, Form::Ocsf] {
            assert!(entry.document(form, "made.etl", None)["message"].is_string());
        }
    }
}
