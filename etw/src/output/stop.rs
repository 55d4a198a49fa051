//! Reasons to stop reading a file, and the results of commands that stop.

use super::Several;
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_trace as trace;
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

impl From<trace::Error> for Stop {
    fn from(error: trace::Error) -> Self {
        Self::Input(error.to_string())
    }
}

/// The final error after the errors of files have been reported.
pub fn unread(unusable: usize, files: usize) -> String {
    let messages = if unusable == 1 { "message" } else { "messages" };
    format!("{unusable} of {} failed; see the {messages} above", Several(files as u64, "file"))
}

/// A closed output pipe ends the program without an error.
pub fn ended(outcome: Outcome, error: io::Error) -> Result<Outcome, Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(outcome),
        _ => Err(format!("cannot write the output: {error}").into()),
    }
}
