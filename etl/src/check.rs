//! Every rule of the format, held against a file.

use crate::buffer::{Buffer, Image, Scratch};
use crate::clock::ClockType;
use crate::finding::{Finding, What};
use crate::layout::{BUFFER_HEADER, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, Generation, LOG_FILE_MODE};
use crate::trace::Trace;

/// Gives every finding of a file, in file order; those of the whole file first or last, at its header buffer.
///
/// A file as Windows writes it has none. What a merge or a crash leaves is found, and is no obstacle to reading.
pub fn check(trace: &Trace<'_>, found: &mut dyn FnMut(Finding)) {
    check_along(trace, &mut |_| {}, found);
}

/// As [`check`], and tells of each buffer where it begins in the file, in bytes, before it is checked.
pub fn check_along(trace: &Trace<'_>, reached: &mut dyn FnMut(u64), found: &mut dyn FnMut(Finding)) {
    let mut rules = Rules { trace, found, count: 0, compressed: false, truncated: false, last: i64::MIN };
    rules.log_file();
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        match buffer {
            Ok(buffer) => {
                reached(buffer.offset());
                rules.buffer(&buffer);
                rules.events(&buffer, &buffer.image(&mut scratch));
            }
            Err(finding) => {
                rules.truncated = true;
                (rules.found)(finding);
            }
        }
    }
    rules.end();
}

struct Rules<'a, 'f> {
    trace: &'a Trace<'a>,
    found: &'f mut dyn FnMut(Finding),
    count: u32,
    compressed: bool,
    truncated: bool,
    /// The time stamp of the data buffer before.
    last: i64,
}

impl Rules<'_, '_> {
    fn rule(&mut self, holds: bool, buffer: u64, at: u32, broken: impl FnOnce() -> String) {
        if !holds {
            (self.found)(Finding { buffer, at, what: What::Rule(broken()) });
        }
    }

    fn log_file(&mut self) {
        let log = self.trace.log_file();
        let at = BUFFER_HEADER as u32;
        self.rule(ClockType::of(log.clock).is_some(), 0, at, || {
            format!("the log file header names the clock {}, which is none; taken for the performance counter", log.clock)
        });
        let rate = match log.clock_type() {
            ClockType::PerfCounter => log.perf_frequency > 0,
            ClockType::CpuCycle => log.cpu_mhz > 0,
            ClockType::SystemTime => true,
        };
        self.rule(rate, 0, at, || "the log file header does not tell the rate of its clock; taken for 10 MHz".into());
        self.rule(log.processors > 0, 0, at, || "the log file header tells of no processor".into());
        self.rule(log.end_time == 0 || log.end_time >= log.start_time, 0, at, || "the file ends before it starts".into());
    }

    fn buffer(&mut self, buffer: &Buffer<'_>) {
        let (at, head) = (buffer.offset(), buffer.head());
        let first = self.count == 0;
        self.count += 1;
        self.compressed |= head.is_compressed();
        let generation = buffer.generation();
        let header = head.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER;
        if generation > Generation::V5_1 {
            self.rule(header == first, at, 0x36, || match first {
                true => "the first buffer is not of the type HEADER".into(),
                false => "a buffer of the type HEADER that is not the first".into(),
            });
            let types = ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_MAXIMUM;
            self.rule(head.ty.0 < types.0, at, 0x36, || format!("the buffer type {} is not known", head.ty.0));
            let unknown = head.flags.0 & !KNOWN;
            self.rule(unknown == 0, at, 0x34, || format!("the buffer flags {unknown:#x} are not known"));
            self.rule(!(first && head.is_compressed()), at, 0x34, || "the header buffer is compressed".into());
        }
        // Of Vista and 7 the member is zero in header buffers, and stale in some of later ones.
        if !first && generation > Generation::V5_2 {
            let (saved, offset) = (head.saved_offset, head.offset);
            self.rule(saved == offset, at, 0x04, || format!("SavedOffset is {saved:#x}, and Offset {offset:#x}"));
        }
        let (processor, processors) = (head.processor(), self.trace.log_file().processors);
        self.rule(u32::from(processor) < processors.max(1), at, 0x28, || {
            format!("the processor is {processor}, and the log file header tells of {processors}")
        });
        if !first {
            let circular = self.trace.log_file().mode & LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR.0 != 0;
            let ordered = circular || head.time_stamp >= self.last;
            self.rule(ordered, at, 0x10, || "the buffer is of an earlier time than the one before it".into());
            self.last = head.time_stamp;
        }
        if !head.is_compressed() {
            let end = buffer.valid_end().0;
            let tail = buffer.bytes().get(end..).unwrap_or(&[]);
            let stale = tail.iter().position(|byte| *byte != 0xFF);
            self.rule(stale.is_none(), at, (end + stale.unwrap_or(0)) as u32, || {
                "behind the valid end there is something else than 0xFF".into()
            });
        }
    }

    fn events(&mut self, buffer: &Buffer<'_>, image: &Image<'_>) {
        let at = buffer.offset();
        let mut last = i64::MIN;
        for event in image.events() {
            let event = match event {
                Ok(event) => event,
                Err(finding) => {
                    (self.found)(finding);
                    continue;
                }
            };
            self.rule(event.kind().is_known(), at, event.offset(), || {
                format!("the layout of {} is not known", event.kind().name())
            });
            if let Some(stamp) = event.time_stamp() {
                self.rule(stamp >= last, at, event.offset(), || "the event is of an earlier time than the one before it".into());
                last = stamp;
            }
        }
    }

    fn end(&mut self) {
        let log = self.trace.log_file();
        let (written, count) = (log.buffers_written, self.count);
        let at = BUFFER_HEADER as u32;
        self.rule(written == 0 || written == count || self.truncated, 0, at, || {
            format!("the log file header tells of {written} buffers, and there are {count}")
        });
        let mode = log.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
        let compressed = self.compressed;
        self.rule(!compressed || mode, 0, at, || "there are compressed buffers, and the log file mode tells of none".into());
    }
}

const KNOWN: u16 = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_FLUSH_MARKER.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_BUFFER_LOST.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP_CORRUPT.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED.0;
