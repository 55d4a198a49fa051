//! `pcap`. The new files are read with pcap-parser.

use crate::{Folder, PRODUCER, START, json, program, run, shared, text, trace};
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_HEADER, GUID, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{LogFile, Trace, Uuid};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, OptionCode, PcapBlockOwned, PcapNGSlice};
use std::fs;
use std::io::Cursor;
use std::process::Stdio;

const PKTMON: GUID =
    GUID { Data1: 0x4D4F_80D9, Data2: 0xC8BD, Data3: 0x4D73, Data4: [0xBB, 0x5B, 0x19, 0xC9, 0x04, 0x02, 0xC5, 0xAC] };
const NDISCAP: GUID =
    GUID { Data1: 0x2ED6_006E, Data2: 0x4729, Data3: 0x4609, Data4: [0xB4, 0x23, 0x3E, 0xE7, 0xBC, 0xD6, 0x78, 0xEF] };

/// Keywords of ndiscap.
pub const ETHERNET: u64 = 1;
const WWAN: u64 = 0x200;
const WIFI: u64 = 0x10000;
pub const FIRST: u64 = 0x4000_0000;
pub const LAST: u64 = 0x8000_0000;
pub const SEND: u64 = 0x1_0000_0000;
const RECEIVE: u64 = 0x2_0000_0000;

/// An event with its tick, thread and processor.
pub struct Logged {
    tick: i64,
    processor: u16,
    thread: u32,
    provider: GUID,
    id: u16,
    keyword: u64,
    payload: Vec<u8>,
}

pub fn trace_of(start: i64, events: &[Logged]) -> Vec<u8> {
    let log = LogFile { start_time: start, boot_time: start, buffer_size: 1 << 17, processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for event in events {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId = event.provider;
        header.EventDescriptor.Id = event.id;
        header.EventDescriptor.Keyword = event.keyword;
        header.TimeStamp = large(event.tick);
        (header.ProcessId, header.ThreadId) = (4, event.thread);
        writer.push(event.processor, &Record::new(EventHeader::Event(header), true, &event.payload)).unwrap();
    }
    writer.finish(start + 10_000_000).unwrap().into_inner()
}

/// An event of ndiscap on the first processor.
pub fn fragment(tick: i64, thread: u32, interface: u32, keyword: u64, data: &[u8]) -> Logged {
    let payload =
        [&interface.to_le_bytes()[..], &9u32.to_le_bytes(), &(data.len() as u32).to_le_bytes(), data, &[0; 16]].concat();
    Logged { tick, processor: 0, thread, provider: NDISCAP, id: 1001, keyword, payload }
}

/// An event of PktMon with its ID, direction, packet type, component, drop reason and length.
pub fn monitored(
    tick: i64,
    id: u16,
    [direction, packet_type, component]: [u16; 3],
    reason: u32,
    original: u16,
    data: &[u8],
) -> Logged {
    let numbers = [7, 0, 0, 0, 1, 1, direction, packet_type, component, 2, 0];
    let mut payload: Vec<u8> = numbers.iter().flat_map(|number: &u16| number.to_le_bytes()).collect();
    payload.extend([reason, if reason == 0 { 0 } else { 0xE000_4500 }].iter().flat_map(|number| number.to_le_bytes()));
    payload.extend([original, data.len() as u16].iter().flat_map(|number| number.to_le_bytes()));
    payload.extend(data);
    Logged { tick, processor: 1, thread: 8, provider: PKTMON, id, keyword: 0, payload }
}

/// The name of a component, which PktMon writes at the end of a trace.
pub fn component(tick: i64, id: u16, name: &str, description: &str) -> Logged {
    let text = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let payload = [&id.to_le_bytes()[..], &[2, 0], &text(name), &text(description)].concat();
    Logged { tick, processor: 1, thread: 8, provider: PKTMON, id: 20, keyword: 0, payload }
}

/// An Ethernet frame of `length` bytes. Its IPv4 header has the length `stated`.
fn frame(stated: u16, length: usize) -> Vec<u8> {
    let mut frame = [[1; 12].as_slice(), &[8, 0, 0x45, 0], &stated.to_be_bytes()].concat();
    frame.resize(length, 0xEE);
    frame
}

/// A packet of the new file.
#[derive(Debug, PartialEq)]
pub struct Packet {
    /// Its link type, and the name and description of its interface.
    interface: (i32, String, String),
    /// Ticks since [`START`].
    tick: i64,
    pub data: Vec<u8>,
    original: u32,
    direction: Option<u32>,
    comment: String,
}

fn read(bytes: &[u8]) -> Vec<Packet> {
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    for block in PcapNGSlice::from_slice(bytes).unwrap() {
        match block.unwrap() {
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                assert_eq!((section.major_version, section.section_len), (1, -1))
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                assert_eq!(interface.if_tsresol, 9);
                assert!(["Windows 10.0.19041", "Windows 10.0.17763"].contains(&interface.if_os().unwrap().unwrap()));
                let description = interface.if_description().map_or("", Result::unwrap).to_owned();
                interfaces.push((interface.linktype.0, interface.if_name().unwrap().unwrap().to_owned(), description));
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let option = |code| packet.options.iter().find(|option| option.code == OptionCode(code));
                let time = (u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low)).cast_signed();
                packets.push(Packet {
                    interface: interfaces[packet.if_id as usize].clone(),
                    // Nanoseconds since 1970, which is 11,644,473,600 seconds after 1601.
                    tick: time / 100 + 116_444_736_000_000_000 - START,
                    data: packet.packet_data().to_vec(),
                    original: packet.origlen,
                    direction: option(2).map(|flags| flags.as_u32_le().unwrap()),
                    comment: option(1).map_or("", |comment| comment.as_str().unwrap()).to_owned(),
                });
            }
            _ => panic!("another block"),
        }
    }
    packets
}

