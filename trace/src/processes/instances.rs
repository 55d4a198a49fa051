//! Joins the facts about processes to processes.

use crate::process::{Known, Moment, Process, ProcessIndex, StatedBy};
use crate::process_table::{Owner, Owners, ProcessTable};
use etw_layouts_etl::Clock;
use std::collections::HashMap;

/// The processes so far. Facts are added in the order of time, all processes before all images.
pub(super) struct Instances<'c> {
    clock: &'c Clock,
    all: Vec<Instance>,
    /// Indices of the processes with an identifier, in the order in which they had it.
    by_id: HashMap<u32, Vec<usize>>,
    /// The last process with an identifier and a key, and that with an identifier and a sequence number.
    by_key: HashMap<(u32, u64), usize>,
    by_sequence: HashMap<(u32, u64), usize>,
}

struct Instance {
    process: Process,
    /// The time stamp from which it has the identifier.
    from: i64,
    /// The time stamp of its first event.
    seen: i64,
    /// The events that state its start and its end.
    started: Vec<StatedBy>,
    ended: Vec<StatedBy>,
    rundowns: Rundowns,
}

/// The time stamps of a process in the rundowns at the start and at the end of the session, and of the provider with a manifest.
type Rundowns = [Option<i64>; 3];

impl<'c> Instances<'c> {
    pub fn new(clock: &'c Clock) -> Self {
        let (by_key, by_sequence) = (HashMap::new(), HashMap::new());
        Self { clock, all: Vec::new(), by_id: HashMap::new(), by_key, by_sequence }
    }

    /// Adds what an event states about a process.
    pub fn process(&mut self, tick: i64, by: StatedBy, mut fact: Process) {
        let now = Moment::At { tick, time: self.clock.time(tick) };
        match by {
            StatedBy::Start | StatedBy::ManifestStart => fact.start = Some(Known { value: now, by }),
            StatedBy::End | StatedBy::ManifestStop => fact.end = Some(Known { value: now, by }),
            _ => {}
        }
        let index = self.same(by, &fact).unwrap_or_else(|| self.insert(tick, by, &fact));
        self.by_key.extend(fact.key.map(|key| ((fact.id, key), index)));
        self.by_sequence.extend(fact.sequence.map(|sequence| ((fact.id, sequence), index)));
        self.all[index].merge(tick, by, fact);
    }

    /// The process that a fact is about, if it is known.
    fn same(&self, by: StatedBy, fact: &Process) -> Option<usize> {
        let by_key = fact.key.and_then(|key| self.by_key.get(&(fact.id, key)));
        let by_key = by_key.or_else(|| self.by_sequence.get(&(fact.id, fact.sequence?)));
        let (known, is_current) = match by_key {
            Some(index) => (*index, false),
            None => (*self.by_id.get(&fact.id)?.last()?, true),
        };
        let instance = &self.all[known];
        if is_current && instance.is_other(fact) {
            return None;
        }
        // One source states each start and each end once.
        let is_stated = |list: &[StatedBy]| list.iter().any(|other| other.is_manifest() == by.is_manifest());
        let fits = match by {
            StatedBy::Start | StatedBy::ManifestStart if is_current => {
                !instance.started.is_empty() && !is_stated(&instance.started) && instance.ended.is_empty()
            }
            StatedBy::Start | StatedBy::ManifestStart => !is_stated(&instance.started) && instance.ended.is_empty(),
            StatedBy::End | StatedBy::ManifestStop => !is_stated(&instance.ended),
            StatedBy::Defunct => true,
            _ => !is_current || instance.ended.is_empty(),
        };
        fits.then_some(known)
    }

    /// Adds a process that has the identifier of a fact from its time on.
    fn insert(&mut self, tick: i64, by: StatedBy, fact: &Process) -> usize {
        let id = fact.id;
        let own = self.by_id.entry(id).or_default();
        let is_start = matches!(by, StatedBy::Start | StatedBy::ManifestStart);
        let from = if is_start || !own.is_empty() { tick } else { i64::MIN };
        if let Some(before) = own.last().map(|before| &mut self.all[*before].process) {
            better(&mut before.end, Some(Known { value: Moment::Earlier, by: StatedBy::Reuse }));
        }
        own.push(self.all.len());
        self.all.push(Instance::new(Process { id, ..Process::default() }, from, tick));
        self.all.len() - 1
    }

