//! Writes a small compressed trace, as a session of Windows 10 with two processors would.
//!
//!     cargo run --example write -- new.etl

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, LOG_FILE_MODE, large, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{LogFile, Uuid};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

/// 2020-07-29 07:06:20 UTC, in units of 100 ns since 1601.
const START: i64 = 132_404_799_800_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name the file to write")?;
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let log = LogFile {
        logger_name: "Example".into(),
        processors: 2,
        mode: LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0,
        // The time stamps of all events count from this one, at 10 MHz.
        start_stamp: 0,
        start_time: START,
        perf_frequency: 10_000_000,
        ..LogFile::new(&producer)
    };
    let mut writer = FileWriter::new(BufWriter::new(File::create(path)?), producer, log)?;
    for number in 0..1_000_u32 {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId = wire_guid(Uuid::from_u128(0x3d6f_a8d1_fe05_11d0_9dda_00c0_4fd7_ba7c));
        header.EventDescriptor.Id = 1;
        header.TimeStamp = large(i64::from(number) * 1_000);
        (header.ProcessId, header.ThreadId) = (4, 8);
        let payload = number.to_le_bytes();
        writer.push((number % 2) as u16, &Record::new(EventHeader::Event(header), true, &payload))?;
    }
    writer.finish(START + 1_000_000)?;
    Ok(())
}
