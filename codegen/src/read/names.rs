//! What an axis consists of: labels, builds, modules and architectures.

use super::reader::Reader;
use crate::axis::{Arch, Axis, Build};
use crate::source::At;
use crate::spec::KEYWORDS;
use crate::syntax::Node;

/// A label is unique, and part of names in generated code.
pub(super) fn check_label(reader: &mut Reader, label: &At<String>, axis: &Axis) {
    let plain = label.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let taken = axis.ends().any(|l| l == label.value) || label.value == "no" || label.value.parse::<Arch>().is_ok();
    if !plain || taken || label.value.is_empty() || label.value.contains("..") || label.value.contains("-sp") {
        let help = "choose another of letters, digits, `.` and `-`";
        reader.error(label.span, format!("`{}` cannot be a label", label.value), "used already, or with other characters", help);
    }
}

pub(super) fn build(reader: &mut Reader, node: &Node) -> Option<Build> {
    let At { value, span } = reader.string(node)?;
    let parsed = value.parse().ok();
    if parsed.is_none() {
        reader.error(
            span,
            format!("`{value}` is no build"),
            "not three or four numbers",
            "write it as 10.0.19041 or 10.0.19041.1415",
        );
    }
    parsed
}

/// What no module of a kernel can be called: Rust takes these for others, or generated code has modules of these names.
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
            format!("`{value}` cannot name a module"),
            "here",
            "write lower-case letters, digits and `_`, a letter first; no word of Rust and no module of generated code",
        );
        return None;
    }
    Some(value)
}

/// How architectures are written.
pub(super) fn arch_words() -> [(&'static str, Arch); Arch::ALL.len()] {
    Arch::ALL.map(|arch| (arch.as_str(), arch))
}

fn arches(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let mut list: Vec<_> = reader.array(node).filter_map(|n| reader.word(n, &arch_words())).collect();
    list.sort();
    list.dedup();
    list
}

/// The architectures that something exists for: at least one.
pub(super) fn existing(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let list = arches(reader, node);
    if list.is_empty() {
        reader.error(reader.span(node.span()), "no architecture", "an empty list", "name x86, x64 or arm64");
    }
    list
}
