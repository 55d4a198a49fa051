//! Validation of the identifiers of functions before `pdb-addr2line` writes their names.
//!
//! `pdb-addr2line` 0.12 follows the scope of a function without a limit, so a function that is its own scope makes it recurse until the stack
//! overflows, which ends the program. Other types are written with all their parts, which can be exponentially many. In valid files, the scope
//! of a function is a string, and the parent of a method is a class.

use super::sound::{self, FIRST_INDEX};
use super::{Error, leaf};
use crate::little_endian::{u16_at, u32_at};

/// Numbers of the streams with types and with identifiers.
pub(super) const TYPES: u16 = 2;
pub(super) const IDS: u16 = 4;

const FUNCTION: u16 = 0x1601;
const METHOD: u16 = 0x1602;
const STRING: u16 = 0x1605;

/// # Errors
///
/// A type is malformed, or a function has a scope of another kind.
pub(super) fn check(types: &[u8], ids: &[u8]) -> Result<(), Error> {
    if let Some(index) = sound::survey(types)?.malformed.first() {
        return Err(Error::damaged(format!("type {index:#x} is malformed")));
    }
    sound::survey(ids)?;
    let (classes, kinds) = (kinds(types), kinds(ids));
    let kind_of = |kinds: &[(u16, &[u8])], index: u32| {
        let at = index.checked_sub(FIRST_INDEX).and_then(|at| usize::try_from(at).ok())?;
        kinds.get(at).map(|(kind, _)| *kind)
    };
    for (number, (kind, record)) in kinds.iter().enumerate() {
        let scope = u32_at(record, 2).unwrap_or_default();
        let is_valid = match *kind {
            FUNCTION => scope == 0 || kind_of(&kinds, scope) == Some(STRING),
            METHOD => kind_of(&classes, scope).is_none_or(is_class),
            _ => true,
        };
        if !is_valid {
            return Err(Error::damaged(format!("the scope of identifier {:#x} is no name", number + FIRST_INDEX as usize)));
        }
    }
    Ok(())
}

fn is_class(kind: u16) -> bool {
    matches!(
        kind,
        leaf::CLASS
            | leaf::STRUCTURE
            | leaf::INTERFACE
            | leaf::UNION
            | leaf::ENUM
            | leaf::CLASS_2
            | leaf::STRUCTURE_2
            | leaf::INTERFACE_2
            | leaf::UNION_2
    )
}

/// The kind and the bytes of each record of a stream that was surveyed.
fn kinds(stream: &[u8]) -> Vec<(u16, &[u8])> {
    let start = u32_at(stream, 4).unwrap_or_default() as usize;
    let mut rest = stream.get(start..).unwrap_or_default();
    let mut records = Vec::new();
    while let Some(record) = u16_at(rest, 0).and_then(|length| rest.get(2..2 + usize::from(length))) {
        records.push((u16_at(record, 0).unwrap_or_default(), record));
        rest = &rest[2 + record.len()..];
    }
    records
}
