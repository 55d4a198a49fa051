//! Collects the processes of a session.

mod facts;
mod instances;
mod names;

use crate::deferred::Deferred;
use crate::process_table::ProcessTable;
use etw_layouts_etl::{Clock, Event, Schemas};
use facts::ProcessFact;
use instances::Instances;
use names::Names;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Collects the processes of a session, from the kernel's events of processes and images and from those of Microsoft-Windows-Kernel-Process. Events
/// can be added in any order.
///
/// Memory: at most 131,072 events of processes (300 bytes each), 131,072 identifiers of processes with images, 32 MiB of different strings and
/// 32 MiB of events of Microsoft-Windows-Kernel-Process. What exceeds this is dropped, and the table is not [complete](ProcessTable::is_complete).
#[derive(Clone, Debug, Default)]
pub struct Processes {
    processes: Vec<(i64, Box<ProcessFact>)>,
    /// The time stamp of the first event about an image of each process.
    images: HashMap<u32, i64>,
    names: Names,
    deferred: Deferred,
    is_full: bool,
}

/// Maximum number of events of processes, and of processes with images.
const MAX_EVENTS: usize = 1 << 17;

impl Processes {
    /// Adds an event with its time stamp. Other events than those of processes and images are ignored.
    pub fn add(&mut self, event: &Event<'_>, tick: i64) {
        if facts::is_of_manifest(event) {
            self.deferred.add(event, tick);
        } else if let Some(fact) = facts::of_kernel(event, &mut self.names) {
            self.keep(fact, tick);
        } else if let Some(process) = facts::of_image(event) {
            let count = self.images.len();
            match self.images.entry(process) {
                Entry::Occupied(mut first) => *first.get_mut() = tick.min(*first.get()),
                Entry::Vacant(entry) if count < MAX_EVENTS => _ = entry.insert(tick),
                Entry::Vacant(_) => self.is_full = true,
            }
        }
    }

    /// The processes. `schemas` are those of the session: they decode the events of Microsoft-Windows-Kernel-Process.
    #[must_use]
    pub fn finish(mut self, schemas: &Schemas, clock: &Clock) -> ProcessTable {
        let deferred = std::mem::take(&mut self.deferred);
        for (tick, event) in deferred.events() {
            if let Some(fact) = facts::of_manifest(&event, schemas, &mut self.names) {
                self.keep(fact, tick);
            }
        }
        self.processes.sort_by_key(|(tick, _)| *tick);
        let mut instances = Instances::new(clock);
        self.processes.into_iter().for_each(|(tick, fact)| instances.process(tick, fact.by, fact.process));
        self.images.into_iter().for_each(|(process, tick)| instances.image(process, tick));
        let is_complete = !(self.is_full || self.names.is_full() || deferred.is_full());
        instances.finish(is_complete)
    }

    fn keep(&mut self, fact: Box<ProcessFact>, tick: i64) {
        if self.processes.len() < MAX_EVENTS {
            self.processes.push((tick, fact));
        } else {
            self.is_full = true;
        }
    }
}
