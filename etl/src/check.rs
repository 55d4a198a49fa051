//! Checks of a trace file against the rules of the format.

use crate::buffer::{Buffer, DecodedBuffer, Scratch};
use crate::buffer_header::FLAGS;
use crate::common::FILE;
use crate::diagnostic::{BufferPosition, Diagnostic, DiagnosticKind, Rule};
use crate::logfile::{LogFile, MAX_PROCESSORS};
use crate::trace::Trace;
use crate::wire::{BUFFER_HEADER, ETW_BUFFER_TYPE, Generation, LOG_FILE_MODE};

/// Calls `found` with every diagnostic of a file, in file order. Diagnostics of the whole file come first or last, at its header
/// buffer.
///
/// A file written by Windows has none. Merging and crashes leave diagnostics that do not prevent reading.
pub fn check(trace: &Trace<'_>, found: &mut dyn FnMut(Diagnostic)) {
    let mut check = Check::new(trace.log_file(), found);
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        match buffer {
            Ok(buffer) => check.buffer(&buffer.decode(&mut scratch)),
            Err(diagnostic) => check.damage(diagnostic),
        }
    }
    check.end();
}

/// An incremental [`check`], for callers that iterate over the buffers themselves.
pub struct Check<'f> {
    found: &'f mut dyn FnMut(Diagnostic),
    log: LogFile,
    compressed: bool,
    /// Time stamp of the previous data buffer.
    last: i64,
}

impl<'f> Check<'f> {
    /// Checks the log file header, and starts the check of the buffers. Calls `found` with every diagnostic.
    pub fn new(log: &LogFile, found: &'f mut dyn FnMut(Diagnostic)) -> Self {
        let mut new = Self { found, log: log.clone(), compressed: false, last: i64::MIN };
        new.log_file();
        new
    }

    /// Checks the next buffer.
    pub fn buffer(&mut self, buffer: &DecodedBuffer<'_>) {
        self.header(buffer.buffer());
        self.events(buffer);
    }

    /// Adds a diagnostic that was returned in place of a buffer.
    pub fn damage(&mut self, diagnostic: Diagnostic) {
        (self.found)(diagnostic);
    }

    /// Checks the rules that compare the log file header with all buffers.
    pub fn end(mut self) {
        let mode = self.log.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
        self.rule("compressed-mode", !self.compressed || mode, FILE, BUFFER_HEADER as u32, || {
            "missing compression flag in the log file mode: buffers are compressed".into()
        });
    }

    fn rule(&mut self, name: &'static str, holds: bool, buffer: BufferPosition, offset: u32, broken: impl FnOnce() -> String) {
        if !holds {
            (self.found)(buffer.diagnostic(offset, DiagnosticKind::Rule(Box::new(Rule { name, text: broken() }))));
        }
    }

    fn log_file(&mut self) {
        let LogFile { processors, version: [major, minor, ..], start_time, end_time, .. } = self.log;
        let at = BUFFER_HEADER as u32;
        self.rule("processors", (1..=MAX_PROCESSORS).contains(&processors), FILE, at, || {
            format!("invalid number of processors in the log file header: {processors}")
        });
        self.rule("windows-version", matches!((major, minor), (5, 0..=2) | (6, 0..=4) | (10, 0)), FILE, at, || {
            format!("unknown Windows version in the log file header: {major}.{minor}")
        });
        self.rule("end-time", end_time == 0 || end_time >= start_time, FILE, at, || {
            "end time before start time in the log file header".into()
        });
    }

    fn header(&mut self, buffer: &Buffer<'_>) {
        let (at, header) = (buffer.place(), buffer.header());
        let first = buffer.index() == 0;
        self.compressed |= header.is_compressed();
        let generation = buffer.generation();
        let is_header = header.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER;
        if generation > Generation::V5_1 {
            self.rule("header-buffer", is_header == first, at, 0x36, || match first {
                true => "wrong buffer type: the first buffer is not of the type HEADER".into(),
                false => "wrong buffer type: HEADER, but the buffer is not the first".into(),
            });
            let types = ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_MAXIMUM;
            self.rule("buffer-type", header.ty.0 < types.0, at, 0x36, || format!("unknown buffer type {}", header.ty.0));
            let unknown = header.flags.0 & !FLAGS;
            self.rule("buffer-flags", unknown == 0, at, 0x34, || format!("unknown buffer flags {unknown:#x}"));
            self.rule("header-buffer-compressed", !(first && header.is_compressed()), at, 0x34, || {
                "unexpected compression: the header buffer is compressed".into()
            });
        }
        // In files of Vista and 7 the member is zero in header buffers, and stale in some later ones.
        if !first && generation > Generation::V5_2 {
            let (saved, offset) = (header.saved_offset, header.offset);
            self.rule("saved-offset", saved == offset, at, 0x04, || {
                format!("contradictory offsets: SavedOffset is {saved:#x}, but Offset is {offset:#x}")
            });
        }
        let (processor, processors) = (header.processor(), self.log.processors);
        self.rule("processor", u32::from(processor) < processors.max(1), at, 0x28, || {
            format!("processor out of range: {processor}, the log file header states {processors} processors")
        });
        if !first {
            let circular = self.log.mode & LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR.0 != 0;
            let ordered = circular || header.time_stamp >= self.last;
            self.rule("buffer-order", ordered, at, 0x10, || "buffer out of order: it is earlier than the previous one".into());
            self.last = header.time_stamp;
        }
    }

    fn events(&mut self, buffer: &DecodedBuffer<'_>) {
        let at = buffer.buffer().place();
        let mut last = i64::MIN;
        for event in buffer.events() {
            let event = match event {
                Ok(event) => event,
                Err(diagnostic) => {
                    (self.found)(diagnostic);
                    continue;
                }
            };
            if let Some(kind) = event.fault() {
                (self.found)(at.diagnostic(event.offset(), kind));
            }
            if let Some(stamp) = event.time_stamp() {
                self.rule("event-order", stamp >= last, at, event.offset(), || {
                    "event out of order: it is earlier than the previous one".into()
                });
                last = stamp;
            }
        }
    }
}