pub fn converted(folder: &Folder, name: &str, options: &[&str]) -> (i32, serde_json::Value, Vec<Packet>, String) {
    let out = text(&folder.0.join(name));
    let (status, printed, err) = run(&[&["pcap", "--format", "json", "-o", &out], options].concat());
    let packets = fs::read(&out).map(|bytes| read(&bytes)).unwrap_or_default();
    (status, json(&printed).into_iter().next().unwrap_or_default(), packets, err)
}

/// Both providers in one trace: whole, truncated and split packets, packets of an interrupt, names at the end, and missing parts.
#[test]
fn packets() {
    let folder = Folder::new("packets");
    let whole = FIRST | LAST;
    let ip = [[0x45, 0, 0, 23].as_slice(), &[0xAA; 19]].concat();
    let mut short = monitored(64, 160, [4, 1, 5], 0, 6, &[14; 6]);
    short.payload.truncate(38);
    let events = [
        fragment(10, 8, 12, ETHERNET | whole | SEND, &frame(45, 59)),
        // The length in the IP header is 1500 bytes.
        fragment(20, 8, 12, ETHERNET | whole | RECEIVE, &frame(1500, 61)),
        // A packet in three events, interleaved with a packet of an interrupt and one of another thread. All lengths are odd.
        fragment(30, 8, 12, ETHERNET | FIRST | SEND, &[1; 3]),
        fragment(31, 8, 12, ETHERNET | FIRST | RECEIVE, &[4; 5]),
        fragment(32, 8, 12, ETHERNET | LAST | RECEIVE, &[5; 2]),
        fragment(33, 8, 12, ETHERNET | SEND, &[2; 3]),
        fragment(34, 16, 12, ETHERNET | whole | SEND, &[6; 7]),
        fragment(35, 8, 12, ETHERNET | LAST | SEND, &[3; 1]),
        // A start without an end before another start; an end without a start; a start without an end at the end of the trace.
        fragment(40, 8, 12, ETHERNET | FIRST | SEND, &[7; 9]),
        fragment(41, 8, 12, ETHERNET | SEND, &[7; 9]),
        fragment(42, 8, 12, ETHERNET | whole | SEND, &[8; 1]),
        fragment(43, 24, 12, ETHERNET | LAST | SEND, &[7; 9]),
        fragment(44, 8, 13, ETHERNET | FIRST | SEND, &[7; 9]),
        fragment(50, 8, 9, WIFI | whole | RECEIVE, &[0x88; 31]),
        fragment(51, 8, 9, WWAN | whole, &ip),
        // A medium without a link type; keywords of the manifest only.
        fragment(52, 8, 9, 4 | whole, &[9; 4]),
        fragment(53, 8, 9, 0x600_0000_0000, &[10; 4]),
        monitored(60, 160, [3, 1, 5], 0, 1514, &[11; 129]),
        monitored(61, 170, [1, 3, 6], 1204, 23, &ip),
        monitored(62, 160, [6, 2, 5], 0, 6, &[12; 6]),
        // HTTP data without headers; a truncated payload.
        monitored(63, 160, [4, 4, 5], 0, 6, &[13; 6]),
        short,
        component(70, 5, "net\u{1b}.sys", "Adapter A"),
        component(71, 6, "tcpip", ""),
    ];
    let file = folder.file("a.etl", trace_of(START, &events));
    let (status, printed, packets, err) = converted(&folder, "a.pcapng", &[&file]);
    assert_eq!((status, err.as_str()), (1, ""));
    let counts = ["read", "packets", "truncated", "assumed", "incomplete_fragments", "without_packet"]
        .map(|key| printed[key].as_u64().unwrap());
    assert_eq!(counts, [25, 12, 2, 1, 4, 3], "{printed}");
    let skipped: Vec<_> =
        printed["skipped"].as_object().unwrap().iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    assert_eq!(
        skipped,
        [
            "1 PktMon packet type HTTP, without a link type in pcapng",
            "1 medium 0x4 in the keyword, with an unknown link type",
            "1 truncated or corrupt payload",
        ]
    );
    let card = |link_type| (link_type, "interface 12 above layer interface 9".to_owned(), String::new());
    let same = |link_type| (link_type, "interface 9".to_owned(), String::new());
    let fifth = |link_type| (link_type, "component 5 net\\u{1b}.sys".to_owned(), "Adapter A".to_owned());
    let sixth = (101, "component 6 tcpip".to_owned(), String::new());
    let packet = |interface: &(i32, String, String), tick, data: &[u8], original, direction, comment: &str| Packet {
        interface: interface.clone(),
        tick,
        data: data.to_vec(),
        original,
        direction,
        comment: comment.to_owned(),
    };
    let (sent, received) = ("LowerIfIndex=9 Direction=Send", "LowerIfIndex=9 Direction=Receive");
    let of = |interface: u32, rest: &str| format!("PID=4 TID=8 CPU=0 MiniportIfIndex={interface} {rest}");
    let monitored = "PktGroupId=7 PktNumber=1 AppearanceCount=1";
    let expected = [
        packet(&card(1), 10, &frame(45, 59), 59, Some(2), &of(12, sent)),
        packet(&card(1), 20, &frame(1500, 61), 1514, Some(1), &of(12, received)),
        packet(&card(1), 32, &[4, 4, 4, 4, 4, 5, 5], 7, Some(1), &of(12, &format!("{received} Fragments=2"))),
        packet(&card(1), 34, &[6; 7], 7, Some(2), &of(12, sent).replace("TID=8", "TID=16")),
        packet(&card(1), 35, &[1, 1, 1, 2, 2, 2, 3], 7, Some(2), &of(12, &format!("{sent} Fragments=3"))),
        packet(&card(1), 42, &[8; 1], 1, Some(2), &of(12, sent)),
        packet(&same(105), 50, &[0x88; 31], 31, Some(1), &of(9, received)),
        packet(&same(101), 51, &ip, 23, None, &of(9, "LowerIfIndex=9")),
        packet(&same(1), 53, &[10; 4], 4, None, &of(9, "LowerIfIndex=9 Assumed=Ethernet")),
        packet(
            &fifth(1),
            60,
            &[11; 129],
            1514,
            Some(1),
            &format!("PID=4 TID=8 CPU=1 {monitored} Direction=Rx Component=5 Edge=2"),
        ),
        packet(
            &sixth,
            61,
            &ip,
            23,
            Some(1),
            &format!(
                "PID=4 TID=8 CPU=1 {monitored} Direction=In Component=6 Edge=2 DropReason=1204 INET_EndpointNotFound \
                 DropLocation=0xe0004500"
            ),
        ),
        packet(
            &fifth(105),
            62,
            &[12; 6],
            6,
            Some(2),
            &format!("PID=4 TID=8 CPU=1 {monitored} Direction=Egress Component=5 Edge=2"),
        ),
    ];
    assert_eq!(packets, expected);

    // Selected packets. Standard output has the same bytes.
    for (options, ticks) in [
        (&["--component", "6"][..], &[61][..]),
        (&["--event", "Microsoft-Windows-PktMon/170"], &[61]),
        (&["--component", "6", "--component", "5"], &[60, 61, 62]),
        (&["--thread", "16"], &[34]),
    ] {
        let (_, _, packets, _) =
            converted(&folder, &format!("{}.pcapng", options.concat().replace('/', "")), &[options, &[&file]].concat());
        assert_eq!(packets.iter().map(|packet| packet.tick).collect::<Vec<_>>(), ticks, "{options:?}");
    }
    let output = program(&["pcap", "-o", "-", &file]).stderr(Stdio::piped()).output().unwrap();
    assert!(output.stdout == fs::read(folder.0.join("a.pcapng")).unwrap());
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("-: 12 packets, 2 truncated, of 25 events of "));
    // An existing file is not overwritten.
    let (status, _, _, err) = converted(&folder, "a.pcapng", &[&file]);
    assert!(status == 2 && err.contains("already exists: refusing to overwrite"), "{err}");
    let (status, printed, packets, err) = converted(&folder, "none.pcapng", &["--process", "5", &file]);
    assert_eq!(
        (status, printed["packets"].as_u64(), packets.len(), err.contains("\"matching\":0")),
        (0, Some(0), 0, true),
        "{err}"
    );
}

