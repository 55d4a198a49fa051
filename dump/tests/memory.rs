//! Dumps of physical memory with every kind of page tables. The generated kernel memory is read back from each dump.

use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::win7::x64::SUMMARY_DUMP64;
use etw_layouts::{Arch, Build, structures};
use etw_layouts_dump::{BufferSelection, By, Diagnostic, DiagnosticKind, Error, MemoryDump, Source, by_time, decoded_buffers};
use etw_layouts_etl::check::check;
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{DiagnosticKind as EventDiagnostic, Events, Trace};
use etw_layouts_memory::{Address, Finding, FindingKind, Memory, Walk};
use fastrand::Rng;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Cursor};
use std::mem::offset_of;
use std::ops::Range;
use std::time::{Duration, Instant};
use test_support::kernels::module;
use test_support::kernels::plan::Plan;
use test_support::memory_dumps::{Paging, System};

const NEW: Build = Build::new(10, 0, 19041, 264);
const WIN7: Build = Build::new(6, 1, 7601, 24540);

const KINDS: [(u32, Build, Arch, Paging); 14] = [
    (1, NEW, Arch::X64, Paging::Four),
    (5, NEW, Arch::X64, Paging::Four),
    (6, NEW, Arch::X64, Paging::Five),
    (7, NEW, Arch::Arm64, Paging::Arm),
    (1, NEW, Arch::Arm64, Paging::Arm),
    (1, NEW, Arch::X86, Paging::Pae),
    (1, NEW, Arch::X86, Paging::Two),
    (2, WIN7, Arch::X64, Paging::Four),
    (2, WIN7, Arch::X86, Paging::Pae),
    (2, Build::new(5, 2, 3790, 0), Arch::X86, Paging::Two),
    (8, NEW, Arch::X64, Paging::Four),
    (8, NEW, Arch::Arm64, Paging::Arm),
    (9, NEW, Arch::X64, Paging::Five),
    (10, NEW, Arch::X64, Paging::Four),
];

/// A kernel, and the system from which a dump is made.
pub fn made(build: Build, arch: Arch, paging: Paging) -> (Plan, System) {
    let plan = Plan::of(build, arch);
    let (start, end) = module(arch);
    let of_debugger = plan.kit.globals.iter().find(|(name, _)| *name == "EtwpDebuggerData").map_or(0, |(_, at)| *at);
    let system = System {
        build,
        arch,
        paging,
        pieces: vec![(plan.kit.image.base, plan.kit.image.bytes.clone()), (start, vec![0; 0x3000])],
        modules: vec![("ntoskrnl.exe", start, end), ("hal.dll", end, end + 0x1000)],
        debugger_data: of_debugger,
        missing: BTreeSet::new(),
    };
    (plan, system)
}

