//! Kinds of type records and of their members, with the numbers of CodeView.

pub(super) const MODIFIER: u16 = 0x1001;
pub(super) const POINTER: u16 = 0x1002;
pub(super) const PROCEDURE: u16 = 0x1008;
pub(super) const MEMBER_FUNCTION: u16 = 0x1009;
pub(super) const FIELD_LIST: u16 = 0x1203;
pub(super) const BIT_FIELD: u16 = 0x1205;
pub(super) const BASE_CLASS: u16 = 0x1400;
pub(super) const VIRTUAL_BASE: u16 = 0x1401;
pub(super) const INDIRECT_VIRTUAL_BASE: u16 = 0x1402;
pub(super) const INDEX: u16 = 0x1404;
pub(super) const FUNCTION_TABLE: u16 = 0x1409;
pub(super) const ENUMERATE: u16 = 0x1502;
pub(super) const ARRAY: u16 = 0x1503;
pub(super) const CLASS: u16 = 0x1504;
pub(super) const STRUCTURE: u16 = 0x1505;
pub(super) const UNION: u16 = 0x1506;
pub(super) const ENUM: u16 = 0x1507;
pub(super) const MEMBER: u16 = 0x150D;
pub(super) const STATIC_MEMBER: u16 = 0x150E;
pub(super) const METHOD: u16 = 0x150F;
pub(super) const NESTED: u16 = 0x1510;
pub(super) const ONE_METHOD: u16 = 0x1511;
pub(super) const NESTED_EX: u16 = 0x1512;
pub(super) const INTERFACE: u16 = 0x1519;
pub(super) const BASE_INTERFACE: u16 = 0x151A;
pub(super) const CLASS_2: u16 = 0x1608;
pub(super) const STRUCTURE_2: u16 = 0x1609;
pub(super) const UNION_2: u16 = 0x160A;
pub(super) const INTERFACE_2: u16 = 0x160B;

/// Prefixes of numbers from 0x8000 upward.
pub(super) mod number {
    pub const FIRST: u16 = 0x8000;
    pub const CHAR: u16 = 0x8000;
    pub const SHORT: u16 = 0x8001;
    pub const UNSIGNED_SHORT: u16 = 0x8002;
    pub const LONG: u16 = 0x8003;
    pub const UNSIGNED_LONG: u16 = 0x8004;
    pub const QUAD: u16 = 0x8009;
    pub const UNSIGNED_QUAD: u16 = 0x800A;
}
