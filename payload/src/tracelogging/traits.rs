//! Provider traits: the name of a provider and its provider group.

use super::schema::{name, sized};
use crate::fault::{Fault, FaultKind};
use uuid::Uuid;

/// The traits of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits<'a> {
    /// Name of the provider.
    pub name: &'a str,
    /// The provider group of the provider.
    pub group: Option<Uuid>,
}

/// Trait type of a provider group: EtwProviderTraitTypeGroup.
const GROUP: u8 = 1;

impl<'a> Traits<'a> {
    /// Reads provider traits from their extended item. Traits of unknown types are skipped.
    ///
    /// # Errors
    ///
    /// The traits are invalid.
    pub fn read(item: &'a [u8]) -> Result<Self, Fault> {
        let fault = |reason: FaultKind| reason.at(0);
        let mut rest = sized(item).map_err(fault)?;
        let name = name(&mut rest).map_err(fault)?;
        let mut group = None;
        while !rest.is_empty() {
            let (size, ty) =
                rest.first_chunk().map(|&[a, b, ty]| (u16::from_le_bytes([a, b]), ty)).ok_or(fault(FaultKind::Truncated))?;
            let (own, next) = rest.split_at_checked(size.into()).ok_or(fault(FaultKind::Truncated))?;
            let data = own.get(3..).ok_or(fault(FaultKind::Truncated))?;
            if ty == GROUP {
                group = group.or(data.first_chunk().map(|bytes| Uuid::from_bytes_le(*bytes)));
            }
            rest = next;
        }
        Ok(Self { name, group })
    }
}
