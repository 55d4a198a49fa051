//! File kinds by their first bytes, to report which command reads a file of another kind.

use etw_layouts_etl::Reader;

/// The log file header fits in this many bytes.
pub const HEAD: u64 = 1 << 14;

/// First bytes, kind and remedy.
const KINDS: [(&[u8], &str); 12] = [
    (b"PAGEDU", "a kernel crash dump; use `etw dump`"),
    (b"MDMP", "a process minidump, which has no ETW state; use a kernel crash dump with `etw dump`"),
    (b"Microsoft C/C++ MSF 7.00", "a symbol file (PDB); use `etw verify --symbols`, `etw import`, or `etw dump --symbols`"),
    (b"Microsoft C/C++ program database", "a symbol file (PDB) in an old format; convert it to ISF"),
    (
        b"{",
        "a symbol table (ISF) or other JSON; for a symbol table, use `etw verify --symbols`, `etw import`, or `etw dump --symbols`",
    ),
    (b"MZ", "an executable image; use `etw verify --image`"),
    (b"ElfFile\0", "an event log (.evtx); etw reads trace files (.etl) and crash dumps (.dmp)"),
    (b"\xfd7zXZ\0", COMPRESSED),
    (b"\x1f\x8b\x08", COMPRESSED),
    (b"PK\x03\x04", COMPRESSED),
    (b"MSCF\0\0\0\0", COMPRESSED),
    (b"7z\xbc\xaf\x27\x1c", COMPRESSED),
];
const COMPRESSED: &str = "a compressed file; decompress it first";

/// The error for a file that does not begin like a trace file; `None` if it can be one.
pub fn no_trace(head: &[u8]) -> Option<String> {
    let (_, kind) = KINDS.iter().find(|(start, _)| head.starts_with(start))?;
    // A trace file can begin with any of these bytes.
    (!is_trace(head)).then(|| format!("not a trace file: this is {kind}"))
}

/// The error for a file that does not begin like a kernel crash dump; `None` if its kind is unknown.
pub fn no_dump(head: &[u8]) -> Option<String> {
    let kind = match is_trace(head) {
        true => "a trace file (.etl); use `etw etl`",
        false => KINDS.iter().find(|(start, _)| head.starts_with(start))?.1,
    };
    Some(format!("not a kernel crash dump: this is {kind}"))
}

/// Whether the first event is a log file header.
fn is_trace(head: &[u8]) -> bool {
    Reader::new(head).is_ok()
}
