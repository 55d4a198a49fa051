//! Errors.

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use std::fmt;
use std::io;

/// Error of making or writing tables.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The trace cannot be read.
    Trace(etw_layouts_trace::Error),
    /// A file cannot be written.
    Io(io::Error),
    /// Arrow rejects the data.
    Arrow(ArrowError),
    /// A Parquet file cannot be written.
    Parquet(ParquetError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Arrow(ArrowError::IoError(text, _)) => f.write_str(text),
            Self::Arrow(error) => error.fmt(f),
            Self::Parquet(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Self::Trace(error) => error,
            Self::Io(error) => error,
            Self::Arrow(error) => error,
            Self::Parquet(error) => error,
        })
    }
}

macro_rules! from {
    ($($variant:ident: $error:ty;)+) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )+};
}

from! {
    Trace: etw_layouts_trace::Error;
    Io: io::Error;
    Arrow: ArrowError;
    Parquet: ParquetError;
}
