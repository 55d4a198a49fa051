//! Declared members: a program states which members of a structure it reads, and the table of layouts finds them for a build.
//!
//! A type that implements [`Relocated`] has a field for each member that is read. `#[derive(Relocated)]` implements it.
//! [`Relocated::plan`] finds the members of a build once; [`Plan::read`] then reads the structure at any address.
//!
//! | type of a field | member |
//! |---|---|
//! | `u8` to `u64`, `i8` to `i64` | an integer of this size, or a bit field that fits into it; `i64` also LARGE_INTEGER, `u64` ULARGE_INTEGER |
//! | [`Unsigned`], [`Signed`] | an integer or bit field of any width, such as SIZE_T |
//! | `bool` | a bit, or an integer of one byte |
//! | an enumeration or flags type | an integer or bit field with these values |
//! | [`Uuid`](crate::Uuid) | GUID |
//! | [`Pointer`] | an address, which [`Pointer::follow`] follows |
//! | [`UnicodeString`] | UNICODE_STRING, whose text [`UnicodeString::text`] reads |
//! | [`ListHead`] | LIST_ENTRY, the head of a list, which [`ListHead::entries`] iterates |
//! | `[T; N]` | an array of exactly `N` elements |
//! | a type that implements [`Relocated`] | an embedded structure |
//! | `Option<T>` | `None` if the build lacks the member, or the memory its bytes: [`Plan::exists`] shows which |
//! | [`Presence`] | the same, with both cases apart |
//!
//! A member that a build lacks is an error of [`plan`](Relocated::plan), and one without memory an error of [`read`](Plan::read), unless
//! the field has one of the last two types. A member of another type than declared is always an error of `plan`: a width, a sign or a
//! number of elements is never converted.

mod error;
mod field;
mod list;
mod memory;
mod number;
mod pointer;
mod presence;
mod text;

use crate::meta::{Arch, Build, Confidence};
use crate::packed::{Layout, Layouts, Member, Selection, Structure, Wanted, never_fits};
use crate::token::{LayoutOf, Token, Tokens};
use core::fmt;

pub use error::{PlanError, PlanProblem, ReadError, ReadProblem};
pub use field::Field;
#[doc(hidden)]
pub use field::{Found, embedded, read_embedded};
pub use list::{Entries, ListError, ListHead};
pub use memory::{Memory, MemorySlice, Source};
#[doc(hidden)]
pub use number::NumberPlace;
pub use number::{Signed, Unsigned};
pub use pointer::{Pointee, Pointer};
pub use presence::Presence;
pub use text::{TextError, UnicodeString};

/// A type with a field for each member of a structure that a program reads. `#[derive(Relocated)]` of `etw-layouts-macros`, which
/// `etw-layouts` re-exports with its feature `derive`, implements it.
pub trait Relocated: Sized {
    /// The structure.
    type Structure: Tokens;
    /// Its members in a build.
    #[doc(hidden)]
    type Members: Copy + PartialEq;

    #[doc(hidden)]
    fn resolve(members: &mut Resolver<'_, '_>) -> Result<Self::Members, PlanError>;

    #[doc(hidden)]
    fn read_members<M: Memory + ?Sized>(members: &Self::Members, from: Source<'_, M>) -> Result<Self, ReadError<M::Error>>;

    /// Finds the members for a build, in microseconds, without allocation.
    ///
    /// # Errors
    ///
    /// The table or the build lacks the structure, the build lacks a member, or a member has another type. The error names the first such
    /// member.
    fn plan<'a>(layouts: &Layouts<'a>, build: Build, arch: Arch) -> Result<Plan<'a, Self>, PlanError> {
        let failed = |problem| PlanError { structure: Self::Structure::NAME, member: "", problem };
        let structure = layouts.structure(Self::Structure::NAME).ok_or(failed(PlanProblem::Structure))?;
        let structure = structure.of::<Self::Structure>().ok_or(failed(PlanProblem::Structure))?;
        let selection = structure.select(build, arch).map_err(|absent| failed(PlanProblem::Build(absent)))?;
        let members = Self::resolve(&mut Resolver::new(*selection.layout, &mut |_| {}))?;
        Ok(Plan { selection, table: *layouts, build, arch, members })
    }
}

/// The members of `T` in a build.
pub struct Plan<'a, T: Relocated> {
    selection: Selection<'a, T::Structure>,
    table: Layouts<'a>,
    build: Build,
    arch: Arch,
    members: T::Members,
}

/// The confidence in the members of a [`Plan`]. It displays as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembersConfidence<'a> {
    /// The structure, or the structure embedded in it whose layout is the least certain.
    pub structure: &'a str,
    /// The confidence in its layout.
    pub confidence: Confidence,
    /// Whether the layout is uncertain, and the declared members are the same in all layouts that the build can have.
    pub is_same: bool,
}

