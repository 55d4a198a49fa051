//! `timeline`.

use super::Done;
use super::traces::Opened;
use crate::input::{self, Input};
use crate::output::stop::Stop;
use crate::output::{Choices, Escaped, Format, Grouped, Output, Several, choice};
use crate::selection::Wanted;
use clap::builder::PossibleValuesParser;
use etw_layouts_answers::timeline::{Counts, Entry, Field, Form, KINDS, Participant, Timeline, Value};
use etw_layouts_cli::{Error, csv_cell};
use etw_layouts_etl::{Uuid, names};
use etw_layouts_trace::Event;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};

/// List what happened in trace files, one line for each thing: time (UTC), host, process, and a sentence; with several files also file. Exit with status 1
/// if there are diagnostics.
///
/// The kinds of things are processes, drivers, files, connections, DNS queries, HTTP requests, PowerShell scripts,
/// malware scans and findings, log-ons, services, scheduled tasks, WMI, transfers, and starts, stops and bug checks of
/// Windows. Kinds that fill a timeline are listed only with --all or --kind: images, and changes of the registry. All files
/// are listed in one order of time, also those of different sessions and hosts. Processes that existed before the trace are
/// not listed; `etw etl processes` lists them.
///
/// A file was created if the end of the request states it; other requests to create a file are counted only. Deletions and
/// renames are those that were requested. Paths have drive letters if the trace contains the volumes; JSON then also has
/// the kernel's own path. A summary on standard error counts what is not listed.
///
/// CSV has the columns that Timesketch requires (datetime, message, timestamp_desc) and a column for each value; Timeline
/// Explorer reads it too. JSON has one object per line, in the form of --form.
///
///     etw etl timeline trace.etl
///     etw etl timeline --kind process_started --kind connection_made folder
///     etw etl timeline --format csv folder > timeline.csv
///     etw etl timeline --format json --form ecs --host SERVER1 trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// List only this kind. Repeatable.
    #[arg(long, value_parser = PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)), hide_possible_values = false)]
    kind: Vec<String>,
    /// List all kinds, also images and changes of the registry.
    #[arg(long, conflicts_with = "kind")]
    all: bool,
    /// Names of the members in JSON.
    #[arg(long, value_parser = choice(FORMS), default_value = "plain")]
    form: Form,
    /// Name of the computer, for traces that do not state it.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

const FORMS: &Choices<Form> = &[
    ("plain", "Own names; Timesketch reads them too", Form::Plain),
    ("ecs", "Elastic Common Schema 8.12; values without a field in it are `labels`", Form::Ecs),
    ("ocsf", "Open Cybersecurity Schema Framework 1.5.0; all values are also in `unmapped`", Form::Ocsf),
];

impl Args {
    /// Reads what the options name.
    ///
    /// # Errors
    ///
    /// The options contradict each other, or a file cannot be read.
    pub fn load(&self, out: &Output) -> Result<(), Error> {
        if self.form != Form::Plain && self.files.format != Format::Json {
            return Err("invalid form: --form ecs and --form ocsf are forms of JSON; add --format json".into());
        }
        self.wanted.load(out)
    }
}

/// The first columns of CSV. A column for each field follows.
const COLUMNS: [&str; 25] = [
    "datetime",
    "timestamp_desc",
    "message",
    "timestamp",
    "time_utc",
    "host",
    "process_id",
    "process_name",
    "process_path",
    "process_command_line",
    "process_parent",
    "process_parent_name",
    "by_id",
    "by_name",
    "user",
    "user_known_name",
    "user_known_by",
    "provider",
    "provider_guid",
    "event",
    "id",
    "file",
    "buffer",
    "buffer_offset",
    "offset",
];

/// Lists the entries of all files in the order of time.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let (mut done, opened) = Opened::of_inputs(inputs, &args.wanted.schemas, out)?;
    let Some(mut opened) = opened else { return Ok(done) };
    let summary = print(args, &mut opened, out)?;
    done.add(opened.end(out));
    out.aside(&summary);
    if let Some(hint) = args.wanted.on_names().filter(|_| summary.entries == 0) {
        out.note(&inputs[0].name, &hint);
    }
    Ok(done)
}