/// Every byte of memory is read back. Sessions, providers and events are the generated ones, and saved sessions have no format errors.
#[test]
fn memory_is_read_back() {
    for (kind, build, arch, paging) in KINDS {
        let (plan, mut system) = made(build, arch, paging);
        // More consecutive pages than a word of a bitmap has bits.
        let many = (0..0x30_0000_u32 / 4).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        system.pieces.push((if arch == Arch::X86 { 0x8700_0000 } else { 0xFFFF_9A01_4000_0000 }, many));
        let bytes = system.dump(DUMP_TYPE(kind));
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let name = format!("{kind} {build} {arch} {paging:?}");
        for (at, piece) in &system.pieces {
            for skip in [0, 0x123] {
                let mut read = vec![1; piece.len() - skip];
                assert!(
                    dump.read(Address(*at + skip as u64), &mut read) == Ok(read.len()) && read == piece[skip..],
                    "{name}: {at:#x}"
                );
            }
        }
        let runs: Vec<_> = dump.runs().collect();
        assert!(runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0), "{name}: {runs:x?}");
        assert_eq!(runs.iter().map(|(_, bytes)| bytes / 0x1000).sum::<u64>(), dump.pages(), "{name}");
        let limit = dump.limits().bytes;
        assert_eq!(limit, dump.pages() * 0x4000 + (1 << 24), "{name}");
        let modules: Vec<_> = dump.modules().iter().map(|one| (one.name.as_str(), one.range.start.0, one.range.end.0)).collect();
        assert_eq!(modules, system.modules, "{name}");
        let kinds: Vec<_> = dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect();
        assert_eq!((kinds, dump.identity().by), (vec!["no-kernel-image"], By::Header), "{name}");

        let mut kernel = dump.kernel(system.build);
        assert_eq!(kernel.global("EtwpDebuggerData").map(|at| at.0), (arch != Arch::X86).then_some(system.debugger_data));
        for (variable, at) in &plan.kit.globals {
            kernel = kernel.with_global(variable, Address(*at));
        }
        let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
        let census = walk.census();
        assert_eq!((census.sessions.len(), census.providers.len()), (plan.sessions.len(), plan.providers.len()), "{name}");
        for (which, states) in [(BufferSelection::All, 3), (BufferSelection::Pending, 2)] {
            let sessions = dump.sessions(&mut walk, &census.sessions, which);
            for (session, planned) in sessions.iter().zip(&plan.sessions) {
                assert_eq!((session.name(), session.buffers.len()), (planned.name, planned.buffers.len()), "{name}");
                let planned: usize = planned.buffers.iter().take(states).map(|buffer| buffer.events.len()).sum();
                assert_eq!(session.events().0.len(), planned, "{name}");
                for (event, buffer) in session.buffers.iter().filter(|one| !one.is_compressed).flat_map(|buffer| {
                    buffer.events(Producer { build, arch }.generation()).flatten().map(move |event| (event, buffer))
                }) {
                    let place = buffer.place(event.offset()) as usize;
                    assert_eq!(bytes[place..place + 8], event.bytes()[..8], "{name}");
                }
                let mut saved = Cursor::new(Vec::new());
                assert_eq!(session.save(&mut saved).expect("a trace").events, planned, "{name}");
                let trace = Trace::from_bytes(saved.get_ref()).expect("a trace");
                check(&trace, &mut |diagnostic| panic!("{name}: {diagnostic}"));
                let log = trace.log_file();
                assert_eq!(
                    (log.logger_name.as_str(), log.file_name.as_str()),
                    (session.name(), session.log_file.file_name.as_str())
                );
                assert_eq!(
                    (log.events_lost, log.buffers_lost, log.boot_time),
                    (9, session.log_file.buffers_lost, session.log_file.boot_time)
                );
            }
            let (events, diagnostics) = by_time(&sessions);
            assert_eq!(events.len(), sessions.iter().map(|session| session.events().0.len()).sum::<usize>(), "{name}");
            assert!(diagnostics.is_empty() && events.iter().map(|(_, event)| event.time).is_sorted(), "{name}");
        }
        assert!(walk.findings().is_empty(), "{name}: {}", walk.findings()[0]);
    }
}

/// Without symbols, the debugger data block of the kernel leads to the sessions. Their events have no times.
#[test]
fn without_symbols() {
    let (plan, system) = made(NEW, Arch::X64, Paging::Four);
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_BITMAP_KERNEL);
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    let kernel = dump.kernel(system.build);
    let mut walk = Walk::new(&dump, &kernel);
    assert!(walk.witness().iter().all(|stated| stated.agrees()));
    let found = walk.sessions();
    assert_eq!(found.len(), plan.sessions.len());
    let sessions = dump.sessions(&mut walk, &found, BufferSelection::All);
    let (events, _) = sessions[0].events();
    assert!(!sessions[0].has_rate() && events.len() == 24 && events.iter().all(|event| event.time.is_none()));
    assert!(sessions[0].save(&mut Cursor::new(Vec::new())).is_err_and(|error| error.to_string().contains("symbols")));
}

