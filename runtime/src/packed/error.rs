//! Errors of opening a table.

use super::format::{Section, VERSION};
use core::fmt;

/// Error of opening a table of layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not begin as a table does.
    NoTable,
    /// The table has another version of the format.
    Version {
        /// Its version.
        found: u32,
    },
    /// The file has another length than its header states, in bytes.
    Length {
        /// The length in the header.
        stated: u32,
        /// The length of the file.
        found: usize,
    },
    /// The section does not follow the one before it, or is not an array of whole records.
    Section(Section),
    /// A record is wrong.
    Record {
        /// The section.
        section: Section,
        /// Index of the record.
        index: usize,
        /// The problem.
        problem: Problem,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// An index or a range ends after the section that it refers to.
    Index,
    /// The record does not follow the one before it in the order of the section.
    Order,
    /// The text is not UTF-8.
    Text,
    /// The number has no meaning.
    Value,
    /// A member or its bits end after their structure or unit.
    Extent,
    /// Structures or arrays are nested too deeply, or contain themselves.
    Depth,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTable => f.write_str("not a table of layouts; write one with `etw export layouts`"),
            Self::Version { found } if *found > VERSION => {
                write!(f, "table of layouts has version {found}, newer than {VERSION}: update the program that reads it")
            }
            Self::Version { found } => {
                write!(f, "table of layouts has version {found} instead of {VERSION}: export it again with `etw export layouts`")
            }
            Self::Length { stated, found } => {
                write!(f, "truncated or extended table of layouts: {found} bytes instead of {stated}; copy the file again")
            }
            Self::Section(section) => {
                write!(f, "corrupt table of layouts: section {section:?} has no valid extent; copy the file again")
            }
            Self::Record { section, index, problem } => {
                let problem = match problem {
                    Problem::Index => "index out of range",
                    Problem::Order => "not in order",
                    Problem::Text => "not UTF-8",
                    Problem::Value => "invalid number",
                    Problem::Extent => "does not fit into its structure",
                    Problem::Depth => "nested too deeply",
                };
                write!(f, "corrupt table of layouts: record {index} of section {section:?}: {problem}; copy the file again")
            }
        }
    }
}

impl core::error::Error for Error {}
