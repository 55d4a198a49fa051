//! Samples of the profiler.

use super::key::{IDLE, Subject};
use super::sums::{Amounts, Sums};
use crate::samples::{DEFAULT_INTERVAL, Intervals};
use etw_layouts_trace::kernel::perfinfo::SampleProf;
use etw_layouts_trace::{Error, Event, EventKind, Trace, kernel::TypedEvent};

/// Samples, each with the interval of the timer at its time.
pub struct Samples {
    intervals: Intervals,
}

const SAMPLE_BY_NMI: u16 = 71;
const BATCH: u16 = 55;

impl Samples {
    pub fn new(trace: &Trace) -> Self {
        Self { intervals: Intervals::new(trace) }
    }
}

impl<'t> Amounts<'t> for Samples {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != SampleProf::CLASS {
            return Ok(());
        }
        let session = event.session_index();
        if let Some(sample) = event.get::<SampleProf>() {
            sums.count_relevant(event);
            let interval = self.intervals.get(session).unwrap_or_else(|| {
                sums.note("samples without an event that states their interval; inferred: 1 ms, the interval of Windows", 1);
                DEFAULT_INTERVAL
            });
            let subject = Subject::new(event).address(sample.instruction_pointer());
            if subject.party.process.is_none() {
                sums.note("samples of threads whose process no event states", 1);
            }
            let busy = if subject.party.process == Some(IDLE) { 0 } else { interval };
            sums.add(&subject, &[1, interval.into(), busy.into()])?;
            return Ok(());
        }
        if !self.intervals.add(&event.header(), session) && matches!(kind.1, SAMPLE_BY_NMI | BATCH) {
            sums.note("events SampleProfNmi and BatchedSample; they are not counted", 1);
        }
        Ok(())
    }
}
