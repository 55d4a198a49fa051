//! Arguments of a WPP message and their types.

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WppArgument {
    /// The number of the argument in the format, from 10.
    pub number: u16,
    /// Expression in the source.
    pub name: String,
    /// Type.
    pub ty: WppType,
}

/// Type of an argument. The names in TMF files begin with `Item`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WppType {
    /// Integer of 1, 2, 4 or 8 bytes: ItemChar, ItemShort, ItemLong, ItemULongLong and others.
    Integer {
        /// Size in bytes.
        size: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// Pointer or size: ItemPtr.
    Pointer,
    /// ItemDouble.
    Double,
    /// Zero-terminated bytes: ItemString.
    String,
    /// Zero-terminated UTF-16: ItemWString.
    WideString,
    /// Number of bytes in 16 bits, then the bytes of a string: ItemPString.
    CountedString,
    /// Number of bytes in 16 bits, then a string in UTF-16: ItemPWString.
    CountedWideString,
    /// Number of bytes in 16 bits, then bytes that are shown in hexadecimal: ItemHEXDump.
    HexDump,
    /// ItemGuid, ItemCLSID, ItemIID, ItemLIBID.
    Guid,
    /// Time in units of 100 ns since 1601: ItemTimestamp.
    Timestamp,
    /// Duration in units of 100 ns: ItemTimeDelta, ItemWaitTime.
    Duration,
    /// Status of 32 bits, shown in hexadecimal with its name: ItemNTSTATUS.
    Ntstatus,
    /// Number of 32 bits, shown in hexadecimal: ItemHRESULT, ItemWINERROR, ItemNDIS_STATUS, ItemNDIS_OID.
    Status,
    /// IPv4 address: ItemIPAddr.
    Ipv4,
    /// IPv6 address: ItemIPV6Addr.
    Ipv6,
    /// Port in network byte order: ItemPort.
    Port,
    /// Address of an adapter, 6 bytes: ItemMACAddr.
    Mac,
    /// Security identifier: ItemSid.
    Sid,
    /// A value with names: ItemListByte, ItemListShort, ItemListLong.
    List {
        /// Size in bytes.
        size: u8,
        /// Numbers with their names.
        names: Vec<(u32, String)>,
    },
    /// Bits with names: ItemSetByte, ItemSetShort, ItemSetLong.
    Set {
        /// Size in bytes.
        size: u8,
        /// Numbers of bits, from 0 for the lowest, with their names.
        names: Vec<(u32, String)>,
    },
    /// Another type, of unknown size.
    Unknown(String),
}

impl WppType {
    /// The type with a name such as `ItemLong` or `ItemListByte(no,yes)`.
    pub fn named(text: &str) -> Self {
        let (name, list) = match text.split_once('(') {
            Some((name, list)) => (name.trim(), list.trim_end().strip_suffix(')').unwrap_or(list)),
            None => (text.trim(), ""),
        };
        let names = || self::names(list);
        let integer = |size, signed| Self::Integer { size, signed };
        match name {
            "ItemChar" | "ItemCharSign" => integer(1, true),
            "ItemUChar" | "ItemCharShort" | "ItemByte" | "ItemBoolean" => integer(1, false),
            "ItemShort" => integer(2, true),
            "ItemUShort" | "ItemWChar" => integer(2, false),
            "ItemLong" | "ItemInt" | "ItemBool" | "ItemEnum" => integer(4, true),
            "ItemULong" | "ItemULongX" | "ItemUInt" => integer(4, false),
            "ItemLongLong" | "ItemLongLongO" => integer(8, true),
            "ItemULongLong" | "ItemLongLongX" | "ItemLongLongXX" | "ItemULongLongX" => integer(8, false),
            "ItemPtr" => Self::Pointer,
            "ItemDouble" => Self::Double,
            "ItemString" | "ItemRString" | "ItemMLString" => Self::String,
            "ItemWString" | "ItemRWString" => Self::WideString,
            "ItemPString" => Self::CountedString,
            "ItemPWString" => Self::CountedWideString,
            "ItemHEXDump" => Self::HexDump,
            "ItemGuid" | "ItemGUID" | "ItemCLSID" | "ItemIID" | "ItemLIBID" => Self::Guid,
            "ItemTimestamp" => Self::Timestamp,
            "ItemTimeDelta" | "ItemWaitTime" | "ItemDueTime" => Self::Duration,
            "ItemNTSTATUS" | "ItemNTerror" => Self::Ntstatus,
            "ItemHRESULT" | "ItemWINERROR" | "ItemNDIS_STATUS" | "ItemNDIS_OID" => Self::Status,
            "ItemIPAddr" => Self::Ipv4,
            "ItemIPV6Addr" => Self::Ipv6,
            "ItemPort" => Self::Port,
            "ItemMACAddr" => Self::Mac,
            "ItemSid" => Self::Sid,
            "ItemListByte" => Self::List { size: 1, names: names() },
            "ItemListShort" => Self::List { size: 2, names: names() },
            "ItemListLong" => Self::List { size: 4, names: names() },
            "ItemSetByte" => Self::Set { size: 1, names: names() },
            "ItemSetShort" => Self::Set { size: 2, names: names() },
            "ItemSetLong" => Self::Set { size: 4, names: names() },
            _ => Self::Unknown(text.trim().to_owned()),
        }
    }
}

/// Names with their numbers: each has the next number after the name before, unless it states its own (`NAME=5`), as in an enumeration of C.
fn names(list: &str) -> Vec<(u32, String)> {
    let mut next = 0_u32;
    let named = |text: &str| {
        let stated = text.split_once('=').and_then(|(name, number)| Some((number.trim().parse().ok()?, name.trim())));
        let (number, name) = stated.unwrap_or((next, text.trim()));
        next = number.wrapping_add(1);
        (number, name.to_owned())
    };
    list.split(',').map(named).collect()
}
