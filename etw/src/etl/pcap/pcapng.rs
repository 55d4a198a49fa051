//! Writes the blocks of a pcapng file: section header, interface descriptions, enhanced packets.

use etw_layouts_etl::FileTime;
use std::io::{self, Write};

/// Names and values of the pcapng specification (draft-ietf-opsawg-pcapng).
mod code {
    pub const SECTION: u32 = 0x0A0D_0D0A;
    pub const INTERFACE: u32 = 1;
    pub const PACKET: u32 = 6;
    pub const BYTE_ORDER: u32 = 0x1A2B_3C4D;
    pub const END_OF_OPTIONS: u16 = 0;
    pub const COMMENT: u16 = 1;
    pub const SHB_USERAPPL: u16 = 4;
    pub const IF_NAME: u16 = 2;
    pub const IF_DESCRIPTION: u16 = 3;
    pub const IF_TSRESOL: u16 = 9;
    pub const IF_OS: u16 = 12;
    pub const EPB_FLAGS: u16 = 2;
}

/// The unit of time is 10^-9 seconds. ETW needs only 10^-7, but with that unit Wireshark 4.0 shows 6 of 7 digits.
const RESOLUTION: u8 = 9;

/// The type of the first header of a packet, with its number in pcapng.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    Ethernet = 1,
    /// IPv4 or IPv6, without another header.
    Ip = 101,
    Wifi = 105,
}

/// The direction of a packet, with its number in pcapng.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// A source of packets.
#[derive(PartialEq, Eq, Hash)]
pub struct Interface {
    pub link_type: LinkType,
    pub name: String,
    /// Empty if unknown.
    pub description: String,
    /// The operating system of the interface.
    pub os: String,
}

/// A packet.
pub struct Packet<'a> {
    /// The number of the interface.
    pub interface: u32,
    /// In units of 100 ns since 1601.
    pub time: i64,
    pub data: &'a [u8],
    /// The length of the packet before it was truncated.
    pub original: u32,
    pub direction: Option<Direction>,
    pub comment: &'a str,
}

/// A pcapng file.
pub struct Pcapng<W> {
    out: W,
    interfaces: u32,
    body: Vec<u8>,
}

impl<W: Write> Pcapng<W> {
    /// Begins the file with a section header.
    pub fn new(out: W) -> io::Result<Self> {
        let mut new = Self { out, interfaces: 0, body: Vec::new() };
        new.number(code::BYTE_ORDER);
        // Version 1.0, and an unspecified section length.
        new.body.extend_from_slice(&[1, 0, 0, 0]);
        new.body.extend_from_slice(&u64::MAX.to_le_bytes());
        new.option(code::SHB_USERAPPL, concat!("etw ", env!("CARGO_PKG_VERSION")).as_bytes());
        new.end_options();
        new.block(code::SECTION)?;
        Ok(new)
    }

    /// Describes an interface; returns its number.
    pub fn interface(&mut self, interface: &Interface) -> io::Result<u32> {
        // The link type with two reserved bytes, and the maximum packet length; 0 means no limit.
        self.number(interface.link_type as u32);
        self.number(0);
        for (option, text) in
            [(code::IF_NAME, &interface.name), (code::IF_DESCRIPTION, &interface.description), (code::IF_OS, &interface.os)]
        {
            if !text.is_empty() {
                self.option(option, text.as_bytes());
            }
        }
        self.option(code::IF_TSRESOL, &[RESOLUTION]);
        self.end_options();
        self.block(code::INTERFACE)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let time = u64::try_from(packet.time.saturating_sub(FileTime::UNIX_EPOCH.0)).unwrap_or(0).saturating_mul(100);
        let captured = u32::try_from(packet.data.len()).map_err(|_| io::Error::other("packet of 4 GiB"))?;
        for number in [packet.interface, (time >> 32) as u32, time as u32, captured, packet.original] {
            self.number(number);
        }
        self.padded(packet.data);
        if !packet.comment.is_empty() {
            self.option(code::COMMENT, packet.comment.as_bytes());
        }
        if let Some(direction) = packet.direction {
            self.option(code::EPB_FLAGS, &(direction as u32).to_le_bytes());
        }
        self.end_options();
        self.block(code::PACKET)
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn number(&mut self, number: u32) {
        self.body.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds bytes, and zeros up to the next multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Adds an option. All texts are shorter than the limit of 65,535 bytes; a longer one would be left out.
    fn option(&mut self, code: u16, value: &[u8]) {
        if let Ok(length) = u16::try_from(value.len()) {
            self.body.extend_from_slice(&code.to_le_bytes());
            self.body.extend_from_slice(&length.to_le_bytes());
            self.padded(value);
        }
    }

    fn end_options(&mut self) {
        self.option(code::END_OF_OPTIONS, &[]);
    }

    /// Writes a block, with its length at both ends.
    fn block(&mut self, code: u32) -> io::Result<()> {
        let length = u32::try_from(self.body.len() + 12).map_err(|_| io::Error::other("block of 4 GiB"))?;
        for number in [code, length] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(&self.body)?;
        self.body.clear();
        self.out.write_all(&length.to_le_bytes())
    }
}
