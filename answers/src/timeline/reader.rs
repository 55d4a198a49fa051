//! Events as entries of a timeline.

use super::entry::{BUG_CHECK, Entry, Participant, User, Value, bug_check_of};
use super::field::{Field, Format};
use super::kinds::{KINDS, Kind, kind_named};
use super::rows::{Completion, FILE_CREATED, ROWS, Row, Source};
use etw_layouts_trace::etl::payload::{Field as SchemaField, InType, PointerSize, Schema, Value as EventValue};
use etw_layouts_trace::etl::wire::EVENT_HEADER_EXT_TYPE;
use etw_layouts_trace::etl::{Decoded, Event as Header, Uuid, codes};
use etw_layouts_trace::{Error, Event, EventKind, ProcessIndex, Session, Trace, kernel, kind};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Makes the entries of a timeline from the events of a trace, which are passed in the order of time.
#[derive(Debug)]
pub struct Timeline<'t> {
    trace: &'t Trace,
    rows: Rows,
    /// The kinds that are listed.
    kinds: Vec<&'static str>,
    /// For each session, the requests to create a file that have not ended, by their packet.
    requests: Vec<HashMap<u64, Entry<'t>>>,
    /// Memory of these requests, in bytes.
    waiting: usize,
    /// The starts and ends of processes that are listed, by session, process and kind.
    listed: HashMap<(usize, ProcessIndex, &'static str), String>,
    counts: Counts,
}

/// What a timeline does not list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Events of kinds that were not chosen, by kind.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Events of chosen kinds whose fields no schema states.
    pub without_schema: u64,
    /// Events that state the start or the end of a process that is listed already, by an event of another provider.
    pub repeated: u64,
    /// Requests to create a file that opened a file, or failed.
    pub not_created: u64,
    /// Requests to create a file without an event of their end: whether they created the file is not known.
    pub not_ended: u64,
}

/// Maximum memory of the requests that are kept, in bytes.
const MAX_WAITING: usize = 32 << 20;

/// What an event of a table does.
#[derive(Clone, Copy, Debug)]
enum Use {
    Row(&'static Row, &'static Kind),
    /// It ends requests.
    End(&'static Completion),
}

/// The rows by the events that they are about.
#[derive(Debug, Default)]
struct Rows(HashMap<EventKind, Vec<Use>>);

impl Rows {
    fn new() -> Self {
        let mut rows = Self::default();
        for row in ROWS {
            if let Some(kind) = kind_named(row.kind) {
                rows.add(&row.source, Use::Row(row, kind));
            }
            if let Some(completion) = row.completion {
                rows.add(&completion.source, Use::End(completion));
            }
        }
        rows
    }

    fn add(&mut self, source: &Source, what: Use) {
        let kinds: HashSet<EventKind> = match source {
            Source::Kernel(class, names) => {
                let of_row = kernel::all().filter(|(.., schema)| schema.provider == *class && names.contains(&schema.event));
                of_row.map(|(guid, _, ty, _)| (guid, ty.into())).collect()
            }
            Source::Provider(_, guid, ids) => ids.iter().map(|id| (Uuid::from_u128(*guid), *id)).collect(),
        };
        kinds.into_iter().for_each(|kind| self.0.entry(kind).or_default().push(what));
    }

    fn of(&self, event: &Header<'_>) -> Option<&[Use]> {
        self.0.get(&kind(event)?).map(Vec::as_slice)
    }
}

impl<'t> Timeline<'t> {
    /// A timeline of a trace, with the kinds of these names; without names, the default ones.
    #[must_use]
    pub fn new(trace: &'t Trace, kinds: &[&str]) -> Self {
        let is_chosen = |kind: &&Kind| if kinds.is_empty() { kind.is_default } else { kinds.contains(&kind.name) };
        Self {
            trace,
            rows: Rows::new(),
            kinds: KINDS.iter().filter(is_chosen).map(|kind| kind.name).collect(),
            requests: trace.sessions().iter().map(|_| HashMap::new()).collect(),
            waiting: 0,
            listed: HashMap::new(),
            counts: Counts::default(),
        }
    }

    /// What is not listed so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let waiting = self.requests.iter().map(|requests| requests.len() as u64).sum::<u64>();
        Counts { not_ended: self.counts.not_ended + waiting, ..self.counts.clone() }
    }