/// The last reason of each group has the right name, so none before it is missing. Older builds number them differently.
#[test]
fn drop_reasons_of_packets() {
    let folder = Folder::new("drop-reasons-of-packets");
    let reasons = [
        (1, " InvalidData"),
        (38, " LowPower"),
        (39, ""),
        (204, " ProtocolNotBound"),
        (223, " CoalescingError"),
        (224, ""),
        (228, " SteeringMismatch"),
        (404, " VMBusError"),
        (613, " FL_NoClientInterface"),
        (615, " FL_FlsNpiClientDrop"),
        (719, " NicSuspended"),
        (801, " Http_ReceiveSuppressed"),
        (950, " NL_InterfaceDisabled"),
        (991, " NL_IcmpNotLocallyDestined"),
        (997, " NL_IpsnpiUroSegmentSizeExceedsMtu"),
        (1002, " NL_SwUsoFailure"),
        (1232, " INET_AcceptRedirection"),
        (1327, " SlbMux_UnableToHandleRedirect"),
        (1418, " Ipsec_Unsuccessful"),
        (1507, " NetCx_BufferBounceFailureAndPacketIgnore"),
        (1508, ""),
        (u32::MAX, ""),
    ];
    let ticks = 1..;
    let events: Vec<_> =
        reasons.iter().zip(ticks).map(|((reason, _), tick)| monitored(tick, 170, [1, 1, 5], *reason, 1, &[1])).collect();
    let mut bytes = trace_of(START, &events);
    for build in [19041_u32, 17763] {
        // ProviderVersion of the log file header.
        bytes[0x48 + 0x20 + 8..][..4].copy_from_slice(&build.to_le_bytes());
        let (status, _, packets, err) = converted(&folder, &format!("{build}.pcapng"), &[&folder.file("a.etl", &bytes)]);
        assert_eq!((status, packets.len()), (0, reasons.len()), "{err}");
        for (packet, (reason, name)) in packets.iter().zip(reasons) {
            let name = if build < 19041 && reason > 38 { "" } else { name };
            let expected = format!(" DropReason={reason}{name} DropLocation=0xe0004500");
            assert!(packet.comment.ends_with(&expected), "{build} {expected}: {}", packet.comment);
        }
    }
}