/// Damage loses only the damaged data, and is reported. The error of an unsupported dump type names the type.
#[test]
fn damage_is_reported() {
    let (plan, mut system) = made(NEW, Arch::X64, Paging::Four);
    let kind = DUMP_TYPE::DUMP_TYPE_FULL;
    system.missing.insert(plan.sessions[0].buffers[1].at / 0x1000);
    let bytes = system.dump(kind);
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&dump, &kernel);
    let found = walk.sessions();
    let sessions = dump.sessions(&mut walk, &found, BufferSelection::All);
    assert_eq!((sessions.len(), sessions[0].buffers.len()), (3, 1));
    assert!(!walk.findings().is_empty());

    let of = |bytes: &[u8]| {
        MemoryDump::new(bytes).map(|dump| dump.diagnostics().iter().map(|one| one.kind.name()).collect::<Vec<_>>())
    };
    assert_eq!(of(&bytes[..bytes.len() - 1]).as_deref(), Ok(&["truncated", "no-kernel-image"][..]));
    let mut damaged = bytes.clone();
    damaged[0x10..0x18].fill(0);
    assert_eq!(of(&damaged).as_deref(), Ok(&["page-tables", "no-kernel-image"][..]));
    // Two runs of the same pages. The second is in the file, or after its end.
    let mut damaged = bytes.clone();
    damaged.copy_within(0x98..0xA8, 0xA8);
    assert!(of(&damaged).is_ok_and(|kinds| kinds.contains(&"repeated-pages")));
    let pages = u64::from_le_bytes(damaged[0xA0..0xA8].try_into().expect("eight bytes")) as usize;
    assert!(of(&damaged[..0x2000 + pages * 0x1000]).is_ok_and(|kinds| !kinds.contains(&"repeated-pages")));
    let mut other = bytes;
    for unread in [3, 4, 99] {
        other[0xF98] = unread;
        assert_eq!(of(&other), Err(Error::Kind(unread.into())));
    }
    for kind in [2, 5, 8, 10] {
        other[0xF98] = kind;
        assert_eq!(of(&other), Err(Error::List(kind.into())));
        for letters in [b"SDMPXUMP", b"XDMPDUMP"] {
            other[0x2000..0x2008].copy_from_slice(letters);
            assert_eq!(of(&other), Err(Error::List(kind.into())));
        }
        other[0x2000..0x2008].fill(0);
        assert_eq!(of(&other[..0x2008]), Err(Error::Short(0x2008)));
    }
    // Kinds that 32-bit systems do not write.
    let mut other = made(NEW, Arch::X86, Paging::Pae).1.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    for kind in [5, 6, 7, 8, 9, 10] {
        other[0xF88] = kind;
        assert_eq!(of(&other), Err(Error::Kind(kind.into())));
    }
}

/// A buffer that contains compressed buffers is read as several buffers with all their events. Compressed buffers are counted separately.
#[test]
fn compressed_buffers() {
    let (mut plan, _) = made(NEW, Arch::X64, Paging::Four);
    plan.compress(1, true);
    let (_, mut system) = made(NEW, Arch::X64, Paging::Four);
    system.pieces[0].1 = plan.kit.image.bytes.clone();
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
    let found = walk.sessions();
    for (which, events) in [(BufferSelection::Pending, 12 * 4), (BufferSelection::All, 12 * 5)] {
        let session = dump.sessions(&mut walk, &found, which).remove(1);
        assert_eq!((session.buffers.len(), session.compressed_buffers()), (5, 3));
        assert_eq!((session.events().0.len(), session.events().1.len()), (events, 0));
        let mut saved = Cursor::new(Vec::new());
        assert_eq!(session.save(&mut saved).expect("a trace").events, events);
        check(&Trace::from_bytes(saved.get_ref()).expect("a trace"), &mut |diagnostic| panic!("{diagnostic}"));
    }
    assert!(walk.findings().is_empty(), "{}", walk.findings()[0]);
}

/// A file of zeros after its first bytes.
struct Sparse {
    head: Vec<u8>,
    length: u64,
    read: Cell<u64>,
}

impl Source for Sparse {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.read.set(self.read.get() + out.len() as u64);
        assert!(self.read.get() < 1 << 24, "16 MiB read of a bitmap of a few kilobytes");
        out.fill(0);
        self.head[..].read_at(offset, out)?;
        Ok(out.len().min(self.length.saturating_sub(offset) as usize))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }
}

