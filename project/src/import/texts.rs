//! Parsing and rewriting of spec texts.

use crate::Error;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::emit;
use etw_layouts_codegen::emit::rust::is_device;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::syntax::Tree;
use etw_layouts_codegen::{Errors, Sources, read, read_partly, resolve};
use std::collections::BTreeMap;

/// Spec texts by path.
pub type Texts = BTreeMap<String, String>;

/// Prefix of comments about questions that symbols leave open.
pub const MARK: &str = "# import: ";

/// The spec in the texts, ignoring errors: before the first build is imported there is no axis.
pub fn spec(texts: &Texts) -> Spec {
    read_partly(sources(texts.iter())).0
}

/// The axis alone.
///
/// # Errors
///
/// As [`windows`].
pub fn axis(texts: &Texts) -> Result<Axis, Error> {
    let path = windows(texts)?;
    Ok(read_partly(sources(texts.iter().filter(|(other, _)| **other == path))).0.axis)
}

/// The layouts of the texts.
///
/// # Errors
///
/// The texts have errors.
pub fn layouts(texts: &Texts) -> Result<Layouts, Error> {
    read(sources(texts.iter())).and_then(resolve).map_err(rendered)
}

/// Writes the axis.
///
/// # Errors
///
/// As [`windows`].
pub fn enter(texts: &mut Texts, axis: &Axis) -> Result<(), Error> {
    texts.insert(windows(texts)?, emit::toml::axis(axis));
    Ok(())
}

/// Rewrites the definitions that an import changed; all others stay byte for byte unchanged.
pub fn changed(texts: &mut Texts, before: &Spec, after: &Spec, folder: &str) {
    for (name, definition) in &after.definitions {
        let text = emit::toml::definition(after, definition);
        match before.definitions.get(name) {
            None => drop(texts.insert(home(name, folder), text)),
            Some(old) if text == emit::toml::definition(before, old) => {}
            Some(old) => drop(texts.insert(before.sources.file(old.name.span).path.clone(), text)),
        }
    }
}

/// Adds a comment about an open question once.
pub fn remark(comments: &mut Vec<String>, note: &str) {
    let line = format!("{MARK}{note}");
    if !comments.contains(&line) {
        comments.push(line);
    }
}

/// The path of the axis.
///
/// # Errors
///
/// There is no axis, or it extends another one.
fn windows(texts: &Texts) -> Result<String, Error> {
    let found = texts.iter().find(|(path, _)| path.rsplit('/').next() == Some("windows.toml"));
    let (path, text) = found.ok_or("the specs have no windows.toml; copy specs/windows.toml of etw-layouts into their folder")?;
    if Tree::parse(text).0.root().get("extends").is_some() {
        let help = "replace it by a copy of specs/windows.toml of etw-layouts, and copy the embedded types";
        return Err(format!("{path} extends the built-in version axis, but an import needs a complete one; {help}").into());
    }
    Ok(path.clone())
}

/// The path of a new definition.
fn home(name: &str, folder: &str) -> String {
    let tracing = ["ETW_", "ETWP_", "WMI_", "WNODE_", "EVENT_", "PERFINFO_"].iter().any(|start| name.starts_with(start));
    let tracing = tracing || name.contains("TRACE_");
    // A hyphen cannot be part of a type name, so the file name is unique.
    let suffix = if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" };
    format!("{folder}/{}/{name}{suffix}.toml", if tracing { "etw" } else { "nt" })
}

/// Texts as codegen reads them.
fn sources<'a>(texts: impl Iterator<Item = (&'a String, &'a String)>) -> Sources {
    let mut sources = Sources::default();
    texts.for_each(|(path, text)| sources.add(path.clone(), text.clone()));
    sources
}

/// The errors of a spec set as text.
fn rendered(errors: Errors) -> Error {
    errors.render(false).into()
}
