//! Features of some kernels, and boundary values.

use etw_layouts::{Arch, Build, structures};
use etw_layouts_dump::{BufferSelection, DumpSession, decoded_buffers};
use etw_layouts_etl::Trace;
use etw_layouts_memory::{
    Address, BufferBytes, Finding, FindingKind, Kernel, Limits, Memory, ReadError, Session, SparseMemory, State, Uuid, Walk,
    guid_hash,
};
use std::cell::Cell;
use std::io::Cursor;
use test_support::kernels::plan::{self, Plan};
use test_support::kernels::{Kit, PAGE};

const LOGGER: &str = "WMI_LOGGER_CONTEXT";
const HEADER: &str = "WMI_BUFFER_HEADER";
const STATE: &str = "ETW_SILODRIVERSTATE";
const BLOCK: &str = "ETW_SILO_TRACING_BLOCK";

fn plans() -> impl Iterator<Item = Plan> {
    Plan::targets().map(|(build, arch)| Plan::of(build, arch))
}

/// The result of a function on a session, and the findings.
fn walked<T>(
    plan: &Plan,
    session: usize,
    work: impl FnOnce(&mut Walk<'_, test_support::kernels::Image>, &Session) -> T,
) -> (T, Vec<Finding>) {
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&plan.kit.image, &kernel);
    let session = walk.sessions().remove(session);
    let made = work(&mut walk, &session);
    (made, walk.into_findings())
}

/// Makes a buffer the current one of a processor; `false` if walks of this kernel cannot find current buffers.
fn write_to(kit: &mut Kit, session: &plan::Session, processor: u64, buffer: u64) -> bool {
    let size = kit.pointer_size() as u64;
    if let Some(place) = kit.place(LOGGER, session.at, "ProcessorBuffers") {
        let array = kit.read_pointer(place);
        if kit.build.number[..2] == [5, 1] {
            let link = kit.place(HEADER, buffer, "SlistEntry").unwrap();
            kit.interlocked(array + processor * kit.layout("SLIST_HEADER").unwrap().size as u64, &[link], true);
        } else {
            kit.pointer(array + processor * size, buffer);
        }
        return true;
    }
    let Some(place) = kit.place(STATE, 0, "ProcessorBlocks") else { return false };
    let state = kit.read_pointer(kit.place(LOGGER, session.at, "SiloState").unwrap());
    let blocks = kit.read_pointer(state + place);
    let block = blocks + processor * kit.layout(BLOCK).unwrap().size as u64;
    let places = kit.place(BLOCK, block, "ProcessorBuffers").unwrap();
    let places = if kit.elements(BLOCK, "ProcessorBuffers").is_none() { kit.read_pointer(places) } else { places };
    kit.pointer(places + u64::from(session.number) * size, buffer | 7);
    true
}

/// Current buffers of processors are found, listed or not, with or without a known number of processors.
#[test]
fn current_buffers() {
    let mut kernels = 0;
    for mut plan in plans() {
        let [second, third] = [1, 2].map(|index| plan.sessions[1].buffers[index].at);
        if !write_to(&mut plan.kit, &plan.sessions[1], 1, second) {
            continue;
        }
        assert!(write_to(&mut plan.kit, &plan.sessions[1], 2, third) && write_to(&mut plan.kit, &plan.sessions[2], 0, third));
        let current = |plan: &Plan, session| {
            walked(plan, session, |walk, session| {
                walk.buffers(session).iter().map(|buffer| (buffer.is_listed, buffer.is_current)).collect::<Vec<_>>()
            })
            .0
        };
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        assert_eq!((current(&plan, 1), current(&plan, 2)), (vec![(true, true); 3], vec![(false, true)]), "{name}");
        plan.kit.globals.retain(|(name, _)| *name != "KeNumberProcessors");
        assert_eq!(current(&plan, 1), [(true, true); 3], "{name}");
        kernels += 1;
    }
    assert!(kernels > 20, "{kernels}");
}

