//! Types of TraceLogging. Some of their numbers differ from those of TDH.

use crate::types::{InType, OutType};

/// The TraceLogging name of an encoding, without its prefix `TlgIn`; `None` if TraceLogging has no such encoding.
pub fn in_name(in_type: InType) -> Option<&'static str> {
    Some(match in_type {
        InType::NULL => "NULL",
        InType::UNICODESTRING => "UNICODESTRING",
        InType::ANSISTRING => "ANSISTRING",
        InType::INT8 => "INT8",
        InType::UINT8 => "UINT8",
        InType::INT16 => "INT16",
        InType::UINT16 => "UINT16",
        InType::INT32 => "INT32",
        InType::UINT32 => "UINT32",
        InType::INT64 => "INT64",
        InType::UINT64 => "UINT64",
        InType::FLOAT => "FLOAT",
        InType::DOUBLE => "DOUBLE",
        InType::BOOLEAN => "BOOL32",
        InType::BINARY => "BINARY",
        InType::GUID => "GUID",
        InType::FILETIME => "FILETIME",
        InType::SYSTEMTIME => "SYSTEMTIME",
        InType::SID => "SID",
        InType::HEXINT32 => "HEXINT32",
        InType::HEXINT64 => "HEXINT64",
        InType::MANIFEST_COUNTEDSTRING => "COUNTEDSTRING",
        InType::MANIFEST_COUNTEDANSISTRING => "COUNTEDANSISTRING",
        InType::STRUCT => "STRUCT",
        InType::MANIFEST_COUNTEDBINARY => "COUNTEDBINARY",
        _ => return None,
    })
}

/// Numbers and names of TlgOut_t, with the types of TDH: one for all values, or one each for values of 8, 16, 32 and 64 bits.
const OUT: &[(u8, &str, &[OutType])] = &[
    (0, "NULL", &[OutType::NULL]),
    (1, "NOPRINT", &[OutType::NOPRINT]),
    (2, "STRING", &[OutType::STRING]),
    (3, "BOOLEAN", &[OutType::BOOLEAN]),
    (4, "HEX", &[OutType::HEXINT8, OutType::HEXINT16, OutType::HEXINT32, OutType::HEXINT64]),
    (5, "PID", &[OutType::PID]),
    (6, "TID", &[OutType::TID]),
    (7, "PORT", &[OutType::PORT]),
    (8, "IPV4", &[OutType::IPV4]),
    (9, "IPV6", &[OutType::IPV6]),
    (10, "SOCKETADDRESS", &[OutType::SOCKETADDRESS]),
    (11, "XML", &[OutType::XML]),
    (12, "JSON", &[OutType::JSON]),
    (13, "WIN32ERROR", &[OutType::WIN32ERROR]),
    (14, "NTSTATUS", &[OutType::NTSTATUS]),
    (15, "HRESULT", &[OutType::HRESULT]),
    (16, "FILETIME", &[OutType::DATETIME]),
    (17, "SIGNED", &[OutType::BYTE, OutType::SHORT, OutType::INT, OutType::LONG]),
    (18, "UNSIGNED", &[OutType::UNSIGNEDBYTE, OutType::UNSIGNEDSHORT, OutType::UNSIGNEDINT, OutType::UNSIGNEDLONG]),
    (33, "DATETIME_CULTURE_INSENSITIVE", &[OutType::CULTURE_INSENSITIVE_DATETIME]),
    (35, "UTF8", &[OutType::UTF8]),
    (36, "PKCS7_WITH_TYPE_INFO", &[OutType::PKCS7_WITH_TYPE_INFO]),
    (37, "CODE_POINTER", &[OutType::CODE_POINTER]),
    (38, "DATETIME_UTC", &[OutType::DATETIME_UTC]),
];

/// The first type for numbers that TraceLogging does not define. TDH does not use these types.
const UNKNOWN: u16 = 0x8000;

/// The type of TDH for a number of TlgOut_t.
pub(super) fn out_type(out: u8, in_type: InType) -> OutType {
    match OUT.iter().find(|(number, ..)| *number == out) {
        Some((_, _, [all])) => *all,
        Some((_, _, widths)) => {
            let width = match in_type {
                InType::INT8 | InType::UINT8 => 0,
                InType::INT16 | InType::UINT16 => 1,
                InType::INT64 | InType::UINT64 | InType::HEXINT64 => 3,
                _ => 2,
            };
            widths.get(width).copied().unwrap_or(OutType::NULL)
        }
        None => OutType(UNKNOWN | u16::from(out)),
    }
}

/// The TraceLogging name of a display format, without its prefix `TlgOut`; or its number, if it has no name.
///
/// # Errors
///
/// The number of a display format that TraceLogging does not define.
pub fn out_name(out: OutType) -> Result<&'static str, u16> {
    OUT.iter().find(|(_, _, types)| types.contains(&out)).map(|(_, name, _)| *name).ok_or(out.0 & !UNKNOWN)
}
