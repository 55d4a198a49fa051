//! `schemas`.

use super::Done;
use super::symbols::MessageSymbols;
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{Escaped, Grouped, Output, Several, no_table};
use crate::schemas::SchemaOptions;
use crate::wpp;
use etw_layouts_etl::{Decoded, Event, HeaderType, LogFile, Schemas, Uuid, names};
use etw_layouts_schemas::tmf::WppMessage;
use etw_layouts_trace::{ImagePdb, Session, WppSources};
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::hash::{DefaultHasher, Hash, Hasher};

/// List the schemas with which the events of trace files are decoded, by source. Exit with status 1 if there are diagnostics.
///
/// For each source, the output has the number of schemas that were used, the number of events, and the number of
/// events that were decoded to their last byte. Then it lists the problems: events without a schema, events with a
/// payload that is shorter or longer than the schema, events for which the sources have different schemas (other sizes of fields, or
/// other names), and events of a later version than their schema. If schemas differ, the first one that decodes the
/// payload to its last byte is used. Sources: the event itself (TraceLogging), the trace, the files of --manifests and
/// --tmf, the specs of kernel events, and the built-in catalogue.
///
/// For messages of WPP without a text, the output has the .tmf file that they need, and the symbol files (PDB) of the programs
/// that wrote them, if the session has events with their names. Private PDBs have the texts, too: --tmf reads a PDB, and
/// --symbol-path finds the PDBs that the session names.
///
///     etw etl schemas trace.etl
///     etw etl schemas --format json folder
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    #[command(flatten)]
    pub(crate) schemas: SchemaOptions,
    #[command(flatten)]
    symbols: MessageSymbols,
}

/// The maximum number of kinds of events that are counted separately.
const MAX_KINDS: usize = 1 << 14;

/// Lists the schemas of each file.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    let mut pdbs = args.symbols.search().map_err(Stop::Input)?;
    for files in files.by_session() {
        let opened = Opened::read_with(files, &args.schemas, &mut pdbs, out)?;
        done.unusable += opened.unusable;
        for (number, file) in opened.files.iter().enumerate().filter(|(_, file)| file.is_readable) {
            let mut used = Used::default();
            for event in opened.trace.events_of(number).in_file_order() {
                let event = event?;
                let header = event.header();
                used.add(&header, event.schemas(), opened.messages.of(&header));
            }
            let sources = opened.trace.session_of(number).map(Session::wpp);
            out.line(&used.document(&file.name, sources.into_iter().flat_map(WppSources::pdbs)))?;
        }
        done.add(opened.end(out));
    }
    Ok(done)
}

/// Identifies a schema of an event.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    provider: Option<Uuid>,
    id: Option<u16>,
    opcode: Option<u8>,
    version: Option<u16>,
    /// A hash that distinguishes schemas for the same event.
    schema: u64,
}

/// Events with the same schema, or events of the same kind without a schema.
#[derive(Serialize)]
struct Kind {
    #[serde(rename = "event")]
    name: String,
    version: Option<u16>,
    source: &'static str,
    #[serde(skip)]
    origins: Vec<String>,
    /// The version of the schema, if it is that of an earlier version of the event.
    #[serde(rename = "schema_version", skip_serializing_if = "Option::is_none")]
    earlier: Option<u8>,
    events: u64,
    whole: u64,
    /// For messages of WPP without a text: the file that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
    #[serde(skip)]
    is_disputed: bool,
    /// The number of events that were not decoded completely, by the number of undecoded bytes and the reason.
    #[serde(serialize_with = "serialize_faults")]
    faults: BTreeMap<(usize, String), u64>,
}

fn serialize_faults<S: Serializer>(faults: &BTreeMap<(usize, String), u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(faults.iter().map(|((left, reason), events)| object! { left: left, reason: reason, events: events }))
}

/// The maximum number of different faults to keep for a kind.
const FAULTS: usize = 16;

/// A symbol file of a program that wrote WPP messages, as an event names it.
#[derive(Serialize)]
struct Pdb<'a> {
    name: &'a str,
    guid: String,
    age: u32,
}

#[derive(Default)]
struct Used {
    events: u64,
    kinds: HashMap<Key, Kind>,
    /// Events of kinds that are not counted separately.
    uncounted: u64,
}

