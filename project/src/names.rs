//! Finds structures, enumerations and sets of constants by the names that a user writes.

use crate::verify::ours::is_macros;
use crate::{Error, Refusal, Remedy};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::nearest;
use etw_layouts_codegen::spec::{self, Body, Shape};
use std::collections::BTreeSet;

/// The names that a command accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Everything that the specs define.
    All,
    /// Definitions that symbol files can contain, which excludes macros.
    Symbols,
}

/// The names of all definitions, or one selected name.
///
/// # Errors
///
/// The name does not exist; the error suggests a similar one.
pub fn names<'a>(layouts: &'a Layouts, among: Among, only: Option<&str>) -> Result<Vec<&'a str>, Error> {
    match only {
        Some(only) => Ok(vec![name(layouts, among, only)?]),
        None => Ok(all(layouts, among).collect()),
    }
}

/// The name of the selected definition. Names can be written as in debuggers and symbol files: `_LUID`, `nt!_LUID`.
///
/// # Errors
///
/// The name does not exist; the error suggests a similar one.
pub fn name<'a>(layouts: &'a Layouts, among: Among, asked: &str) -> Result<&'a str, Error> {
    let tag = asked.strip_prefix("nt!").unwrap_or(asked);
    let known = |wanted: &str| all(layouts, among).find(|name| *name == wanted);
    if let Some(name) = known(tag).or_else(|| known(tag.strip_prefix('_')?)) {
        return Ok(name);
    }
    // No two names differ only in case.
    let bare = tag.strip_prefix('_').unwrap_or(tag);
    if let Some(name) = all(layouts, among).find(|name| name.eq_ignore_ascii_case(bare)) {
        return Ok(name);
    }
    if among == Among::Symbols && name(layouts, Among::All, asked).is_ok() {
        let problem = format!("`{asked}` is not in symbol files: its constants are macros");
        return Err(Refusal::new(problem, Remedy::InSymbols(asked.to_owned())).into());
    }
    if layouts.spec.globals.contains_key(tag) {
        return Err(Refusal::new(format!("`{tag}` is a global variable"), Remedy::NotVariable(tag.to_owned())).into());
    }
    Err(Refusal::unknown(format!("unknown structure `{asked}`"), tag, all(layouts, among), Remedy::Definition).into())
}

/// The part of an error between an unknown name and the remedy: a suggestion of a similar name, if there is one.
pub fn meant<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(asked, known).map_or("; ".to_owned(), |near| format!("; did you mean `{near}`? "))
}

/// The names of the definitions.
pub fn all(layouts: &Layouts, among: Among) -> impl Iterator<Item = &str> {
    layouts.spec.definitions.keys().map(String::as_str).filter(move |name| among == Among::All || !is_macros(layouts, name))
}

/// The path of a member or constant as the spec has it, for a path in any case.
pub(crate) fn declared_as(layouts: &Layouts, structure: &str, member: &str) -> Option<String> {
    let all = declared(layouts, structure);
    // Names that differ only in case are not ambiguous if one of them is exact.
    let exact = all.iter().find(|known| *known == member);
    exact.or_else(|| all.iter().find(|known| known.eq_ignore_ascii_case(member))).cloned()
}

/// The error of a member or constant that no version of a structure has, with a similar name if there is one.
pub(crate) fn no_member(layouts: &Layouts, structure: &str, member: &str) -> Error {
    let known = declared(layouts, structure);
    if let Some((outer, _)) = member.rsplit_once('.')
        && known.iter().any(|known| known == outer)
        && !known.iter().any(|known| known.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.')))
    {
        let problem = format!("{structure} has no member `{member}`: `{outer}` has no members in this structure");
        return Refusal::new(problem, Remedy::Embedded(structure.to_owned())).into();
    }
    let problem = format!("{structure} has no member `{member}`");
    Refusal::unknown(problem, member, known.iter().map(String::as_str), Remedy::Member(structure.to_owned())).into()
}

/// The paths of all members and constants that any version has, in the order of the spec.
pub(crate) fn declared(layouts: &Layouts, structure: &str) -> Vec<String> {
    fn walk(members: &[spec::Member], path: &str, list: &mut Vec<String>) {
        for member in members {
            let mut inner = path.to_owned();
            if let Some(name) = &member.name {
                let own = format!("{path}{}", name.value);
                inner = format!("{own}.");
                list.push(own);
            }
            if let Shape::Inline(_, members) = &member.shape {
                walk(members, &inner, list);
            }
        }
    }
    let mut list = Vec::new();
    match layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        Some(Body::Aggregate(aggregate)) => walk(&aggregate.members, "", &mut list),
        Some(Body::Values(values)) => list.extend(values.constants.iter().map(|constant| constant.name.value.clone())),
        None => {}
    }
    // A spec may list a member or constant once for each range of versions.
    let mut listed = BTreeSet::new();
    list.retain(|path| listed.insert(path.clone()));
    list
}
