//! Types of fields.

use super::error::{PlanError, PlanProblem, ReadError};
use super::memory::{Memory, Source};
use super::{Relocated, Resolver};
use crate::Uuid;
use crate::packed::{Layout, Located, Wanted};

/// A type that a member can be declared as.
pub trait Field: Sized {
    /// Where a layout has the member.
    #[doc(hidden)]
    type Location: Copy + PartialEq;
    /// The declared type.
    #[doc(hidden)]
    const WANTED: Wanted;
    /// The place of a member that a build lacks; `None` if the field requires it.
    #[doc(hidden)]
    const ABSENT: Option<Self::Location> = None;

    /// The place of a member of the declared type.
    #[doc(hidden)]
    fn place<'a>(found: Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError>;

    #[doc(hidden)]
    fn read<M: Memory + ?Sized>(place: &Self::Location, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>>;
}

/// A member in a layout.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Found<'a>(pub(super) Located<'a>);

/// The place of a member, if it has the declared type.
pub(super) fn place<'a, F: Field>(found: Located<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<F::Location, PlanError> {
    if found.fits(&F::WANTED) { F::place(Found(found), embedded) } else { Err(another::<F>(found)) }
}

/// The error for a member of another type, without names.
pub(super) fn another<F: Field>(found: Located<'_>) -> PlanError {
    PlanError { structure: "", member: "", problem: PlanProblem::Type { wanted: F::WANTED, found: found.declarable() } }
}

/// The place of an embedded structure.
#[doc(hidden)]
pub fn embedded<'a, T: Relocated + Field>(
    Found(found): Found<'a>,
    embedded: &mut dyn FnMut(Layout<'a>),
) -> Result<(u32, T::Members), PlanError> {
    let layout = found.layout().ok_or(another::<T>(found))?;
    embedded(layout);
    Ok((found.offset, T::resolve(&mut Resolver::new(layout, embedded))?))
}

/// Reads an embedded structure.
#[doc(hidden)]
#[inline]
pub fn read_embedded<T: Relocated, M: Memory + ?Sized>(
    (offset, members): &(u32, T::Members),
    from: &Source<'_, M>,
) -> Result<T, ReadError<M::Error>> {
    T::read_members(members, from.from(*offset, 1)?)
}

impl Field for Uuid {
    type Location = u32;
    const WANTED: Wanted = Wanted::Structure("GUID");

    fn place<'a>(found: Found<'a>, _: &mut dyn FnMut(Layout<'a>)) -> Result<u32, PlanError> {
        if found.0.shape.size == 16 { Ok(found.0.offset) } else { Err(another::<Self>(found.0)) }
    }

    #[inline]
    fn read<M: Memory + ?Sized>(place: &u32, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        from.bytes(*place).map(Self::from_bytes_le)
    }
}

/// Elements of structures need a default, which no element that was read has.
impl<T: Field + Default, const N: usize> Field for [T; N] {
    /// Offset of the first element, size of an element in bytes, and the place of an element in itself.
    type Location = (u32, u32, Option<T::Location>);
    const WANTED: Wanted = Wanted::Array(&T::WANTED, N);

    fn place<'a>(Found(found): Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError> {
        let (element, _) = found.element().ok_or(another::<Self>(found))?;
        let place = if N == 0 { None } else { Some(T::place(Found(element), embedded)?) };
        Ok((found.offset, element.shape.size, place))
    }

    #[inline]
    fn read<M: Memory + ?Sized>(
        (offset, size, place): &Self::Location,
        from: &Source<'_, M>,
    ) -> Result<Self, ReadError<M::Error>> {
        let mut all = [const { None }; N];
        for (index, element) in (0..).zip(&mut all) {
            let Some(place) = place else { break };
            let from = from.from(offset.saturating_add(size.saturating_mul(index)), *size as usize)?;
            *element = Some(T::read(place, &from)?);
        }
        Ok(all.map(Option::unwrap_or_default))
    }
}