/// Packets of several files are sorted by time. Interfaces of different systems are separate, even with the same name.
#[test]
fn several_files() {
    let folder = Folder::new("packets-of-several");
    let whole = ETHERNET | FIRST | LAST | SEND;
    let ticks = |ticks: &[i64]| ticks.iter().map(|tick| fragment(*tick, 8, 9, whole, &[1; 3])).collect::<Vec<_>>();
    let part = |events: &[i64]| trace_of(START, &ticks(events));
    let (first, second) = (folder.file("in/a.etl", part(&[1, 5, 9])), folder.file("in/b.etl", part(&[2, 4, 10])));
    let names = |packets: &[Packet]| packets.iter().map(|packet| packet.interface.1.clone()).collect::<Vec<_>>();
    let (status, _, packets, err) = converted(&folder, "parts.pcapng", &[&first, &second]);
    assert_eq!((status, packets.iter().map(|packet| packet.tick).collect::<Vec<_>>()), (0, vec![1, 2, 4, 5, 9, 10]), "{err}");
    assert_eq!(names(&packets), ["interface 9"; 6]);
    // Starts three ticks later.
    let other = folder.file("in/c.etl", trace_of(START + 3, &ticks(&[0, 5])));
    let root = text(&folder.0.join("in"));
    let (status, _, packets, err) = converted(&folder, "all.pcapng", &[&root]);
    assert_eq!(
        (status, packets.iter().map(|packet| packet.tick).collect::<Vec<_>>()),
        (0, vec![1, 2, 3, 4, 5, 8, 9, 10]),
        "{err}"
    );
    let of = |file: &str| format!("interface 9 of {file}");
    assert_eq!(names(&packets[..3]), [of(&first), of(&first), of(&other)]);
    // A file that is not a trace is reported. A trace without packets adds none.
    folder.file("in/d.etl", b"no trace");
    folder.file("in/e.etl", trace());
    let (status, _, packets, err) = converted(&folder, "others.pcapng", &[&root]);
    assert!(status == 2 && packets.len() == 8 && err.contains("1 of 5 files failed"), "{err}");
}

