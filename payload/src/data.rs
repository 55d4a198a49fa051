//! Decoded values.

use crate::file_time::FileTime;
use crate::text::Text;
use crate::types::{InType, OutType};
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use uuid::Uuid;

/// The decoded value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Data<'a> {
    /// No value: a SID that the payload omits.
    Absent,
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// An integer that is displayed in hexadecimal, such as an address or a status code.
    Hexadecimal(u64),
    Float(f32),
    Double(f64),
    Boolean(bool),
    Text(Text<'a>),
    /// Bytes of unknown meaning, or bytes that are invalid for their type.
    Binary(&'a [u8]),
    Guid(Uuid),
    /// System time in units of 100 ns since 1601, UTC.
    FileTime(i64),
    SystemTime(SystemTime),
    /// Time in ticks of the clock of the trace.
    Ticks(i64),
    /// A security identifier.
    Sid(Sid<'a>),
    Ipv4(Ipv4Addr),
    Ipv6(Ipv6Addr),
    /// An address and a port.
    Socket(SocketAddr),
}

/// A security identifier, displayed as `S-1-5-18`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sid<'a>(&'a [u8]);

/// A SYSTEMTIME, without its day of the week.
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

/// The unsigned integer in the first eight bytes, or fewer.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// Whether values of a type are integers.
pub(crate) const fn is_number(in_type: InType) -> bool {
    matches!(in_type.0, 3..=10 | 13 | 16 | 17 | 20 | 21)
        || matches!(in_type, InType::UNICODECHAR | InType::ANSICHAR | InType::SIZET)
}

impl<'a> Data<'a> {
    /// Decodes the bytes of a value. `has_length` is true if its field states a length.
    #[inline(always)]
    pub(crate) fn of((in_type, out): (InType, OutType), bytes: &'a [u8], has_length: bool) -> Self {
        // The types of most fields.
        match (in_type, out) {
            (
                InType::UINT8 | InType::UINT16 | InType::UINT32 | InType::UINT64 | InType::SIZET,
                OutType::NULL | OutType::PID | OutType::TID,
            ) => Self::Unsigned(number(bytes)),
            (InType::UINT32, OutType::HEXINT32) | (InType::POINTER, OutType::NULL) => Self::Hexadecimal(number(bytes)),
            (InType::INT8 | InType::INT16 | InType::INT32 | InType::INT64, OutType::NULL) => {
                Self::Signed(signed(number(bytes), bytes.len()))
            }
            _ => other(in_type, out, bytes, has_length),
        }
    }
}

/// Decodes an integer, a character or a pointer.
fn integer<'a>(in_type: InType, out: OutType, bytes: &'a [u8]) -> Data<'a> {
    let number = number(bytes);
    match (in_type, out) {
        (InType::INT8 | InType::UINT8, OutType::STRING) => Data::Text(Text::Cp1252(bytes)),
        (InType::UINT16, OutType::STRING) => Data::Text(Text::Utf16(bytes)),
        (InType::UINT8 | InType::UINT16 | InType::UINT32, OutType::BOOLEAN) => boolean(number),
        (InType::UINT16, OutType::PORT) => Data::Unsigned((number as u16).swap_bytes().into()),
        (InType::UINT32, OutType::IPV4) => Data::Ipv4((number as u32).to_le_bytes().into()),
        (InType::INT64 | InType::UINT64, OutType::ETWTIME) => Data::Ticks(number as i64),
        (
            InType::INT64 | InType::UINT64,
            OutType::DATETIME | OutType::DATETIME_UTC | OutType::CULTURE_INSENSITIVE_DATETIME | OutType::CIMDATETIME,
        ) => Data::FileTime(number as i64),
        (
            InType::INT8 | InType::INT16 | InType::INT32 | InType::INT64,
            OutType::HEXINT8 | OutType::HEXINT16 | OutType::HEXINT32 | OutType::HEXINT64 | OutType::HRESULT | OutType::NTSTATUS,
        ) => Data::Hexadecimal(number),
        (InType::POINTER, OutType::BYTE | OutType::SHORT | OutType::INT | OutType::LONG) => {
            Data::Signed(signed(number, bytes.len()))
        }
        (
            InType::POINTER,
            OutType::UNSIGNEDBYTE
            | OutType::UNSIGNEDSHORT
            | OutType::UNSIGNEDINT
            | OutType::UNSIGNEDLONG
            | OutType::PID
            | OutType::TID,
        ) => Data::Unsigned(number),
        (InType::POINTER, _) => Data::Hexadecimal(number),
        (InType::INT8 | InType::INT16 | InType::INT32 | InType::INT64, _) => Data::Signed(signed(number, bytes.len())),
        _ => unsigned(out, number),
    }
}

/// Extends the sign of an integer of `length` bytes.
fn signed(number: u64, length: usize) -> i64 {
    match length {
        1 => (number as i8).into(),
        2 => (number as i16).into(),
        4 => (number as i32).into(),
        _ => number as i64,
    }
}

fn unsigned<'a>(out: OutType, number: u64) -> Data<'a> {
    match out {
        OutType::HEXBINARY
        | OutType::HEXINT8
        | OutType::HEXINT16
        | OutType::HEXINT32
        | OutType::HEXINT64
        | OutType::NTSTATUS
        | OutType::HRESULT
        | OutType::ERRORCODE
        | OutType::CODE_POINTER => Data::Hexadecimal(number),
        _ => Data::Unsigned(number),
    }
}

fn boolean<'a>(number: u64) -> Data<'a> {
    match number {
        0 => Data::Boolean(false),
        1 => Data::Boolean(true),
        _ => Data::Unsigned(number),
    }
}

