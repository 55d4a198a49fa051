//! Reasons to stop reading a file, and the results of commands on several files.

use super::{Output, Several};
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_trace as trace;
use std::fmt;
use std::io::{self, Write};

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

/// The result of a command on all its files.
#[derive(Default)]
pub struct Done {
    pub outcome: Outcome,
    /// The number of files that cannot be read, which were reported.
    pub unusable: usize,
}

impl Done {
    /// Adds the outcome of a file.
    pub fn add(&mut self, outcome: Outcome) {
        if outcome == Outcome::Differs {
            self.outcome = outcome;
        }
    }
}

/// Writes the rest of the output. Returns the outcome, or the final error after the errors of files have been reported.
pub fn finished(result: Result<Done, Stop>, files: usize, out: &mut Output) -> Result<Outcome, Error> {
    let Done { outcome, unusable } = match result {
        Ok(done) => done,
        Err(Stop::Strict) => Done { outcome: Outcome::Differs, unusable: 0 },
        Err(Stop::Input(why)) => return Err(why.into()),
        Err(Stop::Output(error)) => return ended(Outcome::Good, error),
    };
    match (out.flush(), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => Ok(outcome),
        (Ok(()), _) => Err(Unread { unusable, files }.into()),
    }
}

/// The final error after the errors of files have been reported.
#[derive(Debug)]
pub struct Unread {
    pub unusable: usize,
    pub files: usize,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = if self.unusable == 1 { "message" } else { "messages" };
        write!(f, "{} of {} failed; see the {messages} above", self.unusable, Several(self.files as u64, "file"))
    }
}

impl std::error::Error for Unread {}

/// A closed output pipe ends the program without an error.
pub fn ended(outcome: Outcome, error: io::Error) -> Result<Outcome, Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(outcome),
        _ => Err(format!("cannot write the output: {error}").into()),
    }
}
