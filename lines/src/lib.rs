//! Events as lines of text, JSON and CSV, and the options that select them, for the program `etw` and other front ends.

#![forbid(unsafe_code)]

pub mod column;
pub mod document;
mod event_fields;
mod format;
pub mod kind;
pub mod layout;
pub mod line;
mod message;
pub mod payload;
pub mod schemas;
pub mod selection;
pub mod stack;
mod structure;
pub mod table;
mod value;
pub mod wpp;

pub use format::Format;
use std::io;

/// An error with a message for the user.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Receives reports of files that are not used.
pub trait Refusals {
    /// Reports why a file is not read, or a part of it not used.
    fn refused(&self, file: &str, error: &str);
}

/// The reason why a file cannot be read. The most frequent reason has a remedy.
pub fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder; check the path".to_owned(),
        _ => error.to_string(),
    }
}