/// Before 6.0, the number of processors has one byte, and other bytes follow it. Later it has four bytes.
#[test]
fn numbers_of_processors() {
    for mut plan in plans() {
        let at = plan.kit.globals.iter().find(|(name, _)| *name == "KeNumberProcessors").unwrap().1;
        plan.kit.word(at, 4, 0x0105);
        let expected = if plan.kit.build.number < [6, 0, 0] { 5 } else { 0x105 };
        let kernel = plan.kit.kernel();
        assert_eq!(Walk::new(&plan.kit.image, &kernel).processors(), Some(expected), "{}", plan.kit.build);
        // Without the number, the processors of the buffers are counted.
        plan.kit.globals.retain(|(name, _)| *name != "KeNumberProcessors");
        let (log, _) = walked(&plan, 1, |walk, session| {
            let mut file = Cursor::new(Vec::new());
            DumpSession::read(walk, session, BufferSelection::All).save(&mut file).unwrap();
            Trace::from_bytes(file.get_ref()).unwrap().log_file().clone()
        });
        assert_eq!(log.processors, plan::PROCESSORS, "{}", plan.kit.build);
    }
}

/// A buffer without a state, a placeholder with and without content, and a buffer without events.
#[test]
fn buffers_without_events() {
    for mut plan in plans() {
        let (at, header) = (plan.sessions[0].buffers[0].at, plan.kit.layout(HEADER).unwrap().size as u64);
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        let bits = plan.kit.kind(HEADER, "State") == Some("WMI_BUFFER_STATE");
        if bits && plan.kit.set(HEADER, at, "State.InUse", 0) {
            let (state, _) = walked(&plan, 0, |walk, session| walk.buffers(session)[0].state);
            assert_eq!(state, State::Other, "{name}");
        }
        let ends =
            |plan: &mut Plan, end| ["CurrentOffset", "SavedOffset", "Offset"].map(|member| plan.kit.set(HEADER, at, member, end));
        if !bits && plan.kit.build.number >= [10, 0, 14393] {
            assert!(plan.kit.set(HEADER, at, "State", 6));
            for more in [0, 0x30] {
                ends(&mut plan, header + more);
                let (_, findings) = walked(&plan, 0, |walk, session| {
                    let buffer = walk.buffers(session).remove(0);
                    assert_eq!(walk.events_of(session, &buffer).bytes.len() as u64, header, "{name}");
                });
                let expected = (more > 0).then_some(FindingKind::Placeholder(more));
                assert_eq!(
                    findings.into_iter().map(|finding| finding.kind).collect::<Vec<_>>(),
                    Vec::from_iter(expected),
                    "{name}"
                );
            }
            plan.kit.set(HEADER, at, "State", 3);
        }
        if plan.kit.build.number >= [5, 1, 0] {
            ends(&mut plan, header);
            let (saved, _) = walked(&plan, 0, |walk, session| {
                DumpSession::read(walk, session, BufferSelection::All).save(Cursor::new(Vec::new())).unwrap()
            });
            assert_eq!(saved.buffers, plan.sessions[0].buffers.len() - 1, "{name}");
        }
    }
}

/// If headers of compressed buffers state too large sizes, the existing data is read, and the error is reported.
#[test]
fn compressed_buffers_with_wrong_sizes() {
    for (build, arch) in Plan::targets().filter(|(build, _)| build.number >= [10, 0, 14393]) {
        let name = format!("{build} {arch}");
        let mut plan = Plan::of(build, arch);
        plan.compress(1, true);
        let at = plan.sessions[1].buffers[0].at;
        let decoded = |plan: &Plan| {
            let (decoded, findings) = walked(plan, 1, |walk, session| {
                let buffer = walk.buffers(session).remove(0);
                decoded_buffers(walk, session, &buffer)
            });
            (decoded, findings.iter().map(|finding| finding.kind.to_string()).collect::<Vec<_>>())
        };
        let (whole, none) = decoded(&plan);
        assert_eq!((whole.len(), none.len()), (3, 0), "{name}");
        let header = plan.kit.layout(HEADER).unwrap().size as u64;
        let end = plan.kit.place(HEADER, at, "SavedOffset").map(|place| plan.kit.read_pointer(place) & 0xFFFF_FFFF).unwrap();
        let image = plan.kit.image.clone();
        for member in ["CurrentOffset", "SavedOffset", "Offset"] {
            plan.kit.set(HEADER, at, member, end + 0x20);
        }
        let (present, wrong) = decoded(&plan);
        assert!(present == whole && wrong.len() == 1 && wrong[0].contains("the last 0x20 bytes"), "{name}: {wrong:?}");
        // Without any compressed buffer, only this error is reported, not the remaining bytes.
        plan.kit.set(HEADER, at + header, "BufferFlag", 0);
        let (present, wrong) = decoded(&plan);
        assert!(present.is_empty() && wrong.len() == 1 && wrong[0].contains("no compressed buffer"), "{name}: {wrong:?}");
        plan.kit.image = image;
        // The valid end of the last compressed buffer is too large.
        let last = at + end - u64::from(size_of_last(&plan, at + header, end - header));
        plan.kit.set(HEADER, last, "Offset", whole[2].bytes.len() as u64 + 0x40);
        let (present, wrong) = decoded(&plan);
        // The headers differ in the valid end.
        let events = |decoded: &[BufferBytes]| decoded.iter().map(|buffer| buffer.bytes[0x48..].to_vec()).collect::<Vec<_>>();
        assert_eq!(events(&present), events(&whole), "{name}");
        assert!(wrong.len() == 1 && wrong[0].contains("shorter"), "{name}: {wrong:?}");
    }
}

