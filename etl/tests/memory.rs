//! Memory does not grow with the size of a file: each way of reading is measured with a small file and one ten times as large.

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{LogFile, Reader, Scratch, Trace};
use memmap2::Mmap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use test_support::installed;

const BUFFER: u32 = 4096;
const EVENTS: usize = 5_000;

#[test]
fn flat() {
    if allocated().is_none() {
        return installed::absent("/proc/self/status");
    }
    let folder = std::env::temp_dir().join(format!("etw-layouts-memory-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for compressed in [false, true] {
        let files = [EVENTS, 10 * EVENTS].map(|events| {
            let path = folder.join(format!("{events}-{compressed}.etl"));
            write(&path, events, compressed);
            (path, events)
        });
        let ways: [(&str, Way); 3] = [("stream", stream), ("buffers", file_order), ("records", records)];
        for (name, read) in ways {
            // The first pass makes the allocations that a process makes only once.
            let [_, small, large] = [&files[0], &files[0], &files[1]].map(|(path, events)| {
                let mut peak = Peak { start: allocated().unwrap(), most: 0, events: 0 };
                read(path, &mut peak);
                assert_eq!(peak.events, events + 1, "{name}");
                peak.most.saturating_sub(peak.start)
            });
            println!("{name}, compressed {compressed}: {small} KiB for {EVENTS} events, {large} KiB for ten times as many");
            assert!(large <= small + 256, "{name}, compressed {compressed}: {small} KiB, {large} KiB");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn write(path: &Path, events: usize, compressed: bool) {
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let mut log = LogFile { processors: 8, buffer_size: BUFFER, ..LogFile::new(&producer) };
    if compressed {
        log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    }
    let mut writer = FileWriter::new(BufWriter::new(File::create(path).unwrap()), producer, log).unwrap();
    let mut header: EVENT_HEADER = zero();
    for event in 0..events {
        header.TimeStamp = large(event as i64);
        writer.push((event % 8) as u16, &Record::new(EventHeader::Event(header), true, &[7; 700])).unwrap();
    }
    writer.finish(0).unwrap().into_inner().unwrap();
}

/// Maps a file that is no longer changed.
fn mapped(path: &Path) -> Mmap {
    // SAFETY: Only this test uses the file. It was written and closed, and is only read until it is removed with its folder. On Unix,
    // mapped bytes remain valid after a file is removed.
    unsafe { Mmap::map(&File::open(path).unwrap()).unwrap() }
}

type Way = fn(&Path, &mut Peak);

/// The peak of memory use while events are read.
struct Peak {
    start: u64,
    most: u64,
    events: usize,
}

impl Peak {
    fn event(&mut self) {
        self.events += 1;
        if self.events % 500 == 1 {
            self.most = self.most.max(allocated().unwrap());
        }
    }
}

/// Memory of the process that is not backed by a file, in KiB.
fn allocated() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn stream(path: &Path, peak: &mut Peak) {
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    while let Some(decoded) = reader.next_buffer().unwrap() {
        decoded.unwrap().events().for_each(|event| event.map(|_| peak.event()).unwrap());
    }
}

fn file_order(path: &Path, peak: &mut Peak) {
    let (bytes, mut scratch) = (mapped(path), Scratch::default());
    for buffer in Trace::from_bytes(&*bytes).unwrap().buffers() {
        buffer.unwrap().decode(&mut scratch).events().for_each(|event| event.map(|_| peak.event()).unwrap());
    }
}

fn records(path: &Path, peak: &mut Peak) {
    let bytes = mapped(path);
    Trace::from_bytes(&*bytes).unwrap().events().for_each(|event| event.map(|_| peak.event()).unwrap());
}
