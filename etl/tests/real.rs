//! Real files, compared with a survey by another reader and with the output of a consumer on Windows.

use crate::events::{by_processor, in_file};
use etw_layouts_etl::check::check;
use etw_layouts_etl::wire::{Arch, LOG_FILE_MODE};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{LogFile, Reader, Scratch, Trace};
use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use test_support::installed;
use test_support::traces::written_again_differs;

/// The lines of the survey, each with the bytes of its file.
fn surveyed() -> Vec<(Vec<String>, Vec<u8>)> {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return Vec::new() };
    let survey = fs::read_to_string(folder.join("survey.tsv")).unwrap();
    let lines = survey.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let files: Vec<_> = lines.map(|line| (line.clone(), fs::read(folder.join(&line[0])).unwrap())).collect();
    assert!(!files.is_empty(), "the survey is empty");
    files
}

/// Counts by name, as Python prints them.
fn counts(text: &str) -> BTreeMap<String, usize> {
    let pairs = text.trim_matches(['{', '}']).split(", ").filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, count) = pair.split_once(": ").unwrap();
        (name.trim_matches('\'').to_owned(), count.parse().unwrap())
    };
    pairs.map(pair).collect()
}

#[test]
fn survey() {
    for (line, bytes) in surveyed() {
        let name = &line[0];
        let trace = Trace::from_bytes(&bytes).unwrap();
        let log = trace.log_file();
        let version = log.version.map(|n| n.to_string()).join(".");
        let facts = [version, log.build.to_string(), log.pointer_size.to_string(), log.processors.to_string()];
        assert_eq!(facts[..], line[5..9], "{name}");
        assert_eq!((format!("{:08x}", log.mode), log.clock.to_string()), (line[9].clone(), line[10].clone()), "{name}");
        let buffers: Vec<_> = trace.buffers().map(Result::unwrap).collect();
        let compressed = buffers.iter().filter(|buffer| buffer.header().is_compressed()).count();
        assert_eq!([buffers.len().to_string(), compressed.to_string()], [line[2].clone(), line[4].clone()], "{name}");

        let events = in_file(&trace);
        assert_eq!(events.len().to_string(), line[14], "{name}");
        let (mut kinds, mut items) = (BTreeMap::new(), BTreeMap::new());
        for event in &events {
            let header_type = event.header_type.name();
            let header_type = if header_type == "MESSAGE" { "MESSAGE90" } else { header_type };
            *kinds.entry(header_type.replace("FULL_HEADER", "FULL").replace("EVENT_HEADER", "EVENT")).or_insert(0) += 1;
            for (ty, _) in &event.items {
                *items.entry(format!("ext{ty}")).or_insert(0) += 1;
            }
        }
        assert_eq!((kinds, items), (counts(&line[15]), counts(&line[16])), "{name}");

        let mut diagnostics = Vec::new();
        check(&trace, &mut |diagnostic| diagnostics.push(diagnostic));
        assert_eq!(diagnostics, [], "{name}");

        let mut reader = Reader::new(&bytes[..]).unwrap();
        let mut streamed = 0;
        while let Some(decoded) = reader.next_buffer().unwrap() {
            for event in decoded.unwrap().events() {
                assert_eq!(event.unwrap().bytes(), events[streamed].bytes, "{name}");
                streamed += 1;
            }
        }
        assert_eq!(streamed, events.len(), "{name}");
    }
}

#[test]
fn golden() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let mut found = 0;
    for entry in fs::read_dir(folder.join("golden")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(folder.join(path.file_stem().unwrap()).with_extension("etl"));
        let bytes = bytes.or_else(|_| fs::read(folder.join(format!("{}.etl", path.file_stem().unwrap().display())))).unwrap();
        let trace = Trace::from_bytes(&bytes).unwrap();
        // The key is the time in microseconds since the start, the processor and the length. The consumer rounds times.
        let mut ours: BTreeMap<(i64, u16, usize), usize> = BTreeMap::new();
        for event in in_file(&trace) {
            let Some(stamp) = event.time else { continue };
            let since = trace.clock().system_time(stamp) - trace.log_file().start_time;
            *ours.entry(((since + 5).div_euclid(10), event.processor, event.payload.len())).or_default() += 1;
        }
        for line in fs::read_to_string(&path).unwrap().lines().filter(|line| line.starts_with("EVENT ")) {
            let (time, rest) = line["EVENT ".len()..].split_once(": ").unwrap();
            let micros: i64 = time.replace([',', '.'], "").parse().unwrap();
            let field = |name: &str| {
                let at = rest.find(name).unwrap() + name.len();
                rest[at..].split(';').next().unwrap().replace(',', "").parse::<usize>().unwrap()
            };
            let key = (micros, field("ProceNum=") as u16, field("DataLen="));
            let count = ours.get_mut(&key).filter(|count| **count > 0);
            *count.unwrap_or_else(|| panic!("{}: no event for {line}", path.display())) -= 1;
            found += 1;
        }
    }
    println!("{found} events of a consumer found");
    assert!(found > 0);
}

#[test]
fn buffers_written_again() {
    for (line, bytes) in surveyed() {
        let trace = Trace::from_bytes(&bytes).unwrap();
        for buffer in trace.buffers() {
            let buffer = buffer.unwrap();
            let mut scratch = Scratch::default();
            let decoded = buffer.decode(&mut scratch);
            assert_eq!(written_again_differs(&buffer, &decoded), None, "{}: buffer at {:#x}", line[0], buffer.offset());
            if buffer.index() == 0 {
                let event = decoded.events().next().unwrap().unwrap();
                let log = LogFile::read(&event).unwrap();
                assert_eq!(log.payload(), event.payload(), "{}", line[0]);
            }
        }
    }
}

#[test]
fn files_written_again() {
    for (line, bytes) in surveyed() {
        let trace = Trace::from_bytes(&bytes).unwrap();
        let events = by_processor(&trace);
        for compressed in [false, true] {
            let again = written(&trace, compressed);
            let Some(again) = again else { continue };
            let again = Trace::from_bytes(&again).unwrap();
            let count = again.buffers().filter(|b| b.as_ref().unwrap().header().is_compressed()).count();
            assert_eq!(count > 0, compressed, "{}", line[0]);
            // The log file headers differ in the buffers and the mode.
            assert!(by_processor(&again)[1..] == events[1..], "{} compressed {compressed}", line[0]);
        }
    }
}

/// A new file with the same events; `None` if the version cannot write it.
fn written(trace: &Trace<'_>, compressed: bool) -> Option<Vec<u8>> {
    let mut log = trace.log_file().clone();
    let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
    let producer = Producer::new(log.version[0].into(), log.version[1].into(), log.build, arch);
    if compressed && !(producer.has_processor_index()) {
        return None;
    }
    let flag = LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    log.mode = if compressed { log.mode | flag } else { log.mode & !flag };
    let (end, buffers) = (log.end_time, trace.buffers());
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap();
    let mut scratch = Scratch::default();
    let first = buffers.into_iter().next().unwrap().unwrap();
    for event in first.decode(&mut scratch).events().skip(1) {
        writer.push_header(&Record::from_event(&event.unwrap())).unwrap();
    }
    for event in trace.events().map(Result::unwrap).filter(|event| event.buffer() > 0) {
        writer.push(event.processor(), &Record::from_event(&event.event())).unwrap();
    }
    Some(writer.finish(end).unwrap().into_inner())
}
