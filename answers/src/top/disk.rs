//! Operations of disks.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, between, number};
use crate::pending::Pending;
use etw_layouts_trace::kernel::{TypedEvent, diskio::Read};
use etw_layouts_trace::{Error, Event, EventKind};

/// Operations with their time. A disk serves one operation after the other, in the order of completion: the service of an operation begins at its
/// request or at the completion before it, whichever is later. The time from its request until then is time in the queue.
#[derive(Default)]
pub struct Operations {
    /// Tick of the last completion of each disk of a session.
    completed: Pending<(usize, u32), i64>,
    has_times: bool,
    /// Number of operations, and whether any of them transfers bytes: a flush does not.
    operations: u64,
    has_transfers: bool,
}

const FLUSH: [u16; 2] = [14, 57];

impl<'t> Amounts<'t> for Operations {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        // Read, Write, FlushBuffers, and those of optical disks.
        if kind.0 != <Read>::CLASS || !matches!(kind.1, 10 | 11 | 14 | 55..=57) {
            return Ok(());
        }
        sums.count_relevant(event);
        let Some(decoded) = event.decode() else { return Ok(()) };
        self.has_transfers |= !FLUSH.contains(&kind.1);
        let disk = number(&decoded, &["DiskNumber"]).and_then(|disk| u32::try_from(disk).ok());
        let bytes = number(&decoded, &["TransferSize"]).unwrap_or_default();
        let end = event.tick();
        let times = match number(&decoded, &["HighResResponseTime"]) {
            Some(response) => {
                self.has_times = true;
                let start = end.saturating_sub_unsigned(response);
                let before = disk.and_then(|disk| self.completed.get_mut(&(event.session_index(), disk)).copied());
                let (service, response) =
                    (between(event, before.map_or(start, |before| before.max(start)), end), between(event, start, end));
                [service, response - service.min(response), response, response]
            }
            None => {
                sums.note("operations without a response time", 1);
                [0; 4]
            }
        };
        let device = disk.map_or(KeyValue::Unknown, |disk| KeyValue::text(format!("PhysicalDrive{disk}")));
        let subject = Subject::new(event).file_object(number(&decoded, &["FileObject"])).with(Key::Device, device);
        if let Some(disk) = disk {
            self.completed.insert((event.session_index(), disk), end);
        }
        let row = sums.add(&subject, &[1, bytes, times[0], times[1], times[2], times[3]])?;
        self.operations += u64::from(row.is_some());
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        if !self.has_times {
            sums.unknown([2, 3, 4, 5]);
        }
        if !self.has_transfers {
            sums.unknown([1]);
            sums.note(
                "operations without bytes, because the trace has no events DiskIo/Read and Write (kernel flag DISK_IO)",
                self.operations,
            );
        }
        sums.note_dropped(self.completed.dropped());
    }
}
