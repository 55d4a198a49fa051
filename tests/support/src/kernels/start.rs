//! The data from which walks find sessions and providers: tables, silos, global variables.

use super::Kit;
use super::put::{BOOT, FREQUENCY, PROCESSORS, Provider, Session, State};

const LOGGER: &str = "WMI_LOGGER_CONTEXT";
const STATE: &str = "ETW_SILODRIVERSTATE";
const BLOCK: &str = "ETW_SILO_TRACING_BLOCK";

/// The value of a table entry without a session.
const EMPTY: u64 = 1;

/// The table of sessions.
pub fn table(kit: &mut Kit, sessions: &[Session]) -> u64 {
    let (size, count) = (kit.pointer_size(), if kit.build.number < [5, 1, 0] { 32 } else { 64 });
    let table = kit.room(count * size, 16);
    for number in 0..count as u64 {
        let session = sessions.iter().find(|session| u64::from(session.number) == number);
        kit.pointer(table + number * size as u64, session.map_or(EMPTY, |session| session.at));
    }
    table
}

/// Makes the start of a walk.
pub fn start(kit: &mut Kit, table: u64, providers: &[Provider]) -> Option<u64> {
    for (name, size, value) in [
        ("EtwPerfFreq", 8, FREQUENCY as u64),
        ("EtwpBootTime", 8, BOOT as u64),
        ("EtwCPUSpeedInMHz", 4, 2400),
        ("KeNumberProcessors", 4, PROCESSORS.into()),
    ] {
        // 5.x has other variables for clocks.
        if kit.build.number >= [6, 0, 0] || name == "KeNumberProcessors" {
            let at = kit.room(size, 8);
            kit.word(at, size, value);
            kit.globals.push((name, at));
        }
    }
    debugger_data(kit, table);
    // Global variables with the handle of a registration: for each provider, its first kernel-mode registration.
    let own = providers.iter().filter_map(|one| one.registrations.iter().find(|one| one.owner.is_err()).map(|one| one.at));
    for (name, held) in ["EtwThreatIntProvRegHandle", "EtwKernelProvRegHandle"].into_iter().zip(own) {
        let at = kit.room(8, 8);
        kit.word(at, 8, held);
        kit.globals.push((name, at));
    }
    let buckets = kit.layout("ETW_HASH_BUCKET").map(|bucket| bucket.size);
    let state = kit.layout("ETW_SILODRIVERSTATE").filter(|layout| layout.member("EtwpGuidHashTable").is_some());
    let state = state.map(|state| kit.room(state.size, state.align));
    let at = match state {
        Some(at) => {
            if let Some(place) = kit.place(STATE, at, "WmipLoggerContext") {
                let from = (table - kit.image.base) as usize;
                let entries = kit.image.bytes[from..from + 64 * kit.pointer_size()].to_vec();
                kit.write(place, &entries);
            } else {
                kit.set(STATE, at, "MaxLoggers", 64);
                kit.set(STATE, at, "EtwpLoggerContext", table);
            }
            match kit.layout("ESERVERSILO_GLOBALS") {
                Some(_) => {
                    let silo = kit.make("ESERVERSILO_GLOBALS");
                    kit.set("ESERVERSILO_GLOBALS", silo, "EtwSiloState", at);
                    kit.set(STATE, at, "SiloGlobals", silo);
                    kit.globals.push(("PspHostSiloGlobals", silo));
                }
                None => {
                    let pointer = kit.room(8, 8);
                    kit.pointer(pointer, at);
                    kit.globals.push(("EtwpHostSiloState", pointer));
                }
            }
            kit.place(STATE, at, "EtwpGuidHashTable")
        }
        None => {
            kit.globals.push(("WmipLoggerContext", table));
            let at = buckets.map(|size| kit.room(64 * size, 16));
            kit.globals.extend(at.map(|at| ("EtwpGuidHashTable", at)));
            at
        }
    };
    let links = 2 * kit.pointer_size() as u64;
    let heads: Vec<(u64, u32, u32)> = match at.zip(buckets) {
        Some((at, size)) => {
            let offset = kit.place("ETW_HASH_BUCKET", 0, "ListHead").unwrap();
            let (_, kinds) = kit.elements("ETW_HASH_BUCKET", "ListHead").unwrap();
            let all = (0..64).flat_map(|bucket| (0..kinds as u32).map(move |kind| (bucket, kind)));
            let head = |(bucket, kind)| (at + u64::from(bucket) * size as u64 + offset + u64::from(kind) * links, bucket, kind);
            all.map(head).collect()
        }
        None if providers.is_empty() => Vec::new(),
        None => {
            let at = kit.room(2 * links as usize, 16);
            kit.globals.push(("EtwpGuidListHead", at));
            vec![(at, u32::MAX, 0), (at + links, u32::MAX, 1)]
        }
    };
    for (head, bucket, kind) in heads {
        let own = providers.iter().filter(|one| one.kind == kind && (bucket == u32::MAX || one.bucket == bucket));
        let entries: Vec<u64> = own.map(|one| kit.place("ETW_GUID_ENTRY", one.at, "GuidList").unwrap()).collect();
        kit.double(head, &entries);
    }
    state
}

