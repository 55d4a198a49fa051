//! The selection of names by a pattern.

use crate::Error;
use etw_layouts_project::names::meant;

/// A part of a name, or a whole name with `*` for any characters.
#[derive(Clone, Copy)]
pub struct Pattern<'a>(pub &'a str);

impl Pattern<'_> {
    /// Whether a name matches. Case is ignored.
    pub fn matches(self, name: &str) -> bool {
        let (pattern, name) = (self.0.to_lowercase(), name.to_lowercase());
        let Some((start, rest)) = pattern.split_once('*') else { return name.contains(&pattern) };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(name) = name.strip_prefix(start).and_then(|name| name.strip_suffix(end)) else { return false };
        let after = |left: &str, part| left.split_once(part).map(|(_, after)| after.to_owned());
        middle.split('*').try_fold(name.to_owned(), |left, part| after(&left, part)).is_some()
    }

    /// Fails if no known name matches; the error suggests the most similar name.
    pub fn found(self, nothing: bool, what: &str, option: &str, known: impl Iterator<Item = String>) -> Result<(), Error> {
        if !nothing {
            return Ok(());
        }
        let known: Vec<_> = known.collect();
        let meant = meant(self.0, known.iter().map(String::as_str));
        Err(format!("no {what} matches `{}`{meant}run `etw list{option}` to see all", self.0).into())
    }
}
