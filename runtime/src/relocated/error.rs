//! Errors of plans and of reading.

use crate::meta::Absent;
use crate::packed::{Shape, Wanted};
use core::fmt;

/// Error of finding declared members in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanError {
    /// The structure.
    pub structure: &'static str,
    /// The declared member; empty if the structure is absent.
    pub member: &'static str,
    /// The problem.
    pub problem: PlanProblem,
}

/// What is wrong with a declaration in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanProblem {
    /// The table of layouts lacks the structure.
    Structure,
    /// The build does not exist, or lacks the structure.
    Build(Absent),
    /// The build lacks the member.
    Absent,
    /// The member has another type in this build.
    Type {
        /// The declared type.
        wanted: Wanted,
        /// The type in the layout.
        found: Option<Shape>,
    },
}

/// Error of reading declared members from memory; `E` is the error of the source of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError<E> {
    /// The structure.
    pub structure: &'static str,
    /// The member.
    pub member: &'static str,
    /// Address of the bytes.
    pub address: u64,
    /// Number of bytes.
    pub size: usize,
    /// The problem.
    pub problem: ReadProblem<E>,
}

/// Why a member cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadProblem<E> {
    /// The memory has only this many of the bytes.
    Missing(usize),
    /// The source of the memory fails.
    Source(E),
}

impl PlanError {
    /// The error with these names, if it has none.
    pub(super) fn or(self, structure: &'static str, member: &'static str) -> Self {
        if self.structure.is_empty() { Self { structure, member, ..self } } else { self }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { structure, member, problem } = self;
        match problem {
            PlanProblem::Structure => {
                write!(
                    f,
                    "no structure {structure} in the table of layouts; open the table that the program was compiled with, or a newer one"
                )
            }
            PlanProblem::Build(absent) => write!(f, "no layout of {structure}: {absent}"),
            PlanProblem::Absent => {
                write!(f, "no member {structure}.{member} in this build; declare it as `Option` if the program can do without it")
            }
            PlanProblem::Type { wanted, found } => {
                write!(f, "{structure}.{member} has another type in this build: expected {wanted}, found ")?;
                match (wanted, found) {
                    (Wanted::Pointer(Some(_)), Some(Shape::Pointer(_))) => f.write_str("a pointer to another structure")?,
                    (_, Some(found)) => found.fmt(f)?,
                    (_, None) => f.write_str("an unknown type")?,
                }
                f.write_str("; declare a structure of its own for such builds")
            }
        }
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { structure, member, address, size, problem } = self;
        write!(f, "cannot read {structure}.{member}, {size} bytes at {address:#x}: ")?;
        match problem {
            ReadProblem::Missing(read) => {
                write!(f, "the memory has only {read} of them; declare the member as `Option` if the program can do without it")
            }
            ReadProblem::Source(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PlanError {}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ReadError<E> {}
