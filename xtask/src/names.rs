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
/// There is none of that name; which there are, and the nearest.
pub fn names<'a>(layouts: &'a Layouts, among: Among, only: Option<&str>) -> Result<Vec<&'a str>, Error> {
    let all =
        || layouts.spec.definitions.keys().map(String::as_str).filter(|name| among == Among::All || !is_macros(layouts, name));
    let Some(only) = only else { return Ok(all().collect()) };
    if let Some(name) = all().find(|name| *name == only) {
        return Ok(vec![name]);
    }
    let meant = nearest(only, all()).map_or(".".to_owned(), |near| format!("; did you mean `{near}`?"));
    Err(format!("there is no structure `{only}`{meant} There are {}", all().collect::<Vec<_>>().join(", ")).into())
}
