//! Packets of trace files.

use etw_layouts_cli::api::packets;
use etw_layouts_etl::Trace;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, large, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{LogFile, Uuid};
use std::io::Cursor;

/// The pcapng file has whole blocks. Its packets are complete, belong to interfaces described before, and are as many as the summary states.
pub fn run(input: &[u8]) {
    let Ok((file, count)) = packets(input.to_vec()) else {
        assert!(Trace::from_bytes(input).is_err(), "a trace in memory can be read");
        return;
    };
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut rest, mut interfaces, mut found) = (&file[..], 0, 0);
    while !rest.is_empty() {
        let length = word(rest, 4) as usize;
        let (block, after) = rest.split_at_checked(length).expect("a whole block");
        assert!(length >= 12 && length.is_multiple_of(4) && word(block, length - 4) as usize == length);
        match word(block, 0) {
            0x0A0D_0D0A => assert_eq!((word(block, 8), file.len()), (0x1A2B_3C4D, rest.len())),
            1 => interfaces += 1,
            6 => {
                let [interface, captured, original] = [8, 20, 24].map(|at| word(block, at));
                assert!(interface < interfaces && captured <= original && captured as usize + 32 <= length);
                found += 1;
            }
            other => panic!("block of type {other:#x}"),
        }
        rest = after;
    }
    assert_eq!(found, count);
}

/// A trace with packets of both providers, whole and in fragments, and names of components.
pub fn seeds() -> Vec<Vec<u8>> {
    const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);
    const PKTMON: u128 = 0x4D4F_80D9_C8BD_4D73_BB5B_19C9_0402_C5AC;
    const NDISCAP: u128 = 0x2ED6_006E_4729_4609_B423_3EE7_BCD6_78EF;
    const ETHERNET: u64 = 1;
    let [first, last, send] = [0x4000_0000, 0x8000_0000, 0x1_0000_0000_u64];
    let frame = [[1; 12].as_slice(), &[8, 0, 0x45, 0, 0, 60], &[0xEE; 40]].concat();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let text = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let fragment = |data: &[u8]| [words(&[12, 9, data.len() as u32]), data.to_vec(), vec![0; 16]].concat();
    let monitored: Vec<_> = [7_u16, 0, 0, 0, 1, 1, 1, 1, 12, 2, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let size = (frame.len() as u16).to_le_bytes();
    let monitored = [&monitored[..], &[0; 8], &size, &size, &frame].concat();
    let component = [&[12, 0, 2, 0][..], &text("tcpip.sys"), &text("TCP/IP")].concat();
    let events = [
        (NDISCAP, 1001, ETHERNET | first | last | send, fragment(&frame)),
        (NDISCAP, 1001, ETHERNET | first, fragment(&frame[..20])),
        (NDISCAP, 1001, ETHERNET | last, fragment(&frame[20..])),
        (PKTMON, 160, 0, monitored.clone()),
        (PKTMON, 170, 0, monitored),
        (PKTMON, 20, 0, component),
    ];
    let log = LogFile { start_time: 132_404_799_797_984_230, processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).expect("a writer");
    for (tick, (provider, id, keyword, payload)) in (1..).zip(&events) {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId = wire_guid(Uuid::from_u128(*provider));
        (header.EventDescriptor.Id, header.EventDescriptor.Keyword, header.TimeStamp) = (*id, *keyword, large(tick));
        (header.ThreadId, header.ProcessId) = (8, 4);
        writer.push(0, &Record::new(EventHeader::Event(header), true, payload)).expect("an event");
    }
    vec![writer.finish(132_404_799_807_984_230).expect("a trace").into_inner()]
}
