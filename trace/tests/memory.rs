//! Memory does not grow with the size of a trace: it is measured with a trace and one eight times as large.

use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_trace::Trace;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use test_support::folder::Folder;
use test_support::installed;
use test_support::traces::PRODUCERS;

const EVENTS: usize = 60_000;

#[test]
fn flat() {
    if allocated().is_none() {
        return installed::absent("/proc/self/status");
    }
    let folder = Folder::new("trace-memory");
    for compressed in [false, true] {
        let files = [EVENTS, 8 * EVENTS].map(|events| {
            let path = folder.0.join(format!("{events}-{compressed}.etl"));
            write(&path, events, compressed);
            (path, events)
        });
        for name in ["file order", "order of time"] {
            // The first pass makes the allocations that a process makes only once.
            let [_, small, large] = [&files[0], &files[0], &files[1]].map(|(path, events)| {
                let start = allocated().expect("a status");
                let trace = Trace::open(path).expect("a trace");
                let (mut most, mut count) = (allocated().expect("a status"), 0);
                let all = trace.events();
                for event in if name == "file order" { all.in_file_order() } else { all } {
                    event.expect("an event");
                    count += 1;
                    if count % 2_000 == 1 {
                        most = most.max(allocated().expect("a status"));
                    }
                }
                assert_eq!(count, events + 1, "{name}");
                most.saturating_sub(start)
            });
            println!("{name}, compressed {compressed}: {small} KiB for {EVENTS} events, {large} KiB for eight times as many");
            // 56 bytes for each buffer.
            assert!(large <= small + 2_048 && large < 40_960, "{name}, compressed {compressed}: {small} KiB, {large} KiB");
        }
    }
}

/// A trace of 8 processors with buffers of 64 KiB; an event has 800 bytes.
fn write(path: &Path, events: usize, compressed: bool) {
    let producer = PRODUCERS[7];
    let mut log = LogFile { processors: 8, buffer_size: 1 << 16, ..LogFile::new(&producer) };
    if compressed {
        log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    }
    let mut writer = FileWriter::new(BufWriter::new(File::create(path).expect("a file")), producer, log).expect("a writer");
    let mut header: EVENT_HEADER = zero();
    for event in 0..events {
        header.TimeStamp = large(event as i64);
        writer.push((event % 8) as u16, &Record::new(EventHeader::Event(header), true, &[7; 720])).expect("an event");
    }
    writer.finish(0).expect("a file").into_inner().expect("a file");
}

/// Memory of the process that is not backed by a file, in KiB.
fn allocated() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
