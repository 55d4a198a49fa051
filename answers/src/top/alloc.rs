//! Samples of allocations of .NET programs.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, number};
use etw_layouts_trace::providers::RUNTIME;
use etw_layouts_trace::{Error, Event, EventKind};

/// GCAllocationTick: an event for about 100 KB of allocations, with the type of the last one.
pub struct Allocations;

const ALLOCATION_TICK: u16 = 10;

impl<'t> Amounts<'t> for Allocations {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind != (RUNTIME, ALLOCATION_TICK) {
            return Ok(());
        }
        let Some(decoded) = event.decode() else { return Ok(()) };
        sums.count_relevant(event);
        let text = |name: &str| decoded.get(name).map_or(KeyValue::Unknown, |value| KeyValue::text(value.to_string()));
        let subject = Subject::new(event).with(Key::Type, text("TypeName")).with(Key::Reason, text("AllocationKind"));
        // The amount of 32 bits overflows for large objects.
        let bytes = number(&decoded, &["AllocationAmount64", "AllocationAmount"]).unwrap_or_default();
        sums.add(&subject, &[1, bytes])?;
        Ok(())
    }
}
