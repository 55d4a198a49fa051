//! Time order, of several files and of events out of order.

use crate::{Folder, PRODUCER, START, json, run};
use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use std::io::Cursor;

/// A trace that starts this number of seconds after [`START`]. Its clock has this frequency, and its events are at these ticks.
pub fn trace_at(second: i64, frequency: i64, ticks: &[i64]) -> Vec<u8> {
    let (start_time, start_stamp) = (START + second * 10_000_000, 1_000_000 * second);
    let log = LogFile { start_time, start_stamp, perf_frequency: frequency, buffer_size: 1024, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for tick in ticks {
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(start_stamp + tick);
        writer.push(0, &Record::new(EventHeader::Event(header), true, &tick.to_le_bytes())).unwrap();
    }
    writer.finish(start_time + 3600 * 10_000_000).unwrap().into_inner()
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

/// Events are sorted without a message, however late they are in the file.
#[test]
fn late_events() {
    let folder = Folder::new("late");
    let mut ticks: Vec<_> = (0..400).map(|event| 100 * event).collect();
    ticks.chunks_mut(9).for_each(|chunk| chunk.reverse());
    let file = folder.file("a.etl", trace_at(0, 10_000_000, &ticks));
    // Two events from the middle are moved to the end, many buffers later.
    let (one, other) = (ticks.remove(200), ticks.remove(100));
    ticks.extend([one, other]);
    let late = folder.file("b.etl", trace_at(0, 10_000_000, &ticks));
    for files in [&[file.as_str()][..], &[&late], &[&late, &file]] {
        let (status, out, err) = run(&[&["events", "--order", "time", "--strict", "--format", "json"], files].concat());
        let times: Vec<_> = json(&out).iter().map(|event| event["time"].as_i64().unwrap()).collect();
        assert_eq!((status, err.as_str(), times.len(), times.is_sorted()), (0, "", 401 * files.len(), true));
    }
}

/// Buffers of the same times that do not fit in memory together: a note says that only parts are sorted.
#[test]
fn more_than_fits() {
    let folder = Folder::new("parts");
    let mode = LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    let log = LogFile { start_time: START, processors: 64, buffer_size: 1 << 20, mode, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for buffer in 0..160_u16 {
        for event in 0..16 {
            let mut header: EVENT_HEADER = zero();
            header.TimeStamp = large(event * 1_000 + i64::from(buffer));
            writer.push(buffer % 64, &Record::new(EventHeader::Event(header), true, &[0; 60_000])).unwrap();
        }
        writer.flush(buffer % 64).unwrap();
    }
    let file = folder.file("a.etl", writer.finish(0).unwrap().into_inner());
    let (status, out, err) = run(&["events", "--order", "time", "--format", "csv", "--columns", "time,provider", &file]);
    assert_eq!((status, out.lines().count()), (0, 1 + 1 + 160 * 16), "{err}");
    assert!(err.contains("a.etl: note: buffers are so far out of order that only parts are sorted"), "{err}");
}
