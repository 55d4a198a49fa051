//! Operations on files.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, between, number};
use crate::pending::Pending;
use etw_layouts_trace::etl::Uuid;
use etw_layouts_trace::kernel::{TypedEvent, fileio::Read};
use etw_layouts_trace::providers::KERNEL_FILE;
use etw_layouts_trace::{Error, Event, EventKind};

/// Operations. Each begins with an event, and ends with an event OperationEnd of the same request (IRP), if the trace has these.
#[derive(Default)]
pub struct Operations {
    /// The tick and the row of operations that have not ended, by session, class or provider, and request.
    begun: Pending<(usize, Uuid, u64), (i64, Option<usize>)>,
    /// The number of operations whose request was used again without an end.
    without_end: u64,
    has_ends: bool,
    /// Number of operations, and whether any of them states a number of bytes.
    operations: u64,
    has_bytes: bool,
}

const FILE_IO: Uuid = <Read>::CLASS;

/// What an event says about an operation.
enum Step {
    Begin,
    End,
}

/// Names and paths (DletePath, NameCreate, ...) are no operations of their own.
fn step(kind: EventKind) -> Option<Step> {
    match kind {
        (FILE_IO, 64..=75 | 77) | (KERNEL_FILE, 12..=23 | 25 | 29..=34) => Some(Step::Begin),
        (FILE_IO, 76) | (KERNEL_FILE, 24) => Some(Step::End),
        _ => None,
    }
}

const NO_ENDS: &str = "operations without a time, because the trace has no events OperationEnd (kernel flag FILE_IO; keyword \
                       KERNEL_FILE_KEYWORD_OP_END of Microsoft-Windows-Kernel-File)";

const NO_BYTES: &str = "operations without bytes, because the trace has no events Read and Write (kernel flag FILE_IO_INIT; keywords \
                        KERNEL_FILE_KEYWORD_READ and KERNEL_FILE_KEYWORD_WRITE of Microsoft-Windows-Kernel-File)";

impl<'t> Amounts<'t> for Operations {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        let Some(step) = step(kind) else { return Ok(()) };
        let Some(decoded) = event.decode() else { return Ok(()) };
        let request = number(&decoded, &["IrpPtr", "Irp"]).map(|request| (event.session_index(), kind.0, request));
        match step {
            Step::Begin => {
                sums.count_relevant(event);
                let mut subject = Subject::new(event).file_object(number(&decoded, &["FileKey", "FileObject"]));
                // The event that opens a file states its path; others have a pattern or nothing.
                let path = if sums.has(Key::File) { decoded.get("OpenPath").or(decoded.get("FileName")) } else { None };
                if let Some(path) = path.map(|path| path.to_string()).filter(|path| path.starts_with('\\')) {
                    subject = subject.with(Key::File, KeyValue::text(&*event.session().user_path(&path)));
                }
                let bytes = number(&decoded, &["IoSize", "IOSize"]);
                self.has_bytes |= bytes.is_some();
                let row = sums.add(&subject, &[1, bytes.unwrap_or_default(), 0, 0])?;
                self.operations += u64::from(row.is_some());
                if let Some(request) = request
                    && let Some((_, Some(_))) = self.begun.insert(request, (event.tick(), row))
                {
                    self.without_end += 1;
                }
            }
            Step::End => {
                self.has_ends = true;
                match request.and_then(|request| self.begun.remove(&request)) {
                    Some((start, Some(row))) => {
                        let time = between(event, start, event.tick());
                        sums.add_to(row, &[0, 0, time, time]);
                    }
                    Some((_, None)) => {}
                    None => sums.note("events OperationEnd of operations that began before the trace", 1),
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        let unended = self.without_end + self.begun.values().filter(|(_, row)| row.is_some()).count() as u64;
        let note = match self.has_ends {
            true => "operations without an event OperationEnd; their time is not known",
            false => NO_ENDS,
        };
        if !self.has_ends {
            // Time, and the longest one.
            sums.unknown([2, 3]);
        }
        if !self.has_bytes {
            sums.unknown([1]);
            sums.note(NO_BYTES, self.operations);
        }
        sums.note(note, unended);
        sums.note_dropped(self.begun.dropped());
    }
}
