//! Errors of traces.

use std::{fmt, io};

/// A trace file that cannot be read.
#[derive(Debug)]
pub struct Error {
    /// The name of the file.
    file: String,
    source: io::Error,
}

impl Error {
    pub(crate) fn new(file: &str, source: io::Error) -> Self {
        Self { file: file.to_owned(), source }
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The cause. A file that is not a trace has the kind `InvalidData`.
    #[must_use]
    pub fn cause(&self) -> &io::Error {
        &self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