impl Used {
    fn add(&mut self, event: &Event<'_>, schemas: &Schemas, message: Option<&WppMessage>) {
        self.events += 1;
        let decoded = event.decode(schemas);
        let key = key(event, decoded.as_ref());
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&key) {
            self.uncounted += 1;
            return;
        }
        let kind = self.kinds.entry(key).or_insert_with(|| Kind::new(event, decoded.as_ref(), schemas, message));
        kind.events += 1;
        let result = match (&decoded, message) {
            (_, Some(message)) => wpp::text(message, event, schemas).1.map_or(Ok(()), Err),
            (Some(decoded), None) => decoded.fields.check(),
            (None, None) => {
                kind.whole += u64::from(kind.source == LAYOUT);
                return;
            }
        };
        kind.is_disputed |= decoded.is_some_and(|decoded| decoded.is_disputed);
        kind.earlier = decoded.filter(|decoded| !decoded.is_exact).map(|decoded| decoded.schema.version);
        match result {
            Ok(()) => kind.whole += 1,
            Err(fault) => {
                let left = event.payload().len().saturating_sub(fault.offset);
                let reason = (left, fault.reason.to_string());
                if kind.faults.len() < FAULTS || kind.faults.contains_key(&reason) {
                    *kind.faults.entry(reason).or_default() += 1;
                }
            }
        }
    }

    fn document<'a>(&'a self, file: &'a str, pdbs: impl Iterator<Item = &'a ImagePdb>) -> Document<'a> {
        let mut sources: BTreeMap<_, Source> = BTreeMap::new();
        let mut kinds: Vec<_> = self.kinds.values().collect();
        kinds.sort_by_key(|kind| (Reverse(kind.events), &kind.name, kind.version));
        for kind in kinds.iter().filter(|kind| kind.source != NONE) {
            let source = sources.entry(kind.source).or_default();
            source.schemas += 1;
            source.events += kind.events;
            source.whole += kind.whole;
            source.origins.extend(kind.origins.iter().map(String::as_str));
        }
        let sources = sources.into_iter().map(|(name, source)| Source { source: name, ..source }).collect();
        let listed = |wanted: &dyn Fn(&Kind) -> bool| kinds.iter().copied().filter(|kind| wanted(kind)).collect();
        Document {
            file,
            events: self.events,
            decoded: kinds.iter().map(|kind| kind.whole).sum(),
            sources,
            without: listed(&|kind| kind.source == NONE),
            partial: listed(&|kind| kind.source != NONE && kind.whole < kind.events),
            disputed: listed(&|kind| kind.is_disputed),
            earlier: listed(&|kind| kind.earlier.is_some()),
            pdbs: pdbs.map(|ImagePdb { name, guid, age, .. }| Pdb { name, guid: guid.to_string(), age: *age }).collect(),
            uncounted: self.uncounted,
        }
    }
}

/// The file with the text of a message of WPP.
fn tmf(event: &Event<'_>) -> Option<String> {
    let guid = event.provider().filter(|_| event.header_type() == HeaderType::Message)?;
    Some(format!("{guid}.tmf"))
}

const NONE: &str = "none";
/// The source of the log file header's schema: the layout of a structure.
const LAYOUT: &str = "layout";

fn key(event: &Event<'_>, decoded: Option<&Decoded<'_>>) -> Key {
    let mut hasher = DefaultHasher::new();
    match decoded {
        Some(Decoded { variant: Some(variant), .. }) => variant.origin().map(|origin| origin.name).hash(&mut hasher),
        Some(decoded) => (decoded.schema.event, decoded.schema.provider, decoded.schema.fields.iter().count()).hash(&mut hasher),
        None => {}
    }
    Key { provider: event.provider(), id: event.id(), opcode: event.opcode(), version: event.version(), schema: hasher.finish() }
}

