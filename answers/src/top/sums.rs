//! Sums of amounts by the values of keys.

use super::answer::{Answer, Note, Row};
use super::key::{Key, KeyValue, Keys, Subject, event_name};
use super::slots;
use super::spans::Spans;
use super::what::What;
use crate::functions::Functions;
use etw_layouts_trace::etl::{self, Filter};
use etw_layouts_trace::{Error, Event, EventKind, Trace, kind};
use std::collections::{BTreeMap, HashMap};

/// Adds the amounts of the events that answer a question.
pub(super) trait Amounts<'t> {
    /// Adds an event, in the order of time.
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error>;

    /// Notes what is left at the end of the trace.
    fn end(&mut self, _sums: &mut Sums<'t, '_>) {}
}

/// Sums of amounts by keys.
pub(super) struct Sums<'t, 'f> {
    what: What,
    keys: Vec<Key>,
    values: Keys<'t>,
    filters: &'f [Filter],
    rows: Vec<Row>,
    /// The index of each row by its keys.
    places: HashMap<Vec<KeyValue>, usize>,
    /// Size of the texts in the rows, in bytes.
    size: usize,
    totals: Vec<u64>,
    /// The slot of the current event, if amounts are summed by slots.
    slot: Option<u32>,
    total_slots: Vec<u64>,
    /// Number of slots with amounts in all rows.
    row_slots: usize,
    relevant: u64,
    /// The kinds of the relevant events, with their names.
    events: Vec<(EventKind, String)>,
    /// The time of the events that the question needs.
    spans: Spans<'f>,
    unknown: Vec<usize>,
    notes: BTreeMap<&'static str, u64>,
}

/// Maximum number of rows, and maximum size of their texts in bytes. Further amounts are in one row.
const MAX_ROWS: usize = 1 << 18;
const MAX_TEXT: usize = 64 << 20;

/// Maximum number of slots with amounts in all rows. Beyond it, the smallest rows lose their slots.
const MAX_SLOTS: usize = 1 << 17;

impl<'t, 'f> Sums<'t, 'f> {
    pub fn new(trace: &'t Trace, what: What, keys: Vec<Key>, filters: &'f [Filter], functions: &Functions) -> Self {
        let totals = vec![0; what.measures().len()];
        let (rows, places, unknown, notes, total_slots) = Default::default();
        Self {
            what,
            keys,
            values: Keys::new(trace, functions),
            filters,
            rows,
            places,
            size: 0,
            totals,
            slot: None,
            total_slots,
            row_slots: 0,
            relevant: 0,
            events: Vec::new(),
            spans: Spans::new(trace, &[]),
            unknown,
            notes,
        }
    }

    /// What is summed.
    pub fn what(&self) -> What {
        self.what
    }

    /// Sets the slot of the amounts that are added next.
    pub fn set_slot(&mut self, slot: Option<u32>) {
        self.slot = slot;
    }

    /// Whether a key is asked for.
    pub fn has(&self, key: Key) -> bool {
        self.keys.contains(&key)
    }

    /// Counts an event that the question needs, whether it adds an amount or not.
    pub fn count_relevant(&mut self, event: &Event<'t>) {
        self.relevant += 1;
        self.spans.add(event);
        // Any event answers this question.
        let kind = if self.what == What::Events { None } else { kind(&event.header()) };
        if let Some(kind) = kind.filter(|kind| self.events.iter().all(|(known, _)| known != kind)) {
            self.events.push((kind, event_name(event)));
        }
    }

    /// Adds amounts of a subject, if the filter of its file matches the event and the process and thread of the subject. Returns the index of the row.
    pub fn add(&mut self, subject: &Subject<'_, 't>, amounts: &[u64]) -> Result<Option<usize>, Error> {
        let Subject { event, party, .. } = subject;
        if let Some(filter) = self.filters.get(event.file_index())
            && !(filter.matches_without_ids(&event.header(), event.processor(), event.file().clock())
                && (!filter.asks_who() || filter.is_of(&[party.process], &[party.thread])))
        {
            return Ok(None);
        }
        let keys = self.keys.iter().map(|key| self.values.value(*key, subject)).collect::<Result<_, _>>()?;
        let row = self.row(keys);
        self.add_to(row, amounts);
        Ok(Some(row))
    }

