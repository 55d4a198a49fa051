//! Crash dumps: minidumps and memory dumps.

use super::etl::saved_events;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::{Arch, Build};
use etw_layouts_dump::{BufferSelection, Dump, DumpSession, MemoryDump};
use etw_layouts_memory::Walk;
use std::collections::BTreeSet;
use std::io::Cursor;
use test_support::dumps;
use test_support::kernels::{module, plan::Plan};
use test_support::memory_dumps::{Paging, System};

/// Maximum buffer size in bytes of sessions that are saved.
const SMALL: u32 = 1 << 16;

/// Reads the dump, searches memory, and saves each session: the saved trace has the reported number of events.
pub fn run(input: &[u8]) {
    let Ok(dump) = Dump::from_bytes(input) else { return of_memory(input) };
    assert!(dump.memory().bytes() <= input.len() as u64 && dump.blobs().len() * 0x20 <= input.len());
    assert!(dump.diagnostics().iter().all(|diagnostic| !diagnostic.to_string().is_empty()));
    dump.registrations();
    dump.trace_buffers();
    for session in dump.sessions() {
        let (events, diagnostics) = session.events();
        assert!(session.buffers.len() * 0x48 <= input.len() && events.len() + diagnostics.len() <= input.len() * 17 / 8);
    }
    saved(dump.sessions());
}

/// The same for a memory dump. Its sessions are found by a walk without symbols.
fn of_memory(input: &[u8]) {
    let Ok(dump) = MemoryDump::new(input) else { return };
    assert!(dump.pages() * 0x1000 <= input.len() as u64);
    assert!(dump.diagnostics().iter().all(|diagnostic| !diagnostic.to_string().is_empty()));
    let kernel = dump.kernel(dump.identity().build);
    let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
    let census = walk.census();
    let mut sessions = dump.sessions(&mut walk, &census.sessions, BufferSelection::All);
    // The rate is unknown without symbols.
    sessions.iter_mut().for_each(|session| (session.log_file.cpu_mhz, session.log_file.perf_frequency) = (1, 1));
    saved(&sessions);
}

fn saved(sessions: &[DumpSession<'_>]) {
    for session in sessions {
        let (events, _) = session.events();
        if session.log_file.buffer_size > SMALL {
            continue;
        }
        let mut file = Cursor::new(Vec::new());
        let Ok(saved) = session.save(&mut file) else { continue };
        assert_eq!(saved.events, events.len());
        // The file has an additional event, the log file header.
        assert_eq!(saved_events(file.get_ref()), saved.events as u64 + 1);
    }
}

/// A minidump of each architecture, and dumps of memory.
pub fn seeds() -> Vec<Vec<u8>> {
    let build = Build::new(10, 0, 19041, 264);
    let small = [Arch::X64, Arch::Arm64, Arch::X86].map(|arch| dumps::whole(build, arch));
    let of_memory = [
        (1, Arch::X64, Paging::Four),
        (6, Arch::Arm64, Paging::Arm),
        (1, Arch::X86, Paging::Pae),
        (2, Arch::X64, Paging::Four),
        (2, Arch::X86, Paging::Pae),
        (8, Arch::Arm64, Paging::Arm),
        (10, Arch::X64, Paging::Four),
    ];
    let large = of_memory.map(|(kind, arch, paging)| {
        let kit = Plan::of(build, arch).kit;
        let (start, end) = module(arch);
        let debugger_data = kit.globals.iter().find(|(name, _)| *name == "EtwpDebuggerData").map_or(0, |(_, at)| *at);
        let (pieces, modules) = (vec![(kit.image.base, kit.image.bytes)], vec![("ntoskrnl.exe", start, end)]);
        System { build, arch, paging, pieces, modules, debugger_data, missing: BTreeSet::new(), head: None }.dump(DUMP_TYPE(kind))
    });
    small.into_iter().chain(large).collect()
}