/// A bitmap ends at the first page. If its stated size is larger, the rest is ignored, even in a file of 64 GB, and all its pages are read.
#[test]
fn bitmaps_end() {
    for (kind, build) in [(5, NEW), (2, WIN7)] {
        let (_, system) = made(build, Arch::X64, Paging::Four);
        let head = system.dump(DUMP_TYPE(kind));
        let (pages, kinds) = {
            let dump = MemoryDump::new(&head[..]).expect("a dump");
            (dump.pages(), dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect::<Vec<_>>())
        };
        assert!(pages > 20);
        // BitmapSize has 64 bits and is at offset 0x30 after the header of 0x2000 bytes; up to Windows 7, it has 32 bits and is at offset 0x10.
        let (at, stated) = if kind == 5 { (0x2030, u64::MAX.to_le_bytes().to_vec()) } else { (0x2010, vec![0xFF; 4]) };
        let mut more = head.clone();
        more[at..at + stated.len()].copy_from_slice(&stated);
        let source = Sparse { head: more, length: 64 << 30, read: Cell::default() };
        let dump = MemoryDump::new(source).expect("a dump");
        assert_eq!(dump.pages(), pages, "{kind}");
        let reported: Vec<_> = dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect();
        assert_eq!(reported, [&["truncated"][..], &kinds].concat(), "{kind}");
        let Diagnostic { offset, kind: DiagnosticKind::Truncated { size, there, .. } } = dump.diagnostics()[0] else {
            panic!("{kind}: {:?}", dump.diagnostics())
        };
        let bits = u64::from_le_bytes([&stated[..], &[0; 4]].concat()[..8].try_into().expect("eight bytes"));
        assert_eq!((size, offset + there), (bits.div_ceil(8).min(u64::MAX - offset), first(&head, kind)), "{kind}");
    }
    // A bitmap larger than the piece that is read at once. Its last bit is set.
    let (_, system) = made(NEW, Arch::X64, Paging::Four);
    let mut head = system.dump(DUMP_TYPE::DUMP_TYPE_BITMAP_FULL);
    let before = MemoryDump::new(&head[..]).expect("a dump").pages();
    let start = first(&head, 5) as usize;
    let bitmap = 0x3_0000;
    head.splice(start..start, vec![0; bitmap]);
    head[0x2020..0x2028].copy_from_slice(&((start + bitmap) as u64).to_le_bytes());
    head[0x2030..0x2038].copy_from_slice(&((start - 0x2038 + bitmap) as u64 * 8).to_le_bytes());
    head[start + bitmap - 1] = 0x80;
    head.extend([0; 0x1000]);
    let dump = MemoryDump::new(&head[..]).expect("a dump");
    assert_eq!((dump.pages(), dump.diagnostics().len()), (before + 1, 1), "{:?}", dump.diagnostics());
    let last = (start + bitmap - 0x2038) as u64 * 8 - 1;
    assert_eq!(dump.runs().last(), Some((last * 0x1000, 0x1000)));
    // Ranges of pages: bytes after the metadata are not read as ranges; a range that the first page or the end of the file truncates is reported.
    let (_, mut system) = made(NEW, Arch::X64, Paging::Four);
    system.missing.extend([2, 4, 6].map(|page| system.pieces[0].0 / 0x1000 + page));
    let head = system.dump(DUMP_TYPE::DUMP_TYPE_KERNEL_MEMORY);
    let offset = |name| structures::RDMP_HEADER64.select(NEW, Arch::X64).unwrap().layout.member(name).unwrap().offset + 0x2000;
    let list = 0x2000 + structures::RDMP_HEADER64.select(NEW, Arch::X64).unwrap().layout.size;
    let whole: Vec<_> = MemoryDump::new(&head[..]).expect("a dump").runs().collect();
    assert!(whole.len() > 3, "{whole:x?}");
    for (name, value, cut) in [
        ("MetadataSize", 0x10 + 0x20, None),
        ("MetadataSize", 0x10 + 0x2F, None),
        ("HeaderSize", list as u64 + 0x20, Some(whole.len() as u64 * 0x10 + 0x10)),
        ("HeaderSize", list as u64 + 0x2F, Some(whole.len() as u64 * 0x10 + 0x10)),
    ] {
        let mut bytes = head.clone();
        bytes[offset(name)..][..8].copy_from_slice(&value.to_le_bytes());
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        assert_eq!(dump.runs().map(|(page, _)| page).collect::<Vec<_>>(), [whole[0].0, whole[1].0], "{name} {value:#x}");
        let found = dump.diagnostics().iter().find(|one| one.kind.to_string().contains("list of pages")).cloned();
        let expected = cut.map(|size| Diagnostic {
            offset: list as u64,
            kind: DiagnosticKind::Truncated { part: "the list of pages", size, there: value - list as u64 },
        });
        assert_eq!(found, expected, "{name} {value:#x}");
    }
    // If the first page is after the end of the file, there are no pages. This error is detected before the list is read.
    for (kind, at, length) in [(5, 0x2020, 8), (10, 0x2018, 8), (2, 0x2000 + offset_of!(SUMMARY_DUMP64, HeaderSize), 4)] {
        let (_, system) = made(if kind == 2 { WIN7 } else { NEW }, Arch::X64, Paging::Four);
        let mut head = system.dump(DUMP_TYPE(kind));
        head[at..at + length].copy_from_slice(&(64_u64 << 30 | 0xFFFF_F000).to_le_bytes()[..length]);
        let first = u64::from_le_bytes([&head[at..at + length], &[0; 8]].concat()[..8].try_into().expect("eight bytes"));
        let source = Sparse { head, length: first, read: Cell::default() };
        assert_eq!(MemoryDump::new(source).err(), Some(Error::NoPages { first, length: first }), "{kind}");
    }
}