    /// Adds the process of an image whose first event has a time stamp, if no process has its identifier then.
    pub fn image(&mut self, id: u32, tick: i64) {
        let all = &mut self.all;
        let own = self.by_id.entry(id).or_default();
        if own.first().is_some_and(|first| all[*first].from <= tick) {
            return;
        }
        let start = Some(Known { value: Moment::Earlier, by: StatedBy::Image });
        let end = (!own.is_empty()).then_some(Known { value: Moment::Earlier, by: StatedBy::Reuse });
        let process = Process { id, start, end, ..Process::default() };
        all.push(Instance::new(process, i64::MIN, tick));
        own.insert(0, all.len() - 1);
    }

    /// The table.
    pub fn finish(mut self, is_complete: bool) -> ProcessTable {
        self.all.sort_by_key(|instance| (instance.start(), instance.seen, instance.process.id));
        let owner = |(index, own): (usize, &Instance)| Owner { id: own.process.id, from: own.from, index: index as u32 };
        let owners = Owners::new(self.all.iter().enumerate().map(owner).collect());
        let parents: Vec<_> = self.all.iter().map(|child| self.parent(&owners, child)).collect();
        let with_parent = |(own, parent): (Instance, _)| Process { parent, ..own.process };
        ProcessTable::new(self.all.into_iter().zip(parents).map(with_parent).collect(), owners, is_complete)
    }

    /// The process that had the identifier of the parent when a process started.
    fn parent(&self, owners: &Owners, child: &Instance) -> Option<ProcessIndex> {
        let id = child.process.parent_id.as_ref()?.value;
        let index = owners.at(id, child.start().unwrap_or(i64::MIN))?;
        let parent = &self.all[index.0 as usize];
        (!parent.is_later(child) && !std::ptr::eq(parent, child)).then_some(index)
    }
}

impl Instance {
    /// Whether the fact cannot be about this process.
    fn is_other(&self, fact: &Process) -> bool {
        let is = |own: Option<u64>, other: Option<u64>| own.is_some() && other.is_some() && own != other;
        is(self.process.key, fact.key) || is(self.process.sequence, fact.sequence)
    }

    fn new(process: Process, from: i64, seen: i64) -> Self {
        Self { process, from, seen, started: Vec::new(), ended: Vec::new(), rundowns: Rundowns::default() }
    }

    /// Whether it is known to have started later than another one. A rundown has the processes in the order of their start.
    fn is_later(&self, other: &Self) -> bool {
        let time = |own: &Self| own.process.start.as_ref().and_then(|start| start.value.time());
        let is_later = |(own, other)| matches!((own, other), (Some(own), Some(other)) if own > other);
        time(self).zip(time(other)).is_some_and(|(own, other)| own > other)
            || self.rundowns.into_iter().zip(other.rundowns).any(is_later)
    }

    /// The time stamp of its start.
    fn start(&self) -> Option<i64> {
        match self.process.start.as_ref().map(|start| start.value) {
            Some(Moment::At { tick, .. }) => Some(tick),
            _ => None,
        }
    }

    fn merge(&mut self, tick: i64, by: StatedBy, fact: Process) {
        match by {
            StatedBy::Start | StatedBy::ManifestStart => self.started.push(by),
            StatedBy::End | StatedBy::ManifestStop | StatedBy::Defunct => self.ended.push(by),
            StatedBy::DcStart => self.rundowns[0] = Some(tick),
            StatedBy::DcEnd => self.rundowns[1] = Some(tick),
            StatedBy::ManifestRundown => self.rundowns[2] = Some(tick),
            StatedBy::Image | StatedBy::Reuse => {}
        }
        let own = &mut self.process;
        own.key = own.key.or(fact.key);
        own.sequence = own.sequence.or(fact.sequence);
        better(&mut own.start, fact.start);
        better(&mut own.end, fact.end);
        first(&mut own.parent_id, fact.parent_id);
        first(&mut own.session, fact.session);
        first(&mut own.exit_status, fact.exit_status);
        first(&mut own.image, fact.image);
        first(&mut own.path, fact.path);
        first(&mut own.command_line, fact.command_line);
        first(&mut own.user, fact.user);
        first(&mut own.package, fact.package);
    }
}

/// Keeps the moment that is known better; of two equal ones, the first.
fn better(own: &mut Option<Known<Moment>>, new: Option<Known<Moment>>) {
    let rank = |known: &Option<Known<Moment>>| known.as_ref().map_or(u8::MAX, |known| known.value.rank());
    if rank(&new) < rank(own) {
        *own = new;
    }
}

fn first<T>(own: &mut Option<Known<T>>, new: Option<Known<T>>) {
    if own.is_none() {
        *own = new;
    }
}
