//! Reasons to stop reading a file.

use std::io;

/// Why reading of a file stopped.
pub enum Stop {
    /// The file cannot be read.
    Input(String),
    /// The output cannot be written.
    Output(io::Error),
    /// A diagnostic occurred in strict mode.
    Strict,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