/// The files of one session share names, and the parts of a packet.
#[test]
fn files_of_a_session() {
    let folder = Folder::new("packets-of-a-session");
    let first = [fragment(1, 8, 9, ETHERNET | FIRST, &[1; 3]), monitored(2, 160, [1, 1, 5], 0, 4, &[2; 4])];
    let second = [fragment(3, 8, 9, ETHERNET | LAST, &[3; 2]), component(4, 5, "tcpip", "Adapter")];
    let [first, second] = [("a.etl", first), ("b.etl", second)].map(|(name, events)| folder.file(name, trace_of(START, &events)));
    for files in [[&first, &second], [&second, &first]] {
        let (status, printed, packets, err) =
            converted(&folder, &format!("{}.pcapng", usize::from(files[0] == &first)), &[files[0], files[1]]);
        let found: Vec<_> =
            packets.iter().map(|packet| (packet.tick, packet.interface.1.as_str(), packet.data.as_slice())).collect();
        let expected = [(2, "component 5 tcpip", &[2; 4][..]), (3, "interface 9", &[1, 1, 1, 3, 3])];
        assert_eq!((status, found), (0, expected.to_vec()), "{printed} {err}");
    }
}

/// A trace without packets is an error with a remedy, and no new file remains.
#[test]
fn without_packets() {
    let folder = Folder::new("no-packets");
    for (name, trace, expected) in [
        ("a.etl", trace(), "no packets: no events of Microsoft-Windows-PktMon or "),
        ("b.etl", trace_of(START, &[component(1, 5, "a", "b")]), "no packets: 1 event of Microsoft-Windows-PktMon or "),
    ] {
        let file = folder.file(name, trace);
        let (status, _, _, err) = converted(&folder, "a.pcapng", &[&file]);
        assert!(status == 2 && err.contains(expected) && err.contains("pktmon start --capture"), "{err}");
        let output = program(&["pcap", "-o", "-", &file]).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
}

/// Packets are in the order of time, however late an event is in the file.
#[test]
fn late_packets() {
    let folder = Folder::new("late-packets");
    // Two packets in each buffer. The last packet has the earliest time.
    let ticks = (100..120).chain([50]);
    let events: Vec<_> = ticks.map(|tick| fragment(tick, 8, 9, ETHERNET | FIRST | LAST, &[1; 60_000])).collect();
    let file = folder.file("a.etl", trace_of(START, &events));
    let (status, printed, packets, err) = converted(&folder, "a.pcapng", &[&file]);
    let ticks: Vec<_> = packets.iter().map(|packet| packet.tick).collect();
    assert_eq!((status, printed["out_of_order"].as_u64()), (0, Some(0)), "{printed} {err}");
    assert!(ticks.len() == 21 && ticks.is_sorted(), "{ticks:?}");
}

/// All packets of real traces are in the new file. The expected number is computed from event headers and keywords.
#[test]
fn real_packets() {
    let folder = Folder::new("real-packets");
    let guid = |guid: GUID| Uuid::from_fields(guid.Data1, guid.Data2, guid.Data3, &guid.Data4);
    let mut all = 0;
    for (index, file) in shared().iter().enumerate() {
        let Ok(trace) = Trace::from_bytes(fs::read(file).unwrap()) else { continue };
        let events: Vec<_> = trace.events().filter_map(Result::ok).collect();
        let count = |provider, is_wanted: &dyn Fn(u16, u64) -> bool| {
            let own = events.iter().filter(|event| event.provider() == Some(guid(provider)));
            own.filter(|event| is_wanted(event.id().unwrap(), event.keyword().unwrap())).count() as u64
        };
        let expected =
            count(PKTMON, &|id, _| [160, 170].contains(&id)) + count(NDISCAP, &|id, keyword| id == 1001 && keyword & LAST != 0);
        let (status, printed, packets, err) = converted(&folder, &format!("{index}.pcapng"), &[file]);
        if expected == 0 {
            assert!(status == 2 && err.contains("no packets: "), "{file}: {err}");
            continue;
        }
        assert_eq!((printed["packets"].as_u64(), packets.len() as u64), (Some(expected), expected), "{file}: {printed} {err}");
        all += expected;
    }
    println!("{all} packets of real traces");
}
