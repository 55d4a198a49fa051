//! Dumps of physical memory with every kind of page tables. The generated kernel memory is read back from each dump.

use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::win7::x64::SUMMARY_DUMP64;
use etw_layouts::{Arch, Build, structures};
use etw_layouts_dump::{BufferSelection, Diagnostic, DiagnosticKind, Error, IdentitySource, MemoryDump, Source, by_time};
use etw_layouts_etl::Trace;
use etw_layouts_etl::check::check;
use etw_layouts_etl::write::Producer;
use etw_layouts_memory::{Address, Memory, Walk};
use fastrand::Rng;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Cursor};
use std::mem::offset_of;
use std::time::{Duration, Instant};
use test_support::kernels::module;
use test_support::kernels::plan::Plan;
use test_support::memory_dumps::{Paging, System};

pub const NEW: Build = Build::new(10, 0, 19041, 264);
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
        head: None,
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
        assert_eq!((kinds, dump.identity().by), (vec!["no-kernel-image"], IdentitySource::Header), "{name}");

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
    assert!(walk.published_offsets().iter().all(|stated| stated.agrees()));
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
        let Diagnostic { offset, kind: DiagnosticKind::Truncated { size, present, .. } } = dump.diagnostics()[0] else {
            panic!("{kind}: {:?}", dump.diagnostics())
        };
        let bits = u64::from_le_bytes([&stated[..], &[0; 4]].concat()[..8].try_into().expect("eight bytes"));
        assert_eq!((size, offset + present), (bits.div_ceil(8).min(u64::MAX - offset), first(&head, kind)), "{kind}");
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
            kind: DiagnosticKind::Truncated { part: "the list of pages", size, present: value - list as u64 },
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
