//! Compressed buffers in memory.

use etw_layouts_dump::{BufferSelection, DumpSession};
use etw_layouts_etl::Trace;
use etw_layouts_memory::{State, Walk};
use std::io::Cursor;
use test_support::kernels::plan::Plan;

/// Time stamp and payload of each event in the saved file of a session, and the names of the findings.
fn saved(plan: &Plan, which: BufferSelection) -> (Vec<(i64, Vec<u8>)>, Vec<&'static str>) {
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&plan.kit.image, &kernel);
    let sessions = walk.sessions();
    let mut file = Cursor::new(Vec::new());
    DumpSession::read(&mut walk, &sessions[1], which).save(&mut file).expect("a trace");
    let trace = Trace::from_bytes(file.get_ref()).expect("a trace");
    // Without the log file header.
    let events = trace.events().skip(1).map(|event| event.expect("a whole event"));
    let mut events: Vec<_> = events.map(|event| (event.time_stamp().expect("a stamp"), event.payload().to_vec())).collect();
    events.sort();
    (events, walk.findings().iter().map(|finding| finding.kind.name()).collect())
}

/// The content of a placeholder is unknown: it has no events unless it is compressed, and the skipped bytes are reported.
#[test]
fn placeholders_have_no_events() {
    let mut kernels = 0;
    for (build, arch) in Plan::targets().filter(|(build, _)| build.number >= [10, 0, 14393]) {
        let mut plan = Plan::of(build, arch);
        let (whole, _) = saved(&plan, BufferSelection::All);
        let own = plan.sessions[1].buffers[0].events.len();
        let at = plan.sessions[1].buffers[0].at;
        assert!(plan.kit.set("WMI_BUFFER_HEADER", at, "State", 6));
        let (events, findings) = saved(&plan, BufferSelection::All);
        assert!(own > 0 && events.len() == whole.len() - own, "{build} {arch}: {} of {}", events.len(), whole.len());
        assert_eq!(findings, ["placeholder"], "{build} {arch}");

        let mut plan = Plan::of(build, arch);
        plan.compress(1, false);
        let (whole, _) = saved(&plan, BufferSelection::All);
        assert!(plan.kit.set("WMI_BUFFER_HEADER", at, "State", 6));
        let (events, findings) = saved(&plan, BufferSelection::All);
        assert!(events == whole && findings.is_empty(), "{build} {arch}: {findings:?}");
        kernels += 1;
    }
    assert!(kernels > 30, "{kernels}");
}

/// For every kernel that compresses, compressed buffers within one buffer give their events unchanged. A damaged stream loses only its own
/// buffer, and is reported.
#[test]
fn decompressed() {
    let mut kernels = 0;
    for (build, arch) in Plan::targets().filter(|(build, _)| build.number >= [10, 0, 14393]) {
        for is_behind in [false, true] {
            let name = format!("{build} {arch} {is_behind}");
            let mut plan = Plan::of(build, arch);
            let (whole, _) = saved(&plan, BufferSelection::All);
            plan.compress(1, is_behind);
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            let session = walk.sessions().remove(1);
            let buffers = walk.buffers(&session);
            let states: Vec<_> = buffers.iter().map(|buffer| (buffer.state, buffer.is_compressed())).collect();
            assert_eq!(states, [(State::Compressed, true), (State::Flush, false), (State::Free, false)], "{name}");

            // The second and the third buffer exist twice: uncompressed and compressed.
            let again = plan.sessions[1].buffers[1..].iter().flat_map(|buffer| &buffer.events).cloned();
            let mut expected: Vec<_> = whole.iter().cloned().chain(again).collect();
            expected.sort();
            let (events, findings) = saved(&plan, BufferSelection::All);
            assert_eq!((events == expected, &*findings), (true, &[][..]), "{name}: {} of {}", events.len(), expected.len());

            // Damages the stream of the first compressed buffer.
            let at = (plan.sessions[1].buffers[0].at - plan.kit.image.base) as usize + if is_behind { 0x90 } else { 0x48 };
            plan.kit.image.bytes[at + 0x20..at + 0x40].fill(0xFF);
            let (events, findings) = saved(&plan, BufferSelection::All);
            assert!(findings.contains(&"compressed"), "{name}: {findings:?}");
            assert!(events.len() >= expected.len() - 12 && expected.len() > events.len(), "{name}: {}", events.len());
            // If there is no compressed buffer, no bytes are read as events.
            if is_behind {
                plan.kit.image.bytes[at - 0x48..at + 0x800].fill(0x21);
                let (events, findings) = saved(&plan, BufferSelection::All);
                assert_eq!((events.len(), &*findings), (24, &["compressed"][..]), "{name}");
            }
            kernels += 1;
        }
    }
    assert!(kernels > 60, "{kernels}");
}
