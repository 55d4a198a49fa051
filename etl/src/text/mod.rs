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

/// A count with its noun, such as `1 event` and `1,000 events`.
pub struct Several<'a>(pub u64, pub &'a str);

impl Display for Several<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", Grouped(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// A number with its digits in groups of three.
pub struct Grouped(pub u64);

impl Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}
