//! The formatter of spec files.

use crate::import::Texts;
use etw_layouts_codegen::{self as codegen, Sources, syntax};
use std::collections::BTreeMap;

/// The new text of each spec file that is not formatted.
///
/// Files of structures, of values and of events, and an axis that lists all its builds, are formatted. `scalars.toml`, files of
/// global variables and an axis that extends another are not.
///
/// # Errors
///
/// A comment would be lost, because the file has no item after it.
pub fn formatted(sources: &Sources) -> Result<Texts, String> {
    let mut changed = Texts::new();
    for file in sources.files().iter().filter(|file| !file.standard) {
        let Some(text) = codegen::formatted(&file.text).filter(|text| file.text.replace("\r\n", "\n") != *text) else { continue };
        if let Some(comment) = lost(&file.text, &text) {
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
