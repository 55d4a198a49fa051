//! Sums by process, file, function and other keys: where the time went.

mod alloc;
mod answer;
mod cpu;
mod disk;
mod events;
mod faults;
mod files;
mod gc;
mod images;
mod interrupts;
mod key;
mod net;
mod spans;
mod sums;
mod switches;
mod what;

pub use answer::{Answer, Column, Note, Row, Value};
pub use key::{Key, KeyValue};
pub use what::{Measure, Unit, What};

use crate::functions::Functions;
use etw_layouts_trace::etl::Filter;
use etw_layouts_trace::{Error, Trace};
use spans::Spans;
use sums::{Amounts, Sums, kind};

/// The group of the events that describe a session. Some have the time at which the session was set up, long before the others.
const HEADER: u16 = 0x00;

/// Sums the amounts of the events of a trace by keys, in one pass in the order of time. `filters` has the filter of each file; if it is empty, all events
/// match. An interval, such as a wait, belongs to the event that ends it: the filter applies to that event, and to the process and the thread of
/// the interval.
///
/// `functions` names the functions of images in call stacks; by default it has none.
///
/// The answer has at most 262,144 rows with at most 64 MiB of text; the rest is in a row of [`KeyValue::Others`].
///
/// # Errors
///
/// The trace cannot be read, or changed since it was opened.
pub fn top(trace: &Trace, what: What, keys: &[Key], filters: &[Filter], functions: &Functions) -> Result<Answer, Error> {
    let mut sums = Sums::new(trace, what, keys.to_vec(), filters, functions);
    let mut amounts: Box<dyn Amounts<'_>> = match what {
        What::Cpu => Box::new(cpu::Samples::new(trace)?),
        What::Run | What::Wait | What::Ready => Box::new(switches::Switches::new(what)),
        What::Dpc | What::Isr => Box::new(interrupts::Routines::new(what)),
        What::Disk => Box::new(disk::Operations::new()),
        What::Files => Box::new(files::Operations::new()),
        What::Faults => Box::new(faults::Faults),
        What::Net => Box::new(net::Transfers::default()),
        What::Gc => Box::new(gc::Pauses::new()),
        What::Alloc => Box::new(alloc::Allocations),
        What::Images => Box::new(images::Loads),
        What::Events => Box::new(events::Events),
    };
    let (mut spans, mut events) = (Spans::new(trace, filters), 0);
    for event in trace.events() {
        let event = event?;
        events += 1;
        if event.header().hook().is_none_or(|hook| hook >> 8 != HEADER) {
            spans.add(&event);
        }
        if let Some(kind) = kind(&event.header()) {
            amounts.add(&event, kind, &mut sums)?;
        } else if what == What::Events {
            amounts.add(&event, Default::default(), &mut sums)?;
        }
    }
    amounts.end(&mut sums);
    Ok(sums.into_answer(spans.duration(), trace.sessions().len(), events))
}