/// Decodes values of less frequent types.
#[inline(never)]
fn other<'a>(in_type: InType, out: OutType, bytes: &'a [u8], has_length: bool) -> Data<'a> {
    match (in_type, out) {
        (InType(3..=10 | 16), _) => integer(in_type, out, bytes),
        (InType::BOOLEAN, _) => boolean(number(bytes)),
        (InType::HEXINT32 | InType::HEXINT64, _) => Data::Hexadecimal(number(bytes)),
        (InType::SIZET, _) => unsigned(out, number(bytes)),
        (InType::FLOAT, _) => Data::Float(f32::from_bits(number(bytes) as u32)),
        (InType::DOUBLE, _) => Data::Double(f64::from_bits(number(bytes))),
        (InType::GUID, _) => bytes.first_chunk().map_or(Data::Binary(bytes), |bytes| Data::Guid(Uuid::from_bytes_le(*bytes))),
        (InType::FILETIME, OutType::ETWTIME) => Data::Ticks(number(bytes) as i64),
        (InType::FILETIME, _) => Data::FileTime(number(bytes) as i64),
        (InType::SYSTEMTIME, _) => SystemTime::read(bytes).map_or(Data::Binary(bytes), Data::SystemTime),
        (InType::WBEMSID, _) if bytes.is_empty() => Data::Absent,
        (InType::SID | InType::WBEMSID, _) => Data::Sid(Sid(bytes)),
        (InType::UNICODECHAR, _) => Data::Text(Text::fixed_utf16(bytes)),
        (InType::ANSICHAR, _) => Data::Text(Text::Cp1252(part(bytes))),
        (
            InType::UNICODESTRING
            | InType::MANIFEST_COUNTEDSTRING
            | InType::COUNTEDSTRING
            | InType::REVERSEDCOUNTEDSTRING
            | InType::NONNULLTERMINATEDSTRING,
            _,
        ) => Data::Text(if has_length { Text::fixed_utf16(bytes) } else { Text::Utf16(bytes) }),
        (
            InType::ANSISTRING
            | InType::MANIFEST_COUNTEDANSISTRING
            | InType::COUNTEDANSISTRING
            | InType::REVERSEDCOUNTEDANSISTRING
            | InType::NONNULLTERMINATEDANSISTRING,
            _,
        ) => {
            let part = if has_length { part(bytes) } else { bytes };
            match out {
                OutType::UTF8 | OutType::XML | OutType::JSON => Data::Text(Text::Utf8(part)),
                _ => Data::Text(Text::Cp1252(part)),
            }
        }
        (_, OutType::IPV6) => bytes.try_into().map_or(Data::Binary(bytes), |bytes: [u8; 16]| Data::Ipv6(bytes.into())),
        (_, OutType::SOCKETADDRESS) => socket(bytes).map_or(Data::Binary(bytes), Data::Socket),
        _ => Data::Binary(bytes),
    }
}

/// The bytes without zero bytes at their end. Zeros before other characters are part of the text.
fn part(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)]
}

/// Decodes the `sockaddr_in` or `sockaddr_in6` at the start of the bytes, which can be longer, such as a SOCKADDR_STORAGE. Padding has no meaning and can
/// have any value.
fn socket(bytes: &[u8]) -> Option<SocketAddr> {
    const INET: u16 = 2;
    const INET6: u16 = 23;
    let (&[a, b, c, d], rest) = bytes.split_first_chunk()?;
    let (family, port) = (u16::from_le_bytes([a, b]), u16::from_be_bytes([c, d]));
    match (family, rest) {
        (INET, [a, b, c, d, ..]) => Some((Ipv4Addr::new(*a, *b, *c, *d), port).into()),
        (INET6, rest) => {
            let (flow, rest) = rest.split_first_chunk()?;
            let (address, rest) = rest.split_first_chunk::<16>()?;
            let scope = u32::from_le_bytes(*rest.first_chunk()?);
            Some(SocketAddrV6::new((*address).into(), port, u32::from_be_bytes(*flow), scope).into())
        }
        _ => None,
    }
}

impl SystemTime {
    /// Reads the 16 bytes of a SYSTEMTIME; `None` if they are not a valid time.
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 16] = bytes.try_into().ok()?;
        let word = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
        // Index 2 is the day of the week.
        let [year, month, day, hour, minute, second, milliseconds] = [0, 1, 3, 4, 5, 6, 7].map(word);
        let is_time = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
        (is_time && milliseconds < 1000).then_some(Self { year, month, day, hour, minute, second, milliseconds })
    }
}

impl<'a> Sid<'a> {
    /// The bytes of the SID in the payload.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Displays the value: [`Hexadecimal`](Self::Hexadecimal) as `0x1f`, times in the form of RFC 3339, bytes as `0x0102`, and an absent value as
/// an empty text.
impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Signed(number) | Self::Ticks(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::Hexadecimal(number) => write!(f, "{number:#x}"),
            Self::Float(number) => number.fmt(f),
            Self::Double(number) => number.fmt(f),
            Self::Boolean(is) => is.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Binary(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Guid(guid) => guid.fmt(f),
            Self::FileTime(time) => FileTime(*time).rfc3339().fmt(f),
            Self::SystemTime(time) => time.fmt(f),
            Self::Sid(sid) => sid.fmt(f),
            Self::Ipv4(address) => address.fmt(f),
            Self::Ipv6(address) => address.fmt(f),
            Self::Socket(address) => address.fmt(f),
        }
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
