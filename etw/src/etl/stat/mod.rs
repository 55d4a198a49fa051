//! `stat`.

mod document;

use super::Done;
use super::lost::Lost;
use super::symbols::MessageSymbols;
use super::traces::{File, Files, Opened};
use crate::input::{self, Input};
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::{Choices, Output, choice, no_table};
use crate::selection::Wanted;
use document::{Activity, Counted, Document, Id, Row, Subject};
use etw_layouts_etl::stat::{Grouping, Key, Stat};
use etw_layouts_etl::{Event, FileTime, Schemas, Uuid, names};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Count the events of trace files. Exit with status 1 if there are diagnostics.
///
/// All files and folders are counted together. The output has the number of events (including the log file header
/// of each file), their size with headers, the times of the first and the last event, the rate between them in
/// events per second, and the lost events and buffers. It repeats the counts for each provider, ID, event, process
/// or processor. On a terminal, a bar shows the activity over time. Diagnostics are printed to standard error.
///
/// In JSON, `buffers_with_events_lost` and `buffers_with_buffer_lost` are the numbers of buffers with the flags
/// EVENTS_LOST and BUFFER_LOST; `ungrouped` has the counts of all groups after the first 16,384.
///
///     etw etl stat trace.etl
///     etw etl stat --by process --provider PROCESS folder
///     etw etl stat --by id --from 1.5 --to 2 --format json trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// Group the counts by this value.
    #[arg(long, value_parser = choice(GROUPS), default_value = "provider")]
    by: Grouping,
    #[command(flatten)]
    symbols: MessageSymbols,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

const GROUPS: &Choices<Grouping> = &[
    ("provider", "Provider, or group of a kernel event", Grouping::Provider),
    ("id", "Provider and event ID, or opcode for classic providers", Grouping::Id),
    ("event", "Event name, such as Process/Start; for events without a known name, provider and event ID", Grouping::Event),
    ("process", "Process ID, from the payload or the header", Grouping::Process),
    ("processor", "Processor number", Grouping::Processor),
];

/// Counts over all files.
struct Stats<'a> {
    args: &'a Args,
    stat: Stat,
    /// Provider names from events and from the schemas of each file, up to the number of separately counted groups.
    names: BTreeMap<Uuid, String>,
    /// Names of TraceLogging events by their hashes, with the same limit.
    events: BTreeMap<u64, String>,
    /// Names of events by provider and ID, from the schemas of each file.
    described: BTreeMap<(Uuid, u16), String>,
    files: u64,
    /// The number of events examined, whether they match or not.
    seen: u64,
    lost: Lost,
}

/// Counts the events of all files.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let mut stats = Stats::new(args);
    let files = Files::open(inputs, out);
    stats.lost = Lost::stated(files.files.iter().map(File::log_file));
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let mut pdbs = args.symbols.search().map_err(Stop::Input)?;
    for files in files.by_session() {
        let count = files.len() as u64;
        let opened = Opened::read_with(files, &args.wanted.schemas, &mut pdbs, out)?;
        stats.lost.add(opened.trace.losses());
        stats.files += count - opened.unusable as u64;
        done.unusable += opened.unusable;
        stats.session(&opened)?;
        done.add(opened.end(out));
    }
    stats.end(out)?;
    Ok(done)
}

impl<'a> Stats<'a> {
    fn new(args: &'a Args) -> Self {
        let (names, events, described) = Default::default();
        Self { args, stat: Stat::new(args.by), names, events, described, files: 0, seen: 0, lost: Lost::default() }
    }

    /// Counts the events of a session.
    fn session(&mut self, opened: &Opened) -> Result<(), Stop> {
        let filters = opened.filters(&self.args.wanted);
        for event in opened.trace.events().in_file_order() {
            let event = event?;
            self.seen += 1;
            let (file, header) = (event.file_index(), event.header());
            if !event.matches(&filters[file]) {
                continue;
            }
            learn(&mut self.names, &header);
            if self.args.by == Grouping::Event
                && self.events.len() < Stat::MAX_KEYS
                && let Some(Ok(schema)) = header.trace_logging().map(|logging| logging.schema)
            {
                self.events.entry(Key::hash(schema.event)).or_insert_with(|| schema.event.to_owned());
            }
            let process = if self.args.by == Grouping::Process { event.who().by.process } else { None };
            self.stat.add(&header, process, event.processor(), event.time().map(|time| time.0));
        }
        for session in opened.trace.sessions() {
            self.name(session.schemas());
        }
        Ok(())
    }

    /// Stores names from the schemas of a file for the groups so far.
    fn name(&mut self, schemas: &Schemas) {
        for (key, _) in self.stat.counts() {
            let Some(provider) = key.provider else { continue };
            if !self.names.contains_key(&provider)
                && let Some(name) = schemas.provider_name(provider)
            {
                self.names.insert(provider, name.to_owned());
            }
            // For an event with a manifest, the key has an ID and no opcode.
            if let Some(id) = key.id.filter(|_| key.opcode.is_none())
                && !self.described.contains_key(&(provider, id))
                && let Some(variant) = schemas.known_in_any_version(provider, id)
                && !variant.name().is_empty()
            {
                self.described.insert((provider, id), variant.name().to_owned());
            }
        }
    }

