//! Reads spec texts into a [`Spec`], and reports all errors in one run.

mod axis;
mod common;
mod definition;
mod event;
mod event_checks;
mod globals;
mod member;
mod merge;
mod names;
mod pieces;
mod reader;
mod scalars;
mod updates;
mod who;

pub use definition::is_definable;
pub use scalars::is_identifier;

use crate::diagnostic::{Diagnostic, Errors};
use crate::source::Sources;
use crate::spec::{Body, Definition, Spec};
use crate::syntax::{self, TableKind, Tree};
use definition::Names;
use reader::Reader;
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a spec set.
///
/// # Errors
///
/// All errors in the texts, each with its place. [`resolve`](crate::resolve()) checks whether the facts agree with each other.
pub fn read(sources: Sources) -> Result<Spec, Errors> {
    match read_all(sources) {
        Reading { spec, errors, .. } if errors.is_empty() => Ok(spec),
        Reading { spec, errors, .. } => Err(Errors::new(spec.sources, errors)),
    }
}

/// Reads a spec set as far as possible, and returns the errors. A spec set that was correct before a build was added to its axis
/// is read completely; facts that it does not state for that build are missing in the spec.
pub fn read_partly(sources: Sources) -> (Spec, Vec<Diagnostic>) {
    let Reading { spec, errors, .. } = read_all(sources);
    (Spec { broken: BTreeSet::new(), ..spec }, errors)
}

/// The readable part of a spec set.
pub(crate) struct Reading {
    /// The spec. Its `broken` names the definitions of files with errors.
    pub spec: Spec,
    pub errors: Vec<Diagnostic>,
    /// Whether the axis and the scalars have no errors. Otherwise most other files would get follow-on errors.
    pub sound: bool,
}

pub(crate) fn read_all(sources: Sources) -> Reading {
    let mut errors = Vec::new();
    let mut spec = Spec::default();
    let mut sources = sources;
    if sources.files().is_empty() {
        // Errors need a text to point to.
        sources.add("no spec file", "");
    }
    let sources = sources;
    let texts = sources.files().iter().enumerate();
    let parsed: Vec<_> = texts.map(|(file, source)| parse(file, &source.text, &mut errors)).collect();
    let incomplete: BTreeSet<u32> = errors.iter().map(|error| error.at.0.file).collect();
    let roots = || parsed.iter().map(Tree::root).enumerate();
    let mut reader = Reader::new(&mut errors);
    axis::read(&mut reader, roots().filter(|(_, root)| root.kind == TableKind::Axis), &mut spec.axis);
    spec.axis.is_standard = spec.axis.revisions.iter().any(|revision| sources.file(revision.span).standard);
    for (file, root) in roots().filter(|(_, root)| root.kind == TableKind::Scalars) {
        reader.enter(file);
        scalars::read(&mut reader, root, &mut spec);
    }
    // Skip follow-on errors: those of an incomplete text, and those of ranges that use a rejected part of the axis.
    let is_axis = |(file, root): &(usize, syntax::TomlTable)| root.kind == TableKind::Axis && reader.has_error(*file);
    let is_axis_wrong = roots().any(|root| is_axis(&root));
    let whole = || roots().filter(|(file, _)| !is_axis_wrong && !incomplete.contains(&(*file as u32)));
    let mut names = Names::default();
    for (file, root) in whole().filter(|(_, root)| root.kind == TableKind::File) {
        reader.enter(file);
        definition::read(&mut reader, root, &mut names, &mut spec);
    }
    for (file, root) in whole().filter(|(_, root)| root.kind == TableKind::Globals) {
        reader.enter(file);
        globals::read(&mut reader, root, &mut spec);
    }
    // Events refer to enumerations and flags in other files. Files with errors must not cause follow-on errors here.
    spec.broken = broken(&spec, &sources, roots(), reader.errors());
    for (file, root) in whole().filter(|(_, root)| root.kind == TableKind::Events) {
        reader.enter(file);
        event::read(&mut reader, root, &mut spec);
    }
    for (file, root) in whole().filter(|(_, root)| root.kind == TableKind::Providers) {
        reader.enter(file);
        who::read(&mut reader, root, &mut spec);
    }
    if !is_axis_wrong {
        event_checks::check_classes(&mut reader, &spec);
    }
    spec.broken = broken(&spec, &sources, roots(), &errors);
    let wrong: BTreeSet<u32> = errors.iter().map(|error| error.at.0.file).collect();
    let basic = roots().filter(|(_, root)| matches!(root.kind, TableKind::Axis | TableKind::Scalars));
    let sound = !spec.axis.revisions.is_empty() && !basic.into_iter().any(|(file, _)| wrong.contains(&(file as u32)));
    Reading { spec: Spec { sources, ..spec }, errors, sound }
}