/// Makes the state of a silo, with a session and a provider. Only kernels with a list from the host's GUID entries to those of
/// silos can reach it.
pub fn silo(kit: &mut Kit, host: Option<u64>, sessions: &[Session], providers: &[Provider]) -> Option<u64> {
    const ENTRY: &str = "ETW_GUID_ENTRY";
    kit.place(ENTRY, 0, "SiloGuidList")?;
    let (host, provider, session) = (host?, providers.first()?, sessions.last()?);
    let size = kit.pointer_size();
    let (state, entry, table) = (kit.make(STATE), kit.make(ENTRY), kit.room(64 * size, 16));
    kit.pointer(table + u64::from(session.number) * size as u64, session.at);
    assert!(kit.set(STATE, state, "MaxLoggers", 64) && kit.set(STATE, state, "EtwpLoggerContext", table));
    let guid = kit.place(ENTRY, entry, "Guid")?;
    kit.write(guid, &provider.guid);
    assert!(kit.set(ENTRY, entry, "SiloState", state) && kit.set(ENTRY, entry, "HostEntry", provider.at));
    assert!(kit.set(ENTRY, provider.at, "SiloState", host));
    let [head, link] = [provider.at, entry].map(|at| kit.place(ENTRY, at, "SiloGuidList").unwrap());
    kit.double(head, &[link]);
    let bucket = kit.layout("ETW_HASH_BUCKET")?.size as u64;
    let head = kit.place(STATE, state, "EtwpGuidHashTable")? + u64::from(provider.bucket) * bucket;
    let head = head + kit.place("ETW_HASH_BUCKET", 0, "ListHead")?;
    let link = kit.place(ENTRY, entry, "GuidList")?;
    kit.double(head, &[link]);
    let registrations = kit.place(ENTRY, entry, "RegListHead")?;
    kit.double(registrations, &[]);
    Some(state)
}

/// Makes the kernel's references to the buffers that its processors write to.
pub fn current(kit: &mut Kit, state: Option<u64>, sessions: &[Session]) {
    for session in sessions {
        let of = |processor: u32| {
            let own = session.buffers.iter().filter(|one| one.state == State::Logging && u32::from(one.processor) == processor);
            own.map(|buffer| buffer.at).collect::<Vec<_>>()
        };
        if kit.place(LOGGER, session.at, "ProcessorBuffers").is_none() {
            continue;
        }
        // 5.1 has a list for each processor; other kernels have a pointer.
        let is_list = kit.build.number[..2] == [5, 1];
        let size = if is_list { kit.layout("SLIST_HEADER").unwrap().size } else { kit.pointer_size() };
        let array = kit.room(size * PROCESSORS as usize, 16);
        kit.set(LOGGER, session.at, "ProcessorBuffers", array);
        for processor in 0..PROCESSORS {
            let (at, buffers) = (array + u64::from(processor) * size as u64, of(processor));
            if is_list {
                let link = |at: &u64| kit.place("WMI_BUFFER_HEADER", *at, "SlistEntry").unwrap();
                let links: Vec<u64> = buffers.iter().map(link).collect();
                kit.interlocked(at, &links, true);
            } else {
                kit.pointer(at, buffers.first().copied().unwrap_or(0));
            }
        }
    }
    let Some(state) = state else { return };
    for session in sessions {
        kit.set(LOGGER, session.at, "SiloState", state);
    }
    let Some(block) = kit.layout(BLOCK).filter(|_| kit.place(STATE, state, "ProcessorBlocks").is_some()) else { return };
    let blocks = kit.room(block.size * PROCESSORS as usize, block.align);
    kit.set(STATE, state, "ProcessorBlocks", blocks);
    for processor in 0..PROCESSORS {
        let at = blocks + u64::from(processor) * block.size as u64;
        let mut places = kit.place(BLOCK, at, "ProcessorBuffers").unwrap();
        if kit.elements(BLOCK, "ProcessorBuffers").is_none() {
            let array = kit.room(64 * kit.pointer_size(), 16);
            kit.pointer(places, array);
            places = array;
        }
        for session in sessions {
            let buffer = session.buffers.iter().find(|one| one.state == State::Logging && u32::from(one.processor) == processor);
            // The low bits are a count of cached references.
            let reference = buffer.map_or(0, |buffer| buffer.at | 7);
            kit.pointer(places + u64::from(session.number) * kit.pointer_size() as u64, reference);
        }
    }
}

/// The debugger data block.
fn debugger_data(kit: &mut Kit, table: u64) {
    let at = kit.room(0x18, 8);
    for (index, member) in ["State", "CurrentOffset", "SavedOffset", "GlobalEntry", "ReferenceCount"].into_iter().enumerate() {
        let offset = kit.place("WMI_BUFFER_HEADER", 0, member).unwrap_or(0);
        kit.word(at + 2 + index as u64, 1, offset);
    }
    kit.word(at + 0x10, kit.pointer_size(), table);
    kit.globals.push(("EtwpDebuggerData", at));
}
