//! Wrong values in buffer headers: their diagnostics, and the number of events that can still be read.

use crate::diagnostics::{BUFFERS_WRITTEN, SIZE, put, read};
use etw_layouts_etl::wire::{ETW_BUFFER_FLAG, Generation};
use etw_layouts_etl::{BufferHeader, ClockType, DiagnosticKind, HeaderType, Scratch, Trace};
use test_support::traces::{PRODUCERS, fixture, fixture_of};

/// If the valid end is too low, the diagnostic counts the events after it.
#[test]
fn hidden_events() {
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 20, &HeaderType::is_known).unwrap().bytes;
    let trace = Trace::from_bytes(&file).unwrap();
    let mut scratch = Scratch::default();
    let buffer = trace.buffers().nth(3).unwrap().unwrap();
    let decoded = buffer.decode(&mut scratch);
    for skipped in [0, 1, 2] {
        let end = decoded.events().nth(skipped).unwrap().unwrap().offset();
        let at = buffer.offset() as usize;
        let bytes = put(&put(&file, at + 4, &end.to_le_bytes()), at + 0x30, &end.to_le_bytes());
        let trace = Trace::from_bytes(&bytes).unwrap();
        let damaged = trace.buffers().nth(3).unwrap().unwrap();
        let kind = damaged.decode(&mut Scratch::default()).fault().unwrap().kind.clone();
        assert_eq!(kind, DiagnosticKind::Tail { bytes: 4096 - end, events: (decoded.events().count() - skipped) as u32 });
    }
}

/// A valid end that is impossible for a compressed buffer, and one beyond the end of its decompressed data.
#[test]
fn valid_ends_of_compressed_buffers() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes;
    let whole = read(&file).1;
    let trace = Trace::from_bytes(&file).unwrap();
    let buffer = trace.buffers().nth(2).unwrap().unwrap();
    let (at, offset) = (buffer.offset() as usize, buffer.header().offset);
    let events = buffer.decode(&mut Scratch::default()).events().count();
    for (end, kinds) in
        [(0x40, "valid-end"), ((1 << 24) + 8, "too-large"), (u32::MAX, "too-large"), (offset + 64, "decompressed-size")]
    {
        let bytes = put(&put(&file, at + 4, &end.to_le_bytes()), at + 0x30, &end.to_le_bytes());
        let (found, survived) = read(&bytes);
        assert_eq!(found.last(), Some(&kinds), "{end:#x}");
        assert_eq!(whole - survived, if kinds == "decompressed-size" { 0 } else { events }, "{end:#x}");
        if kinds == "decompressed-size" {
            let trace = Trace::from_bytes(&bytes).unwrap();
            let damaged = trace.buffers().flatten().nth(2).unwrap();
            let kind = damaged.decode(&mut Scratch::default()).fault().unwrap().kind.clone();
            assert_eq!(kind, DiagnosticKind::Decompressed { stated: end, present: offset });
        }
    }
    // A buffer without events consists of its header.
    let mut empty = file[at..at + 0x48].to_vec();
    for place in [0, 4, 0x30] {
        empty[place..place + 4].copy_from_slice(&0x48_u32.to_le_bytes());
    }
    empty[0x18..0x20].fill(0);
    let buffers = u32::from_le_bytes(file[BUFFERS_WRITTEN..][..4].try_into().unwrap()) + 1;
    let bytes = put(&[&file[..at], &empty, &file[at..]].concat(), BUFFERS_WRITTEN, &buffers.to_le_bytes());
    assert_eq!(read(&bytes), (vec![], whole));
}

/// Before 6.0, SavedOffset can be zero and State contains flags. Before 5.2, headers have neither buffer flags nor a buffer type. Such buffers are
/// found after a damaged one.
#[test]
fn buffers_of_old_versions() {
    for (producer, changes) in [
        (1, &[(4, 0), (0x2C, 0xFF_FF), (0x2C, 7), (0x34, 0x8000), (0x36, 8)][..]),
        (2, &[(4, 0), (0x2C, 0xFF_FF), (0x2C, 7)]),
        (3, &[]),
    ] {
        let file = fixture(PRODUCERS[producer], ClockType::PerfCounter, false, 20).unwrap().bytes;
        let (third, fourth) = (3 * SIZE, 4 * SIZE);
        for (at, value) in
            [(4, 0_u32), (0x2C, 0xFF_FF), (0x2C, 7), (0x36, 8), (4, 0x50), (0x34, 0x8000), (0x30, 0x47), (0x30, 0x1001)]
        {
            // The buffers before and after it are destroyed.
            let bytes = put(&file, third - SIZE, &[0xA5; 0x48]);
            let bytes =
                put(&put(&bytes, third + at, &value.to_le_bytes()[..if at > 0x30 { 2 } else { 4 }]), fourth, &[0x5A; 0x48]);
            let found = Trace::from_bytes(&bytes).unwrap().buffers().flatten().any(|buffer| buffer.offset() == third as u64);
            assert_eq!(found, changes.contains(&(at, value)), "{producer} {at:#x} {value:#x}");
        }
    }
}

/// The processor is an index of 11 bits if the flag PROC_INDEX is set, otherwise one byte. In Windows 7 the next byte is 8.
#[test]
fn processors_of_buffers() {
    let index = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX.0;
    for (flags, context, processor) in
        [(0, 0x0803, 3), (0, 0x08FF, 255), (index, 0x01FF, 0x1FF), (index, 0x07FF, 0x7FF), (index, 0x0803, 3)]
    {
        let mut bytes = [0; 0x48];
        bytes[0x28..0x2A].copy_from_slice(&u16::to_le_bytes(context));
        bytes[0x34..0x36].copy_from_slice(&u16::to_le_bytes(flags));
        assert_eq!(BufferHeader::read(Generation::V6_1, &bytes).unwrap().processor(), processor, "{flags:#x} {context:#x}");
    }
}