    /// Prints the counts.
    fn end(&self, out: &mut Output) -> io::Result<()> {
        if self.files == 0 {
            return Ok(());
        }
        let seconds = self.stat.all().seconds();
        let counts = self.stat.counts();
        let rows = counts.iter().map(|(key, count)| row(self, key, Counted::new(count, seconds)));
        let mut rows: Vec<_> = rows.collect();
        distinguish(&mut rows, counts.iter().map(|(key, _)| key));
        let activity = self.stat.activity();
        let others = self.stat.others();
        let document = Document {
            files: self.files,
            all: Counted::new(self.stat.all(), seconds),
            seconds,
            lost: &self.lost,
            timeline: activity.start().map(|start| Activity {
                start,
                start_utc: FileTime(start).rfc3339().to_string(),
                span: activity.width(),
                counts: activity.counts(),
            }),
            groups: rows,
            ungrouped: (others.events > 0).then(|| Counted::new(others, seconds)),
            has_bar: out.is_terminal,
            by: GROUPS.iter().find(|(.., by)| *by == self.args.by).map_or("", |(name, ..)| name),
        };
        out.line(&document)?;
        if document.all.events == 0 {
            none_matches(self.seen, &self.args.wanted, out);
        }
        Ok(())
    }
}

/// Stores the provider name of an event, if it contains one.
fn learn(names: &mut BTreeMap<Uuid, String>, event: &Event<'_>) {
    if let (Some(provider), Some(Ok(traits))) = (event.provider(), event.traits())
        && !traits.name.is_empty()
        && names.len() < Stat::MAX_KEYS
    {
        names.entry(provider).or_insert_with(|| traits.name.to_owned());
    }
}

/// The row of a group.
fn row(stats: &Stats<'_>, key: &Key, counted: Counted) -> Row {
    let by = stats.args.by;
    let provider = key.provider.map(|provider| provider.to_string());
    let named = |guid| names::provider(guid).map(str::to_owned).or_else(|| stats.names.get(&guid).cloned());
    let provider_name = key.provider.and_then(named);
    let logged = || key.name.and_then(|name| Some(format!("{}/{}", provider_name.as_ref()?, stats.events.get(&name)?)));
    let by_type = || key.provider.zip(key.opcode).and_then(|(provider, opcode)| Schemas::kernel_schema_by_type(provider, opcode));
    let described = || {
        let name = stats.described.get(&(key.provider?, key.id.filter(|_| key.opcode.is_none())?))?;
        Some(format!("{}/{name}", provider_name.as_ref()?))
    };
    let event =
        || key.hook.map_or_else(by_type, Schemas::kernel_schema).map(ToString::to_string).or_else(logged).or_else(described);
    let id = |provider, provider_name| Id {
        provider,
        provider_name,
        id: key.id,
        id_name: key.hook.and_then(names::hook),
        is_hook: key.hook.is_some(),
        opcode: key.opcode,
    };
    let subject = match by {
        Grouping::Event => Subject::Event { event: event(), id: id(provider, provider_name) },
        Grouping::Provider => Subject::Provider { provider, provider_name, group: key.hook.map(|hook| hook >> 8) },
        Grouping::Id => Subject::Id(id(provider, provider_name)),
        Grouping::Process => Subject::Process { process: key.process },
        Grouping::Processor => Subject::Processor { processor: key.processor },
    };
    Row { subject, counted, distinction: String::new() }
}

/// Sets how rows with the same text differ: by ID, by opcode or by provider.
fn distinguish<'k>(rows: &mut [Row], keys: impl Iterator<Item = &'k Key>) {
    let mut same: BTreeMap<String, Vec<(&mut Row, &Key)>> = BTreeMap::new();
    for (row, key) in rows.iter_mut().zip(keys) {
        same.entry(row.subject.to_string()).or_default().push((row, key));
    }
    let opcode = |key: &Key| key.opcode.map(|opcode| format!("opcode {opcode}"));
    let id = |key: &Key| key.hook.map(|hook| format!("hook {hook:#06x}")).or_else(|| key.id.map(|id| format!("ID {id}")));
    let number = |key: &Key| id(key).or_else(|| opcode(key)).unwrap_or_else(|| "no ID".into());
    let opcode = |key: &Key| opcode(key).unwrap_or_else(|| "no opcode".into());
    let provider = |key: &Key| key.provider.map_or_else(|| "no provider".into(), |provider| provider.to_string());
    let values: [&dyn Fn(&Key) -> String; 3] = [&number, &opcode, &provider];
    for rows in same.values_mut() {
        for value in values {
            let texts: BTreeSet<_> = rows.iter().map(|(row, _)| &row.distinction).collect();
            let found: Vec<_> = rows.iter().map(|(_, key)| value(key)).collect();
            if texts.len() == rows.len() || found.iter().all(|one| *one == found[0]) {
                continue;
            }
            for ((row, _), value) in rows.iter_mut().zip(found) {
                row.distinction += &format!(", {value}");
            }
        }
    }
}
