//! Reads packets, and parts of packets, from events.

use super::drop_reasons;
use super::pcapng::{Direction, LinkType};
use crate::output::Escaped;
use etw_layouts_etl::payload::Value;
use etw_layouts_etl::{Decoded, Event, Schemas, Uuid};
use std::fmt::Write;

/// Microsoft-Windows-PktMon: Packet Monitor, `pktmon start --capture`.
pub const PKTMON: Uuid = Uuid::from_u128(0x4d4f80d9_c8bd_4d73_bb5b_19c90402c5ac);
/// Microsoft-Windows-NDIS-PacketCapture: ndiscap, `netsh trace start capture=yes`.
pub const NDISCAP: Uuid = Uuid::from_u128(0x2ed6006e_4729_4609_b423_3ee7bcd678ef);

/// The source of a captured packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A component of PktMon: its ID.
    Component(u16),
    /// The interface of a network card, and the layer below ndiscap.
    Interface { miniport: u32, lower: u32 },
}

/// The part of a packet in an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    Start,
    Middle,
    End,
}

/// The packet of an event.
pub struct Capture<'a> {
    pub data: &'a [u8],
    pub part: Part,
    /// Whether the keyword states neither the medium nor the part, and a whole Ethernet packet is assumed.
    pub is_assumed: bool,
    /// The length before it was truncated; `None` if the event does not state it.
    pub original: Option<u32>,
    pub source: Source,
    pub link_type: LinkType,
    pub direction: Option<Direction>,
    /// Further values, as NAME=VALUE.
    pub comment: String,
}

/// The result for an event.
pub enum Read<'a> {
    Packet(Capture<'a>),
    /// The event has no packet.
    None,
    /// The event has a packet that cannot be written, for this reason.
    Skipped(String),
}

/// Whether events of the provider can have packets.
pub fn is_provider(provider: Option<Uuid>) -> bool {
    provider.is_some_and(|provider| [PKTMON, NDISCAP].contains(&provider))
}

/// Reads the packet of an event, if it has one. `build` is the build of the Windows that wrote the trace.
pub fn read<'a>(event: &Event<'a>, schemas: &'a Schemas, build: u32) -> Read<'a> {
    let provider = event.provider();
    if !is_provider(provider) {
        return Read::None;
    }
    let Some(decoded) = event.decode(schemas) else {
        return Read::Skipped("no schema; name the manifest with --manifests".into());
    };
    match provider == Some(PKTMON) {
        true => packet_monitor(&decoded, build),
        false => ndiscap(event, &decoded),
    }
}

/// The maximum number of characters of a text.
const LONGEST: usize = 256;

/// A text of an event, without control characters.
pub fn text(value: &Value<'_>) -> String {
    let text: String = value.text().into_iter().flat_map(|text| text.chars()).take(LONGEST).collect();
    Escaped(&text).to_string()
}

fn has(decoded: &Decoded<'_>, field: &str) -> bool {
    decoded.schema.fields.iter().any(|own| own.name == field)
}

/// The error for a payload that ends before the packet.
fn short() -> Read<'static> {
    Read::Skipped("truncated or corrupt payload".into())
}

/// Names of PKTMON_DIRECTION_TAG.
const TAGS: [(&str, Option<Direction>); 7] = [
    ("Unspecified", None),
    ("In", Some(Direction::Inbound)),
    ("Out", Some(Direction::Outbound)),
    ("Rx", Some(Direction::Inbound)),
    ("Tx", Some(Direction::Outbound)),
    ("Ingress", Some(Direction::Inbound)),
    ("Egress", Some(Direction::Outbound)),
];

/// Names of PKTMON_PACKET_TYPE. Packets of types without a link type begin after the IP header.
const TYPES: [(&str, Option<LinkType>); 12] = [
    ("Unknown", None),
    ("Ethernet", Some(LinkType::Ethernet)),
    ("WiFi", Some(LinkType::Wifi)),
    ("IP", Some(LinkType::Ip)),
    ("HTTP", None),
    ("TCP", None),
    ("UDP", None),
    ("ARP", None),
    ("ICMP", None),
    ("ESP", None),
    ("AH", None),
    ("L4Payload", None),
];

fn packet_monitor<'a>(decoded: &Decoded<'a>, build: u32) -> Read<'a> {
    if !has(decoded, "Payload") {
        return Read::None;
    }
    let (mut data, mut original, mut component, mut packet_type, mut direction) = (None, None, None, None, None);
    let (mut reason, mut location) = (None, None);
    let mut comment = String::new();
    for value in decoded.iter() {
        let number = value.number();
        let mut put = |name: &str, number: u64| _ = write!(comment, " {name}={number}");
        match (value.name(), number) {
            ("Payload", _) => data = Some(value.bytes),
            ("OriginalPayloadSize", Some(number)) => original = u32::try_from(number).ok(),
            ("ComponentId", Some(number)) => {
                component = u16::try_from(number).ok();
                put("Component", number);
            }
            ("PacketType", number) => packet_type = number,
            ("DirTag", Some(number)) => match TAGS.get(number as usize) {
                Some((tag, known)) => {
                    direction = *known;
                    let _ = write!(comment, " Direction={tag}");
                }
                None => put("Direction", number),
            },
            ("EdgeId", Some(number)) => put("Edge", number),
            ("DropReason", number) => reason = number,
            ("DropLocation", number) => location = number,
            (name @ ("PktGroupId" | "PktNumber" | "AppearanceCount"), Some(number)) => put(name, number),
            _ => {}
        }
    }
    let (Some(data), Some(component), Some(packet_type)) = (data, component, packet_type) else { return short() };
    if reason.unwrap_or(0) != 0 || location.unwrap_or(0) != 0 {
        let (reason, location) = (reason.unwrap_or(0), location.unwrap_or(0));
        let name = u32::try_from(reason).ok().and_then(|reason| drop_reasons::name(reason, build));
        let _ = write!(comment, " DropReason={reason}");
        if let Some(name) = name {
            let _ = write!(comment, " {name}");
        }
        let _ = write!(comment, " DropLocation={location:#x}");
    }
    let link_type = match TYPES.get(packet_type as usize) {
        Some((_, Some(link_type))) => *link_type,
        Some((name, None)) => return Read::Skipped(format!("PktMon packet type {name}, without a link type in pcapng")),
        None => return Read::Skipped("unknown PktMon packet type".into()),
    };
    Read::Packet(Capture {
        data,
        part: Part::Whole,
        is_assumed: false,
        original,
        source: Source::Component(component),
        link_type,
        direction,
        comment,
    })
}

