//! The formatter of spec files.

use crate::import::Texts;
use crate::{Error, Project};
use etw_layouts_codegen::{self as codegen, Sources, compile_with, syntax};
use std::collections::BTreeMap;

/// The new text of each spec file of a project that is not formatted, or that has keys of an earlier form of the language.
///
/// Files of structures, of values and of events, and the version axis, are formatted. `scalars.toml` and files of global variables
/// are not.
///
/// # Errors
///
/// The specs have errors, a key cannot be converted, or a comment would be lost, because the file has no item after it.
pub fn formatted(project: &Project) -> Result<Texts, Error> {
    let sources = project.sources()?;
    let new = converted(&sources)?;
    compile_with(new.clone(), project.standard)?;
    Ok(formatted_texts(&sources, &new)?)
}

/// The specs with the keys of the language.
fn converted(old: &Sources) -> Result<Sources, String> {
    let mut new = Sources::default();
    for file in old.files() {
        let text = codegen::converted(&file.text).map_err(|error| format!("{}: {error}", file.path))?;
        new.add(file.path.clone(), text.unwrap_or_else(|| file.text.clone()));
    }
    Ok(new)
}

/// The new text of each file whose old text differs from the standard format of valid specs.
///
/// # Errors
///
/// A comment would be lost, because the file has no item after it.
pub fn formatted_texts(old: &Sources, new: &Sources) -> Result<Texts, String> {
    let mut changed = Texts::new();
    for (file, old) in new.files().iter().zip(old.files()).filter(|(file, _)| !file.standard) {
        let text = codegen::formatted(&file.text).unwrap_or_else(|| file.text.replace("\r\n", "\n"));
        if old.text.replace("\r\n", "\n") == text {
            continue;
        }
        if let Some(comment) = lost(&old.text, &text) {
            let help = "move it to a line of its own before a member, a constant, a field or a table";
            return Err(format!("{}: formatting would remove the comment `{comment}`; {help}", file.path));
        }
        changed.insert(file.path.clone(), text);
    }
    Ok(changed)
}

/// The first comment that occurs less often in the other text.
fn lost<'a>(old: &'a str, new: &str) -> Option<&'a str> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    syntax::comments(new).iter().for_each(|(_, line)| *left.entry(line).or_default() += 1);
    let comments = syntax::comments(old).into_iter().map(|(_, line)| line).filter(|line| !line.is_empty());
    comments.into_iter().find(|line| match left.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    })
}