/// Size of the last of consecutive compressed buffers, in bytes.
fn size_of_last(plan: &Plan, from: u64, length: u64) -> u32 {
    let (mut at, end, mut size) = (from, from + length, 0);
    while at < end {
        let place = (at - plan.kit.image.base) as usize;
        size = u32::from_le_bytes(plan.kit.image.bytes[place..][..4].try_into().unwrap());
        at += u64::from(size);
    }
    size
}

/// Counts the requested bytes.
struct Counted<'a>(&'a test_support::kernels::Image, Cell<u64>);

impl Memory for Counted<'_> {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        self.1.set(self.1.get() + out.len() as u64);
        self.0.read(address, out)
    }
}

/// Decompressed bytes count as read.
#[test]
fn decompressed_bytes_count() {
    let mut plan = Plan::of(Build::new(10, 0, 19041, 1415), Arch::X64);
    plan.compress(1, false);
    let kernel = plan.kit.kernel();
    let read = |limits: Limits| {
        let memory = Counted(&plan.kit.image, Cell::new(0));
        let mut walk = Walk::new(&memory, &kernel).with_limits(limits);
        let session = walk.sessions().remove(1);
        for _ in 0..2 {
            // In the second round, fewer bytes may be read.
            let _ = DumpSession::read(&mut walk, &session, BufferSelection::All).save(Cursor::new(Vec::new()));
        }
        (memory.1.get(), !walk.into_findings().is_empty())
    };
    let (bytes, is_limited) = read(Limits::default());
    assert!(!is_limited && read(Limits { bytes: bytes + 1, ..Limits::default() }).1);
    // All decompressed bytes count, not only those of the last buffer.
    let mut walk = Walk::new(&plan.kit.image, &kernel);
    let session = walk.sessions().remove(1);
    let compressed: Vec<_> = walk.buffers(&session).into_iter().filter(|buffer| buffer.is_compressed()).collect();
    let mut unpack = |buffer| decoded_buffers(&mut walk, &session, buffer);
    let all: usize = compressed.iter().flat_map(&mut unpack).map(|buffer| buffer.bytes.len()).sum();
    let limited = [1, 4].map(|times| read(Limits { bytes: bytes + all as u64 * times, ..Limits::default() }).1);
    assert_eq!(limited, [true, false]);
}

/// Consumers that are being connected or disconnected, in the list or not, and a wrong count.
#[test]
fn consumers() {
    let mut kernels = 0;
    for mut plan in plans().filter(|plan| !plan.sessions[1].consumers.is_empty()) {
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        let found = |plan: &Plan| {
            walked(plan, 1, |walk, session| walk.consumers(session).iter().map(|one| one.is_in_transition).collect::<Vec<_>>())
        };
        assert!(plan.kit.set(LOGGER, plan.sessions[1].at, "NumConsumers", 7), "{name}");
        let (transitions, findings) = found(&plan);
        assert_eq!(transitions, [false, false], "{name}");
        let [count] = &findings[..] else { panic!("{name}: {findings:?}") };
        assert_eq!((count.place.member, &count.kind), ("NumConsumers", &FindingKind::Count { stated: 7, found: 2 }), "{name}");
        let consumer = plan.sessions[1].consumers[1].0;
        if !plan.kit.set(LOGGER, plan.sessions[1].at, "TransitionConsumer", consumer) {
            continue;
        }
        assert_eq!(found(&plan).0, [false, true], "{name}");
        let other = plan.kit.make("ETW_REALTIME_CONSUMER");
        plan.kit.set("ETW_REALTIME_CONSUMER", other, "LoggerId", 5);
        plan.kit.set(LOGGER, plan.sessions[1].at, "TransitionConsumer", other);
        assert_eq!(found(&plan).0, [false, false, true], "{name}");
        kernels += 1;
    }
    assert!(kernels > 20, "{kernels}");
}