    /// Adds amounts to a row.
    pub fn add_to(&mut self, row: usize, amounts: &[u64]) {
        self.what.combine(&mut self.totals, amounts);
        let row = &mut self.rows[row];
        self.what.combine(&mut row.amounts, amounts);
        if let Some(slot) = self.slot {
            slots::add(self.what, &mut self.total_slots, slot, amounts);
            if let Some(sums) = &mut row.slots {
                self.row_slots += usize::from(slots::add(self.what, sums, slot, amounts));
                if self.row_slots > MAX_SLOTS {
                    self.drop_slots();
                }
            }
        }
    }

    /// Drops the slots of the smallest rows, until half of the limit remains.
    fn drop_slots(&mut self) {
        let (main, stride) = (self.what.main(), self.totals.len() + 1);
        let mut order: Vec<_> = (0..self.rows.len()).filter(|row| self.rows[*row].slots.is_some()).collect();
        order.sort_unstable_by_key(|row| (self.rows[*row].amounts[main], *row));
        for row in order {
            if self.row_slots <= MAX_SLOTS / 2 {
                break;
            }
            self.row_slots -= self.rows[row].slots.take().map_or(0, |slots| slots.len() / stride);
        }
    }

    /// The index of the row with these keys.
    fn row(&mut self, mut keys: Vec<KeyValue>) -> usize {
        if let Some(place) = self.places.get(&keys) {
            return *place;
        }
        let size: usize = keys.iter().map(KeyValue::size).sum();
        if self.rows.len() >= MAX_ROWS || self.size.saturating_add(size) > MAX_TEXT {
            self.note("amounts in the row (others), because there are more rows than are kept", 1);
            keys.fill(KeyValue::Others);
        } else {
            self.size += size;
        }
        *self.places.entry(keys).or_insert_with_key(|keys| {
            let slots = self.slot.map(|_| Vec::new());
            self.rows.push(Row { keys: keys.clone(), amounts: vec![0; self.totals.len()], slots });
            self.rows.len() - 1
        })
    }

    /// Counts something that is missing, inferred or left out.
    pub fn note(&mut self, note: &'static str, count: u64) {
        if count > 0 {
            *self.notes.entry(note).or_default() += count;
        }
    }

    /// Counts states that a [`Pending`](crate::pending::Pending) dropped.
    pub fn note_dropped(&mut self, count: u64) {
        self.note("states beyond the limit of memory, whose time is not known", count);
    }

    /// States that no event of the trace states some measures.
    pub fn unknown(&mut self, measures: impl IntoIterator<Item = usize>) {
        self.unknown.extend(measures);
    }

    pub fn into_answer(mut self, trace: &Trace, duration: u64, all_events: u64) -> Answer {
        // Each event is in one session, but what happened once can be in several.
        if self.what != What::Events {
            self.note(
                "sessions that overlap another session in time, and can be of the same computer: what both recorded is counted twice",
                self.spans.overlapping(trace),
            );
        }
        self.note("frames in images whose functions are not known", self.values.without_function);
        let Self { what, keys, mut rows, totals, total_slots, relevant, events, unknown, notes, .. } = self;
        let main = what.main();
        rows.sort_unstable_by(|a, b| {
            b.amounts[main].cmp(&a.amounts[main]).then_with(|| b.amounts.cmp(&a.amounts)).then_with(|| a.keys.cmp(&b.keys))
        });
        let mut relevant_events: Vec<_> = events.into_iter().map(|(_, name)| name).collect();
        relevant_events.sort_unstable();
        relevant_events.dedup();
        let notes = notes.into_iter().map(|(note, count)| Note { note, count }).collect();
        Answer {
            what,
            keys,
            rows,
            totals,
            total_slots,
            duration,
            sessions: trace.sessions().len(),
            relevant,
            relevant_events,
            events: all_events,
            unknown,
            notes,
        }
    }
}

/// The time between two time stamps of the session of an event, in units of 100 ns; 0 if the second is the earlier one.
pub(super) fn between(event: &Event<'_>, from: i64, to: i64) -> u64 {
    let clock = event.file().clock();
    u64::try_from(clock.system_time(to).saturating_sub(clock.system_time(from))).unwrap_or_default()
}

/// The integer in a field of an event.
pub(super) fn number(decoded: &etl::Decoded<'_>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| decoded.get(name))?.number()
}
