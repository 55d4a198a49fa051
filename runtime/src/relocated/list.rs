//! Lists.

use super::error::{PlanError, ReadError};
use super::field::{Field, Found, another, place};
use super::memory::{Memory, Source};
use super::number::NumberPlace;
use super::pointer::Pointer;
use super::{Plan, Relocated};
use crate::packed::{Layout, Wanted};
use crate::token::{Token, Tokens};
use core::fmt;
use core::marker::PhantomData;

/// A LIST_ENTRY: the head of a circular list of structures `T`.
pub struct ListHead<T> {
    /// Address of the head.
    pub address: u64,
    /// Address of the link in the first structure, or of the head if the list is empty.
    pub first: u64,
    /// Place of a link's pointer to the next link, from the start of the link.
    next: NumberPlace,
    of: PhantomData<fn() -> T>,
}

/// Error of iterating a list; `E` is the error of the source of the memory. It ends the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListError<E> {
    /// The build lacks the member that links the structures.
    Absent(&'static str),
    /// A link cannot be read.
    Link(ReadError<E>),
    /// A structure cannot be read.
    Entry(ReadError<E>),
    /// The link at this address comes again, and the list does not return to its head.
    Cycle(u64),
    /// The address of the link is less than its offset in the structure.
    Address(u64),
    /// The list has more structures than the caller allows.
    Limit(usize),
}

impl<T: Relocated> ListHead<T> {
    /// The structures of the list with their addresses, at most `limit`. `link` is the member that links them.
    ///
    /// After an error of a structure, the iteration continues with the next one; any other error ends it.
    pub fn entries<'p, M: Memory + ?Sized, K>(
        &self,
        plan: &'p Plan<'p, T>,
        link: Token<T::Structure, K>,
        memory: &'p M,
        limit: usize,
    ) -> Entries<'p, T, M> {
        let offset = plan.offset(link).and_then(|offset| u64::try_from(offset).ok());
        let ListHead { address: head, first, next, .. } = *self;
        let link = link.name();
        Entries { plan, memory, head, at: first, next, link, offset, done: 0, limit, mark: first, power: 1, is_over: false }
    }
}

/// Iterator over the structures of a list: see [`ListHead::entries`].
pub struct Entries<'p, T: Relocated, M: ?Sized> {
    plan: &'p Plan<'p, T>,
    memory: &'p M,
    head: u64,
    /// Address of the current link.
    at: u64,
    next: NumberPlace,
    link: &'static str,
    offset: Option<u64>,
    done: usize,
    limit: usize,
    /// An earlier link. It is replaced after 1, 2, 4, … links, so that a cycle of any length returns to it.
    mark: u64,
    power: usize,
    is_over: bool,
}

impl<T: Relocated, M: Memory + ?Sized> Entries<'_, T, M> {
    /// The address of the next structure; moves on to the link after it.
    fn step(&mut self) -> Result<Option<u64>, ListError<M::Error>> {
        if self.at == self.head {
            return Ok(None);
        }
        let offset = self.offset.ok_or(ListError::Absent(self.link))?;
        if self.done == self.limit {
            return Err(ListError::Limit(self.limit));
        }
        if self.done > 0 && self.at == self.mark {
            return Err(ListError::Cycle(self.at));
        }
        if self.done == self.power {
            self.mark = self.at;
            self.power = self.power.saturating_mul(2);
        }
        self.done += 1;
        let address = self.at.checked_sub(offset).ok_or(ListError::Address(self.at))?;
        let link = Source::new(self.memory, self.at);
        let next = link.member(T::Structure::NAME, self.link, &self.next);
        let Pointer { address: next, .. }: Pointer = next.map_err(ListError::Link)?;
        self.at = next;
        Ok(Some(address))
    }
}

impl<T: Relocated, M: Memory + ?Sized> Iterator for Entries<'_, T, M> {
    type Item = Result<(u64, T), ListError<M::Error>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match self.step() {
            Ok(Some(address)) => {
                Some(self.plan.read(self.memory, address).map(|entry| (address, entry)).map_err(ListError::Entry))
            }
            Ok(None) => {
                self.is_over = true;
                None
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }
}

impl<T: Relocated, M: Memory + ?Sized> core::iter::FusedIterator for Entries<'_, T, M> {}

impl<T> Field for ListHead<T> {
    /// Offset, and the place of the pointer to the next link in it.
    type Location = (u32, NumberPlace);
    const WANTED: Wanted = Wanted::Structure("LIST_ENTRY");

    fn place<'a>(Found(found): Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError> {
        let next = found.layout().and_then(|layout| layout.find("Flink", &mut 0));
        Ok((found.offset, place::<Pointer>(next.ok_or(another::<Self>(found))?, embedded)?))
    }

    #[inline]
    fn read<M: Memory + ?Sized>((offset, next): &Self::Location, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        let from = from.from(*offset, next.size.into())?;
        let first: Pointer = Pointer::read(next, &from)?;
        Ok(Self { address: from.address(), first: first.address, next: *next, of: PhantomData })
    }
}

impl<T> Clone for ListHead<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ListHead<T> {}

impl<T> fmt::Debug for ListHead<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, first, .. } = self;
        f.debug_struct("ListHead").field("address", address).field("first", first).finish_non_exhaustive()
    }
}

impl<E: fmt::Display> fmt::Display for ListError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(link) => write!(f, "this build lacks {link}, the link of the list"),
            Self::Link(error) | Self::Entry(error) => error.fmt(f),
            Self::Cycle(address) => write!(f, "corrupt list: the link at {address:#x} comes again before the head"),
            Self::Address(address) => write!(f, "corrupt list: no structure can have its link at {address:#x}"),
            Self::Limit(limit) => write!(f, "list has more than {limit} structures; it can be corrupt, or the limit too low"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ListError<E> {}
