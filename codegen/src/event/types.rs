//! Types of fields, in the spelling of Microsoft's manifests.

/// An encoding of values.
#[derive(Debug, PartialEq, Eq)]
pub struct InType {
    /// The name in specs.
    pub name: &'static str,
    /// The name of the constant, without its prefix `TDH_INTYPE_`.
    pub constant: &'static str,
    /// The kind of values.
    pub kind: Kind,
    /// Bytes of a value with pointers of 4 and of 8 bytes; `None` if the size varies.
    pub size: Option<[u64; 2]>,
    /// Bytes of the unit in which lengths are counted; 0 if values have no length of their own.
    pub unit: u64,
}

/// The kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Integer,
    /// A number with a fraction.
    Float,
    /// An address, or a number of its size.
    Pointer,
    /// A string.
    Text,
    /// A character; arrays of them are strings.
    Character,
    /// Bytes.
    Bytes,
    /// A structure.
    Structure,
    /// Anything else: time, GUID, SID.
    Other,
}

/// An output format of values.
#[derive(Debug, PartialEq, Eq)]
pub struct OutType {
    /// The name in specs.
    pub name: &'static str,
    /// The name of the constant, without its prefix `TDH_OUTTYPE_`; that of `Hex` depends on the width.
    pub constant: &'static str,
    /// The types that it applies to.
    pub of: &'static [&'static str],
}

impl InType {
    /// The type with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        IN_TYPES.iter().find(|ty| ty.name == name)
    }

    /// Whether values can be the count or length of another field.
    pub fn is_integer(&self) -> bool {
        self.kind == Kind::Integer
    }

    /// Whether it reaches to the end of the payload, without a length.
    pub fn is_open(&self) -> bool {
        self.name == "Binary" || self.name.starts_with("NonNullTerminated")
    }
}

impl OutType {
    /// The type with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OUT_TYPES.iter().find(|ty| ty.name == name)
    }
}

const fn fixed(name: &'static str, constant: &'static str, kind: Kind, sizes: [u64; 2]) -> InType {
    InType { name, constant, kind, size: Some(sizes), unit: 0 }
}

const fn integer(name: &'static str, constant: &'static str, size: u64) -> InType {
    fixed(name, constant, Kind::Integer, [size, size])
}

const fn varying(name: &'static str, constant: &'static str, kind: Kind, unit: u64) -> InType {
    InType { name, constant, kind, size: None, unit }
}

/// All types.
pub static IN_TYPES: [InType; 35] = [
    integer("Int8", "INT8", 1),
    integer("UInt8", "UINT8", 1),
    integer("Int16", "INT16", 2),
    integer("UInt16", "UINT16", 2),
    integer("Int32", "INT32", 4),
    integer("UInt32", "UINT32", 4),
    integer("Int64", "INT64", 8),
    integer("UInt64", "UINT64", 8),
    integer("HexInt32", "HEXINT32", 4),
    integer("HexInt64", "HEXINT64", 8),
    integer("Boolean", "BOOLEAN", 4),
    fixed("Float", "FLOAT", Kind::Float, [4, 4]),
    fixed("Double", "DOUBLE", Kind::Float, [8, 8]),
    fixed("Pointer", "POINTER", Kind::Pointer, [4, 8]),
    fixed("SizeT", "SIZET", Kind::Pointer, [4, 8]),
    fixed("GUID", "GUID", Kind::Other, [16, 16]),
    fixed("FILETIME", "FILETIME", Kind::Other, [8, 8]),
    fixed("SYSTEMTIME", "SYSTEMTIME", Kind::Other, [16, 16]),
    varying("SID", "SID", Kind::Other, 0),
    varying("WbemSid", "WBEMSID", Kind::Other, 0),
    varying("UnicodeString", "UNICODESTRING", Kind::Text, 2),
    varying("AnsiString", "ANSISTRING", Kind::Text, 1),
    varying("CountedString", "COUNTEDSTRING", Kind::Text, 0),
    varying("CountedAnsiString", "COUNTEDANSISTRING", Kind::Text, 0),
    varying("ReversedCountedString", "REVERSEDCOUNTEDSTRING", Kind::Text, 0),
    varying("ReversedCountedAnsiString", "REVERSEDCOUNTEDANSISTRING", Kind::Text, 0),
    varying("NonNullTerminatedString", "NONNULLTERMINATEDSTRING", Kind::Text, 0),
    varying("NonNullTerminatedAnsiString", "NONNULLTERMINATEDANSISTRING", Kind::Text, 0),
    fixed("UnicodeChar", "UNICODECHAR", Kind::Character, [2, 2]),
    fixed("AnsiChar", "ANSICHAR", Kind::Character, [1, 1]),
    varying("Binary", "BINARY", Kind::Bytes, 1),
    varying("HexDump", "HEXDUMP", Kind::Bytes, 0),
    varying("Struct", "STRUCT", Kind::Structure, 0),
    varying("CountedBinary", "MANIFEST_COUNTEDBINARY", Kind::Other, 0),
    varying("CountedUnicodeString", "MANIFEST_COUNTEDSTRING", Kind::Text, 0),
];

