//! Wrong values in the log file header: their diagnostics, the assumed values, and the number of events that can still be read.

use crate::diagnostics::{
    BUFFERS_WRITTEN, CLOCK, LOG_FILE, LOG_FILE_MODE, PERF_FREQUENCY, POINTER_SIZE, PROCESSORS, SIZE, START_TIME, put, read,
};
use etw_layouts_etl::check::check;
use etw_layouts_etl::write::FileWriter;
use etw_layouts_etl::{ClockType, DiagnosticKind, LogFile, Trace};
use std::io::Cursor;
use test_support::traces::{PRODUCERS, fixture};

/// A log file header is recognized by its own members, but not if one of them is impossible.
#[test]
fn no_log_file_header() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let destroyed = put(&file, 0x48, &[0; 0x20]);
    let trace = Trace::from_bytes(&destroyed).unwrap();
    assert_eq!(trace.log_file().logger_name, Trace::from_bytes(&file).unwrap().log_file().logger_name);
    for bytes in [put(&destroyed, PROCESSORS, &[0; 4]), put(&destroyed, POINTER_SIZE, &[3]), put(&destroyed, 0, &[0; 0x48])] {
        let error = Trace::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains("log file header"), "{error}");
    }
    for (read, expected) in [(1, "missing"), (2, "unexpected"), (3, "unexpected")] {
        assert!(DiagnosticKind::BuffersWritten { stated: 2, read }.to_string().starts_with(expected), "{read}");
    }
}

/// Wrong values about compressed buffers in the log file header lose no events.
#[test]
fn headers_of_compressed_files() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes;
    let whole = read(&file).1;
    let largest = Trace::from_bytes(&file).unwrap().buffers().map(|buffer| buffer.unwrap().header().offset).max().unwrap();
    for (name, at, value, expected) in [
        ("nothing", 0, &file[..1], &[][..]),
        ("as large as the largest", LOG_FILE, &largest.to_le_bytes()[..], &[]),
        ("too small", LOG_FILE, &(largest - 8).to_le_bytes(), &["log-file-buffer-size"]),
        ("far too small", LOG_FILE, &0x48_u32.to_le_bytes(), &["log-file-buffer-size"]),
        ("LZNT1", 0x2C, &[2], &["log-file-compression"]),
        ("XPRESS-HUFFMAN", 0x2C, &[4], &["log-file-compression"]),
        ("2.0", LOG_FILE + 4, &[2, 0], &["version"]),
        ("5.2", LOG_FILE + 4, &[5, 2], &["version"]),
        ("6.0", LOG_FILE + 4, &[6, 0], &["version"]),
    ] {
        let (kinds, events) = read(&put(&file, at, value));
        assert_eq!((&kinds[..], events), (expected, whole), "{name}");
    }
    // Without the mode of compressed buffers, there is no compression format either.
    let mode = put(&put(&file, LOG_FILE_MODE + 3, &[0]), 0x2C, &[2]);
    assert_eq!(read(&mode).1, whole);
    // The first buffers need not be compressed.
    let (uncompressed, first) = (fixture(PRODUCERS[7], ClockType::PerfCounter, false, 30).unwrap().bytes, size_of_first(&file));
    let buffers = u32::from_le_bytes(file[BUFFERS_WRITTEN..][..4].try_into().unwrap());
    let three = &uncompressed[SIZE..4 * SIZE];
    let mixed = [&file[..first], three, &file[first..]].concat();
    let mixed = put(&put(&mixed, BUFFERS_WRITTEN, &(buffers + 3).to_le_bytes()), 0x2C, &[2]);
    assert_eq!(read(&mixed).0, ["log-file-compression"]);
}

/// Values that are assumed instead of wrong values in the log file header.
#[test]
fn assumptions() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap();
    let time = |bytes: &[u8]| Trace::from_bytes(bytes).unwrap().clock().system_time(file.log.start_stamp + 1_000);
    assert_eq!(time(&put(&file.bytes, CLOCK, &[9])), time(&file.bytes));
    assert_eq!(time(&put(&file.bytes, PERF_FREQUENCY, &[0; 8])), file.log.start_time + 1_000);
    // A wrong pointer size is ignored if neither width gives a valid clock, or if no producer has that size.
    let no_clock = put(&file.bytes, CLOCK, &[9]);
    for bytes in [put(&no_clock, POINTER_SIZE, &[4]), put(&put(&no_clock, POINTER_SIZE, &[3]), START_TIME, &[1, 0, 0, 0])] {
        assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().pointer_size, 8);
    }
    // With a single buffer, in this order: the size in the log file header, that of the buffer, the largest possible size.
    for (stated, own, expected) in [(0, SIZE as u32, SIZE as u32), (0, 0, 1 << 24), (SIZE as u32, 2 * SIZE as u32, SIZE as u32)] {
        let bytes = put(&put(&file.bytes[..SIZE], LOG_FILE, &u32::to_le_bytes(stated)), 0, &u32::to_le_bytes(own));
        assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().buffer_size, expected, "{stated} {own}");
    }
    for size in [0, 1, 3, 4, 16] {
        let bytes = put(&file.bytes, POINTER_SIZE, &[size]);
        let trace = Trace::from_bytes(&bytes).unwrap();
        assert_eq!((trace.log_file().pointer_size, &trace.log_file().logger_name[..]), (8, "A logger"));
    }
    let bytes = put(&file.bytes, LOG_FILE, &[0; 4]);
    assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().buffer_size, SIZE as u32);
}

