//! Members that a build or the memory can lack.

use super::error::{PlanError, ReadError, ReadProblem};
use super::field::{Field, Found, place};
use super::memory::{Memory, Source};
use crate::packed::{Layout, Wanted};

/// A member that a build or the memory can lack. `Option` has the same meaning, with `None` for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence<T> {
    /// The build lacks the member.
    #[default]
    Absent,
    /// The build has the member, and the memory lacks some of its bytes.
    Missing,
    /// The value.
    Value(T),
}

impl<T> Presence<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }
}

impl<T: Field> Field for Presence<T> {
    type Location = Option<T::Location>;
    const WANTED: Wanted = T::WANTED;
    const ABSENT: Option<Self::Location> = Some(None);

    fn place<'a>(found: Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError> {
        place::<T>(found.0, embedded).map(Some)
    }

    #[inline]
    fn read<M: Memory + ?Sized>(place: &Self::Location, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        let Some(place) = place else { return Ok(Self::Absent) };
        match T::read(place, from) {
            Ok(value) => Ok(Self::Value(value)),
            Err(ReadError { problem: ReadProblem::Missing(_), .. }) => Ok(Self::Missing),
            Err(error) => Err(error),
        }
    }
}

impl<T: Field> Field for Option<T> {
    type Location = Option<T::Location>;
    const WANTED: Wanted = T::WANTED;
    const ABSENT: Option<Self::Location> = Some(None);

    fn place<'a>(found: Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError> {
        Presence::<T>::place(found, embedded)
    }

    #[inline]
    fn read<M: Memory + ?Sized>(place: &Self::Location, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        Presence::read(place, from).map(Presence::value)
    }
}