const INTEGERS: &[&str] = &["Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "SizeT"];
const IDS: &[&str] = &["UInt16", "Int32", "UInt32", "UInt64", "Pointer", "SizeT"];
const ERRORS: &[&str] = &["Int32", "UInt32", "HexInt32"];
const TEXTS: &[&str] = &[
    "UnicodeString",
    "AnsiString",
    "CountedString",
    "CountedAnsiString",
    "NonNullTerminatedString",
    "NonNullTerminatedAnsiString",
    "UnicodeChar",
    "AnsiChar",
];

/// All output formats.
pub static OUT_TYPES: [OutType; 19] = [
    // Addresses are always hexadecimal.
    OutType { name: "Hex", constant: "HEXINT", of: INTEGERS },
    OutType { name: "PID", constant: "PID", of: IDS },
    OutType { name: "TID", constant: "TID", of: IDS },
    OutType { name: "Port", constant: "PORT", of: &["UInt16"] },
    OutType { name: "IPv4", constant: "IPV4", of: &["UInt32"] },
    OutType { name: "IPv6", constant: "IPV6", of: &["Binary"] },
    OutType { name: "SocketAddress", constant: "SOCKETADDRESS", of: &["Binary"] },
    OutType { name: "ETWTIME", constant: "ETWTIME", of: &["Int64", "UInt64"] },
    OutType { name: "NTSTATUS", constant: "NTSTATUS", of: ERRORS },
    OutType { name: "Win32Error", constant: "WIN32ERROR", of: ERRORS },
    OutType { name: "HResult", constant: "HRESULT", of: ERRORS },
    OutType { name: "DateTime", constant: "DATETIME", of: &["Int64", "UInt64", "FILETIME", "SYSTEMTIME"] },
    OutType { name: "Boolean", constant: "BOOLEAN", of: &["Boolean", "Int8", "UInt8", "UInt16", "Int32", "UInt32"] },
    OutType {
        name: "NoPrint",
        constant: "NOPRINT",
        of: &["Binary", "UInt8", "UInt16", "UInt32", "UInt64", "UnicodeString", "AnsiString"],
    },
    OutType { name: "CodePointer", constant: "CODE_POINTER", of: &["Pointer", "UInt32", "UInt64", "HexInt32", "HexInt64"] },
    OutType { name: "String", constant: "STRING", of: TEXTS },
    OutType {
        name: "Utf8",
        constant: "UTF8",
        of: &["AnsiString", "CountedAnsiString", "NonNullTerminatedAnsiString", "AnsiChar"],
    },
    OutType { name: "Xml", constant: "XML", of: TEXTS },
    OutType { name: "Json", constant: "JSON", of: TEXTS },
];