impl MembersConfidence<'_> {
    /// Whether the members can be used without checking the data: see [`Confidence::is_sure_if_same`].
    pub const fn is_sure(&self) -> bool {
        self.confidence.is_sure() || self.is_same
    }
}

impl fmt::Display for MembersConfidence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.structure, self.confidence)?;
        if self.is_same { f.write_str("; the declared members are the same in both") } else { Ok(()) }
    }
}

impl<'a, T: Relocated> Plan<'a, T> {
    /// Reads the members of the structure at an address.
    ///
    /// # Errors
    ///
    /// Memory is missing, or its source fails. The error names the member.
    #[inline]
    pub fn read<M: Memory + ?Sized>(&self, memory: &M, address: u64) -> Result<T, ReadError<M::Error>> {
        T::read_members(&self.members, Source::new(memory, address))
    }

    /// The confidence in the declared members. Other members of the structure have no effect; pointers are followed with plans of their
    /// own.
    pub fn confidence(&self) -> MembersConfidence<'a> {
        let selection = &self.selection;
        let confidence = selection.confidence;
        let of = |layout: Layout<'a>| T::resolve(&mut Resolver::new(layout, &mut |_| {})).ok();
        let is_same = || selection.candidates().all(|it| it.and_then(|layout| of(*layout)) == Some(self.members));
        let is_same = !confidence.is_sure() && confidence.is_sure_if_same(is_same);
        let own = MembersConfidence { structure: selection.layout.name, confidence, is_same };
        let mut least = own;
        let mut embedded = |layout: Layout<'a>| {
            if let Some(structure) = self.table.structure(layout.name).filter(|_| least.is_sure())
                && let Ok(Selection { confidence, .. }) = structure.select(self.build, self.arch)
                && !confidence.is_sure_if_same(|| own.is_same)
            {
                least = MembersConfidence { structure: layout.name, confidence, is_same: false };
            }
        };
        let _ = T::resolve(&mut Resolver::new(*selection.layout, &mut embedded));
        least
    }

    /// Whether the build has a member, declared or not.
    pub fn exists<K>(&self, member: Token<T::Structure, K>) -> bool {
        self.find(member).is_some()
    }

    /// Size of a member in bytes, for a bit field that of its whole unit; `None` if the build lacks it.
    pub fn size<K>(&self, member: Token<T::Structure, K>) -> Option<usize> {
        Some(self.find(member)?.size)
    }

    /// Offset of a member from the start of the structure, in bytes; `None` if the build lacks it.
    pub fn offset<K>(&self, member: Token<T::Structure, K>) -> Option<usize> {
        Some(self.find(member)?.offset)
    }

    /// The layout of the structure in the build, which also finds members by name.
    pub fn layout(&self) -> LayoutOf<'a, T::Structure> {
        self.selection.layout
    }

    fn find<K>(&self, member: Token<T::Structure, K>) -> Option<Member<'a>> {
        self.selection.layout.find(member)
    }
}

/// Finds declared members in a layout.
#[doc(hidden)]
pub struct Resolver<'a, 'e> {
    layout: Layout<'a>,
    /// Where the next search begins.
    from: usize,
    /// Called for each embedded structure.
    embedded: &'e mut dyn FnMut(Layout<'a>),
}

impl<'a, 'e> Resolver<'a, 'e> {
    fn new(layout: Layout<'a>, embedded: &'e mut dyn FnMut(Layout<'a>)) -> Self {
        Self { layout, from: 0, embedded }
    }

    /// The place of a member.
    pub fn member<F: Field>(&mut self, structure: &'static str, member: &'static str) -> Result<F::Location, PlanError> {
        let failed = |problem| PlanError { structure, member, problem };
        match self.layout.find(member, &mut self.from) {
            Some(found) => field::place::<F>(found, self.embedded).map_err(|error| error.or(structure, member)),
            None => F::ABSENT.ok_or(failed(PlanProblem::Absent)),
        }
    }
}

/// The check of a declared member when it compiles: some layout of the built-in table has it with this type.
///
/// # Panics
///
/// If none has.
#[doc(hidden)]
#[track_caller]
pub const fn declared<S: Tokens, F: Field>(structure: &Structure<'_, S>, member: &str) {
    let wanted: &Wanted = &F::WANTED;
    never_fits(structure.table(), S::NAME, member, wanted);
}

impl<T: Relocated> Clone for Plan<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Relocated> Copy for Plan<'_, T> {}

impl<T: Relocated> fmt::Debug for Plan<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selection, build, arch, .. } = self;
        f.debug_struct("Plan")
            .field("layout", &selection.layout)
            .field("build", build)
            .field("arch", arch)
            .finish_non_exhaustive()
    }
}
