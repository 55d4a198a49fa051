//! The process of a thread, from the events of its start, end and rundown.

use crate::event::Event;
use crate::schemas::{Decoded, Schemas};
use std::collections::HashMap;

/// The process of each thread at a point of a trace, for events with neither a process nor a thread in the header: PERFINFO events such as
/// samples, context switches and page faults. The process is derived from the thread in the payload, and from the last start or rundown event
/// of that thread.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Processes by thread. Windows reuses identifiers of threads, so an entry is valid until the thread ends or another one with the same
    /// identifier starts.
    running: HashMap<u32, u32>,
}

/// The fields that contain the thread that an event describes.
const FIELDS: [&str; 3] = ["ThreadId", "TThreadId", "NewThreadId"];

impl Threads {
    /// Records the start, end or rundown event of a thread; ignores other events. Events must be added in file order or in time order.
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

    /// The process of the thread in the payload of an event. `None` if the header contains a process, if the payload contains no thread, or if
    /// no earlier event states the process of that thread.
    pub fn process(&self, event: &Event<'_>) -> Option<u32> {
        if event.process().is_some() || self.running.is_empty() {
            return None;
        }
        let decoded = event.decode(Schemas::BUILT_IN)?;
        let thread = decoded.iter().find(|value| FIELDS.contains(&value.name()))?.number()?;
        self.running.get(&u32::try_from(thread).ok()?).copied()
    }
}

fn number(decoded: &Decoded<'_>, name: &str) -> Option<u32> {
    decoded.get(name)?.number().map(|number| number as u32)
}
