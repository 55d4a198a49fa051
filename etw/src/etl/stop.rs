//! Why there is no more to tell of a file.

use std::io;

/// Why there is no more to tell of a file.
pub enum Stop {
    /// It cannot be read.
    Input(String),
    /// Nothing can be printed any more.
    Output(io::Error),
    /// There was a finding, and none was to be passed over.
    Strict,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
