//! Time order, of several files and of events out of order.

use crate::{Folder, PRODUCER, START, json, run};
use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use std::io::Cursor;

/// A trace that starts this number of seconds after [`START`]. Its clock has this frequency, and its events are at these ticks.
fn trace_at(second: i64, frequency: i64, ticks: &[i64]) -> Vec<u8> {
    let (start_time, start_stamp) = (START + second * 10_000_000, 1_000_000 * second);
    let log = LogFile { start_time, start_stamp, perf_frequency: frequency, buffer_size: 1024, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for tick in ticks {
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(start_stamp + tick);
        writer.push(0, &Record::new(EventHeader::Event(header), true, &tick.to_le_bytes())).unwrap();
    }
    writer.finish(0).unwrap().into_inner()
}

/// Files with different clocks, consecutive or simultaneous, become one sequence. A file that is not a trace does not stop it.
#[test]
fn several_files() {
    let folder = Folder::new("merged");
    let ticks = |frequency: i64| (0..200).map(|event| event * frequency / 20).collect::<Vec<_>>();
    let mut names = vec![folder.file("none.etl", b"no trace")];
    for (file, frequency) in [10_000_000, 3_579_545, 1_000, 10_000_000, 24_000_000].into_iter().enumerate() {
        let second = [30, 0, 5, 100, 5][file];
        names.push(folder.file(&format!("{file}.etl"), trace_at(second, frequency, &ticks(frequency))));
    }
    let root = folder.0.to_str().unwrap();
    let (status, out, err) = run(&["events", "--order", "time", "--format", "json", root]);
    assert!(status == 2 && err.contains("1 of 6 files failed"), "{err}");
    let events: Vec<_> =
        json(&out).iter().map(|event| (event["time"].as_i64().unwrap(), event["file"].as_str().unwrap().to_owned())).collect();
    assert!(events.len() == 5 * 201 && events.is_sorted(), "{}", events.len());
    // The same as a table with the file in the last column.
    let (_, csv, _) = run(&["events", "--order", "time", "--format", "csv", root]);
    let files: Vec<_> = csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert!(csv.lines().next().unwrap().ends_with(",file") && files == events.iter().map(|(_, file)| file).collect::<Vec<_>>());
}

/// Events are sorted, however late they are in the file.
#[test]
fn late_events() {
    let folder = Folder::new("late");
    let mut ticks: Vec<_> = (0..400).map(|event| 100 * event).collect();
    ticks.chunks_mut(9).for_each(|chunk| chunk.reverse());
    let file = folder.file("a.etl", trace_at(0, 10_000_000, &ticks));
    let times = |out: &str| json(out).iter().map(|event| event["time"].as_i64().unwrap()).collect::<Vec<_>>();
    let (status, out, err) = run(&["events", "--order", "time", "--format", "json", &file]);
    let sorted = times(&out);
    assert!((status, err.as_str(), sorted.len()) == (0, "", 401) && sorted.is_sorted());
    // Two events from the middle are moved to the end, many buffers later.
    let (one, other) = (ticks.remove(200), ticks.remove(100));
    ticks.extend([one, other]);
    let late = folder.file("b.etl", trace_at(0, 10_000_000, &ticks));
    for files in [&[late.as_str()][..], &[&late, &file]] {
        let (status, out, err) = run(&[&["events", "--order", "time", "--strict", "--format", "json"], files].concat());
        let seen = times(&out);
        assert!((status, err.as_str(), seen.len()) == (0, "", 401 * files.len()) && seen.is_sorted(), "{err}");
    }
}