/// Reads one file of a structure or of values again, with a new text. The other files are not read again.
pub(crate) fn read_again(mut spec: Spec, file: usize, text: String) -> Reading {
    let mut errors = Vec::new();
    spec.definitions.retain(|_, definition| definition.name.span.file as usize != file);
    spec.sources.replace(file, text);
    let sources = core::mem::take(&mut spec.sources);
    let root = parse(file, &sources.files()[file].text, &mut errors);
    if errors.is_empty() {
        let mut reader = Reader::new(&mut errors);
        reader.enter(file);
        let mut names = spec.definitions.values().map(|definition| definition.name.clone()).collect();
        definition::read(&mut reader, root.root(), &mut names, &mut spec);
    }
    let broken = broken(&spec, &sources, std::iter::once((file, root.root())), &errors);
    spec.broken.extend(broken);
    Reading { spec: Spec { sources, ..spec }, errors, sound: true }
}

/// Reads one file of events again, with a new text. The other files are not read again; structures are left out of the result.
///
/// # Errors
///
/// The errors of [`read`] in this file, and events that are stated twice.
pub fn reread_events(spec: &Spec, file: usize, text: String) -> Result<Spec, Errors> {
    let is_values = |definition: &Definition| matches!(definition.body, Body::Values(_));
    let values = spec.definitions.iter().filter(|(_, definition)| is_values(definition));
    let classes = spec.classes.iter().filter(|class| class.name.span.file as usize != file);
    let mut errors = Vec::new();
    let mut new = Spec {
        sources: spec.sources.clone(),
        definitions: values.map(|(name, definition)| (name.clone(), definition.clone())).collect(),
        classes: classes.cloned().collect(),
        ..Spec::default()
    };
    new.sources.replace(file, text);
    let sources = core::mem::take(&mut new.sources);
    let root = parse(file, &sources.files()[file].text, &mut errors);
    let mut reader = Reader::new(&mut errors);
    reader.enter(file);
    event::read(&mut reader, root.root(), &mut new);
    event_checks::check_classes(&mut reader, &new);
    new.sources = sources;
    if errors.is_empty() { Ok(new) } else { Err(Errors::new(new.sources, errors)) }
}

/// The names that files with errors define, as far as they can be found.
fn broken<'a>(
    spec: &Spec,
    sources: &Sources,
    roots: impl Iterator<Item = (usize, crate::syntax::TomlTable<'a>)>,
    errors: &[Diagnostic],
) -> BTreeSet<String> {
    let wrong: BTreeSet<u32> = errors.iter().map(|error| error.at.0.file).collect();
    let named = spec.definitions.values().filter(|d| wrong.contains(&d.name.span.file)).map(|d| d.name.value.clone());
    let subjects = roots.filter(|(file, _)| wrong.contains(&(*file as u32))).flat_map(|(_, root)| root.entries());
    let subjects = subjects.flat_map(|entry| entry.tables()).filter_map(|table| Some(table.text("name")?.to_owned()));
    let stem = |path: &str| Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let files = wrong.iter().map(|&file| stem(&sources.files()[file as usize].path));
    named.chain(subjects).chain(files).collect()
}

fn parse<'a>(file: usize, text: &'a str, errors: &mut Vec<Diagnostic>) -> Tree<'a> {
    let mut reader = Reader::new(errors);
    reader.file = file;
    // Spans are 32 bits wide.
    if text.len() > 1 << 24 {
        reader.error(reader.span(0..0), "file is larger than 16 MiB", "", "split the file into one file per structure");
        return Tree::parse("").0;
    }
    let (tree, syntax) = Tree::parse(text);
    for (before, error) in syntax.iter().enumerate() {
        let range = error.span().unwrap_or(0..0);
        let is_duplicate = error.message() == "duplicate key";
        // Skip follow-on errors: keys below a duplicate header, and duplicates after other syntax errors.
        if is_duplicate && before > 0 {
            continue;
        }
        let key = text.get(range.clone()).unwrap_or_default();
        let around = (text.get(..range.start), text.get(range.end..));
        let is_header = matches!(around, (Some(before), Some(after)) if before.ends_with('[') && after.starts_with(']'));
        match is_duplicate && is_header && TableKind::File.keys().iter().any(|own| own.name == key) {
            true => reader.twice(range, key),
            false => {
                reader.error(reader.span(range), "invalid TOML syntax", error.message(), "fix the syntax; specs are TOML 1.1")
            }
        }
    }
    tree
}
