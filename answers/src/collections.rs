//! Garbage collections and suspensions of .NET programs.

use crate::pending::Pending;
use etw_layouts_trace::providers::RUNTIME;
use etw_layouts_trace::{Event, EventKind, Party};

/// A suspension, from GCSuspendEEBegin to GCRestartEEEnd.
#[derive(Debug)]
pub(crate) struct Suspension {
    pub start: i64,
    /// The process and thread that suspended.
    pub party: Party,
    pub reason: Option<String>,
    /// The first garbage collection that began in the suspension.
    pub collection: Option<Collection>,
}

/// A garbage collection, from GCStart to GCEnd.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    pub start: i64,
    pub generation: Option<String>,
    pub cause: Option<String>,
}

/// What an event ends.
pub(crate) enum Ended {
    Suspension(Suspension),
    Collection(Collection),
    /// A suspension that began before the trace.
    Unknown,
}

/// The session, the process and the instance of the runtime: those of a process are independent.
type Runtime = (usize, Option<u32>, u64);

/// Pairs the events of each runtime in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Collections {
    suspensions: Pending<Runtime, Suspension>,
    /// By runtime and number: a collection in the background takes time in which others begin and end.
    collections: Pending<(Runtime, u64), Collection>,
    /// Suspensions that another one followed without a restart.
    replaced: u64,
}

pub(crate) const SUSPEND_BEGIN: EventKind = (RUNTIME, 9);
const RESTART_END: EventKind = (RUNTIME, 3);
const START: EventKind = (RUNTIME, 1);
const END: EventKind = (RUNTIME, 2);

impl Collections {
    /// Adds an event. Returns what it ends.
    pub fn add(&mut self, event: &Event<'_>, kind: EventKind) -> Option<Ended> {
        if !matches!(kind, SUSPEND_BEGIN | RESTART_END | START | END) {
            return None;
        }
        let decoded = event.decode()?;
        let party = event.who().by;
        let instance = decoded.get("ClrInstanceID").and_then(|value| value.number()).unwrap_or_default();
        let runtime = (event.session_index(), party.process, instance);
        let number = || decoded.get("Count").and_then(|value| value.number()).unwrap_or_default();
        let text = |name: &str| decoded.get(name).map(|value| value.to_string());
        match kind {
            SUSPEND_BEGIN => {
                let suspension = Suspension { start: event.tick(), party, reason: text("Reason"), collection: None };
                self.replaced += u64::from(self.suspensions.insert(runtime, suspension).is_some());
                None
            }
            RESTART_END => Some(self.suspensions.remove(&runtime).map_or(Ended::Unknown, Ended::Suspension)),
            START => {
                let collection = Collection { start: event.tick(), generation: text("Depth"), cause: text("Reason") };
                if let Some(suspension) = self.suspensions.get_mut(&runtime) {
                    suspension.collection.get_or_insert_with(|| collection.clone());
                }
                self.collections.insert((runtime, number()), collection);
                None
            }
            _ => self.collections.remove(&(runtime, number())).map(Ended::Collection),
        }
    }

    /// The number of suspensions without a restart.
    pub fn without_restart(&self) -> u64 {
        self.replaced + self.suspensions.len() as u64
    }

    pub fn dropped(&self) -> u64 {
        self.suspensions.dropped() + self.collections.dropped()
    }
}
