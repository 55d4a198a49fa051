//! The process of a thread, from the events of its start, end and rundown.

use crate::event::Event;
use crate::schemas::{Decoded, Schemas};
use std::collections::HashMap;

/// The processes of threads at a point of a trace, for events whose header names neither: PERFINFO events such as samples, context switches
/// and page faults. The process is derived from the thread that the payload names and the last event of that thread before.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Processes by thread. Windows reuses identifiers of threads, so an entry holds until the thread ends or another starts.
    running: HashMap<u32, u32>,
}

/// The fields that name the thread an event is about.
const FIELDS: [&str; 3] = ["ThreadId", "TThreadId", "NewThreadId"];

impl Threads {
    /// Learns from an event of a thread's start, end or rundown. Events have to come in the order of the file, or in that of time.
    pub fn add(&mut self, event: &Event<'_>) {
        if !matches!(event.opcode(), Some(1..=4)) {
            return;
        }
        let Some(decoded) = event.decode(Schemas::BUILT_IN).filter(|decoded| decoded.schema.provider == "Thread") else {
            return;
        };
        let (Some(thread), Some(process)) = (number(&decoded, "TThreadId"), number(&decoded, "ProcessId")) else { return };
        match decoded.schema.event {
            "Start" | "DCStart" | "DCEnd" => {
                self.running.insert(thread, process);
            }
            "End" => {
                self.running.remove(&thread);
            }
            _ => {}
        }
    }

    /// The process of the thread that the payload of an event names. `None` if the header names a process, if the payload names no thread, or
    /// if the trace does not tell the process of that thread.
    pub fn process(&self, event: &Event<'_>) -> Option<u32> {
        if event.process().is_some() || self.running.is_empty() {
            return None;
        }
        let decoded = event.decode(Schemas::BUILT_IN)?;
        let thread = decoded.iter().find(|value| FIELDS.contains(&value.name))?.number()?;
        self.running.get(&u32::try_from(thread).ok()?).copied()
    }
}

fn number(decoded: &Decoded<'_>, name: &str) -> Option<u32> {
    decoded.get(name)?.number().map(|number| number as u32)
}
