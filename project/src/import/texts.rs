//! Definitions as files.

use super::types::definable;
use crate::Error;
use etw_layouts_codegen::emit;
use etw_layouts_codegen::emit::rust::is_device;
use etw_layouts_codegen::spec::Spec;
use std::collections::BTreeMap;

/// Spec texts by their paths.
pub type Texts = BTreeMap<String, String>;

/// How a line begins by which import says what symbols leave open.
pub const MARK: &str = "# import: ";

/// Says in a comment, once, what symbols leave open.
pub fn remark(comments: &mut Vec<String>, note: &str) {
    let line = format!("{MARK}{note}");
    if !comments.contains(&line) {
        comments.push(line);
    }
}

/// Writes those definitions that an import changed: the others stay as they are, byte for byte.
pub fn changed(texts: &mut Texts, before: &Spec, after: &Spec, folder: &str) -> Result<(), Error> {
    for (name, definition) in &after.definitions {
        let Some(old) = before.definitions.get(name) else {
            definable(name)?;
            texts.insert(home(name, folder), emit::toml::definition(after, definition));
            continue;
        };
        let text = emit::toml::definition(after, definition);
        if text != emit::toml::definition(before, old) {
            texts.insert(before.sources.file(old.name.span).path.clone(), text);
        }
    }
    Ok(())
}

/// The path of a new definition.
fn home(name: &str, folder: &str) -> String {
    let tracing = ["ETW_", "ETWP_", "WMI_", "WNODE_", "EVENT_", "PERFINFO_"].iter().any(|start| name.starts_with(start));
    let tracing = tracing || name.contains("TRACE_");
    // No type is called so: no name has a hyphen.
    let suffix = if is_device(&name.to_ascii_uppercase()) { "-type" } else { "" };
    format!("{folder}/{}/{name}{suffix}.toml", if tracing { "etw" } else { "nt" })
}
