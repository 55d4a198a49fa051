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
use etw_layouts_trace::{Error, Trace, kind};
use spans::Spans;
use sums::{Amounts, Sums};

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
    let mut question = Question::new(trace, what, keys, filters, functions);
    let (duration, events) = read(trace, filters, std::slice::from_mut(&mut question))?;
    Ok(question.answer(trace, duration, events))
}

/// The answers to all questions by their default keys, in one pass: see [`top`].
///
/// # Errors
///
/// The trace cannot be read, or changed since it was opened.
pub fn overview(trace: &Trace, filters: &[Filter]) -> Result<Vec<Answer>, Error> {
    let functions = Functions::default();
    let mut questions: Vec<_> =
        What::all().map(|what| Question::new(trace, what, what.default_keys(), filters, &functions)).collect();
    let (duration, events) = read(trace, filters, &mut questions)?;
    Ok(questions.into_iter().map(|question| question.answer(trace, duration, events)).collect())
}

/// Passes the events to the questions. Returns the time that the trace covers, and the number of events.
fn read<'t>(trace: &'t Trace, filters: &[Filter], questions: &mut [Question<'t, '_>]) -> Result<(u64, u64), Error> {
    let (mut spans, mut events) = (Spans::new(trace, filters), 0);
    for event in trace.events() {
        let event = event?;
        events += 1;
        let header = event.header();
        if header.hook().is_none_or(|hook| hook >> 8 != HEADER) {
            spans.add(&event);
        }
        let kind = kind(&header);
        for Question { sums, amounts } in &mut *questions {
            if kind.is_some() || sums.what() == What::Events {
                amounts.add(&event, kind.unwrap_or_default(), sums)?;
            }
        }
    }
    Ok((spans.duration(), events))
}

/// A question whose answer is being computed.
struct Question<'t, 'f> {
    sums: Sums<'t, 'f>,
    amounts: Box<dyn Amounts<'t>>,
}

impl<'t, 'f> Question<'t, 'f> {
    fn new(trace: &'t Trace, what: What, keys: &[Key], filters: &'f [Filter], functions: &Functions) -> Self {
        let amounts: Box<dyn Amounts<'t>> = match what {
            What::Cpu => Box::new(cpu::Samples::new(trace)),
            What::Run | What::Wait | What::Ready => Box::new(switches::Switches::new(what)),
            What::Dpc | What::Isr => Box::new(interrupts::Routines::new(what)),
            What::Disk => Box::new(disk::Operations::default()),
            What::Files => Box::new(files::Operations::default()),
            What::Faults => Box::new(faults::Faults),
            What::Net => Box::new(net::Transfers::default()),
            What::Gc => Box::new(gc::Pauses::default()),
            What::Alloc => Box::new(alloc::Allocations),
            What::Images => Box::new(images::Loads),
            What::Events => Box::new(events::Events),
        };
        Self { sums: Sums::new(trace, what, keys.to_vec(), filters, functions), amounts }
    }

    fn answer(mut self, trace: &Trace, duration: u64, events: u64) -> Answer {
        self.amounts.end(&mut self.sums);
        self.sums.into_answer(trace, duration, events)
    }
}