    /// The entry of an event; `None` if it is not listed. If the event is not wanted, it only ends the request of an earlier one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn entry(&mut self, event: &Event<'t>, is_wanted: bool) -> Result<Option<Entry<'t>>, Error> {
        let header = event.header();
        let Some(uses) = self.rows.of(&header) else { return Ok(None) };
        let Some(decoded) = event.decode() else {
            self.counts.without_schema += u64::from(is_wanted);
            return Ok(None);
        };
        for what in uses {
            let (row, kind) = match what {
                Use::End(completion) => {
                    let ended = end(completion, &decoded, &mut self.requests[event.session_index()]);
                    if let Some((entry, is_created)) = ended {
                        self.waiting -= size(&entry);
                        if is_created {
                            return Ok(Some(Entry { time: event.time(), ..entry }));
                        }
                        self.counts.not_created += 1;
                    }
                    continue;
                }
                Use::Row(row, kind) => (row, kind),
            };
            let is_row = row.only.is_none_or(|(name, value)| number(&decoded, name) == Some(value));
            if !is_wanted || !is_row {
                continue;
            }
            if !self.kinds.contains(&kind.name) {
                // Whether a request was granted is known only at its end, which is not searched for here.
                if row.completion.is_none() {
                    *self.counts.left_out.entry(kind.name).or_default() += 1;
                }
                return Ok(None);
            }
            let entry = self.made(event, &header, &decoded, row, kind)?;
            let Some(completion) = row.completion else {
                if self.is_repeated(event.session_index(), &entry) {
                    self.counts.repeated += 1;
                    return Ok(None);
                }
                return Ok(Some(entry));
            };
            let size_of_entry = size(&entry);
            let packet = number(&decoded, completion.request).filter(|_| self.waiting + size_of_entry <= MAX_WAITING);
            let Some(packet) = packet else {
                self.counts.not_ended += 1;
                return Ok(None);
            };
            self.waiting += size_of_entry;
            // A packet that is used again belongs to a request whose end is not in the trace.
            if let Some(earlier) = self.requests[event.session_index()].insert(packet, entry) {
                self.waiting -= size(&earlier);
                self.counts.not_ended += 1;
            }
            return Ok(None);
        }
        Ok(None)
    }

    /// Whether an event of another provider, which is listed, states the same start or end of a process. The number of processes is limited.
    fn is_repeated(&mut self, session: usize, entry: &Entry<'_>) -> bool {
        let (name, index) = (entry.kind.name, entry.process.and_then(|process| process.index));
        match index {
            Some(index) if matches!(name, "process_started" | "process_ended") => {
                let listed = self.listed.entry((session, index, name)).or_insert_with(|| entry.provider.clone());
                *listed != entry.provider
            }
            _ => false,
        }
    }

    fn made(
        &self,
        event: &Event<'t>,
        header: &Header<'_>,
        decoded: &Decoded<'_>,
        row: &Row,
        kind: &'static Kind,
    ) -> Result<Entry<'t>, Error> {
        let session = self.trace.session_of(event.file_index());
        let mut fields = Vec::new();
        for (field, names) in row.fields {
            if let Some(value) = value(event, decoded, session, *field, names)? {
                fields.push((*field, value));
            }
        }
        name_bug_check(&mut fields);
        fields.sort_by_key(|(field, _)| *field);
        let stated = fields.iter().position(|(field, _)| *field == Field::Process).map(|at| fields.remove(at).1);
        let who = event.who();
        let participant = |id: u32, index: Option<ProcessIndex>| {
            let table = session.map(Session::processes);
            let index = index.or_else(|| table?.at(id, event.tick()));
            let process = table.and_then(|table| table.get(index?));
            let parent = table.and_then(|table| table.get(process?.parent?));
            Participant { id, index, process, parent }
        };
        let by = who.by.process.map(|id| participant(id, who.by.index));
        let subject = match stated {
            Some(Value::Number(id)) => u32::try_from(id).ok().map(|id| participant(id, None)),
            _ => None,
        };
        let process = subject.or(by);
        let by = by.filter(|by| process.is_some_and(|process| process.id != by.id));
        let mut user = fields
            .iter()
            .find(|(field, _)| *field == Field::UserSid)
            .map(|(_, value)| User { sid: value.text().into(), is_of_process: false });
        user = user.or_else(|| Some(User { sid: user_of_event(header)?.into(), is_of_process: false }));
        user = user.or_else(|| Some(User { sid: process?.process?.user()?.into(), is_of_process: true }));
        let (provider, id) = match &row.source {
            Source::Kernel(class, _) => (*class, header.opcode().map(u16::from).or(header.hook().map(|hook| hook & 0xFF))),
            Source::Provider(name, ..) => (*name, header.id()),
        };
        Ok(Entry {
            kind,
            time: event.time(),
            host: session.and_then(Session::host),
            process,
            by,
            user,
            fields,
            file: event.file_index(),
            place: event.place(),
            provider: provider.to_owned(),
            guid: header.provider(),
            event: event.name(),
            id,
        })
    }
}

