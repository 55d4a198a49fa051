//! The bytes of a library, format 1. All numbers are little-endian.
//!
//! A library begins with a header of [`HEADER`] bytes. References are offsets from the start of the library; [`NONE`] refers to nothing. A
//! string begins with its length in bytes: 7 bits per byte, lowest bits first, with bit 7 set in all bytes except the last. Its UTF-8 follows.
//!
//! The sources of a variant are a bit mask, with bit 0 for the first source; or, if bit 31 is set, the index of one source.
//!
//! | record | bytes | parts |
//! |---|---|---|
//! | header | 40 | magic 8, format 4, size of the library 4, sources 4 and their number 4, providers 4 and their number 4, buckets 4, 0 |
//! | source | 12 | kind 4, name 4, build number 4 |
//! | bucket | 4 | index of the first provider with at least the bucket's index as the first byte of the GUID (in the order of its text); 257 buckets |
//! | provider | 36 | GUID in the order of its text 16, name 4, keys 4 and their number 4, keywords 4 and their number 4 |
//! | key | 8 | event ID × 256 + version 4, for a classic event 2²⁴ + opcode × 256 + version; first variant 4; keys of a provider are sorted |
//! | variant | 24 | sources 4, description 4, symbol 4, message 4, fields 4, number of fields 2, whether they are known 1, whether the next variant is of the same event 1 |
//! | description | 40 | task 2, opcode 1, level 1, channel 1, flags of the known numbers and mask 1, number of keywords 2, keyword mask 8, names of task 4, opcode 4, level 4, channel 4, event 4, keywords 4 |
//! | keyword | 16 | mask 8, name 4, whether the mask is known 4 |
//! | field | 24 | name 4, map 4, tags 4, input type 2, output type 2, count 2, length 2, members 2, flags 1, 0 |
//! | map | 16 | name 4, kind 4, entries 4 and their number 4 |
//! | entry | 12 | value 8, name 4; those of an enumeration are sorted by value |

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"ETWSCHEM";
/// The format.
pub const FORMAT: u32 = 1;
/// A reference to nothing; for a string, the empty string.
pub const NONE: u32 = 0;

/// Size of the header, in bytes.
pub const HEADER: usize = 40;
/// Size of a source, in bytes.
pub const SOURCE: usize = 12;
/// Number of buckets.
pub const BUCKETS: usize = 257;
/// Size of a provider, in bytes.
pub const PROVIDER: usize = 36;
/// Size of a key, in bytes.
pub const KEY: usize = 8;
/// Size of a variant, in bytes.
pub const VARIANT: usize = 24;
/// Size of a description, in bytes.
pub const DESCRIPTION: usize = 40;
/// Size of a keyword, in bytes.
pub const KEYWORD: usize = 16;
/// Size of a field, in bytes.
pub const FIELD: usize = 24;
/// Size of a map, in bytes.
pub const MAP: usize = 16;
/// Size of an entry, in bytes.
pub const ENTRY: usize = 12;

/// Flag in the sources of a variant: the other bits are the index of one source.
pub const INDEX: u32 = 1 << 31;

/// Maximum number of variants of an event.
pub const VARIANTS: usize = 64;

/// Flag of a field: the count is constant.
pub const COUNT_CONSTANT: u8 = 1;
/// Flag of a field: the count is the value of an earlier field, and is stored as its index in the list.
pub const COUNT_FIELD: u8 = 2;
/// Flag of a field: the length is constant.
pub const LENGTH_CONSTANT: u8 = 4;
/// Flag of a field: the length is the value of an earlier field, and is stored as its index in the list.
pub const LENGTH_FIELD: u8 = 8;
/// Flag of a field: the value is the count or length of later fields.
pub const IS_SIZE: u8 = 16;

/// Flag of a description: the number of the task is known.
pub const TASK: u8 = 1;
/// Flag of a description: the number of the opcode is known.
pub const OPCODE: u8 = 2;
/// Flag of a description: the number of the level is known.
pub const LEVEL: u8 = 4;
/// Flag of a description: the number of the channel is known.
pub const CHANNEL: u8 = 8;
/// Flag of a description: the keyword mask is known.
pub const MASK: u8 = 16;