impl Kind {
    fn new(event: &Event<'_>, decoded: Option<&Decoded<'_>>, schemas: &Schemas, message: Option<&WppMessage>) -> Self {
        let is_log_file = decoded.is_none() && LogFile::read(event).is_some();
        let source = match decoded {
            _ if message.is_some() => "TMF",
            Some(decoded) => names::source(decoded.source()),
            None if is_log_file => LAYOUT,
            None => NONE,
        };
        let name = match (decoded, schemas.variant(event)) {
            (Some(decoded), _) if decoded.schema.provider.is_empty() && decoded.variant.is_none() => {
                format!("{}/{}", names::provider_of(event, schemas).unwrap_or("?"), decoded.schema.event)
            }
            (Some(decoded), _) => decoded.to_string(),
            (None, Some(variant)) if !variant.name().is_empty() => format!("{}/{}", variant.provider().name(), variant.name()),
            (None, _) => names::identity(event, schemas),
        };
        let origins = decoded.and_then(|decoded| decoded.variant).into_iter().flat_map(|variant| variant.origins());
        Self {
            name,
            version: event.version(),
            source,
            origins: origins.map(|origin| origin.name.to_owned()).filter(|name| !name.is_empty()).collect(),
            events: 0,
            whole: 0,
            needs: tmf(event).filter(|_| source == NONE),
            is_disputed: false,
            earlier: None,
            faults: BTreeMap::new(),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    events: u64,
    /// Events that are decoded to their last byte.
    decoded: u64,
    sources: Vec<Source<'a>>,
    /// Events without a schema.
    without: Vec<&'a Kind>,
    /// Events with a schema that are not decoded to their last byte.
    partial: Vec<&'a Kind>,
    /// Events for which sources have different schemas.
    disputed: Vec<&'a Kind>,
    /// Events of a later version than their schema.
    earlier: Vec<&'a Kind>,
    /// Symbol files of the programs that wrote messages of WPP. Their private versions contain the texts.
    pdbs: Vec<Pdb<'a>>,
    /// Events of further kinds, which the lists do not contain.
    uncounted: u64,
}

#[derive(Default, Serialize)]
struct Source<'a> {
    source: &'static str,
    /// Files, or versions of Windows.
    origins: BTreeSet<&'a str>,
    schemas: u64,
    events: u64,
    whole: u64,
}

impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (events, decoded) = (Several(self.events, "event"), Grouped(self.decoded));
        write!(f, "{}: {events}, {decoded} decoded to the last byte", Escaped(self.file))?;
        write!(f, "\n\n{:>14}  {:>14}  {:>9}  source", "events", "decoded", "schemas")?;
        for Source { source, origins, schemas, events, whole } in &self.sources {
            write!(f, "\n{events:>14}  {whole:>14}  {schemas:>9}  {source}")?;
            for (index, origin) in origins.iter().enumerate() {
                write!(f, "{}{}", if index == 0 { ": " } else { ", " }, Escaped(origin))?;
            }
        }
        let lists = [
            ("without schema", &self.without, false),
            ("partly decoded", &self.partial, true),
            ("with schemas that disagree", &self.disputed, false),
            ("with the schema of an earlier version", &self.earlier, false),
        ];
        for (title, list, is_partial) in lists.into_iter().filter(|(_, list, _)| !list.is_empty()) {
            write!(f, "\n\n{:>14}  {title}", "events")?;
            for Kind { name, version, source, earlier, events, whole, needs, faults, .. } in list {
                let count = if is_partial { format!("{} of {events}", events - whole) } else { events.to_string() };
                write!(f, "\n{count:>14}  {}", Escaped(name))?;
                if let Some(version) = version {
                    write!(f, " version {version}")?;
                }
                match earlier {
                    Some(schema) => write!(f, " ({source}, version {schema})")?,
                    None if *source != NONE => write!(f, " ({source})")?,
                    None => {}
                }
                if let Some(needs) = needs {
                    write!(f, ", needs {needs}")?;
                }
                if !is_partial {
                    continue;
                }
                for ((left, reason), events) in faults {
                    write!(f, "\n{events:>14}    {reason}, {} left", Several(*left as u64, "byte"))?;
                }
                let others = events - whole - faults.values().sum::<u64>();
                if others > 0 {
                    write!(f, "\n{others:>14}    other faults")?;
                }
            }
        }
        if self.without.iter().any(|kind| kind.needs.is_some()) {
            write!(f, "\n\nWPP messages: give their .tmf files, or the private symbol files (PDB), with --tmf or --symbol-path")?;
            for Pdb { name, guid, age } in &self.pdbs {
                write!(f, "\n{:>14}  {} {guid} age {age}", "of", Escaped(name))?;
            }
        }
        match self.uncounted {
            0 => Ok(()),
            uncounted => write!(f, "\n\n{uncounted:>14}  of other kinds"),
        }
    }
}
