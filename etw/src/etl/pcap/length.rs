//! The length of a packet according to its IP header.

use super::pcapng::LinkType;

/// The length of a packet with its headers. `None` if it is not an IP packet, or if its header is truncated. Packets that the
/// network card splits can be longer than this.
pub fn stated(link_type: LinkType, packet: &[u8]) -> Option<usize> {
    let header = match link_type {
        LinkType::Ethernet => after_ethernet(packet)?,
        LinkType::Ip => 0,
        LinkType::Wifi => return None,
    };
    let ip = packet.get(header..)?;
    let number = |offset: usize| Some(usize::from(u16::from_be_bytes([*ip.get(offset)?, *ip.get(offset + 1)?])));
    match ip.first()? >> 4 {
        4 => Some(header + number(2)?),
        6 => Some(header + 40 + number(4)?),
        _ => None,
    }
}

/// The offset of the IP header: after two addresses, up to two VLAN tags, and the type.
fn after_ethernet(packet: &[u8]) -> Option<usize> {
    let mut offset = 12;
    loop {
        let ether_type = u16::from_be_bytes([*packet.get(offset)?, *packet.get(offset + 1)?]);
        match ether_type {
            0x0800 | 0x86DD => return Some(offset + 2),
            0x8100 | 0x88A8 if offset < 20 => offset += 4,
            _ => return None,
        }
    }
}
