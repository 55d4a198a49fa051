//! Buffers with missing pages.

use super::memory::{NEW, made};
use etw_layouts::Arch;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts_dump::{BufferSelection, Diagnostic, DiagnosticKind, MemoryDump, decoded_buffers};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{DiagnosticKind as EventDiagnostic, Events};
use etw_layouts_memory::{Address, FindingKind, Walk};
use std::io::Cursor;
use std::ops::Range;
use test_support::kernels::plan::Plan;
use test_support::memory_dumps::Paging;

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
            requested: end,
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
    let present = decoded(&plan);
    let before = places.iter().filter(|place| place.end <= 0x1000).count();
    let after = places.iter().filter(|place| place.start >= 0x2000).count();
    assert!(before > 0 && after > 0 && present.len() >= before + after, "{before} {after} {}", present.len());
    assert!(present[..before] == whole[..before] && present[present.len() - after..] == whole[whole.len() - after..]);
}