/// Offset of the first page of a dump with a bitmap.
fn first(head: &[u8], kind: u32) -> u64 {
    let at = if kind == 5 { 0x2020 } else { 0x2000 + offset_of!(SUMMARY_DUMP64, HeaderSize) };
    let stated = u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    if kind == 5 { stated } else { stated & u64::from(u32::MAX) }
}

/// 6,000 seeded changes of dumps with page tables of each kind cause no panic and no hang. The size of the results is bounded.
#[test]
fn any_change() {
    let seeds: Vec<_> = KINDS
        .into_iter()
        .map(|(kind, build, arch, paging)| {
            let (mut plan, mut system) = made(build, arch, paging);
            // Half of the dumps that can contain compressed buffers have some.
            if build == NEW && kind % 2 == 0 {
                plan.compress(1, kind % 4 == 0);
                system.pieces[0].1 = plan.kit.image.bytes.clone();
            }
            (plan.kit, system.dump(DUMP_TYPE(kind)))
        })
        .collect();
    let mut random = Rng::with_seed(0xF0_11);
    let mut longest = Duration::ZERO;
    let (mut opened, mut sessions) = (0, 0);
    for round in 0..6_000 {
        let (kit, seed) = &seeds[round % seeds.len()];
        let mut bytes = seed.clone();
        for _ in 0..random.usize(1..8) {
            // Changes headers and the list of pages, or page tables and linked lists, which come next, or any bytes.
            let bound = [0x1000, 0x8000, bytes.len()][random.usize(..3)].min(bytes.len() - 8);
            let at = random.usize(..bound) & !7;
            let other = random.usize(..bytes.len() - 8) & !7;
            let value = match random.u8(..6) {
                0 => u64::MAX,
                1 => random.u64(..),
                2 => 1 << random.u8(..64),
                3 => kit.image.base + random.u64(..kit.image.bytes.len() as u64),
                // A value from elsewhere, such as page tables that refer to each other, and circular lists.
                4 => u64::from_le_bytes(bytes[other..other + 8].try_into().expect("eight bytes")),
                _ => u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) ^ 1 << random.u8(..64),
            };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        if random.u8(..8) == 0 {
            bytes.truncate(random.usize(..bytes.len()));
        }
        let start = Instant::now();
        let Ok(dump) = MemoryDump::new(&bytes[..]) else { continue };
        assert!(dump.pages() * 0x1000 <= bytes.len() as u64);
        let kernel = kit
            .globals
            .iter()
            .fold(dump.kernel(dump.identity().build), |kernel, (name, at)| kernel.with_global(name, Address(*at)));
        let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
        let census = walk.census();
        let found = dump.sessions(&mut walk, &census.sessions, BufferSelection::All);
        let kept: usize = found.iter().flat_map(|session| &session.buffers).map(|buffer| buffer.bytes.len()).sum();
        assert!(kept <= 2 * bytes.len() + (16 << 20));
        let (events, diagnostics) = by_time(&found);
        assert!(events.len() + diagnostics.len() <= kept / 8);
        for session in found.iter().filter(|session| session.log_file.buffer_size <= 1 << 16) {
            let _ = session.save(Cursor::new(Vec::new()));
        }
        assert!(walk.findings().iter().all(|diagnostic| !diagnostic.to_string().is_empty()));
        (opened, sessions) = (opened + 1, sessions + found.len());
        longest = longest.max(start.elapsed());
    }
    println!("{opened} of 6,000 could be opened, with {sessions} sessions; the longest took {longest:?}");
    assert!(opened > 4_000 && sessions > 6_000 && longest < Duration::from_secs(10));
}

