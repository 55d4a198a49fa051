//! Event statistics by key and over time, collected in one pass with bounded memory.

use crate::event::Event;
use crate::schemas::is_classic;
use etw_layouts_payload::Uuid;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Criterion by which events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Provider.
    Provider,
    /// Provider and event identifier; the opcode for events without an identifier.
    Id,
    /// Event name: provider and event by the schema, otherwise [`names::identity`](crate::names::identity).
    Event,
    /// Process.
    Process,
    /// Processor that wrote the event.
    Processor,
}

/// Key shared by counted events. `None` where the criterion does not include the value, or the events lack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key {
    /// [`Event::provider`].
    pub provider: Option<Uuid>,
    /// [`Event::hook`]: for a group without a GUID, the group number in the high byte; the low byte is 0 unless the criterion
    /// includes it.
    pub hook: Option<u16>,
    /// [`Event::id`].
    pub id: Option<u16>,
    /// [`Event::opcode`] of events without an identifier.
    pub opcode: Option<u8>,
    /// A hash of the event's name, if its schema is in the event.
    pub name: Option<u64>,
    /// The process that did it.
    pub process: Option<u32>,
    /// Processor that wrote the events.
    pub processor: Option<u16>,
}

impl Key {
    fn of(event: &Event<'_>, process: Option<u32>, processor: u16, by: Grouping) -> Self {
        let nothing = Self::default();
        match by {
            Grouping::Processor => Self { processor: Some(processor), ..nothing },
            Grouping::Process => Self { process, ..nothing },
            Grouping::Provider => {
                let provider = event.provider();
                Self { provider, hook: event.hook().filter(|_| provider.is_none()).map(|hook| hook & 0xFF00), ..nothing }
            }
            Grouping::Id | Grouping::Event => {
                let id = event.id();
                let opcode = event.opcode().filter(|_| id.is_none() || by == Grouping::Event && is_classic(event));
                let logging = || event.trace_logging()?.schema.ok().map(|schema| Self::hash(schema.event));
                let name = if by == Grouping::Event { logging() } else { None };
                Self { provider: event.provider(), hook: event.hook(), id, opcode, name, ..nothing }
            }
        }
    }
}

impl Key {
    /// The hash of an event's name, for [`name`](Self::name).
    pub fn hash(name: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hasher.finish()
    }
}

/// Number, size and time range of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of events.
    pub events: u64,
    /// Size in bytes, headers included, padding excluded.
    pub bytes: u64,
    /// Earliest and latest system time; `None` if no event has a time.
    pub times: Option<(i64, i64)>,
}

impl Count {
    fn add(&mut self, bytes: usize, time: Option<i64>) {
        self.events += 1;
        self.bytes += bytes as u64;
        if let Some(time) = time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
    }

    /// Seconds from the earliest to the latest event; 0 with fewer than two times.
    pub fn seconds(&self) -> f64 {
        self.times.map_or(0.0, |(first, last)| last.abs_diff(first) as f64 / 1e7)
    }
}

/// Event statistics of any number of files.
#[derive(Clone, Debug)]
pub struct Stat {
    by: Grouping,
    all: Count,
    counts: HashMap<Key, Count>,
    /// The most recent key and its counts, not yet merged into the others: consecutive events often share a key.
    run: (Key, Count),
    others: Count,
    activity: Activity,
}

impl Stat {
    /// Maximum number of keys that are counted separately; events of any further keys are counted together.
    pub const MAX_KEYS: usize = 1 << 14;

    /// Starts with no events.
    pub fn new(by: Grouping) -> Self {
        let (all, others, run) = Default::default();
        Self { by, all, counts: HashMap::new(), run, others, activity: Activity::default() }
    }

    /// Counts an event of a process and a processor at a system time.
    pub fn add(&mut self, event: &Event<'_>, process: Option<u32>, processor: u16, time: Option<i64>) {
        let (key, bytes) = (Key::of(event, process, processor, self.by), event.bytes().len());
        self.all.add(bytes, time);
        if let Some(time) = time {
            self.activity.add(time);
        }
        if self.run.0 != key {
            self.end_run();
            self.run = (key, self.counts.remove(&key).unwrap_or_default());
        }
        match self.run.1.events == 0 && self.counts.len() >= Self::MAX_KEYS {
            true => self.others.add(bytes, time),
            false => self.run.1.add(bytes, time),
        }
    }

    fn end_run(&mut self) {
        if self.run.1.events > 0 {
            self.counts.insert(self.run.0, self.run.1);
        }
    }

    /// Statistics of all events.
    pub fn all(&self) -> &Count {
        &self.all
    }

    /// Statistics by key, most events first.
    pub fn counts(&self) -> Vec<(Key, Count)> {
        let run = Some(self.run).filter(|(_, count)| count.events > 0);
        let mut counts: Vec<_> = self.counts.iter().map(|(key, count)| (*key, *count)).chain(run).collect();
        counts.sort_unstable_by_key(|(key, count)| (Reverse(count.events), *key));
        counts
    }

    /// Statistics of the events with keys beyond [`MAX_KEYS`](Self::MAX_KEYS).
    pub fn others(&self) -> &Count {
        &self.others
    }

    /// Number of events over time.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }
}

/// Histogram of events over time. All spans have the same width, which doubles whenever there would be more than
/// [`MAX_SPANS`](Self::MAX_SPANS).
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Binary logarithm of the width of a span.
    shift: u32,
    /// Counts by span number, without empty spans.
    spans: BTreeMap<i64, u64>,
}

impl Activity {
    /// Maximum number of spans.
    pub const MAX_SPANS: u64 = 128;

    /// Counts an event at a system time.
    fn add(&mut self, time: i64) {
        *self.spans.entry(time >> self.shift).or_default() += 1;
        while let (Some((first, _)), Some((last, _))) = (self.spans.first_key_value(), self.spans.last_key_value())
            && last.abs_diff(*first) >= Self::MAX_SPANS
        {
            self.shift += 1;
            for (span, count) in std::mem::take(&mut self.spans) {
                *self.spans.entry(span >> 1).or_default() += count;
            }
        }
    }

    /// Width of a span, in units of 100 ns.
    pub fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Start of the first span, in units of 100 ns since 1601; `None` if no event had a time.
    pub fn start(&self) -> Option<i64> {
        self.spans.first_key_value().map(|(first, _)| first << self.shift)
    }

    /// Number of events per span, from the first to the last span with events.
    pub fn counts(&self) -> Vec<u64> {
        let (Some((first, _)), Some((last, _))) = (self.spans.first_key_value(), self.spans.last_key_value()) else {
            return Vec::new();
        };
        (*first..=*last).map(|span| self.spans.get(&span).copied().unwrap_or(0)).collect()
    }
}
