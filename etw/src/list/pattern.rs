//! Which names are listed.

use crate::Error;
use etw_layouts_project::names::meant;

/// Letters of a name, or all of it with `*` for any letters.
#[derive(Clone, Copy)]
pub struct Pattern<'a>(pub &'a str);

impl Pattern<'_> {
    /// Whether a name matches, in either case.
    pub fn matches(self, name: &str) -> bool {
        let (pattern, name) = (self.0.to_lowercase(), name.to_lowercase());
        let Some((start, rest)) = pattern.split_once('*') else { return name.contains(&pattern) };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(name) = name.strip_prefix(start).and_then(|name| name.strip_suffix(end)) else { return false };
        let after = |left: &str, part| left.split_once(part).map(|(_, after)| after.to_owned());
        middle.split('*').try_fold(name.to_owned(), |left, part| after(&left, part)).is_some()
    }

    /// Fails if nothing was found among the known names; says the nearest.
    pub fn found(self, nothing: bool, what: &str, known: impl Iterator<Item = String>) -> Result<(), Error> {
        if !nothing {
            return Ok(());
        }
        let known: Vec<_> = known.collect();
        let meant = meant(self.0, known.iter().map(String::as_str));
        Err(format!("no {what} matches `{}`{meant}`etw list` without a pattern lists all", self.0).into())
    }
}