/// A file that returns at most half a page per read, from an offset on.
struct Slow(Vec<u8>, u64);

impl Source for Slow {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let length = if offset >= self.1 && out.len() >= 0x1000 { out.len() / 2 } else { out.len() };
        self.0[..].read_at(offset, &mut out[..length])
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }
}

/// Reading of memory stops at the first failure. A truncated dump has only whole pages. A clock rate of 0 is unknown.
#[test]
fn missing_bytes() {
    let (plan, system) = made(NEW, Arch::X64, Paging::Four);
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    let whole = MemoryDump::new(&bytes[..]).expect("a dump");
    let at = Address(plan.kit.image.base);
    let from = whole.offset(at).expect("in the dump");
    let dump = MemoryDump::new(Slow(bytes.clone(), from + 0x1000)).expect("a dump");
    let second = whole.offset(Address(at.0 + 0x1000)).expect("in the dump");
    let expected = if second > from { 0x1800 } else { 0x2000 };
    assert_eq!(dump.read(at, &mut [0; 0x2000]), Ok(expected));
    for cut in [0x1000, 0x1001, 0x8000, bytes.len() - 0x3000] {
        if let Ok(dump) = MemoryDump::new(&bytes[..bytes.len() - cut]) {
            assert!(dump.runs().all(|(_, length)| length > 0), "{cut:#x}");
        }
    }
    // File offsets in a buffer of two pages.
    let (mut plan, mut system) = made(NEW, Arch::X64, Paging::Four);
    plan.kit.set("WMI_BUFFER_HEADER", plan.sessions[0].buffers[0].at, "CurrentOffset", 0x1800);
    system.pieces[0].1 = plan.kit.image.bytes.clone();
    let other = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    let other = MemoryDump::new(&other[..]).expect("a dump");
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&other, &kernel);
    let mut found = walk.sessions();
    found[0].buffer_size = Some(0x2000);
    let buffer = &other.sessions(&mut walk, &found, BufferSelection::All)[0].buffers[0];
    for within in [0, 0x123, 0xFFF, 0x1000, 0x1456] {
        let address = Address(plan.sessions[0].buffers[0].at + u64::from(within));
        assert_eq!(Some(buffer.place(within)), other.offset(address), "{within:#x}");
    }
    assert_ne!(buffer.place(0x1000), buffer.place(0) + 0x1000);
    // The limit for buffers is twice the memory of the dump plus 16 MiB.
    let kernel = plan.kit.kernel();
    for more in [0, 1] {
        let mut walk = Walk::new(&whole, &kernel).with_limits(whole.limits());
        let mut found = walk.sessions();
        found.truncate(1);
        let largest = (whole.pages() * 0x2000 + (16 << 20)) / plan.sessions[0].buffers.len() as u64;
        found[0].buffer_size = Some(largest as u32 + more);
        let _ = whole.sessions(&mut walk, &found, BufferSelection::Pending);
        let limits = |finding: &Finding| matches!(finding.kind, FindingKind::Limit(_)) && finding.place.member == "GlobalList";
        assert_eq!(walk.findings().iter().any(limits), more == 1, "{:?}", walk.findings());
    }
    let time = etw_layouts_memory::Time { perf_frequency: Some(0), ..Default::default() };
    let kernel = plan.kit.kernel().with_time(time);
    let mut walk = Walk::new(&whole, &kernel);
    let found = walk.sessions();
    assert!(whole.sessions(&mut walk, &found, BufferSelection::All).iter().all(|session| !session.has_rate()));
    // The debugger data block is found by its tag and by its size.
    let letters = bytes.windows(4).position(|window| window == b"KDBG").expect("debugger data");
    assert!(whole.kernel(NEW).global("EtwpDebuggerData").is_some());
    for place in [0, 4] {
        let mut bytes = bytes.clone();
        bytes[letters + place..letters + place + 4].copy_from_slice(&[0x10, 0, 0, 0]);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        assert_eq!(dump.kernel(NEW).global("EtwpDebuggerData"), None, "{place}");
    }
}

