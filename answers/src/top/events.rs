//! Events of any kind.

use super::key::Subject;
use super::sums::{Amounts, Sums};
use etw_layouts_trace::{Error, Event, EventKind};

/// Events with their size.
pub struct Events;

impl<'t> Amounts<'t> for Events {
    fn add(&mut self, event: &Event<'t>, _: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        sums.count_relevant(event);
        sums.add(&Subject::new(event), &[1, event.header().bytes().len() as u64])?;
        Ok(())
    }
}
