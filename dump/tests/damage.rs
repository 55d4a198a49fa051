//! Damaged dumps: damage is reported, and time and memory use stay bounded.

use etw_layouts::win10_2004::x86::TRIAGE_DUMP32;
use etw_layouts::{Arch, Build};
use etw_layouts_dump::{Diagnostic, DiagnosticKind, Dump, Error};
use etw_layouts_etl::ClockType;
use etw_layouts_etl::write::Producer;
use etw_layouts_memory::{Address, Memory};

use fastrand::Rng;
use std::cmp::Ordering;
use std::io::{self, Seek, SeekFrom, Write};
use std::mem::offset_of;
use std::time::{Duration, Instant};
use test_support::dumps::{Session, dump, whole};

const BUILD: Build = Build::new(10, 0, 19041, 264);

/// Discards all written bytes.
struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Sink {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

/// Reads everything from a dump. The size of the results must be bounded by the size of the dump.
fn read(bytes: &[u8]) {
    let Ok(dump) = Dump::from_bytes(bytes) else { return };
    let mut buffers = 0;
    for session in dump.sessions() {
        let (events, diagnostics) = session.events();
        buffers += session.buffers.len();
        // An event, or the fault of one, takes at least eight bytes. Decompression multiplies the size by at most 16.
        assert!(events.len() + diagnostics.len() <= bytes.len() * 17 / 8);
        assert!(diagnostics.iter().chain(dump.diagnostics()).all(|diagnostic| !diagnostic.to_string().is_empty()));
        let _ = session.save(Sink);
    }
    assert!(buffers * 0x48 <= bytes.len() && dump.sessions().len() * 0x30 <= bytes.len());
    assert!(dump.blobs().len() * 0x20 <= bytes.len() && dump.memory().bytes() <= bytes.len() as u64);
    assert!(dump.diagnostics().len() <= 1 << 16);
    dump.registrations();
    dump.trace_buffers();
}

/// 10,000 seeded changes of dumps of three architectures cause no panic and no hang. The size of the results is bounded.
#[test]
fn any_change() {
    let seeds = [Arch::X64, Arch::Arm64, Arch::X86].map(|arch| whole(BUILD, arch));
    let mut random = Rng::with_seed(0xD0_4D);
    let mut longest = Duration::ZERO;
    for round in 0..10_000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..random.usize(1..6) {
            // Half of the changes are not in fill, but in headers, the list of blocks and secondary data.
            let full: Vec<usize> = (0..bytes.len() / 8).filter(|word| bytes[word * 8..word * 8 + 8] != *b"PAGEPAGE").collect();
            let at = match (random.bool(), full.is_empty()) {
                (true, false) => full[random.usize(..full.len())] * 8 + random.usize(..8),
                _ => random.usize(..bytes.len()),
            };
            match random.u8(..5) {
                0 => bytes[at] ^= 1 << random.u8(..8),
                1 => {
                    let value =
                        random.choice([0, 1, 0x47, 0x48, 0x7FFF_FFFF, u32::MAX, 0x01EB_AFE1]).expect("some").to_le_bytes();
                    let length = (bytes.len() - at).min(4);
                    bytes[at..at + length].copy_from_slice(&value[..length]);
                }
                2 if at > 0x2100 => bytes.truncate(at),
                3 => {
                    let (from, length) = (random.usize(..bytes.len()), random.usize(..200));
                    let end = (from + length).min(bytes.len());
                    let length = (end - from).min(bytes.len() - at);
                    bytes.copy_within(from..from + length, at);
                }
                _ => bytes[at] = random.u8(..),
            }
        }
        let start = Instant::now();
        read(&bytes);
        longest = longest.max(start.elapsed());
    }
    println!("10,000 changed dumps, the longest took {longest:?}");
    assert!(longest < Duration::from_secs(5));
}

