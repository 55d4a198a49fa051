//! File kinds by first bytes: a file that a command does not read is named, with the command that does.

use etw_layouts_etl::Reader;

/// So many bytes have all of the log file header that tells a trace file.
pub const HEAD: u64 = 1 << 14;

/// First bytes, kind, and remedy.
const KINDS: [(&[u8], &str); 12] = [
    (b"PAGEDU", "a crash dump of a kernel; use `etw dump`"),
    (b"MDMP", "a minidump of a process; ETW's state is in crash dumps of a kernel, which `etw dump` reads"),
    (b"Microsoft C/C++ MSF 7.00", "a symbol file (PDB); use `etw verify --symbols`, `etw import`, or `etw dump --symbols`"),
    (b"Microsoft C/C++ program database", "a symbol file (PDB) of an old format; convert it to ISF"),
    (b"{", "a symbol table (ISF) or other JSON; of a table, use `etw verify --symbols`, `etw import`, or `etw dump --symbols`"),
    (b"MZ", "an executable image; use `etw verify --image`"),
    (b"ElfFile\0", "an event log (.evtx); etw reads trace files (.etl) and crash dumps (.dmp)"),
    (b"\xfd7zXZ\0", COMPRESSED),
    (b"\x1f\x8b\x08", COMPRESSED),
    (b"PK\x03\x04", COMPRESSED),
    (b"MSCF\0\0\0\0", COMPRESSED),
    (b"7z\xbc\xaf\x27\x1c", COMPRESSED),
];
const COMPRESSED: &str = "a compressed file; decompress it first";

/// The error for a file that is no trace file by its first bytes, with the remedy; `None` if it can be one.
pub fn no_trace(head: &[u8]) -> Option<String> {
    let (_, kind) = KINDS.iter().find(|(start, _)| head.starts_with(start))?;
    // A trace file can begin with any number.
    (!is_trace(head)).then(|| format!("not a trace file: this is {kind}"))
}

/// The error for a file that is no crash dump of a kernel, by its first bytes, with the remedy; `None` if its kind is not known.
pub fn no_dump(head: &[u8]) -> Option<String> {
    let kind = match is_trace(head) {
        true => "a trace file (.etl); use `etw etl`",
        false => KINDS.iter().find(|(start, _)| head.starts_with(start))?.1,
    };
    Some(format!("not a crash dump of a kernel: this is {kind}"))
}

/// Whether the first event is a log file header.
fn is_trace(head: &[u8]) -> bool {
    Reader::new(head).is_ok()
}
