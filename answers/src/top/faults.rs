//! Page faults.

use super::key::Subject;
use super::sums::{Amounts, Sums, between};
use etw_layouts_trace::kernel::TypedEvent;
use etw_layouts_trace::kernel::pagefault::{HardFault, TransitionFault};
use etw_layouts_trace::{Error, Event, EventKind};

/// Faults. Hard faults have a time and a number of bytes, the others an address of the instruction.
#[derive(Default)]
pub struct Faults {
    /// The number of faults without bytes and time, and whether there are hard faults.
    others: u64,
    has_hard: bool,
}

/// The types of faults that have the fields of TransitionFault; HardPageFault is followed by HardFault, when the page was read.
const OTHERS: [u8; 6] = [10, 11, 12, 13, 14, 15];

impl<'t> Amounts<'t> for Faults {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if kind.0 != HardFault::CLASS {
            return Ok(());
        }
        if let Some(fault) = event.get::<HardFault>() {
            sums.count_relevant(event);
            self.has_hard = true;
            let time = between(event, fault.initial_time() as i64, event.tick());
            let subject = Subject::new(event).file_object(Some(fault.file_object()));
            sums.add(&subject, &[1, fault.byte_count().into(), time, time])?;
        } else if OTHERS.iter().any(|ty| u16::from(*ty) == kind.1) {
            sums.count_relevant(event);
            let header = event.header();
            let schemas = event.schemas();
            let fault = TransitionFault::<10>::new(header.payload(), 2, schemas.pointer_size(&header));
            let subject = Subject::new(event);
            let subject = fault.iter().fold(subject, |subject, fault| subject.address(fault.program_counter()));
            self.others += u64::from(sums.add(&subject, &[1, 0, 0, 0])?.is_some());
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        if !self.has_hard {
            sums.unknown([1, 2, 3]);
            sums.note(
                "faults without bytes and time, because the trace has no events HardFault (kernel flag HARD_FAULTS)",
                self.others,
            );
        }
    }
}
