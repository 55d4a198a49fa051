//! The parts of call stacks that belong to no event.

use crate::error::Error;
use crate::event::Event;
use crate::place::Position;
use crate::stacks::StackSource;
use crate::trace::Trace;
use std::collections::HashSet;

/// Numbers of parts of call stacks that belong to no event, or have no addresses, by the reason. Parts in extended items are in their event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct UnboundStacks {
    /// StackWalk events for which the trace has no event with the time stamp and the thread that they state, such as a lost event.
    pub without_event: u64,
    /// References to a key that the trace does not define afterwards.
    pub undefined_keys: u64,
    /// Stacks of the .NET runtime that do not follow an event of their thread.
    pub runtime_without_event: u64,
    /// StackWalk events that cannot be decoded.
    pub undecoded: u64,
}

/// Counts the parts of call stacks that belong to an event, to find the others.
#[derive(Debug, Default)]
pub struct StackCounter {
    /// Number of parts with addresses that belong to an event.
    bound: u64,
    tick: i64,
    /// The parts of events at this tick: two events with the same time stamp and thread have the same parts. Idle threads of several processors can refer
    /// to the same key.
    seen: HashSet<(StackSource, Option<u64>, Position, u16)>,
}

/// Maximum number of parts of events at the same tick that are distinguished.
const MAX_SEEN: usize = 1 << 16;

impl UnboundStacks {
    /// The sum of all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.without_event + self.undefined_keys + self.runtime_without_event + self.undecoded
    }
}

impl StackCounter {
    /// Adds an event. All events of a trace are needed, in the order of time.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn add(&mut self, event: &Event<'_>) -> Result<(), Error> {
        for part in event.found_parts()? {
            if self.tick != event.tick() {
                self.tick = event.tick();
                self.seen.clear();
            }
            if let Some(at) = part.at {
                let is_new = self.seen.len() >= MAX_SEEN || self.seen.insert((part.source, part.key, at, part.processor));
                self.bound += u64::from(is_new);
            }
        }
        Ok(())
    }

    /// The parts that belong to no event of the trace.
    #[must_use]
    pub fn unbound(&self, trace: &Trace) -> UnboundStacks {
        let mut unbound = UnboundStacks::default();
        let mut parts = 0;
        for counts in trace.sessions().iter().map(|session| session.stacks.counts()) {
            parts += counts.parts;
            unbound.undefined_keys += counts.undefined_keys;
            unbound.runtime_without_event += counts.runtime_without_event;
            unbound.undecoded += counts.undecoded;
        }
        unbound.without_event = parts.saturating_sub(self.bound);
        unbound
    }
}