/// If data blocks are missing at the end of a file, a single diagnostic states the number of missing bytes. All present bytes are read.
#[test]
fn missing_blocks_are_one_diagnostic() {
    let at = |index: u64| 0xFFFF_8C0B_E300_0000 + index * 0x1000;
    let memory: Vec<_> = (0..300).map(|index| (at(index), vec![index as u8; 0x100])).collect();
    let whole = dump(BUILD, Arch::X64, &memory, &[]);
    let second = whole.windows(0x100).position(|window| window == [1; 0x100]).expect("the second block");
    let first = second - 0x100;
    for present in [0, 1, 120, 298] {
        let truncated = &whole[..first + present * 0x100 + 0x40];
        let dump = Dump::from_bytes(truncated).expect("a dump");
        let found: Vec<String> =
            dump.diagnostics().iter().map(|one| one.kind.to_string()).filter(|one| one.contains("block")).collect();
        let (count, missing) = (300 - present, (300 - present) * 0x100 - 0x40);
        let expected = format!(
            "{count} truncated data blocks, from {:#x} to {:#x}: {missing:#x} bytes are missing",
            at(present as u64),
            at(299)
        );
        assert_eq!(found, [expected]);
        for index in 0..300 {
            let mut read = [0; 0x100];
            let length = match index.cmp(&(present as u64)) {
                Ordering::Less => 0x100,
                Ordering::Equal => 0x40,
                Ordering::Greater => 0,
            };
            assert_eq!(dump.memory().read(Address(at(index)), &mut read), Ok(length));
            assert!(read[..length].iter().all(|byte| *byte == index as u8));
        }
    }
}

/// If the stated number of data blocks is too small, no block is lost. If the list is corrupt, a diagnostic reports data outside of blocks.
#[test]
fn a_damaged_list_is_reported() {
    let at = |index: u64| 0xFFFF_8C0B_E300_0000 + index * 0x1000;
    let memory: Vec<_> = (0..300).map(|index| (at(index), vec![index as u8; 0x100])).collect();
    for (arch, triage) in
        [(Arch::X64, 0x2078), (Arch::Arm64, 0x2078), (Arch::X86, 0x1000 + offset_of!(TRIAGE_DUMP32, DataBlocksOffset))]
    {
        let whole = dump(BUILD, arch, &memory, &[]);
        let list = u32::from_le_bytes(whole[triage..triage + 4].try_into().expect("four bytes"));
        let with = |place: usize, value: u32| {
            let mut bytes = whole.clone();
            bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
            let dump = Dump::from_bytes(&bytes).expect("a dump");
            let kinds = dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect::<Vec<_>>();
            (dump.memory().blocks(), dump.memory().bytes(), kinds)
        };
        for count in [0, 1, 2, 150, 299] {
            assert_eq!(with(triage + 4, count), (300, 300 * 0x100, vec!["block-count"]), "{arch} {count}");
        }
        for place in [list - 0x800, list + 0x800, list * 2, 0x40] {
            let (_, bytes, kinds) = with(triage, place);
            assert!(!kinds.is_empty(), "{arch} {place:#x}: {bytes}");
        }
        // The first block begins within the list, with bytes that look like a further entry; they are not read as one.
        let mut bytes = whole.clone();
        let list = list as usize;
        let first = (list + 299 * 0x10) as u32;
        bytes[list + 8..list + 0x10].copy_from_slice(&[first, 0x110].map(u32::to_le_bytes).concat());
        bytes[triage + 4..triage + 8].copy_from_slice(&299_u32.to_le_bytes());
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        assert_eq!((dump.memory().blocks(), dump.diagnostics()), (299, &[][..]), "{arch}");
        // The whole list is zero, so that no block contains the data.
        let mut bytes = whole.clone();
        bytes[list..list + 300 * 0x10].fill(0);
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        let behind = list as u64 + 300 * 0x10;
        let unnamed =
            |diagnostic: &Diagnostic| diagnostic.offset == behind && diagnostic.kind == DiagnosticKind::Unnamed(300 * 0x100);
        assert!(dump.diagnostics().iter().any(unnamed), "{arch}: {:?}", dump.diagnostics());
        let cut = Dump::from_bytes(&bytes[..bytes.len() - 0x100]).expect("a dump");
        assert!(cut.diagnostics().iter().all(|one| one.kind.name() != "unnamed-bytes"), "{arch}: {:?}", cut.diagnostics());
        // Some entries in the middle of the list are zero.
        let mut bytes = whole.clone();
        for (block, size) in [(100, 0x20), (250, 0x10)] {
            bytes[list + block * 0x10..][..size * 0x10].fill(0);
        }
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        let unnamed = |diagnostic: &Diagnostic| {
            diagnostic.offset == behind + 100 * 0x100 && diagnostic.kind == DiagnosticKind::Unnamed(0x30 * 0x100)
        };
        assert!(dump.diagnostics().iter().any(unnamed), "{arch}: {:?}", dump.diagnostics());
    }
}