fn print(args: &Args, opened: &mut Opened, out: &mut Output) -> Result<Summary, Stop> {
    let filters = opened.filters(&args.wanted);
    let Opened { trace, files, .. } = opened;
    let kinds: Vec<_> = match args.all {
        true => KINDS.iter().map(|kind| kind.name).collect(),
        false => args.kind.iter().map(String::as_str).collect(),
    };
    let mut lines = Lines {
        form: args.form,
        host: args.host.as_deref(),
        has_hosts: args.host.is_some() || trace.sessions().iter().any(|session| session.host().is_some()),
        has_files: trace.files().len() > 1,
    };
    lines.head(out)?;
    let (mut timeline, mut summary) = (Timeline::new(trace, &kinds), Summary::default());
    let mut providers = Providers::default();
    let events = trace.events();
    if !events.is_ordered() {
        files[0].note("buffers are so far out of order that only parts are sorted".into(), out);
    }
    for event in events {
        let event = event?;
        let is_wanted = event.matches(&filters[event.file_index()]);
        summary.events += u64::from(is_wanted);
        let Some(entry) = timeline.entry(&event, is_wanted)? else {
            if is_wanted && summary.entries == 0 {
                providers.add(&event);
            }
            continue;
        };
        summary.entries += 1;
        lines.entry(&entry, trace.files()[entry.file].name(), out)?;
        // A later version of an event has more fields.
        if let Some(decoded) = event.decode().filter(|decoded| decoded.is_exact)
            && let Err(fault) = decoded.fields.check()
        {
            let kind = names::undecoded(&event.header(), event.schemas(), fault);
            files[event.file_index()].diagnostic(&event.place().diagnostic(kind), out);
        }
    }
    summary.add(&timeline.counts());
    if summary.entries == 0 {
        (summary.providers, summary.of_other_providers) = providers.largest();
    }
    Ok(summary)
}

/// How entries are printed.
struct Lines<'a> {
    form: Form,
    host: Option<&'a str>,
    has_hosts: bool,
    /// Whether there are several files.
    has_files: bool,
}

impl Lines<'_> {
    fn head(&mut self, out: &mut Output) -> Result<(), Stop> {
        let head = match out.format {
            Format::Json => return Ok(()),
            Format::Text => {
                let (host, file) = (if self.has_hosts { "host  " } else { "" }, if self.has_files { "file  " } else { "" });
                format!("{:<27}  {host}{file}process  what\n", "time (UTC)")
            }
            Format::Csv => {
                let names = COLUMNS.into_iter().map(str::to_owned);
                let fields = Field::ALL.iter().filter(|field| **field != Field::Process).flat_map(columns);
                names.chain(fields).collect::<Vec<_>>().join(",") + "\n"
            }
        };
        Ok(out.put(|out| out.extend_from_slice(head.as_bytes()))?)
    }

    fn entry(&self, entry: &Entry<'_>, file: &str, out: &mut Output) -> Result<(), Stop> {
        let line = match out.format {
            Format::Json => return Ok(out.write_line("", &entry.document(self.form, file, self.host))?),
            Format::Text => self.text(entry, file),
            Format::Csv => self.csv(entry, file),
        };
        Ok(out.put(|out| out.extend_from_slice(line.as_bytes()))?)
    }

    fn text(&self, entry: &Entry<'_>, file: &str) -> String {
        let time = entry.time.map_or_else(|| "unknown".to_owned(), |time| time.to_string());
        let host = entry.host.or(self.host).filter(|_| self.has_hosts);
        let host = if self.has_hosts { format!("{}  ", Escaped(host.unwrap_or("?"))) } else { String::new() };
        let file = if self.has_files { format!("{}  ", Escaped(file)) } else { String::new() };
        let process = entry.process.map_or_else(|| "?".to_owned(), |process| of_process(&process));
        format!("{time:<27}  {host}{file}{}  {}\n", Escaped(&process), Escaped(&entry.sentence()))
    }

    fn csv(&self, entry: &Entry<'_>, file: &str) -> String {
        let process = entry.process.and_then(|process| process.process);
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let user = entry.user.as_ref();
        let cells = [
            entry.datetime().unwrap_or_default(),
            entry.kind.name.to_owned(),
            entry.sentence(),
            cell(entry.microseconds()),
            cell(entry.time.map(|time| time.rfc3339())),
            text(entry.host.or(self.host)),
            cell(entry.process.map(|process| process.id)),
            text(entry.process.and_then(|process| process.image())),
            text(process.and_then(|process| process.path.as_ref()).map(|path| &*path.value)),
            text(process.and_then(|process| process.command_line())),
            cell(process.and_then(|process| process.parent_id.as_ref()).map(|parent| parent.value)),
            text(entry.process.and_then(|process| process.parent).and_then(|parent| parent.image())),
            cell(entry.by.map(|by| by.id)),
            text(entry.by.and_then(|by| by.image())),
            text(user.map(|user| &*user.sid)),
            user.and_then(|user| user.name()).unwrap_or_default().into_owned(),
            text(user.map(|user| if user.is_of_process { "process" } else { "event" })),
            entry.provider.clone(),
            cell(entry.guid),
            entry.event.clone(),
            cell(entry.id),
            file.to_owned(),
            entry.place.buffer.to_string(),
            entry.place.buffer_offset.to_string(),
            entry.place.offset.to_string(),
        ];
        let fields = Field::ALL.iter().filter(|field| **field != Field::Process).flat_map(|field| {
            let value = entry.get(*field);
            let own = value.map(Value::text).unwrap_or_default();
            match columns(field).len() {
                1 => vec![own],
                _ => vec![own, second(value)],
            }
        });
        let cells: Vec<_> = cells.into_iter().chain(fields).map(|cell| csv_cell(&Escaped(&cell).to_string())).collect();
        cells.join(",") + "\n"
    }
}

