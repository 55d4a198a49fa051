//! Structures, enumerations and sets of constants by the names that a user gives.

use crate::Error;
use crate::verify::ours::is_macros;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::nearest;

/// What a command can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Everything that the specs define.
    All,
    /// What can be in symbol files: no macros.
    Symbols,
}

/// The names of all definitions, or the one that was asked for.
///
/// # Errors
///
/// There is none of that name; the nearest.
pub fn names<'a>(layouts: &'a Layouts, among: Among, only: Option<&str>) -> Result<Vec<&'a str>, Error> {
    match only {
        Some(only) => Ok(vec![name(layouts, among, only)?]),
        None => Ok(all(layouts, among).collect()),
    }
}

/// The name of the definition that was asked for, also as debuggers and symbol files write it: `_LUID`, `nt!_LUID`.
///
/// # Errors
///
/// There is none of that name; the nearest.
pub fn name<'a>(layouts: &'a Layouts, among: Among, asked: &str) -> Result<&'a str, Error> {
    let tag = asked.strip_prefix("nt!").unwrap_or(asked);
    let known = |wanted: &str| all(layouts, among).find(|name| *name == wanted);
    if let Some(name) = known(tag).or_else(|| known(tag.strip_prefix('_')?)) {
        return Ok(name);
    }
    // No two differ by case alone.
    let bare = tag.strip_prefix('_').unwrap_or(tag);
    if let Some(name) = all(layouts, among).find(|name| name.eq_ignore_ascii_case(bare)) {
        return Ok(name);
    }
    if among == Among::Symbols && name(layouts, Among::All, asked).is_ok() {
        return Err(format!("`{asked}` are macros, which leave no trace in symbol files").into());
    }
    Err(format!("there is no structure `{asked}`{}`etw list` names all", meant(tag, all(layouts, among))).into())
}

/// What goes on from what is not known to where the names are: a question after the nearest, if one is near.
pub fn meant<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(asked, known).map_or("; ".to_owned(), |near| format!("; did you mean `{near}`? "))
}

fn all(layouts: &Layouts, among: Among) -> impl Iterator<Item = &str> {
    layouts.spec.definitions.keys().map(String::as_str).filter(move |name| among == Among::All || !is_macros(layouts, name))
}
