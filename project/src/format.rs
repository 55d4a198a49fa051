//! Specs in their one form.

use crate::import::Texts;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::{emit, syntax};
use std::collections::BTreeMap;

/// What becomes of the spec files that are not in their one form: the new text of each.
///
/// Files of structures and of values, and an axis that lists all its kernels, have such a form. `scalars.toml`, files of global variables and
/// an axis that extends another have none.
///
/// # Errors
///
/// A comment that would be lost, since nothing in the file is there that it could stand before.
pub fn formatted(spec: &Spec) -> Result<Texts, String> {
    let definitions = spec.definitions.values().map(|definition| {
        let file = spec.sources.file(definition.name.span);
        (file, emit::toml::definition(spec, definition))
    });
    let own = spec.axis.kernels.iter().find(|kernel| !kernel.added).map(|kernel| spec.sources.file(kernel.span));
    let axis = own.map(|file| (file, emit::toml::axis(&spec.axis)));
    let mut changed = Texts::new();
    for (file, text) in definitions.chain(axis).filter(|(file, text)| !file.standard && file.text.replace("\r\n", "\n") != *text)
    {
        if let Some(comment) = lost(&file.text, &text) {
            let help = "move it to a line of its own before a member, a constant or a table";
            return Err(format!("{}: the comment `{comment}` would be lost: {help}", file.path));
        }
        changed.insert(file.path.clone(), text);
    }
    Ok(changed)
}

/// The first comment that another text does not have as often.
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