/// Moves a buffer to new memory, and its references too.
fn moved(plan: &mut Plan, old: u64, bytes: &[u8]) -> u64 {
    let new = plan.kit.room(bytes.len(), 0x1000);
    let link = |at: u64, plan: &Plan| plan.kit.place("WMI_BUFFER_HEADER", at, "GlobalEntry").unwrap();
    let (from, to) = ([old, link(old, plan)], [new, link(new, plan)]);
    for word in plan.kit.image.bytes.chunks_exact_mut(8) {
        let value = u64::from_le_bytes(word.try_into().unwrap());
        if let Some(known) = from.iter().position(|from| *from == value) {
            word.copy_from_slice(&to[known].to_le_bytes());
        }
    }
    // Its own links were moved with the words above.
    let (start, links) = ((old - plan.kit.image.base) as usize, (link(old, plan) - old) as usize);
    let own = plan.kit.image.bytes[start + links..][..16].to_vec();
    plan.kit.write(new, bytes);
    plan.kit.write(new + links as u64, &own);
    new
}

/// Missing pages of a buffer hide only the events that they contain in part: those before and after them are read, also between two missing pages.
#[test]
fn missing_pages_in_buffers() {
    let generation = Producer { build: NEW, arch: Arch::X64 }.generation();
    let (mut plan, _) = made(NEW, Arch::X64, Paging::Four);
    let old = plan.sessions[0].buffers[0].at;
    let start = (old - plan.kit.image.base) as usize;
    let own: Vec<_> = {
        let end = plan.kit.read_pointer(plan.kit.place("WMI_BUFFER_HEADER", old, "CurrentOffset").unwrap()) as u32 as usize;
        let events = Events::in_memory(&plan.kit.image.bytes[start..start + end], generation);
        events.map(|event| event.unwrap().bytes().to_vec()).collect()
    };
    let (mut bytes, mut places) = (plan.kit.image.bytes[start..start + 0x48].to_vec(), Vec::new());
    for event in own.iter().cycle() {
        if bytes.len() >= 0x4E00 {
            break;
        }
        places.push(bytes.len()..bytes.len() + event.len());
        bytes.extend(event);
        bytes.resize(bytes.len().next_multiple_of(8), 0xAA);
    }
    let end = bytes.len() as u64;
    bytes.resize(0x5000, 0xC3);
    let new = moved(&mut plan, old, &bytes);
    for member in ["CurrentOffset", "SavedOffset", "Offset"] {
        plan.kit.set("WMI_BUFFER_HEADER", new, member, end);
    }
    plan.kit.set("WMI_LOGGER_CONTEXT", plan.sessions[0].at, "BufferSize", 0x5000);
    let (_, mut system) = made(NEW, Arch::X64, Paging::Four);
    system.pieces[0].1 = plan.kit.image.bytes.clone();
    let kernel = plan.kit.kernel();
    for (missing, holes) in [(&[][..], 0), (&[1], 1), (&[2, 3], 1), (&[1, 3], 2), (&[4], 0), (&[1, 3, 4], 1)] {
        system.missing = missing.iter().map(|page| new / 0x1000 + page).collect();
        let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_KERNEL_MEMORY);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let mut walk = Walk::new(&dump, &kernel);
        let found = walk.sessions();
        let session = dump.sessions(&mut walk, &found, BufferSelection::All).remove(0);
        let is_there = |place: &&Range<usize>| {
            !missing.iter().any(|page| place.start < (*page as usize + 1) * 0x1000 && *page as usize * 0x1000 < place.end)
        };
        let expected: Vec<_> = places.iter().filter(is_there).map(|place| place.start as u32).collect();
        let read: Vec<_> = session.buffers[0].events(generation).flatten().map(|event| event.offset()).collect();
        assert_eq!(read, expected, "{missing:?}");
        let is_missing =
            |one: &&Diagnostic| matches!(one.kind, DiagnosticKind::Event(EventDiagnostic::Missing { next: Some(_), .. }));
        assert_eq!(session.events().1.iter().filter(is_missing).count(), holes, "{missing:?}");
        let unreadable = FindingKind::Unreadable {
            wanted: end,
            read: end - missing.iter().map(|page| if *page == 4 { end % 0x1000 } else { 0x1000 }).sum::<u64>(),
        };
        assert_eq!(
            walk.findings().iter().filter(|one| one.kind == unreadable).count(),
            usize::from(!missing.is_empty()),
            "{missing:?}"
        );
        // Places after the missing pages are those of their own pages.
        let last = *expected.last().unwrap();
        assert_eq!(Some(session.buffers[0].place(last)), dump.offset(Address(new + u64::from(last))), "{missing:?}");
        let mut saved = Cursor::new(Vec::new());
        let events = session.save(&mut saved).expect("a trace").events;
        assert_eq!(events, session.events().0.len(), "{missing:?}");
    }
}