/// A damaged buffer header loses only the events of its buffer. The header is zero, random, has a wrong valid end, or is overwritten together with
/// the first events.
#[test]
fn a_header_costs_its_buffer() {
    let mut random = Rng::with_seed(0xB0_0F);
    let mut damaged = 0;
    for arch in [Arch::X64, Arch::Arm64, Arch::X86] {
        let whole = whole(BUILD, arch);
        let sound = Dump::from_bytes(&whole).expect("a dump");
        let counts = |dump: &Dump<'_>| dump.sessions().iter().map(|session| session.events().0.len()).collect::<Vec<_>>();
        for (number, session) in sound.sessions().iter().enumerate() {
            for (index, buffer) in session.buffers.iter().enumerate() {
                let own = buffer.events(Producer { build: BUILD, arch }.generation()).count();
                let at = buffer.offset as usize;
                for way in 0..6 {
                    let mut bytes = whole.clone();
                    match way {
                        0 => bytes[at..at + 0x48].fill(0),
                        1 => bytes[at..at + 0x48].fill_with(|| random.u8(..)),
                        2 => bytes[at + 0x30..at + 0x34].copy_from_slice(&0x50_u32.to_le_bytes()),
                        3 => bytes[at + 0x30..at + 0x34].copy_from_slice(&0xFFFF_u32.to_le_bytes()),
                        4 => bytes[at + 0x30..at + 0x34].copy_from_slice(&session.log_file.buffer_size.to_le_bytes()),
                        _ => bytes[at..at + buffer.bytes.len().min(0x100)].fill(0xFF),
                    }
                    let dump = Dump::from_bytes(&bytes).expect("a dump");
                    let of: usize = session.events().0.len();
                    let found = counts(&dump);
                    let name = format!("{arch} {number} {index} {way}: {found:?} of {of}, {own} of its own");
                    assert!(found.len() == sound.sessions().len() && found[number] >= of - own, "{name}");
                    assert_eq!(found[1 - number], counts(&sound)[1 - number], "{name}");
                    assert!(own == 0 || !dump.diagnostics().is_empty() || found[number] == of, "{name}");
                    let kinds: Vec<_> = dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect();
                    assert!(!kinds.contains(&"name-length"), "{name}: {kinds:?}");
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 60, "{damaged}");
}

/// A wrong length of a session's name loses no events. The wrong end is within the name, after it, or at the start of another buffer.
#[test]
fn a_name_costs_no_event() {
    for arch in [Arch::X64, Arch::Arm64, Arch::X86] {
        let producer = Producer { build: Build { revision: 0, ..BUILD }, arch };
        let short = Session::new(producer, ClockType::PerfCounter, 11, 4).expect("a session");
        let mut long = Session::new(producer, ClockType::SystemTime, 35, 2).expect("a session");
        long.log.logger_name = "Microsoft-Windows-Rdp-Graphics-RdpIdd-Trace".into();
        let whole = dump(BUILD, arch, &[], &[short, long]);
        let sound = Dump::from_bytes(&whole).expect("a dump");
        assert_eq!(sound.diagnostics(), []);
        let counts = |dump: &Dump<'_>| dump.sessions().iter().map(|session| session.events().0.len()).collect::<Vec<_>>();
        for (number, session) in sound.sessions().iter().enumerate() {
            let at = session.offset as usize;
            let own = 2 * session.name().len() as u32;
            let starts = sound.sessions().iter().flat_map(|session| session.buffers.iter().map(|buffer| buffer.offset));
            let onto = starts.filter_map(|start| start.checked_sub(session.offset + 0x30)).map(|bytes| bytes as u32 / 2);
            for length in onto.chain([0, 1, 2, 14, 15, 18, 0x48, 2048, 2050, 1 << 16, u32::MAX]).filter(|length| *length != own) {
                let mut bytes = whole.clone();
                bytes[at + 0x14..at + 0x18].copy_from_slice(&length.to_le_bytes());
                let dump = Dump::from_bytes(&bytes).expect("a dump");
                assert_eq!(counts(&dump), counts(&sound), "{arch} {number} {length}");
                assert_eq!(dump.sessions()[number].name(), session.name(), "{arch} {number} {length}");
                let kinds: Vec<_> = dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect();
                assert_eq!(kinds, ["name-length"], "{arch} {number} {length}");
            }
        }
    }
}

fn dump_of(sessions: &[Session]) -> Vec<u8> {
    dump(BUILD, Arch::X64, &[], sessions)
}

/// The number of diagnostics is limited.
#[test]
fn diagnostics_are_limited() {
    let producer = Producer { build: Build { revision: 0, ..BUILD }, arch: Arch::X64 };
    let mut log = Session::new(producer, ClockType::SystemTime, 35, 2).expect("a session").log;
    (log.clock, log.logger_name) = (9, String::new());
    let session = |logger_id| Session { log: log.clone(), logger_id, buffers: Vec::new(), file: Vec::new() };
    let bytes = dump_of(&(0..(1 << 16) + 9).map(session).collect::<Vec<_>>());
    assert_eq!(Dump::from_bytes(&bytes).expect("a dump").diagnostics().len(), 1 << 16);
}

/// Each kind of damage is reported by its name, and the rest of the dump is read.
#[test]
fn each_is_reported() {
    let whole = whole(BUILD, Arch::X64);
    let dump = Dump::from_bytes(&whole).expect("a dump");
    let [first, second] = dump.sessions() else { panic!("two sessions") };
    let (at, buffer) = (first.offset as usize, first.buffers[1].offset as usize);
    let event = buffer + 0x48;
    let kinds = |bytes: &[u8]| {
        let dump = Dump::from_bytes(bytes).expect("a dump");
        let own = dump.sessions().iter().flat_map(|session| session.events().1);
        let kinds = dump.diagnostics().iter().cloned().chain(own).map(|Diagnostic { kind, .. }| kind.name()).collect::<Vec<_>>();
        (kinds, dump.sessions().len())
    };
    let put = |at: usize, value: u32| {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        kinds(&bytes)
    };
    assert_eq!(kinds(&whole), (vec![], 2));
    assert_eq!(put(at, 7), (vec!["no-session", "skipped"], 1));
    assert_eq!(put(at + 0x0C, 9), (vec!["clock"], 2));
    assert_eq!(put(at + 0x14, u32::MAX), (vec!["name-length"], 2));
    // PerfFreq, and ReferenceTime of the first session. Its clock is the performance counter.
    let blob = dump.blobs()[1].offset as usize;
    for (place, length, kind) in [(blob + 0x18, 8, "clock-rate"), (at + 0x20, 8, "reference-time")] {
        let mut bytes = whole.clone();
        bytes[place..place + length].fill(0);
        assert_eq!(kinds(&bytes), (vec![kind], 2));
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        let [first, second] = dump.sessions() else { panic!("two sessions") };
        assert!(first.events().0.iter().all(|event| event.time.is_none()) && first.save(Sink).is_err());
        assert!(second.events().0.iter().any(|event| event.time.is_some()) && second.save(Sink).is_ok());
    }
    assert_eq!(put(buffer, 8192), (vec!["buffer-size"], 2));
    assert_eq!(put(buffer + 0x28, 0), (vec!["logger"], 2));
    assert_eq!(put(buffer + 0x30, 0), (vec!["valid-end", "skipped"], 2));
    assert_eq!(put(event + 4, 0), (vec!["event-too-short"], 2));
    let mut bytes = whole.clone();
    bytes[event + 4..event + 8].fill(0);
    let damaged = Dump::from_bytes(&bytes).expect("a dump");
    assert_eq!(damaged.sessions()[0].events().1[0].offset, event as u64);
    assert_eq!(kinds(&whole[..second.buffers[1].offset as usize + 0x60]).0[..2], ["truncated", "truncated"]);
    // The stated list of data blocks is longer than the file.
    assert_eq!(put(0x207C, 1 << 20).0[0], "truncated");
    assert_eq!(put(0x2004, 0x1000), (vec!["dump-size"], 2));
    assert_eq!(put(0x2008, 0x1000).0, ["unfinished"]);

    assert_eq!(Dump::from_bytes(&whole[..0x2040]).err(), Some(Error::Short(0x2040)));
    assert_eq!(Dump::from_bytes(b"MDMP").err(), Some(Error::NoDump));
    // Diagnostics state the correct offsets and sizes.
    let detail = |bytes: &[u8]| {
        let dump = Dump::from_bytes(bytes).expect("a dump");
        dump.diagnostics().iter().map(|one| (one.offset as usize, one.kind.clone())).collect::<Vec<_>>()
    };
    let with = |at: usize, value: u32| [&whole[..at], &value.to_le_bytes(), &whole[at + 4..]].concat();
    assert_eq!(detail(&with(at, 7))[0], (at, DiagnosticKind::NoSession(7)));
    let list = u32::from_le_bytes(whole[0x2078..0x207C].try_into().expect("four bytes")) as usize;
    let kind = DiagnosticKind::Truncated { part: "a list of data blocks", size: 0x20, present: 0x18 };
    assert!(detail(&whole[..list + 0x18]).contains(&(list + 0x10, kind)), "{:?}", detail(&whole[..list + 0x18]));
    // A valid end beyond the size of the buffer, and one within the next buffer.
    let end = |value: u32| put(buffer + 0x30, value).0;
    assert_eq!(end(first.log_file.buffer_size + 1), ["valid-end", "skipped"]);
    assert_eq!(end(first.log_file.buffer_size), ["valid-end"]);
    // Neither the size nor the session number matches.
    let mut bytes = with(buffer, 8192);
    bytes[buffer + 0x2A..buffer + 0x2C].fill(0);
    assert_eq!(kinds(&bytes), (vec!["no-buffer", "skipped"], 2));
    // A clock of processor cycles without a rate.
    let mut bytes = with(at + 0x0C, 3);
    bytes[blob + 8..blob + 12].fill(0);
    assert_eq!(kinds(&bytes).0, ["clock-rate"]);
    // A buffer header in the payload of an event is not treated as a buffer, even in the last buffer.
    let header = whole[buffer..buffer + 0x48].to_vec();
    for buffer in [&first.buffers[1], &first.buffers[first.buffers.len() - 2], second.buffers.last().expect("a buffer")] {
        let mut bytes = whole.clone();
        let at = buffer.offset as usize + buffer.bytes.len() - 0x60;
        bytes[at..at + 0x48].copy_from_slice(&header);
        let owner = if at < second.offset as usize { first } else { second };
        bytes[at..at + 4].copy_from_slice(&owner.log_file.buffer_size.to_le_bytes());
        bytes[at + 0x2A..at + 0x2C].copy_from_slice(&(owner.logger_id as u16).to_le_bytes());
        assert_eq!(detail(&bytes), [], "{:#x}", buffer.offset);
    }
    // The last session has no buffers. Its name is shorter than stated, then truncated.
    let producer = Producer { build: Build { revision: 0, ..BUILD }, arch: Arch::X64 };
    let mut lone = Session::new(producer, ClockType::SystemTime, 35, 2).expect("a session");
    lone.buffers.clear();
    lone.log.logger_name = "abc\0defg".into();
    let lone = dump_of(&[lone]);
    let name = Dump::from_bytes(&lone).expect("a dump").sessions()[0].offset as usize + 0x30;
    assert_eq!(detail(&lone), [(name - 0x30, DiagnosticKind::NameLength { stated: 16, found: 6 })]);
    let cut = detail(&lone[..name + 8]);
    assert!(
        cut.contains(&(name - 0x30, DiagnosticKind::Truncated { part: "the name of a session", size: 32, present: 8 })),
        "{cut:?}"
    );

    let full = [&whole[..0xF98], &1_u32.to_le_bytes(), &whole[0xF9C..]].concat();
    assert_eq!(Dump::from_bytes(&full).err(), Some(Error::Kind(1)));
}