/// Keywords of ndiscap. Those for start, end, send, receive, wireless WAN and native 802.11 are in Microsoft's etl2pcapng and in
/// Wireshark's `etw_ndiscap.c`, with the same values. Both took them from the manifest.
mod keyword {
    /// One bit for each value of NDIS_MEDIUM (`ntddndis.h`), inferred from the media in the manifest.
    pub const MEDIA: u64 = 0xF_FFFF;
    pub const MEDIUM_802_3: u64 = 1;
    /// Frames of dial-up connections. They also have an Ethernet header.
    pub const MEDIUM_WAN: u64 = 1 << 3;
    pub const MEDIUM_WIRELESS_WAN: u64 = 1 << 9;
    pub const MEDIUM_NATIVE_802_11: u64 = 1 << 16;
    pub const MEDIUM_IP: u64 = 1 << 19;
    pub const PACKET_START: u64 = 1 << 30;
    pub const PACKET_END: u64 = 1 << 31;
    pub const SEND_PATH: u64 = 1 << 32;
    pub const RECEIVE_PATH: u64 = 1 << 33;
}

/// The event with packets of a virtual switch.
const SWITCH: u16 = 1003;

fn ndiscap<'a>(event: &Event<'_>, decoded: &Decoded<'a>) -> Read<'a> {
    if !has(decoded, "Fragment") {
        return match event.id() {
            Some(SWITCH) => {
                Read::Skipped("incomplete schema of a packet of a virtual switch; name the manifest with --manifests".into())
            }
            _ => Read::None,
        };
    }
    let (mut data, mut miniport, mut lower) = (None, None, None);
    let mut comment = String::new();
    for value in decoded.iter() {
        match (value.name(), value.number()) {
            ("Fragment", _) => data = Some(value.bytes),
            ("MiniportIfIndex", number) => miniport = number.and_then(|number| u32::try_from(number).ok()),
            ("LowerIfIndex", number) => lower = number.and_then(|number| u32::try_from(number).ok()),
            (name @ ("SourcePortId" | "SourcePortName" | "SourceNicName"), _) => {
                let _ = write!(comment, " {name}={}", text(&value));
            }
            _ => {}
        }
    }
    let (Some(data), Some(miniport), Some(lower)) = (data, miniport, lower) else { return short() };
    let keyword = event.keyword().unwrap_or(0);
    let is_set = |bits: u64| keyword & bits != 0;
    let link_type = if is_set(keyword::MEDIUM_802_3 | keyword::MEDIUM_WAN) || !is_set(keyword::MEDIA) {
        LinkType::Ethernet
    } else if is_set(keyword::MEDIUM_NATIVE_802_11) {
        LinkType::Wifi
    } else if is_set(keyword::MEDIUM_WIRELESS_WAN | keyword::MEDIUM_IP) {
        LinkType::Ip
    } else {
        return Read::Skipped(format!("medium {:#x} in the keyword, with an unknown link type", keyword & keyword::MEDIA));
    };
    let direction = match (is_set(keyword::RECEIVE_PATH), is_set(keyword::SEND_PATH)) {
        (true, false) => Some(Direction::Inbound),
        (false, true) => Some(Direction::Outbound),
        _ => None,
    };
    // Some events have only the keywords of the manifest, which state neither the medium nor start and end.
    let is_plain =
        !is_set(keyword::MEDIA | keyword::PACKET_START | keyword::PACKET_END | keyword::SEND_PATH | keyword::RECEIVE_PATH);
    let part = match (is_set(keyword::PACKET_START), is_set(keyword::PACKET_END)) {
        (false, false) if !is_plain => Part::Middle,
        (true, true) | (false, false) => Part::Whole,
        (true, false) => Part::Start,
        (false, true) => Part::End,
    };
    let name = direction.map(|direction| if direction == Direction::Inbound { "Receive" } else { "Send" });
    let mut all = format!(" MiniportIfIndex={miniport} LowerIfIndex={lower}{comment}");
    if let Some(name) = name {
        let _ = write!(all, " Direction={name}");
    }
    if is_plain {
        all += " Assumed=Ethernet";
    }
    let source = Source::Interface { miniport, lower };
    Read::Packet(Capture { data, part, is_assumed: is_plain, original: None, source, link_type, direction, comment: all })
}
