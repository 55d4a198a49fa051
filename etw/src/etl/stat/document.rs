//! The counts as text and as JSON.

use crate::etl::lost::Lost;
use crate::output::{Escaped, Several};
use etw_layouts_etl::FileTime;
use etw_layouts_etl::stat::Count;
use serde::Serialize;
use std::fmt::{self, Display};

/// The counts of all files.
#[derive(Serialize)]
pub struct Document<'a> {
    pub files: u64,
    #[serde(flatten)]
    pub all: Counted,
    /// Seconds from the first event to the last.
    pub seconds: f64,
    #[serde(flatten)]
    pub lost: &'a Lost,
    pub timeline: Option<Activity>,
    pub groups: Vec<Row>,
    /// Events of groups that are not counted separately.
    pub ungrouped: Option<Counted>,
    #[serde(skip)]
    pub has_bar: bool,
    /// The heading of the groups.
    #[serde(skip)]
    pub by: &'static str,
}

/// The number of events per interval of time.
#[derive(Serialize)]
pub struct Activity {
    pub start: i64,
    pub start_utc: String,
    /// The length of an interval in units of 100 ns.
    pub span: u64,
    pub counts: Vec<u64>,
}

/// Counts of events.
#[derive(Serialize)]
pub struct Counted {
    pub events: u64,
    /// In bytes, with headers.
    pub bytes: u64,
    /// Events per second; `None` if all events have the same time.
    pub rate: Option<f64>,
    pub first: Option<i64>,
    pub first_utc: Option<String>,
    pub last: Option<i64>,
    pub last_utc: Option<String>,
}

impl Counted {
    pub fn new(count: &Count, seconds: f64) -> Self {
        let (first, last) = (count.times.map(|times| times.0), count.times.map(|times| times.1));
        let utc = |time: Option<i64>| time.map(|time| FileTime(time).rfc3339().to_string());
        Self {
            events: count.events,
            bytes: count.bytes,
            rate: (seconds > 0.0).then(|| count.events as f64 / seconds),
            first,
            first_utc: utc(first),
            last,
            last_utc: utc(last),
        }
    }
}

/// A row of the table. Values that do not apply to the grouping are absent; values that events do not state are `null`.
#[derive(Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub subject: Subject,
    /// How the group differs from others with the same text; empty if there are none. JSON has these values in the subject.
    #[serde(skip)]
    pub distinction: String,
    #[serde(flatten)]
    pub counted: Counted,
}

/// The common value of the events in a group.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Subject {
    Provider {
        provider: Option<String>,
        provider_name: Option<String>,
        /// For kernel events without a GUID.
        group: Option<u16>,
    },
    Id(Id),
    Event {
        event: Option<String>,
        #[serde(flatten)]
        id: Id,
    },
    Process {
        process: Option<u32>,
    },
    Processor {
        processor: Option<u16>,
    },
}

/// The provider and ID of events.
#[derive(Serialize)]
pub struct Id {
    pub provider: Option<String>,
    pub provider_name: Option<String>,
    pub id: Option<u16>,
    pub id_name: Option<&'static str>,
    pub is_hook: bool,
    pub opcode: Option<u8>,
}

impl Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.id_name, self.id) {
            (Some(name), _) => return f.write_str(name),
            (None, Some(hook)) if self.is_hook => return write!(f, "hook {hook:#06x}"),
            _ => f.write_str(&named(&self.provider_name, &self.provider))?,
        }
        match (self.id, self.opcode) {
            (Some(id), _) => write!(f, "/{id}"),
            (None, Some(opcode)) => write!(f, "/opcode {opcode}"),
            (None, None) => Ok(()),
        }
    }
}

/// The name of a provider, else its GUID.
fn named(name: &Option<String>, provider: &Option<String>) -> String {
    name.clone().or_else(|| provider.clone()).unwrap_or_else(|| "no provider".into())
}

impl Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider { group: Some(group), .. } => write!(f, "group {group:#04x}"),
            Self::Provider { provider, provider_name, .. } => f.write_str(&named(provider_name, provider)),
            Self::Event { event: Some(name), .. } => f.write_str(name),
            Self::Id(id) | Self::Event { id, .. } => id.fmt(f),
            Self::Process { process: Some(process) } => write!(f, "process {process}"),
            Self::Process { process: None } => f.write_str("no process"),
            Self::Processor { processor } => write!(f, "processor {}", processor.unwrap_or_default()),
        }
    }
}

impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, events) = (Several(self.files, "file"), Several(self.all.events, "event"));
        writeln!(f, "{files}, {events}, {}", Several(self.all.bytes, "byte"))?;
        if let (Some(first), Some(last)) = (self.all.first, self.all.last) {
            writeln!(f, "  first  {}", FileTime(first))?;
            writeln!(f, "  last   {}  after {:.3} s", FileTime(last), self.seconds)?;
        }
        writeln!(f, "  lost   {}", self.lost)?;
        if let Some(activity) = self.timeline.as_ref().filter(|_| self.has_bar) {
            writeln!(f, "  rate   {}  {:.3} s each", bar(&activity.counts), activity.span as f64 * 2.0 / 1e7)?;
        }
        write!(f, "\n{:>14}  {:>16}  {:>12}  {}", "events", "bytes", "events/s", self.by)?;
        let mut row = |counted: &Counted, subject: &str| {
            let rate = counted.rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
            write!(f, "\n{:>14}  {:>16}  {rate:>12}  {}", counted.events, counted.bytes, Escaped(subject))
        };
        self.groups.iter().try_for_each(|by| row(&by.counted, &format!("{}{}", by.subject, by.distinction)))?;
        self.ungrouped.iter().try_for_each(|others| row(others, "all other groups"))
    }
}

/// Two intervals per character, so that the bar fits on a terminal.
fn bar(counts: &[u64]) -> String {
    let pairs: Vec<u64> = counts.chunks(2).map(|pair| pair.iter().sum()).collect();
    let most = pairs.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| (u128::from(count) * 8).div_ceil(u128::from(most)) as usize;
    pairs.iter().map(|count| [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][height(*count).min(8)]).collect()
}
