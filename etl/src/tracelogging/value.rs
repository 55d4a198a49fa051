//! A value of a field.

use super::schema::{Count, Field};
use super::types::{InType, OutType};
use crate::guid::Guid;
use crate::wire::{GUID, view};
use std::fmt::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A value: its bytes, and what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value<'a> {
    /// Its bytes in the payload, without a length before it and without a zero behind it.
    pub bytes: &'a [u8],
    /// What they mean. Where bytes do not have the meaning that their type gives them, they are [`Data::Binary`].
    pub data: Data<'a>,
}

/// What a value means.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Data<'a> {
    /// A number.
    Signed(i64),
    /// A number.
    Unsigned(u64),
    /// A number that is to be shown in hexadecimal digits.
    Hexadecimal(u64),
    Float(f32),
    Double(f64),
    Boolean(bool),
    Text(Text<'a>),
    /// Bytes without a meaning that is known.
    Binary(&'a [u8]),
    Guid(Guid),
    /// System time, in units of 100 ns since 1601.
    FileTime(i64),
    SystemTime(SystemTime),
    /// A security identifier.
    Sid(Sid<'a>),
    Ipv4(Ipv4Addr),
    Ipv6(Ipv6Addr),
    /// An address and a port.
    Socket(std::net::SocketAddr),
}

/// A text, whose characters are decoded as they are asked for. All of them are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// UTF-8.
    Utf8(&'a str),
    /// UTF-16, little-endian.
    Utf16(&'a [u8]),
    /// The code page 1252.
    Cp1252(&'a [u8]),
}

/// A SID, shown as `S-1-5-18`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sid<'a>(&'a [u8]);

/// A SYSTEMTIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SystemTime {
    pub year: u16,
    pub month: u16,
    pub day: u16,
    pub hour: u16,
    pub minute: u16,
    pub second: u16,
    pub milliseconds: u16,
}

impl<'a> Value<'a> {
    /// The value at the start of bytes, and how many of them it takes; `None` if they end before.
    pub(super) fn read(field: &Field<'a>, rest: &'a [u8]) -> Option<(Self, usize)> {
        if let Count::Custom(_) = field.count {
            let bytes = counted(rest)?;
            return Some((Self { bytes, data: Data::Binary(bytes) }, 2 + bytes.len()));
        }
        let (bytes, size) = match field.in_type {
            InType::UNICODESTRING => {
                let length = 2 * rest.chunks_exact(2).position(|unit| unit == [0, 0])?;
                (&rest[..length], length + 2)
            }
            InType::ANSISTRING => {
                let length = rest.iter().position(|byte| *byte == 0)?;
                (&rest[..length], length + 1)
            }
            InType::COUNTEDSTRING | InType::COUNTEDANSISTRING | InType::BINARY | InType::COUNTEDBINARY => {
                let bytes = counted(rest)?;
                (bytes, 2 + bytes.len())
            }
            InType::SID => {
                let size = 8 + 4 * usize::from(*rest.get(1)?);
                (rest.get(..size)?, size)
            }
            ty => {
                let size = match ty {
                    InType::INT8 | InType::UINT8 => 1,
                    InType::INT16 | InType::UINT16 => 2,
                    InType::INT32 | InType::UINT32 | InType::HEXINT32 | InType::FLOAT | InType::BOOL32 => 4,
                    InType::GUID | InType::SYSTEMTIME => 16,
                    _ => 8,
                };
                (rest.get(..size)?, size)
            }
        };
        Some((Self { bytes, data: Data::of(field.in_type, field.out_type, bytes) }, size))
    }
}

impl<'a> Value<'a> {
    /// The size of a character, if the field has one or an array of them.
    pub(super) fn character(field: &Field<'_>) -> Option<usize> {
        match (field.in_type, field.out_type) {
            (InType::INT8 | InType::UINT8, OutType::STRING) => Some(1),
            (InType::UINT16, OutType::STRING) => Some(2),
            _ => None,
        }
    }

    /// The text that an array of characters is.
    pub(super) fn characters(field: &Field<'_>, bytes: &'a [u8]) -> Self {
        Self { bytes, data: Data::of(field.in_type, field.out_type, bytes) }
    }
}

/// Bytes behind a word that says how many they are.
fn counted(rest: &[u8]) -> Option<&[u8]> {
    let (length, rest) = rest.split_first_chunk()?;
    rest.get(..u16::from_le_bytes(*length).into())
}

impl<'a> Data<'a> {
    /// What bytes mean that have the size of their type.
    fn of(in_type: InType, out: OutType, bytes: &'a [u8]) -> Self {
        let number = bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let text = |text: Text<'a>| if text.is_valid() { Self::Text(text) } else { Self::Binary(bytes) };
        let unsigned = || match out {
            OutType::HEX | OutType::NTSTATUS | OutType::HRESULT | OutType::CODE_POINTER => Self::Hexadecimal(number),
            _ => Self::Unsigned(number),
        };
        match (in_type, out) {
            (InType::INT8 | InType::UINT8, OutType::STRING) => text(Text::Cp1252(bytes)),
            (InType::UINT16, OutType::STRING) => text(Text::Utf16(bytes)),
            (InType::UINT8 | InType::BOOL32, OutType::BOOLEAN) | (InType::BOOL32, _) => match number {
                0 => Self::Boolean(false),
                1 => Self::Boolean(true),
                _ => Self::Unsigned(number),
            },
            (InType::UINT16, OutType::PORT) => Self::Unsigned(u64::from((number as u16).swap_bytes())),
            (InType::UINT32, OutType::IPV4) => Self::Ipv4((number as u32).to_le_bytes().into()),
            (InType::INT32, OutType::HRESULT) => Self::Hexadecimal(number),
            (InType::INT8, _) => Self::Signed((number as i8).into()),
            (InType::INT16, _) => Self::Signed((number as i16).into()),
            (InType::INT32, _) => Self::Signed((number as i32).into()),
            (InType::INT64, _) => Self::Signed(number as i64),
            (InType::UINT8 | InType::UINT16 | InType::UINT32 | InType::UINT64, _) => unsigned(),
            (InType::HEXINT32 | InType::HEXINT64, _) => Self::Hexadecimal(number),
            (InType::FLOAT, _) => Self::Float(f32::from_bits(number as u32)),
            (InType::DOUBLE, _) => Self::Double(f64::from_bits(number)),
            (InType::GUID, _) => Self::Guid(view::<GUID>(bytes).into()),
            (InType::FILETIME, _) => Self::FileTime(number as i64),
            (InType::SYSTEMTIME, _) => SystemTime::read(bytes).map_or(Self::Binary(bytes), Self::SystemTime),
            (InType::SID, _) => Self::Sid(Sid(bytes)),
            (InType::UNICODESTRING | InType::COUNTEDSTRING, _) => text(Text::Utf16(bytes)),
            (InType::ANSISTRING | InType::COUNTEDANSISTRING, OutType::UTF8 | OutType::XML | OutType::JSON) => {
                std::str::from_utf8(bytes).map_or(Self::Binary(bytes), |utf8| Self::Text(Text::Utf8(utf8)))
            }
            (InType::ANSISTRING | InType::COUNTEDANSISTRING, _) => text(Text::Cp1252(bytes)),
            (_, OutType::IPV6) => bytes.try_into().map_or(Self::Binary(bytes), |bytes: [u8; 16]| Self::Ipv6(bytes.into())),
            (_, OutType::SOCKETADDRESS) => socket(bytes).map_or(Self::Binary(bytes), Self::Socket),
            _ => Self::Binary(bytes),
        }
    }
}

/// A sockaddr_in or sockaddr_in6, of nothing but an address and a port.
fn socket(bytes: &[u8]) -> Option<std::net::SocketAddr> {
    const INET: u16 = 2;
    const INET6: u16 = 23;
    let (&[a, b, c, d], rest) = bytes.split_first_chunk()?;
    let (family, port) = (u16::from_le_bytes([a, b]), u16::from_be_bytes([c, d]));
    match (family, rest) {
        (INET, [a, b, c, d, zeroes @ ..]) if zeroes.iter().all(|byte| *byte == 0) => {
            Some((Ipv4Addr::new(*a, *b, *c, *d), port).into())
        }
        (INET6, [0, 0, 0, 0, rest @ ..]) => {
            let (address, scope) = rest.split_first_chunk::<16>()?;
            let scope: [u8; 4] = scope.try_into().ok()?;
            Some(std::net::SocketAddrV6::new((*address).into(), port, 0, u32::from_le_bytes(scope)).into())
        }
        _ => None,
    }
}

impl SystemTime {
    /// The time in such bytes; `None` if it is none.
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 16] = bytes.try_into().ok()?;
        let word = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
        // Between them is the day of the week.
        let [year, month, day, hour, minute, second, milliseconds] = [0, 1, 3, 4, 5, 6, 7].map(word);
        let is_time = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
        (is_time && milliseconds < 1000).then_some(Self { year, month, day, hour, minute, second, milliseconds })
    }
}

impl<'a> Text<'a> {
    /// Its characters.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        // One of the three is the text, the others are empty.
        let (utf8, utf16, bytes): (&str, &[u8], &[u8]) = match self {
            Self::Utf8(utf8) => (utf8, &[], &[]),
            Self::Utf16(utf16) => ("", utf16, &[]),
            Self::Cp1252(bytes) => ("", &[], bytes),
        };
        utf8.chars()
            .chain(units(utf16).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)))
            .chain(bytes.iter().map(|byte| cp1252(*byte)))
    }

    fn is_valid(self) -> bool {
        match self {
            Self::Utf16(bytes) => bytes.len() % 2 == 0 && units(bytes).all(|unit| unit.is_ok()),
            Self::Utf8(_) | Self::Cp1252(_) => true,
        }
    }
}

fn units(bytes: &[u8]) -> impl Iterator<Item = Result<char, std::char::DecodeUtf16Error>> {
    char::decode_utf16(bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])))
}

/// A character of the code page 1252. The five that it does not define are control characters, as Windows has them.
fn cp1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’', '“',
        '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..0xA0 => HIGH[usize::from(byte) - 0x80],
        _ => byte.into(),
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|character| f.write_char(character))
    }
}

impl fmt::Display for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, milliseconds } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
    }
}

impl fmt::Display for Sid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((&[revision, _, authority @ ..], parts)) = self.0.split_first_chunk::<8>() else { return Ok(()) };
        write!(f, "S-{revision}-{}", authority.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))?;
        parts.chunks_exact(4).try_for_each(|part| write!(f, "-{}", u32::from_le_bytes([part[0], part[1], part[2], part[3]])))
    }
}