/// A first time stamp that does not match the stated clock: system time, a performance counter of 10 or 3.58 MHz, or a processor of 2.4 GHz.
#[test]
fn stamps_of_another_clock() {
    const START: i64 = 132_404_547_797_984_230;
    let file = |clock: ClockType, frequency: i64, uptime: i64, start_stamp: i64| {
        let mut log = LogFile::new(&PRODUCERS[7]);
        (log.buffer_size, log.clock, log.perf_frequency, log.cpu_mhz) = (4096, clock.value(), frequency, 2_400);
        (log.boot_time, log.start_time, log.start_stamp) = (START - uptime * 10_000_000, START, start_stamp);
        FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap().finish(START).unwrap().into_inner()
    };
    let wrong = &["clock-stamp"][..];
    let [counter, cycles] = [ClockType::PerfCounter, ClockType::CpuCycle];
    for (frequency, uptime) in [(10_000_000, 61), (3_579_545, 61), (3_579_545, 600_000)] {
        // Real rates differ slightly from the stated ones, and clocks start soon after boot.
        for drift in [0, 3, -1] {
            let read = |rate: i64| (uptime + uptime * drift / 100) * rate;
            for (clock, stamp, kinds) in [
                (counter, read(frequency), &[][..]),
                (cycles, read(2_400_000_000), &[]),
                (ClockType::SystemTime, START + drift, &[]),
                (cycles, read(frequency), wrong),
                (counter, read(2_400_000_000), wrong),
                (ClockType::SystemTime, read(frequency), wrong),
                (ClockType::SystemTime, read(2_400_000_000), wrong),
                (cycles, START + drift, wrong),
                // At 10 MHz the times are the same.
                (counter, START + drift, if frequency == 10_000_000 { &[] } else { wrong }),
                (counter, 0, wrong),
                (cycles, 0, wrong),
                (ClockType::SystemTime, 0, wrong),
                // A time stamp of neither clock: on some systems the counter does not start at boot.
                (counter, 1_000, &[]),
                (cycles, 1_000, &[]),
            ] {
                assert_eq!(self::read(&file(clock, frequency, uptime, stamp)).0, kinds, "{clock:?} {frequency} {uptime} {stamp}");
            }
        }
    }
    // After a minute the clocks can be distinguished, unless one of them has no rate.
    assert_eq!(self::read(&file(cycles, 3_579_545, 60, 0)).0, wrong);
    const RATE: usize = LOG_FILE + 0x34;
    for (clock, at, rate) in [(cycles, PERF_FREQUENCY, &[0; 8][..]), (counter, RATE, &[0; 4])] {
        assert!(self::read(&put(&file(clock, 3_579_545, 600, 6_000_000_000), at, rate)).0.is_empty(), "{clock:?}");
    }
    // A processor clock without a rate.
    let mut log = LogFile::new(&PRODUCERS[7]);
    (log.buffer_size, log.clock, log.cpu_mhz) = (4096, cycles.value(), 1);
    let bytes = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap().finish(START).unwrap().into_inner();
    assert_eq!((self::read(&bytes).0, self::read(&put(&bytes, RATE, &[0; 4])).0), (vec![], vec!["clock-rate"]));
    // Soon after boot, or with an unknown boot time, the clocks that count from boot cannot be distinguished.
    for stamp in [0, 5 * 2_400_000_000, 5 * 3_579_545] {
        for clock in [counter, cycles] {
            assert!(self::read(&file(clock, 3_579_545, 5, stamp)).0.is_empty(), "{clock:?} {stamp}");
        }
    }
}

/// If the stated clock is too slow, the buffers seem to be later than the end of the file.
#[test]
fn slow_clock() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let bytes = put(&file, PERF_FREQUENCY, &1_i64.to_le_bytes());
    let (kinds, events) = read(&bytes);
    assert_eq!((kinds, events), (vec!["buffer-time"; file.len() / SIZE - 1], read(&file).1));
}

/// Processor numbers start at 0, so that the last of N processors is N - 1.
#[test]
fn processors_of_files() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let found = |bytes: &[u8]| {
        let mut found = 0;
        check(&Trace::from_bytes(bytes).unwrap(), &mut |diagnostic| found += usize::from(diagnostic.kind.name() == "processor"));
        found
    };
    let last = Trace::from_bytes(&file).unwrap().buffers().map(|buffer| buffer.unwrap().header().processor()).max().unwrap();
    assert_eq!(found(&put(&file, PROCESSORS, &(u32::from(last) + 1).to_le_bytes())), 0);
    let of_last = Trace::from_bytes(&file)
        .unwrap()
        .buffers()
        .filter(|buffer| buffer.as_ref().unwrap().header().processor() == last)
        .count();
    assert_eq!((found(&put(&file, PROCESSORS, &u32::from(last).to_le_bytes())), of_last > 0), (of_last, true));
}

/// Bytes of the header buffer.
fn size_of_first(file: &[u8]) -> usize {
    u32::from_le_bytes(*file.first_chunk().unwrap()) as usize
}
