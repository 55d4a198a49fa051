//! Triage dumps.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::Dump;
use etw_layouts_etl::Trace;
use std::io::Cursor;
use test_support::dumps;

/// What a session whose buffers are small writes at most.
const SMALL: u32 = 1 << 16;

/// Reads what there is, searches memory, and saves each session: what is saved is a trace that has as many events as were saved.
pub fn run(input: &[u8]) {
    let Ok(dump) = Dump::new(input) else { return };
    assert!(dump.memory().bytes() <= input.len() as u64 && dump.blobs().len() * 0x20 <= input.len());
    assert!(dump.findings().iter().all(|finding| !finding.to_string().is_empty()));
    dump.registrations();
    dump.trace_buffers();
    for session in dump.sessions() {
        let (events, findings) = session.events();
        assert!(session.buffers.len() * 0x48 <= input.len() && events.len() + findings.len() <= input.len() / 8);
        if session.buffer_size > SMALL {
            continue;
        }
        let mut file = Cursor::new(Vec::new());
        let Ok(saved) = session.save(&mut file) else { continue };
        assert_eq!(saved.events, events.len());
        let trace = Trace::new(file.get_ref()).expect("what was saved");
        let (mut order, mut read) = (trace.by_time(), 0);
        while let Some(event) = order.next_event() {
            event.expect("a whole event");
            read += 1;
        }
        // The header has one of its own.
        assert_eq!(read, saved.events + 1);
    }
}

/// A dump of each architecture.
pub fn seeds() -> Vec<Vec<u8>> {
    [Arch::X64, Arch::Arm64, Arch::X86].map(|arch| dumps::whole(Build::new(10, 0, 19041, 264), arch)).into()
}