/// Of compressed buffers in a buffer with a missing page, those before and after the page are decompressed.
#[test]
fn missing_pages_in_compressed_buffers() {
    let (mut plan, _) = made(NEW, Arch::X64, Paging::Four);
    plan.compress(1, false);
    let old = plan.sessions[1].buffers[0].at;
    let start = (old - plan.kit.image.base) as usize;
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let image = plan.kit.image.bytes.clone();
    let (mut sizes, mut at) = (Vec::new(), start);
    for _ in 0..3 {
        sizes.push(at..at + word(&image, at));
        at += word(&image, at);
    }
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for stored in sizes.iter().cycle() {
        if bytes.len() >= 0x2E00 {
            break;
        }
        places.push(bytes.len()..bytes.len() + stored.len());
        bytes.extend(&image[stored.clone()]);
    }
    bytes.resize(0x4000, 0);
    let new = moved(&mut plan, old, &bytes);
    plan.kit.set("WMI_LOGGER_CONTEXT", plan.sessions[1].at, "BufferSize", 0x4000);
    let kernel = plan.kit.kernel();
    let decoded = |plan: &Plan| {
        let mut walk = Walk::new(&plan.kit.image, &kernel);
        let session = walk.sessions().remove(1);
        let buffer = walk.buffers(&session).into_iter().find(|buffer| buffer.header.address() == Address(new)).expect("a buffer");
        decoded_buffers(&mut walk, &session, &buffer).into_iter().map(|buffer| buffer.bytes).collect::<Vec<_>>()
    };
    let whole = decoded(&plan);
    assert_eq!(whole.len(), places.len());
    plan.kit.image.missing.insert(new / 0x1000 + 1);
    let there = decoded(&plan);
    let before = places.iter().filter(|place| place.end <= 0x1000).count();
    let after = places.iter().filter(|place| place.start >= 0x2000).count();
    assert!(before > 0 && after > 0 && there.len() >= before + after, "{before} {after} {}", there.len());
    assert!(there[..before] == whole[..before] && there[there.len() - after..] == whole[whole.len() - after..]);
}

/// A file with bytes that cannot be read.
struct Failing<'a>(&'a [u8], Range<u64>);

impl Source for Failing<'_> {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        match self.1.start < offset + out.len() as u64 && offset < self.1.end {
            true => Err(io::Error::other("bad sector")),
            false => self.0.read_at(offset, out),
        }
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
}

/// An error of the disk is not missing memory: it is reported as an error, and the rest is read.
#[test]
fn bytes_that_cannot_be_read() {
    let (plan, system) = made(NEW, Arch::X64, Paging::Four);
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    let whole = MemoryDump::new(&bytes[..]).expect("a dump");
    assert!(matches!(MemoryDump::new(Failing(&bytes, 0..1)), Err(Error::Read(error)) if error.0 == "bad sector"));
    let kernel = plan.kit.kernel();
    let at = Address(plan.sessions[0].buffers[1].at);
    let from = whole.offset(at).expect("in the dump");
    let dump = MemoryDump::new(Failing(&bytes, from..from + 1)).expect("a dump");
    let mut walk = Walk::new(&dump, &kernel);
    let found = walk.sessions();
    let sessions = dump.sessions(&mut walk, &found, BufferSelection::All);
    assert_eq!((sessions.len(), sessions[0].buffers.len()), (plan.sessions.len(), plan.sessions[0].buffers.len() - 1));
    let failed = walk.findings().iter().find(|one| matches!(one.kind, FindingKind::Failed(_))).expect("a finding");
    assert!(failed.place.address == at && failed.to_string().contains("bad sector, at file offset"), "{failed}");
    // The image of the kernel.
    let image = whole.offset(whole.modules()[0].range.start).expect("in the dump");
    let dump = MemoryDump::new(Failing(&bytes, image..image + 1)).expect("a dump");
    assert!(dump.diagnostics().iter().any(|one| matches!(one.kind, DiagnosticKind::Failed(_))), "{:?}", dump.diagnostics());
}