/// Lists with a damaged head. Each case has the number of entries that are still found, and the findings.
#[test]
fn heads_of_lists() {
    for mut plan in plans().filter(|plan| !plan.sessions[1].consumers.is_empty()) {
        let image = plan.kit.image.clone();
        let head = plan.kit.place(LOGGER, plan.sessions[1].at, "Consumers").unwrap();
        let links =
            plan.sessions[1].consumers.iter().map(|(at, _)| plan.kit.place("ETW_REALTIME_CONSUMER", *at, "Links").unwrap());
        let (links, size) = (links.collect::<Vec<_>>(), plan.kit.pointer_size() as u64);
        let nowhere = plan.kit.image.base - PAGE;
        type Case<'a> = (&'a str, &'a [(u64, u64)], usize, &'a [&'a str]);
        let cases: [Case; 6] = [
            ("undamaged", &[], 2, &[]),
            ("a back link that skips the last entry", &[(head + size, links[0])], 2, &["back-link"]),
            ("a last entry without a forward link to it", &[(links[0], head)], 2, &["hidden"]),
            ("an invalid first link", &[(head, nowhere)], 2, &["pointer"]),
            ("a null first link", &[(head, 0)], 2, &["pointer"]),
            ("invalid links in both directions", &[(head, nowhere), (head + size, nowhere)], 0, &["pointer", "pointer", "count"]),
        ];
        for (what, changes, count, words) in cases {
            plan.kit.image = image.clone();
            changes.iter().for_each(|(at, value)| plan.kit.pointer(*at, *value));
            let (found, findings) = walked(&plan, 1, |walk, session| walk.consumers(session).len());
            let found_words: Vec<_> = findings.iter().map(|finding| finding.kind.name()).collect();
            assert_eq!((found, &found_words[..]), (count, words), "{what}: {} {}", plan.kit.build, plan.kit.arch);
        }
    }
}

/// A list of structures that the kernel does not have, and registration handles of the kernel with invalid addresses.
#[test]
fn lists_and_handles() {
    let mut handles = 0;
    for mut plan in plans() {
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        if plan.kit.layout("ETW_REALTIME_CONSUMER").is_none() {
            let links = etw_layouts::members::ETW_REALTIME_CONSUMER::LINKS;
            let (found, findings) = walked(&plan, 0, |walk, session| {
                let list = etw_layouts::members::WMI_LOGGER_CONTEXT::GLOBAL_LIST;
                walk.list(&session.context, list, &structures::ETW_REALTIME_CONSUMER, links)
            });
            assert!(found.is_empty(), "{name}");
            let [Finding { place, kind: FindingKind::NoLayout }] = &findings[..] else { panic!("{name}: {findings:?}") };
            assert_eq!((place.structure, place.member), ("ETW_REALTIME_CONSUMER", "GlobalList"), "{name}");
        }
        let handle = plan.kit.globals.iter().find(|(name, _)| name.ends_with("RegHandle")).map(|(_, at)| *at);
        let Some(handle) = handle.filter(|_| plan.kit.layout("ETW_REG_ENTRY").is_some()) else { continue };
        let registration = plan.kit.read_pointer(handle);
        for value in [registration + 2, 0x10_0000] {
            plan.kit.pointer(handle, value);
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            walk.variable_registrations();
            let kinds: Vec<_> = walk.findings().iter().map(|finding| &finding.kind).collect();
            assert_eq!(kinds, [&FindingKind::Pointer(Address(value))], "{name} {value:#x}");
        }
        handles += 1;
    }
    assert!(handles > 60, "{handles}");
}

/// An interlocked list stores an address without its highest bits.
#[test]
fn far_entries_of_interlocked_lists() {
    let (build, arch) =
        Plan::targets().find(|(build, arch)| build.number[..2] == [5, 2] && *arch == Arch::X64).expect("Windows Server 2003");
    let mut kit = Kit::new(build, arch);
    let (head, entry) = (kit.room(16, 16), kit.make(HEADER));
    let link = kit.place(HEADER, entry, "GlobalEntry").unwrap();
    kit.interlocked(head, &[link], true);
    // The head has bit 36 set, and the entry does not. The stored address has 43 bits.
    let mut word = kit.read_pointer(head).to_le_bytes().to_vec();
    word.resize(16, 0);
    let (far, mut memory) = (head ^ 1 << 36, SparseMemory::default());
    memory.insert(Address(far), word);
    memory.insert(Address(link), vec![0; 16]);
    let kernel = Kernel::new(kit.build, kit.arch);
    let mut walk = Walk::new(&memory, &kernel);
    let object = walk.object(&structures::SLIST_HEADER, Address(far)).unwrap();
    let found = walk.interlocked(&object, &structures::WMI_BUFFER_HEADER, etw_layouts::members::WMI_BUFFER_HEADER::GLOBAL_ENTRY);
    assert_eq!(found, [Address(entry)]);
}

/// A table of sessions with a missing part, and the greatest values that are not addresses.
#[test]
fn tables_of_sessions() {
    for mut plan in plans().filter(|plan| plan.kit.globals.iter().any(|(name, _)| *name == "WmipLoggerContext")) {
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        let size = plan.kit.pointer_size() as u64;
        let count = if plan.kit.build.number < [5, 1, 0] { 32 } else { 64 };
        let start = plan.kit.room(3 * PAGE as usize, PAGE as usize);
        let at = start + PAGE - 8 * size;
        let global = plan.kit.globals.iter_mut().find(|(name, _)| *name == "WmipLoggerContext").unwrap();
        let old = std::mem::replace(&mut global.1, at);
        for number in 0..count {
            // The greatest number that means no session.
            let value = plan.kit.read_pointer(old + number * size);
            plan.kit.pointer(at + number * size, if value == 1 { 0xFFFF } else { value });
        }
        let sessions = |plan: &Plan| {
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            (walk.sessions().len(), walk.into_findings())
        };
        assert_eq!(sessions(&plan), (plan.sessions.len(), vec![]), "{name}");
        plan.kit.image.missing.insert(start / PAGE + 1);
        let (found, findings) = sessions(&plan);
        assert!(
            findings.iter().any(|finding| finding.kind == FindingKind::Unreadable { requested: count, read: 8 }),
            "{name}: {findings:?}"
        );
        assert_eq!(found, 2, "{name}");
    }
}

/// If no variable leads to the table, the debugger data block does, in Windows 7 and later except on x86.
#[test]
fn tables_for_debuggers() {
    for mut plan in plans() {
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        plan.kit.globals.retain(|(name, _)| !["WmipLoggerContext", "PspHostSiloGlobals", "EtwpHostSiloState"].contains(name));
        let sessions = |plan: &Plan| {
            let kernel = plan.kit.kernel();
            Walk::new(&plan.kit.image, &kernel).sessions().len()
        };
        let known = plan.kit.arch != Arch::X86 && plan.kit.build.number >= [6, 1, 0];
        assert_eq!(sessions(&plan), if known { plan.sessions.len() } else { 0 }, "{name}");
        // An address below the memory of the kernel is rejected.
        let at = plan.kit.globals.iter().find(|(name, _)| *name == "EtwpDebuggerData").unwrap().1 + 0x10;
        let table = plan.kit.read_pointer(at);
        plan.kit.pointer(at, 0x10_0000);
        let kernel = plan.kit.kernel();
        let mut pieces = SparseMemory::default();
        let from = (table - plan.kit.image.base) as usize;
        pieces.insert(Address(plan.kit.image.base), plan.kit.image.bytes.clone());
        let end = plan.kit.image.bytes.len().min(from + 64 * plan.kit.pointer_size());
        pieces.insert(Address(0x10_0000), plan.kit.image.bytes[from..end].to_vec());
        assert_eq!(Walk::new(&pieces, &kernel).sessions().len(), 0, "{name}");
    }
}

/// Names that fill their capacity, names that are missing in part or completely, and the highest clock number.
#[test]
fn names() {
    for mut plan in plans() {
        let name = format!("{} {}", plan.kit.build, plan.kit.arch);
        let at = plan.sessions[1].at;
        let length = "Ωmega".encode_utf16().count() as u64 * 2;
        plan.kit.set(LOGGER, at, "LoggerName.MaximumLength", length);
        if plan.kit.build.number >= [10, 0, 19041] {
            assert!(plan.kit.set(LOGGER, at, "GetCpuClock", 0xFFFF));
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            walk.census();
            assert_eq!(walk.findings(), [], "{name}");
        }
        let read = |plan: &Plan| walked(plan, 1, |_, session| session.name.clone());
        assert_eq!(read(&plan), (Some("Ωmega".into()), vec![]), "{name}");
        let start = plan.kit.room(2 * PAGE as usize, PAGE as usize);
        plan.kit.image.missing.insert(start / PAGE + 1);
        for (present, expected) in [(4, Some("Ωm")), (0, None)] {
            let units: Vec<u8> = "Ωmega".encode_utf16().flat_map(u16::to_le_bytes).take(present).collect();
            let text = start + PAGE - present as u64;
            plan.kit.write(text, &units);
            plan.kit.set(LOGGER, at, "LoggerName.Buffer", text);
            let (found, findings) = read(&plan);
            assert_eq!(found.as_deref(), expected, "{name}");
            let unreadable = FindingKind::Unreadable { requested: length, read: present as u64 };
            assert!(findings.iter().any(|finding| finding.kind == unreadable), "{name}: {findings:?}");
        }
    }
}

/// Entries in a provider's list of silos that do not belong to another silo.
#[test]
fn silos() {
    const ENTRY: &str = "ETW_GUID_ENTRY";
    let mut kernels = 0;
    for mut plan in plans().filter(|plan| plan.silo.is_some()) {
        let provider = plan.providers[0].at;
        let link = plan.kit.read_pointer(plan.kit.place(ENTRY, provider, "SiloGuidList").unwrap());
        let entry = link - plan.kit.place(ENTRY, 0, "SiloGuidList").unwrap();
        let host = plan.kit.read_pointer(plan.kit.place(ENTRY, provider, "SiloState").unwrap());
        for (state, count) in [(plan.silo.unwrap(), 1), (host, 0), (0, 0)] {
            plan.kit.set(ENTRY, entry, "SiloState", state);
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            let providers = walk.census().providers;
            assert_eq!(walk.silos(&providers).len(), count, "{} {state:#x}", plan.kit.build);
        }
        kernels += 1;
    }
    assert!(kernels > 20, "{kernels}");
}

/// A layout from the caller replaces that of the kernel, for its structure only.
#[test]
fn own_layouts() {
    let build = Build::new(10, 0, 19041, 1415);
    let (of_7, of_10) = (Kernel::new(Build::new(6, 1, 7601, 17514), Arch::X64), Kernel::new(build, Arch::X64));
    let own = of_7.layout(&structures::WMI_BUFFER_HEADER).unwrap();
    let (layout, kernel) = (own.layout(), Kernel::new(build, Arch::X64).with_layout(own));
    let of = |kernel: &Kernel| {
        let [header, logger] = [
            kernel.layout(&structures::WMI_BUFFER_HEADER).unwrap().layout(),
            kernel.layout(&structures::WMI_LOGGER_CONTEXT).unwrap().layout(),
        ];
        (header, logger)
    };
    assert!(of(&kernel).0 == layout && of(&of_10).0 != layout);
    assert!(of(&kernel).1 == of(&of_10).1);
}

#[test]
fn hashes() {
    let guid = Uuid::from_bytes_le([1, 2, 3, 4, 0x10, 0x20, 0x30, 0x40, 0, 0, 0, 0x80, 7, 0, 0, 0]);
    assert_eq!(guid_hash(guid), 0x0403_0201 ^ 0x4030_2010 ^ 0x8000_0000 ^ 7);
}
