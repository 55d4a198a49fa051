//! Samples of the profiler.

use super::key::Subject;
use super::sums::{Amounts, Kind, Sums};
use crate::samples::{DEFAULT_INTERVAL, interval};
use etw_layouts_trace::kernel::perfinfo::SampleProf;
use etw_layouts_trace::{Error, Event, Trace, kernel::TypedEvent};

/// Samples, each with the interval of the timer at its time.
pub struct Samples {
    /// The interval in each session, in units of 100 ns.
    intervals: Vec<Option<u32>>,
}

const SAMPLE_BY_NMI: u16 = 71;
const BATCH: u16 = 55;

impl Samples {
    /// Finds the interval at the start of each session. The event that states it can follow samples.
    pub fn new(trace: &Trace) -> Result<Self, Error> {
        let mut intervals = vec![None; trace.sessions().len()];
        for event in trace.events() {
            if intervals.iter().all(Option::is_some) {
                break;
            }
            let event = event?;
            if let Some((old, _)) = interval(&event.header()) {
                intervals[event.session_index()].get_or_insert(old);
            }
        }
        Ok(Self { intervals })
    }
}

impl<'t> Amounts<'t> for Samples {
    fn add(&mut self, event: &Event<'t>, kind: Kind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != SampleProf::CLASS {
            return Ok(());
        }
        let session = event.session_index();
        if let Some(sample) = event.get::<SampleProf>() {
            sums.count_relevant();
            let interval = self.intervals[session].unwrap_or_else(|| {
                sums.note("samples without an event that states their interval; inferred: 1 ms, the interval of Windows", 1);
                DEFAULT_INTERVAL
            });
            let subject = Subject::new(event).address(sample.instruction_pointer());
            if subject.party.process.is_none() {
                sums.note("samples of threads whose process no event states", 1);
            }
            sums.add(&subject, &[1, interval.into()])?;
            return Ok(());
        }
        match interval(&event.header()) {
            Some((_, new)) => self.intervals[session] = Some(new),
            None if matches!(kind.1, SAMPLE_BY_NMI | BATCH) => {
                sums.note("events SampleProfNmi and BatchedSample; they are not counted", 1);
            }
            None => {}
        }
        Ok(())
    }
}
