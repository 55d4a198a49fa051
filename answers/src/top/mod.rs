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
mod slots;
mod spans;
mod sums;
mod switches;
mod what;

pub use answer::{Answer, Column, Note, Row, Value};
pub use key::{Key, KeyValue};
pub use slots::Slots;
pub use what::{Measure, Unit, What};

use crate::functions::Functions;
use etw_layouts_trace::etl::{self, Filter};
use etw_layouts_trace::{Error, Event, Trace, kind};
use spans::Spans;
use sums::{Amounts, Sums};

/// The group of the events that describe a session. Some have the time at which the session was set up, long before the others.
const HEADER: u16 = 0x00;

/// Whether an event describes a session, so that its time is not one of the recording.
#[must_use]
pub fn is_header(event: &etl::Event<'_>) -> bool {
    event.hook().is_some_and(|hook| hook >> 8 == HEADER)
}

/// Sums the amounts of the events of a trace by keys, in one pass in the order of time: see [`TopBuilder`].
///
/// # Errors
///
/// The trace cannot be read, or changed since it was opened.
pub fn top(trace: &Trace, what: What, keys: &[Key], filters: &[Filter], functions: &Functions) -> Result<Answer, Error> {
    let mut builder = TopBuilder::new(trace, filters, None);
    builder.ask(what, keys, functions);
    // There is one question.
    Ok(builder.read()?.remove(0))
}

/// The answers to all questions by their default keys, in one pass: see [`top`].
///
/// # Errors
///
/// The trace cannot be read, or changed since it was opened.
pub fn overview(trace: &Trace, filters: &[Filter]) -> Result<Vec<Answer>, Error> {
    let mut builder = TopBuilder::new(trace, filters, None);
    for what in What::all() {
        builder.ask(what, what.default_keys(), &Functions::default());
    }
    builder.read()
}

/// Answers several questions about a trace in one pass. All events are needed, in the order of time. An interval, such as a wait, belongs to the
/// event that ends it: the filter applies to that event, and to the process and the thread of the interval.
///
/// An answer has at most 262,144 rows with at most 64 MiB of text; the rest is in a row of [`KeyValue::Others`].
pub struct TopBuilder<'t, 'f> {
    trace: &'t Trace,
    filters: &'f [Filter],
    slots: Option<Slots>,
    questions: Vec<(Sums<'t, 'f>, Box<dyn Amounts<'t> + 't>)>,
    spans: Spans<'f>,
    events: u64,
}

impl<'t, 'f> TopBuilder<'t, 'f> {
    /// Begins without questions. `filters` has the filter of each file; if it is empty, all events match. With `slots`, amounts are also
    /// summed by slots of time.
    #[must_use]
    pub fn new(trace: &'t Trace, filters: &'f [Filter], slots: Option<Slots>) -> Self {
        Self { trace, filters, slots, questions: Vec::new(), spans: Spans::new(trace, filters), events: 0 }
    }

    /// Adds a question. `functions` names the functions of images in call stacks; by default it has none.
    pub fn ask(&mut self, what: What, keys: &[Key], functions: &Functions) {
        let amounts: Box<dyn Amounts<'t>> = match what {
            What::Cpu => Box::new(cpu::Samples::new(self.trace)),
            What::Run | What::Wait | What::Ready => Box::new(switches::Switches::new(what)),
            What::Dpc | What::Isr => Box::new(interrupts::Routines::new(what)),
            What::Disk => Box::new(disk::Operations::default()),
            What::Files => Box::new(files::Operations::default()),
            What::Faults => Box::new(faults::Faults::default()),
            What::Net => Box::new(net::Transfers::default()),
            What::Gc => Box::new(gc::Pauses::default()),
            What::Alloc => Box::new(alloc::Allocations),
            What::Images => Box::new(images::Loads),
            What::Events => Box::new(events::Events),
        };
        self.questions.push((Sums::new(self.trace, what, keys.to_vec(), self.filters, functions), amounts));
    }

    /// Adds an event.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn add(&mut self, event: &Event<'t>) -> Result<(), Error> {
        self.events += 1;
        let header = event.header();
        if !is_header(&header) {
            self.spans.add(event);
        }
        let slot = self.slots.map(|slots| event.relative_time().map_or(0, |time| slots.of(time)));
        let kind = kind(&header);
        for (sums, amounts) in &mut self.questions {
            if kind.is_some() || sums.what() == What::Events {
                sums.set_slot(slot);
                amounts.add(event, kind.unwrap_or_default(), sums)?;
            }
        }
        Ok(())
    }

    /// Adds all events of the trace, and returns the answers, in the order of the questions.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn read(mut self) -> Result<Vec<Answer>, Error> {
        for event in self.trace.events() {
            self.add(&event?)?;
        }
        Ok(self.finish())
    }

    /// The answers, in the order of the questions.
    #[must_use]
    pub fn finish(self) -> Vec<Answer> {
        let Self { trace, questions, spans, events, .. } = self;
        let duration = spans.duration();
        let answer = |(mut sums, mut amounts): (Sums<'t, 'f>, Box<dyn Amounts<'t> + 't>)| {
            amounts.end(&mut sums);
            sums.into_answer(trace, duration, events)
        };
        questions.into_iter().map(answer).collect()
    }
}
