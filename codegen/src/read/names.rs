//! Reads the parts of an axis: labels, builds, modules and architectures.

use super::reader::Reader;
use crate::axis::{self, Arch, Axis, Build};
use crate::source::At;
use crate::spec::KEYWORDS;
use crate::syntax::Node;
use toml::de::DeValue;

/// Checks a label, which has to be unique and is part of names in generated code.
pub(super) fn check_label(reader: &mut Reader, label: &At<String>, axis: &Axis) {
    let plain = label.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let taken = axis.ends().any(|l| l == label.value) || label.value == "no" || label.value.parse::<Arch>().is_ok();
    if !plain || taken || label.value.is_empty() || label.value.contains("..") || label.value.contains("-sp") {
        let help = "choose another label of letters, digits, `.` and `-`";
        reader.error(label.span, format!("invalid label `{}`", label.value), "already used, reserved, or not allowed", help);
    }
}

pub(super) fn build(reader: &mut Reader, node: &Node) -> Option<Build> {
    let At { value, span } = reader.string(node)?;
    let parsed = axis::build(&value).map(|(build, _)| build);
    if parsed.is_none() {
        let meant = value.parse::<Build>().map_or_else(|error| error.meant(), Some);
        let help = match meant {
            Some(meant) => format!("write {meant:#}"),
            None => "write it as 10.0.19041 or 10.0.19041.1415".to_owned(),
        };
        let label = if value.split('.').count() > 2 && meant.is_some() {
            "a build of another version"
        } else {
            "not three or four numbers"
        };
        reader.error(span, format!("invalid build `{value}`"), label, help);
    }
    parsed
}

/// Reserved module names: Rust keywords, and modules of generated code.
const MODULES: [&str; 10] =
    ["axis", "constants", "crate", "kernels", "layouts", "members", "self", "structures", "super", "targets"];

pub(super) fn identifier(reader: &mut Reader, node: &Node) -> Option<String> {
    let At { value, span } = reader.string(node)?;
    if !super::scalars::is_identifier(&value)
        || KEYWORDS.contains(&value.as_str())
        || MODULES.contains(&value.as_str())
        || value.chars().any(|c| c.is_ascii_uppercase())
    {
        reader.error(
            span,
            format!("invalid module name `{value}`"),
            "here",
            "start with a letter, then write lower-case letters, digits and `_`; Rust keywords and modules of generated code are reserved",
        );
        return None;
    }
    Some(value)
}

/// The names of architectures.
pub(super) fn arch_words() -> [(&'static str, Arch); Arch::ALL.len()] {
    Arch::ALL.map(|arch| (arch.as_str(), arch))
}

fn arches(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let mut list: Vec<_> = reader.array(node).filter_map(|n| reader.word(n, &arch_words())).collect();
    list.sort();
    list.dedup();
    list
}

/// A list of at least one architecture.
pub(super) fn existing(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let list = arches(reader, node);
    if matches!(node.get_ref(), DeValue::Array(items) if items.is_empty()) {
        reader.error(reader.span(node.span()), "list has no architecture", "empty list", "write x86, x64 or arm64");
    }
    list
}
