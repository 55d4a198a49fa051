//! How many events there are, of what, and when: counted in one pass, in memory that does not grow with them.

use crate::event::Event;
use crate::guid::Guid;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// What events are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Their provider.
    Provider,
    /// Their provider and what identifies them within it; the opcode of those that have no identifier.
    Id,
    /// Their process.
    Process,
    /// The processor that wrote them.
    Processor,
}

/// What counted events have in common. What they are not counted by, or do not tell, is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key {
    /// [`Event::provider`].
    pub provider: Option<Guid>,
    /// [`Event::hook`]: of a group without a GUID, its number in the high byte, and 0 in the low one if it is not counted by.
    pub hook: Option<u16>,
    /// [`Event::id`].
    pub id: Option<u16>,
    /// [`Event::opcode`] of events without an identifier.
    pub opcode: Option<u8>,
    /// [`Event::process`].
    pub process: Option<u32>,
    /// The processor.
    pub processor: Option<u16>,
}

impl Key {
    fn of(event: &Event<'_>, processor: u16, by: By) -> Self {
        let nothing = Self::default();
        match by {
            By::Processor => Self { processor: Some(processor), ..nothing },
            By::Process => Self { process: event.process(), ..nothing },
            By::Provider => {
                let provider = event.provider();
                Self { provider, hook: event.hook().filter(|_| provider.is_none()).map(|hook| hook & 0xFF00), ..nothing }
            }
            By::Id => {
                let id = event.id();
                let opcode = event.opcode().filter(|_| id.is_none());
                Self { provider: event.provider(), hook: event.hook(), id, opcode, ..nothing }
            }
        }
    }
}

/// How many events, their bytes, and from when to when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub events: u64,
    /// Bytes with their headers, without padding.
    pub bytes: u64,
    /// The earliest and the latest system time, if any has one.
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

    /// Seconds from the earliest to the latest; 0 if there are no two times.
    pub fn seconds(&self) -> f64 {
        self.times.map_or(0.0, |(first, last)| last.abs_diff(first) as f64 / 1e7)
    }
}

/// Counts of events, of any number of files.
#[derive(Clone, Debug)]
pub struct Stat {
    by: By,
    all: Count,
    counts: HashMap<Key, Count>,
    /// The key before and its counts, which are not among the others: events of one kind come in runs.
    run: (Key, Count),
    others: Count,
    activity: Activity,
}

impl Stat {
    /// So many keys are counted apart; events of all later ones are counted together.
    pub const MOST: usize = 1 << 14;

    /// Begins to count.
    pub fn new(by: By) -> Self {
        let (all, others, run) = Default::default();
        Self { by, all, counts: HashMap::new(), run, others, activity: Activity::default() }
    }

    /// Counts an event of a processor at a system time.
    pub fn add(&mut self, event: &Event<'_>, processor: u16, time: Option<i64>) {
        let (key, bytes) = (Key::of(event, processor, self.by), event.bytes().len());
        self.all.add(bytes, time);
        if let Some(time) = time {
            self.activity.add(time);
        }
        if self.run.0 != key {
            self.end_run();
            self.run = (key, self.counts.remove(&key).unwrap_or_default());
        }
        match self.run.1.events == 0 && self.counts.len() >= Self::MOST {
            true => self.others.add(bytes, time),
            false => self.run.1.add(bytes, time),
        }
    }

    fn end_run(&mut self) {
        if self.run.1.events > 0 {
            self.counts.insert(self.run.0, self.run.1);
        }
    }

    /// All events.
    pub fn all(&self) -> &Count {
        &self.all
    }

    /// The counts by key, those with the most events first.
    pub fn counts(&self) -> Vec<(Key, Count)> {
        let run = Some(self.run).filter(|(_, count)| count.events > 0);
        let mut counts: Vec<_> = self.counts.iter().map(|(key, count)| (*key, *count)).chain(run).collect();
        counts.sort_unstable_by_key(|(key, count)| (Reverse(count.events), *key));
        counts
    }

    /// Events whose keys came after there were too many to count apart.
    pub fn others(&self) -> &Count {
        &self.others
    }

    /// When the events were.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }
}

/// How many events there were in each span of time. All spans are as long, and twice as long whenever there would be too many.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// A span takes 2 to this power.
    shift: u32,
    /// Counts by the number of the span. Those without events are not there.
    spans: BTreeMap<i64, u64>,
}

impl Activity {
    /// There are no more spans than this.
    pub const MOST: u64 = 128;

    /// Counts a system time.
    fn add(&mut self, time: i64) {
        *self.spans.entry(time >> self.shift).or_default() += 1;
        while let (Some((first, _)), Some((last, _))) = (self.spans.first_key_value(), self.spans.last_key_value())
            && last.abs_diff(*first) >= Self::MOST
        {
            self.shift += 1;
            for (span, count) in std::mem::take(&mut self.spans) {
                *self.spans.entry(span >> 1).or_default() += count;
            }
        }
    }

    /// How long a span is, in units of 100 ns.
    pub fn width(&self) -> u64 {
        1 << self.shift
    }

    /// When the first span begins, as system time; `None` if no event had a time.
    pub fn start(&self) -> Option<i64> {
        self.spans.first_key_value().map(|(first, _)| first << self.shift)
    }

    /// How many events each span has, from the first with events to the last.
    pub fn counts(&self) -> Vec<u64> {
        let (Some((first, _)), Some((last, _))) = (self.spans.first_key_value(), self.spans.last_key_value()) else {
            return Vec::new();
        };
        (*first..=*last).map(|span| self.spans.get(&span).copied().unwrap_or(0)).collect()
    }
}
