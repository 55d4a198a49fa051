//! Values and fields of events as text and as JSON, in the form in which the program `etw` prints them.

pub mod fields;
pub mod put;
mod recent;
mod template;
pub mod values;

pub use recent::Recent;
pub use template::Template;

use etw_layouts_payload::is_hidden;
use std::fmt::{self, Display, Write as _};

/// The output style of decoded values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `{name = value, …}`.
    Text,
    /// A JSON object.
    Json,
}

/// Text from a file, with `\u{…}` for control characters, invisible characters and characters that change the writing direction.
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match is_hidden(c) {
                true => write!(f, "{}", c.escape_unicode())?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
