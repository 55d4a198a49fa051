//! The traits of a provider: its name, and the group that it belongs to.

use super::schema::{name, sized};
use crate::fault::{Fault, Reason};
use uuid::Uuid;

/// What a provider says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits<'a> {
    /// Its name.
    pub name: &'a str,
    /// The group of providers that it belongs to.
    pub group: Option<Uuid>,
}

/// The type of the trait that is a group: EtwProviderTraitTypeGroup.
const GROUP: u8 = 1;

impl<'a> Traits<'a> {
    /// Reads an extended item of traits. Those of unknown types are passed over.
    ///
    /// # Errors
    ///
    /// It is malformed.
    pub fn read(item: &'a [u8]) -> Result<Self, Fault> {
        let fault = |reason: Reason| reason.at(0);
        let mut rest = sized(item).map_err(fault)?;
        let name = name(&mut rest).map_err(fault)?;
        let mut group = None;
        while !rest.is_empty() {
            let (size, ty) =
                rest.first_chunk().map(|&[a, b, ty]| (u16::from_le_bytes([a, b]), ty)).ok_or(fault(Reason::Truncated))?;
            let (own, next) = rest.split_at_checked(size.into()).ok_or(fault(Reason::Truncated))?;
            let data = own.get(3..).ok_or(fault(Reason::Truncated))?;
            if ty == GROUP {
                group = group.or(data.first_chunk().map(|bytes| Uuid::from_bytes_le(*bytes)));
            }
            rest = next;
        }
        Ok(Self { name, group })
    }
}
