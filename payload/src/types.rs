//! Types of fields, with the numbers of Microsoft's Trace Data Helper (TDH).

/// Encoding of a value: TDH_INTYPE_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InType(pub u16);

/// Display format of a value: TDH_OUTTYPE_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutType(pub u16);

macro_rules! named {
    ($ty:ident: $($constant:ident = $value:literal $name:literal),* $(,)?) => {
        #[allow(missing_docs)]
        impl $ty {
            $(pub const $constant: Self = Self($value);)*

            /// The name in manifests, without `win:` or `xs:`; `None` for a number without one.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$constant => Some($name),)*
                    _ => None,
                }
            }

            /// The type with this name in manifests.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$constant),)*
                    _ => None,
                }
            }
        }
    };
}

named!(InType:
    NULL = 0 "Null", UNICODESTRING = 1 "UnicodeString", ANSISTRING = 2 "AnsiString", INT8 = 3 "Int8", UINT8 = 4 "UInt8",
    INT16 = 5 "Int16", UINT16 = 6 "UInt16", INT32 = 7 "Int32", UINT32 = 8 "UInt32", INT64 = 9 "Int64", UINT64 = 10 "UInt64",
    FLOAT = 11 "Float", DOUBLE = 12 "Double", BOOLEAN = 13 "Boolean", BINARY = 14 "Binary", GUID = 15 "GUID", POINTER = 16 "Pointer",
    FILETIME = 17 "FILETIME", SYSTEMTIME = 18 "SYSTEMTIME", SID = 19 "SID", HEXINT32 = 20 "HexInt32", HEXINT64 = 21 "HexInt64",
    MANIFEST_COUNTEDSTRING = 22 "CountedUnicodeString", MANIFEST_COUNTEDANSISTRING = 23 "CountedAnsiString16", STRUCT = 24 "Struct",
    MANIFEST_COUNTEDBINARY = 25 "CountedBinary", COUNTEDSTRING = 300 "CountedString", COUNTEDANSISTRING = 301 "CountedAnsiString",
    REVERSEDCOUNTEDSTRING = 302 "ReversedCountedString", REVERSEDCOUNTEDANSISTRING = 303 "ReversedCountedAnsiString",
    NONNULLTERMINATEDSTRING = 304 "NonNullTerminatedString", NONNULLTERMINATEDANSISTRING = 305 "NonNullTerminatedAnsiString",
    UNICODECHAR = 306 "UnicodeChar", ANSICHAR = 307 "AnsiChar", SIZET = 308 "SizeT", HEXDUMP = 309 "HexDump", WBEMSID = 310 "WbemSid",
);

named!(OutType:
    NULL = 0 "Null", STRING = 1 "String", DATETIME = 2 "DateTime", BYTE = 3 "Byte", UNSIGNEDBYTE = 4 "UnsignedByte", SHORT = 5 "Short",
    UNSIGNEDSHORT = 6 "UnsignedShort", INT = 7 "Int", UNSIGNEDINT = 8 "UnsignedInt", LONG = 9 "Long", UNSIGNEDLONG = 10 "UnsignedLong",
    FLOAT = 11 "Float", DOUBLE = 12 "Double", BOOLEAN = 13 "Boolean", GUID = 14 "GUID", HEXBINARY = 15 "HexBinary", HEXINT8 = 16 "HexInt8",
    HEXINT16 = 17 "HexInt16", HEXINT32 = 18 "HexInt32", HEXINT64 = 19 "HexInt64", PID = 20 "PID", TID = 21 "TID", PORT = 22 "Port",
    IPV4 = 23 "IPv4", IPV6 = 24 "IPv6", SOCKETADDRESS = 25 "SocketAddress", CIMDATETIME = 26 "CIMDateTime", ETWTIME = 27 "ETWTIME",
    XML = 28 "Xml", ERRORCODE = 29 "ErrorCode", WIN32ERROR = 30 "Win32Error", NTSTATUS = 31 "NTSTATUS", HRESULT = 32 "HResult",
    CULTURE_INSENSITIVE_DATETIME = 33 "DateTimeCultureInsensitive", JSON = 34 "Json", UTF8 = 35 "Utf8",
    PKCS7_WITH_TYPE_INFO = 36 "Pkcs7WithTypeInfo", CODE_POINTER = 37 "CodePointer", DATETIME_UTC = 38 "DateTimeUtc",
    REDUCEDSTRING = 300 "ReducedString", NOPRINT = 301 "NoPrint",
);
