//! Spec texts as an import reads them: the axis and the scalars, and the definitions as trees of entries.

use super::splice::Texts;
use super::tree::{Definition, Subject};
use super::write::Context;
use crate::Error;
use etw_layouts_codegen::axis::{Arch, Axis, Build};
use etw_layouts_codegen::emit::rust::is_device;
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_codegen::syntax::{Sort, Tree};
use etw_layouts_codegen::{Errors, Sources, read};
use std::collections::BTreeMap;

/// The definitions of spec texts, by name.
pub fn definitions(texts: &Texts, axis: &Axis) -> Result<BTreeMap<String, Definition>, Error> {
    let mut definitions = BTreeMap::new();
    for (path, text) in texts {
        let read = Definition::read(path, text, axis)?;
        definitions.extend(read.map(|definition| (definition.root.name.clone(), definition)));
    }
    Ok(definitions)
}

/// What edits of a definition need to know.
pub fn context<'a>(spec: &'a Spec, target: usize, definition: &Definition) -> Context<'a> {
    let source = definition.root.keys.get("source").and_then(|pieces| pieces.at(target));
    let from_symbols = definition.path.is_empty() || source.is_some_and(|value| value.text() == Some("symbols"));
    Context { axis: &spec.axis, target, from_symbols }
}

/// The path of a new definition, and the word that it begins with.
pub fn home(definition: &Definition, folder: &str) -> (String, &'static str) {
    let word = match definition.subject {
        Subject::Aggregate(Kind::Struct) => "struct",
        Subject::Aggregate(Kind::Union) => "union",
        Subject::Enumeration => "enum",
    };
    let name = &definition.root.name;
    let tracing = ["ETW_", "WMI_", "WNODE_", "EVENT_", "PERFINFO_"].iter().any(|start| name.starts_with(start));
    let tracing = tracing || name.contains("TRACE_");
    // No type is called so: no name has a hyphen.
    let suffix = if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" };
    (format!("{folder}/{}/{name}{suffix}.toml", if tracing { "etw" } else { "nt" }), word)
}

/// The index of a kernel on an architecture.
pub fn find(axis: &Axis, build: Build, arch: Arch) -> Option<usize> {
    axis.targets.iter().position(|t| t.arch == arch && axis.kernels[t.kernel].build == build)
}

/// The version axis and the scalars alone.
pub fn basis(texts: &Texts) -> Result<Spec, Error> {
    spec(&axis_texts(texts))
}

/// The texts of the version axis and the scalars.
pub fn axis_texts(texts: &Texts) -> Texts {
    let is_basis = |text: &String| Tree::parse(text).0.root().sort != Sort::File;
    texts.iter().filter(|(_, text)| is_basis(text)).map(|(path, text)| (path.clone(), text.clone())).collect()
}

/// What [`axis_texts`] say.
pub fn spec(axis_texts: &Texts) -> Result<Spec, Error> {
    match read(sources(axis_texts)) {
        Ok(spec) => Ok(spec),
        // Before the first kernel there is no axis to read.
        Err(_) if !has_axis(axis_texts)? => Ok(Spec::default()),
        Err(errors) => Err(rendered(errors)),
    }
}

/// Whether there is a kernel on the axis.
pub fn has_axis(texts: &Texts) -> Result<bool, Error> {
    Ok(windows(texts)?.1.contains("[[version]]"))
}

/// The path and the text of the axis.
pub fn windows(texts: &Texts) -> Result<(String, String), Error> {
    let found = texts.iter().find(|(path, _)| path.rsplit('/').next() == Some("windows.toml"));
    let (path, text) = found.ok_or("the specs have no windows.toml")?;
    if Tree::parse(text).0.root().get("extends").is_some() {
        let help =
            "let it list all kernels, as specs/windows.toml of etw-layouts does, beside copies of the types that are embedded";
        return Err(format!("{path} extends the axis of Windows, and import enters kernels into a whole one: {help}").into());
    }
    Ok((path.clone(), text.clone()))
}

/// Texts as codegen reads them.
pub fn sources(texts: &Texts) -> Sources {
    let mut sources = Sources::default();
    for (path, text) in texts {
        sources.add(path.clone(), text.clone());
    }
    sources
}

/// What is wrong with a spec set, as text.
pub fn rendered(errors: Errors) -> Error {
    errors.render(false).into()
}
