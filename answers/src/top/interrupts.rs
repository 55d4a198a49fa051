//! Deferred procedure calls and interrupt service routines.

use super::key::Subject;
use super::sums::{Amounts, Sums, between, number};
use super::what::What;
use etw_layouts_trace::kernel::{TypedEvent, perfinfo::ISR};
use etw_layouts_trace::{Error, Event, EventKind};

/// Calls of routines. The event is written at the end of a call, and states when it began.
pub struct Routines {
    types: &'static [u16],
}

impl Routines {
    pub fn new(what: What) -> Self {
        // ThreadedDPC, DPC and TimerDPC; ISR-MSI, ISR and ISR-PASS.
        Self { types: if what == What::Dpc { &[66, 68, 69] } else { &[50, 67, 95] } }
    }
}

impl<'t> Amounts<'t> for Routines {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != <ISR>::CLASS || !self.types.contains(&kind.1) {
            return Ok(());
        }
        let Some(decoded) = event.decode() else { return Ok(()) };
        sums.count_relevant(event);
        let (start, routine) = (number(&decoded, &["InitialTime"]), number(&decoded, &["Routine"]));
        let time = start.map_or(0, |start| between(event, start as i64, event.tick()));
        let subject = Subject::new(event);
        let subject = routine.into_iter().fold(subject, Subject::address);
        sums.add(&subject, &[1, time, time])?;
        Ok(())
    }
}
