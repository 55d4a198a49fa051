//! The formatter of spec files.

use crate::import::Texts;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::{emit, syntax};
use std::collections::BTreeMap;

/// The new text of each spec file that is not formatted.
///
/// Files of structures, of values and of events, and an axis that lists all its builds, are formatted. `scalars.toml`, files of global variables and
/// an axis that extends another are not.
///
/// # Errors
///
/// A comment would be lost, because the file has no item after it.
pub fn formatted(spec: &Spec) -> Result<Texts, String> {
    let definitions = spec.definitions.values().map(|definition| {
        let file = spec.sources.file(definition.name.span);
        (file, emit::toml::definition(spec, definition))
    });
    let own = spec.axis.kernels.iter().find(|kernel| !kernel.added).map(|kernel| spec.sources.file(kernel.span));
    let axis = own.map(|file| (file, emit::toml::axis(&spec.axis)));
    let mut changed = Texts::new();
    let events = spec.classes.iter().map(|class| (spec.sources.file(class.name.span), emit::toml::events(class)));
    for (file, text) in
        definitions.chain(axis).chain(events).filter(|(file, text)| !file.standard && file.text.replace("\r\n", "\n") != *text)
    {
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
