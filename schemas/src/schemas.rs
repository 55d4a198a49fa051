//! Providers, and the errors in parts that a reader left out.

use crate::model::Provider;
use std::fmt::{self, Display, Formatter};

/// The result of a reader of untrusted schemas: the providers, and errors in parts that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schemas {
    /// Providers in the order of the source.
    pub providers: Vec<Provider>,
    /// The first errors; at most [`Schemas::MAX_ERRORS`].
    pub errors: Vec<SchemaError>,
    /// Number of all errors.
    pub errors_total: usize,
}

/// An error in a manifest or a binary schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The place of the error.
    pub place: SourcePosition,
    /// `problem: detail; remedy`.
    pub message: String,
}

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SourcePosition {
    /// Line of a text, from 1.
    Line(u32),
    /// Offset in binary data, in bytes.
    Offset(u32),
    /// Index of a module of a program database, from 0.
    Module(u32),
}

impl Schemas {
    /// Maximum number of errors that are kept; others are only counted.
    pub const MAX_ERRORS: usize = 100;

    #[cfg(feature = "binaries")]
    pub(crate) fn append(&mut self, mut other: Schemas) {
        self.providers.append(&mut other.providers);
        self.errors_total += other.errors_total.saturating_sub(other.errors.len());
        other.errors.into_iter().for_each(|error| self.report(error));
    }

    /// The value of a part. If the part is corrupt, reports the error and returns an empty value.
    pub(crate) fn kept<T: Default>(&mut self, part: Result<T, SchemaError>) -> T {
        part.unwrap_or_else(|error| {
            self.report(error);
            T::default()
        })
    }

    pub(crate) fn report(&mut self, error: SchemaError) {
        self.errors_total += 1;
        if self.errors.len() < Self::MAX_ERRORS {
            self.errors.push(error);
        }
    }
}

impl SchemaError {
    pub(crate) fn line(line: u32, message: impl Into<String>) -> Self {
        Self { place: SourcePosition::Line(line), message: message.into() }
    }

    pub(crate) fn offset(offset: usize, message: impl Into<String>) -> Self {
        Self { place: SourcePosition::Offset(offset.try_into().unwrap_or(u32::MAX)), message: message.into() }
    }
}

impl Display for SourcePosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Offset(offset) => write!(f, "offset {offset:#x}"),
            Self::Module(index) => write!(f, "module {index}"),
        }
    }
}

impl Display for SchemaError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for SchemaError {}
