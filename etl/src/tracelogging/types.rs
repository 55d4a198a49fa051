//! The types of fields: how a value is encoded, and how it is to be shown.

/// How a value is encoded: TlgIn_t without flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InType(pub u8);

/// How a value is to be shown: TlgOut_t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutType(pub u8);

macro_rules! named {
    ($ty:ident, $prefix:literal: $($name:ident = $value:literal),* $(,)?) => {
        #[allow(missing_docs)]
        impl $ty {
            $(pub const $name: Self = Self($value);)*

            #[doc = concat!("Its name without the ", $prefix, " that all of them begin with, if it has one.")]
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

named!(InType, "`TlgIn`":
    NULL = 0, UNICODESTRING = 1, ANSISTRING = 2, INT8 = 3, UINT8 = 4, INT16 = 5, UINT16 = 6, INT32 = 7, UINT32 = 8, INT64 = 9,
    UINT64 = 10, FLOAT = 11, DOUBLE = 12, BOOL32 = 13, BINARY = 14, GUID = 15, FILETIME = 17, SYSTEMTIME = 18, SID = 19, HEXINT32 = 20,
    HEXINT64 = 21, COUNTEDSTRING = 22, COUNTEDANSISTRING = 23, STRUCT = 24, COUNTEDBINARY = 25,
);

named!(OutType, "`TlgOut`":
    NULL = 0, NOPRINT = 1, STRING = 2, BOOLEAN = 3, HEX = 4, PID = 5, TID = 6, PORT = 7, IPV4 = 8, IPV6 = 9, SOCKETADDRESS = 10, XML = 11,
    JSON = 12, WIN32ERROR = 13, NTSTATUS = 14, HRESULT = 15, FILETIME = 16, SIGNED = 17, UNSIGNED = 18,
    DATETIME_CULTURE_INSENSITIVE = 33, UTF8 = 35, PKCS7_WITH_TYPE_INFO = 36, CODE_POINTER = 37, DATETIME_UTC = 38,
);