/// Adds the name of a bug check and the meanings of its parameters. A description can state code and parameters.
fn name_bug_check(fields: &mut Vec<(Field, Value)>) {
    let described = fields.iter().find_map(|(field, value)| match value {
        Value::Text(text) if *field == Field::Description => bug_check(text),
        _ => None,
    });
    if let Some(numbers) = described {
        fields.extend(BUG_CHECK.into_iter().zip(numbers.map(|number| Value::BugCheck(number, None))));
    }
    let check = bug_check_of(fields);
    for (field, value) in fields {
        if let Value::BugCheck(number, meaning) = value {
            *meaning = match BUG_CHECK.iter().position(|own| own == field) {
                Some(index @ 1..) => check.and_then(|check| check.meaning(index - 1)),
                _ => u32::try_from(*number).ok().and_then(codes::bug_check).map(Cow::Borrowed),
            };
        }
    }
}

/// Code and parameters in a text such as `0x000000d1 (0x0, 0x2, 0x0, 0xfffff80312345678)`.
fn bug_check(text: &str) -> Option<[u64; 5]> {
    let hexadecimal = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (code, parameters) = text.strip_suffix(')')?.split_once(" (")?;
    [code].into_iter().chain(parameters.split(", ")).map(hexadecimal).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Ends a request: its entry, and whether it created a file.
fn end<'t>(completion: &Completion, decoded: &Decoded<'_>, requests: &mut HashMap<u64, Entry<'t>>) -> Option<(Entry<'t>, bool)> {
    let entry = requests.remove(&number(decoded, completion.packet)?)?;
    let is_success = number(decoded, completion.status).is_some_and(|status| status as i32 >= 0);
    Some((entry, is_success && number(decoded, completion.information) == Some(FILE_CREATED)))
}

/// The memory of an entry with its texts, in bytes.
fn size(entry: &Entry<'_>) -> usize {
    let text = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Path(path, kernel) => path.len() + kernel.as_ref().map_or(0, String::len),
        _ => 0,
    };
    let fields: usize = entry.fields.iter().map(|(_, value)| size_of::<Value>() + text(value)).sum();
    size_of::<Entry<'_>>() + fields + entry.event.len() + entry.provider.len()
}

fn number(decoded: &Decoded<'_>, name: &str) -> Option<u64> {
    decoded.get(name)?.number()
}

/// The user in an extended item of an event.
fn user_of_event(header: &Header<'_>) -> Option<String> {
    let item = header.items().find(|item| item.ty == EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_SID)?;
    const SID: Schema<'_> = Schema::specified("", "", 0, &[SchemaField::new("Sid", InType::SID)]);
    Some(SID.decode(item.data, PointerSize::Bits64).get("Sid")?.to_string())
}

/// The value of a field of an entry.
fn value(
    event: &Event<'_>,
    decoded: &Decoded<'_>,
    session: Option<&Session>,
    field: Field,
    names: &str,
) -> Result<Option<Value>, Error> {
    let user_path = |path: String| match session.map(|session| session.user_path(&path).into_owned()) {
        Some(user) if user != path => Value::Path(user, Some(path)),
        _ => Value::Path(path, None),
    };
    if let Some(name) = names.strip_prefix('@') {
        let Some(object) = number(decoded, name) else { return Ok(None) };
        return Ok(event.names().file_name(object, event.tick())?.map(user_path));
    }
    let Some(found) = names.split('|').find_map(|name| decoded.get(name)) else { return Ok(None) };
    // A name is never a number: values of an enumeration of the schema have both.
    let integer = || found.number().or_else(|| decimal(&found));
    let text = || Some(found.data().to_string()).filter(|text| !text.is_empty() && text != "-");
    Ok(match field.format() {
        Format::Number => integer().map(Value::Number),
        Format::Hexadecimal => integer().map(Value::Hexadecimal),
        Format::BugCheck => integer().map(|number| Value::BugCheck(number, None)),
        Format::Code(name) => integer().map(|code| Value::Code(code as u32, name(code as u32))),
        Format::Path => text().map(user_path),
        Format::Text if found.map.is_some() => Some(Value::Text(found.to_string())),
        Format::Text | Format::Sid => text().map(Value::Text),
    })
}

/// Events of the event log have some numbers as text.
fn decimal(value: &EventValue<'_>) -> Option<u64> {
    value.text()?.to_string().parse().ok()
}