/// The columns of a field: its value; the name of a code, or the path of the kernel.
fn columns(field: &Field) -> Vec<String> {
    use etw_layouts_answers::timeline::Format::{BugCheck, Code, Path, Sid};
    let name = field.name();
    match field.format() {
        BugCheck | Code(_) | Sid => vec![name.to_owned(), format!("{name}_name")],
        Path => vec![name.to_owned(), format!("{name}_of_kernel")],
        _ => vec![name.to_owned()],
    }
}

fn second(value: Option<&Value>) -> String {
    match value {
        Some(Value::Path(_, Some(kernel))) => kernel.clone(),
        Some(value) => value.name().unwrap_or_default().into_owned(),
        None => String::new(),
    }
}

fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn of_process(process: &Participant<'_>) -> String {
    format!("{} ({})", process.image().unwrap_or("?"), process.id)
}

/// What was read, and what is not listed.
#[derive(Default, Serialize)]
struct Summary {
    /// Events that match the filter.
    events: u64,
    entries: u64,
    /// Events of kinds that were not chosen, by kind.
    left_out: BTreeMap<&'static str, u64>,
    /// Events of chosen kinds whose fields no schema states.
    without_schema: u64,
    /// Events that state the start or the end of a process that is listed.
    repeated: u64,
    /// Requests to create a file that opened a file, or failed.
    not_created: u64,
    /// Requests to create a file whose end is not in the trace.
    not_ended: u64,
    /// If there are no entries, the providers with the most events, and their number of events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers: Vec<ProviderCount>,
    /// The number of events of other providers.
    #[serde(skip_serializing_if = "is_zero")]
    of_other_providers: u64,
}

/// The number of events of a provider.
#[derive(Serialize)]
struct ProviderCount {
    provider: String,
    events: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Counts events by provider.
#[derive(Default)]
struct Providers {
    /// By GUID, or group of kernel events without one.
    counts: HashMap<(Option<Uuid>, Option<u16>), (String, u64)>,
    others: u64,
}

/// Maximum number of providers that are counted, and that are listed.
const MAX_COUNTED: usize = 4096;
const MAX_LISTED: usize = 8;

impl Providers {
    fn add(&mut self, event: &Event<'_>) {
        let header = event.header();
        let provider = header.provider();
        let key = (provider, header.hook().filter(|_| provider.is_none()).map(|hook| hook >> 8));
        if self.counts.len() >= MAX_COUNTED && !self.counts.contains_key(&key) {
            self.others += 1;
            return;
        }
        let name = || match (names::provider_of(&header, event.schemas()), key) {
            (Some(name), _) => name.to_owned(),
            (None, (Some(guid), _)) => guid.to_string(),
            (None, (None, Some(group))) => format!("group {group:#04x}"),
            (None, (None, None)) => "no provider".to_owned(),
        };
        self.counts.entry(key).or_insert_with(|| (name(), 0)).1 += 1;
    }

    /// The providers with the most events, and the number of events of the others.
    fn largest(self) -> (Vec<ProviderCount>, u64) {
        let mut all: Vec<_> = self.counts.into_values().collect();
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let others = all.iter().skip(MAX_LISTED).map(|(_, count)| count).sum::<u64>() + self.others;
        all.truncate(MAX_LISTED);
        (all.into_iter().map(|(provider, events)| ProviderCount { provider, events }).collect(), others)
    }
}

impl Summary {
    fn add(&mut self, counts: &Counts) {
        let Counts { left_out, without_schema, repeated, not_created, not_ended, .. } = counts.clone();
        (self.left_out, self.without_schema, self.repeated) = (left_out, without_schema, repeated);
        (self.not_created, self.not_ended) = (not_created, not_ended);
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = if self.entries == 1 { "entry" } else { "entries" };
        write!(f, "{}, {} {entries}", Several(self.events, "event"), Grouped(self.entries))?;
        if !self.left_out.is_empty() {
            let all: Vec<_> = self.left_out.iter().map(|(kind, count)| format!("{} {kind}", Grouped(*count))).collect();
            write!(f, "; not listed without --all or --kind: {}", all.join(", "))?;
        }
        for (count, what) in [
            (self.without_schema, "without a schema"),
            (self.repeated, "that state the start or end of a process again"),
            (self.not_created, "of requests that opened a file or failed"),
            (self.not_ended, "of requests to create a file without an event of their end"),
        ] {
            if count > 0 {
                write!(f, "; {} {what} not listed", Several(count, "event"))?;
            }
        }
        if !self.providers.is_empty() {
            f.write_str("; events by provider, which `etw etl events` prints:")?;
            for (index, ProviderCount { provider, events }) in self.providers.iter().enumerate() {
                write!(f, "{} {} {}", if index > 0 { "," } else { "" }, Grouped(*events), Escaped(provider))?;
            }
            if self.of_other_providers > 0 {
                write!(f, ", {} others", Grouped(self.of_other_providers))?;
            }
        }
        Ok(())
    }
}
