//! Dumps that cannot be read completely: truncated files, short reads and errors of the disk.

use super::memory::{NEW, made};
use etw_layouts::Arch;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts_dump::{BufferSelection, DiagnosticKind, Error, MemoryDump, Source};
use etw_layouts_memory::{Address, Finding, FindingKind, Memory, Walk};
use std::io;
use std::ops::Range;
use test_support::memory_dumps::Paging;

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
