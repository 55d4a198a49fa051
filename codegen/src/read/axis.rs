//! `windows.toml`.

use super::tree::{Node, Reader, Table};
use crate::axis::{Arch, Axis, Build, Kernel, Target, Version};
use crate::emit::rust::KEYWORDS;
use crate::source::At;
use toml::de::DeTable;

const ARCHES: [(&str, Arch); 2] = [("x86", Arch::X86), ("x64", Arch::X64)];

pub(super) fn read<'a>(reader: &mut Reader, roots: impl Iterator<Item = (usize, &'a DeTable<'a>)>, axis: &mut Axis) {
    let mut groups = Vec::new();
    let mut last = 0;
    for (file, root) in roots {
        (reader.file, last) = (file, file);
        let table = reader.root(root, &["architectures", "version", "group"]);
        let all = table.require(reader, "architectures");
        let all = all.map(|node| existing(reader, node)).unwrap_or_default();
        for node in table.get("version").map(|n| reader.array(n)).into_iter().flatten() {
            version(reader, node, &all, axis);
        }
        let nodes = table.get("group").map(|n| reader.array(n)).into_iter().flatten();
        groups.extend(nodes.map(|node| (file, node)));
    }
    for (file, node) in groups {
        reader.file = file;
        group(reader, node, axis);
    }
    reader.file = last;
    if axis.kernels.is_empty() {
        reader.error(
            reader.span(0..0),
            "the spec set has no version axis",
            "here",
            "add a windows.toml with [[version]] tables that list kernels",
        );
    }
    for pair in axis.kernels.windows(2) {
        if pair[0].build >= pair[1].build {
            let title = format!("kernel {} follows {}", pair[1].build, pair[0].build);
            reader.error_also(
                (pair[0].span, "this one is newer or the same"),
                pair[1].span,
                title,
                "out of order",
                "list the kernels oldest first, each once",
            );
        }
    }
    for (index, kernel) in axis.kernels.iter().enumerate() {
        axis.targets.extend(kernel.architectures.iter().map(|&arch| Target { kernel: index, arch }));
        let elsewhere = |same: &Build| {
            axis.kernels.iter().enumerate().any(|(i, k)| k.build.number == same.number || (i != index && k.same.contains(same)))
        };
        if let Some(same) = kernel.same.iter().find(|same| same.revision != 0 || elsewhere(same)) {
            let title = format!("`{same}` is a kernel of its own, or in two lists, or names a revision");
            reader.error(kernel.span, title, "in `same` here", "list only builds without a revision that no other kernel has");
        }
        if let Some(twin) = axis.kernels[..index].iter().find(|k| k.module == kernel.module) {
            let title = format!("two kernels have the module `{}`", kernel.module);
            reader.error_also((twin.span, "the first"), kernel.span, title, "the second", "name the modules apart");
        }
    }
}

fn version(reader: &mut Reader, node: &Node, all: &[Arch], axis: &mut Axis) {
    let Some(table) = reader.table(node, &["label", "release", "architectures", "unverifiable", "kernels"]) else { return };
    let Some(label) = table.require(reader, "label").and_then(|n| reader.string(n)) else { return };
    check_label(reader, &label, axis);
    let of = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    let version = axis.versions.len();
    axis.versions.push(Version {
        label: label.value,
        release: table.text(reader, "release").replace(char::is_control, " "),
        unverifiable: Some(table.text(reader, "unverifiable")).filter(|t| !t.is_empty()),
    });
    for node in table.require(reader, "kernels").map(|n| reader.array(n)).into_iter().flatten() {
        axis.kernels.extend(kernel(reader, node, version, &of));
    }
}

fn kernel(reader: &mut Reader, node: &Node, version: usize, all: &[Arch]) -> Option<Kernel> {
    let keys = ["build", "module", "service_pack", "architectures", "same", "seen", "imported"];
    let table = reader.table(node, &keys)?;
    let module = table.require(reader, "module").and_then(|n| identifier(reader, n))?;
    let build = table.require(reader, "build").and_then(|n| build(reader, n))?;
    let architectures = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    let seen = table.require(reader, "seen").map(|n| arches(reader, n)).unwrap_or_default();
    if seen.iter().any(|arch| !architectures.contains(arch)) {
        reader.error(
            table.span,
            "`seen` names an architecture that the kernel does not have",
            "here",
            "add it to `architectures`, or take it out of `seen`",
        );
    }
    let imported = table.get("imported").map(|n| arches(reader, n)).unwrap_or_default();
    if imported.iter().any(|arch| !seen.contains(arch)) {
        reader.error(
            table.span,
            "`imported` names an architecture that `seen` does not",
            "here",
            "what was imported was seen: add it to `seen`, or take it out of `imported`",
        );
    }
    Some(Kernel {
        build,
        service_pack: pack(reader, &table),
        module,
        version,
        architectures,
        seen,
        imported,
        same: table.get("same").map(|n| reader.array(n)).into_iter().flatten().filter_map(|n| self::build(reader, n)).collect(),
        span: table.span,
    })
}

/// A label is unique, and part of names in generated code.
fn check_label(reader: &mut Reader, label: &At<String>, axis: &Axis) {
    let plain = label.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let taken = axis.labels().any(|l| l == label.value) || Arch::parse(&label.value).is_some();
    if !plain || taken || label.value.is_empty() || label.value.contains("..") || label.value.contains("-sp") {
        let help = "choose another of letters, digits, `.` and `-`";
        reader.error(label.span, format!("`{}` cannot be a label", label.value), "used already, or with other characters", help);
    }
}

fn pack(reader: &mut Reader, table: &Table) -> Option<u32> {
    let node = table.get("service_pack")?;
    reader.count(node, 0).and_then(|n| u32::try_from(n).ok())
}

fn build(reader: &mut Reader, node: &Node) -> Option<Build> {
    let At { value, span } = reader.string(node)?;
    let parsed = Build::parse(&value);
    if parsed.is_none() {
        reader.error(
            span,
            format!("`{value}` is no build"),
            "not three or four numbers",
            "write it as 10.0.19041 or 10.0.19041.1415",
        );
    }
    parsed.map(|(build, _)| build)
}

fn identifier(reader: &mut Reader, node: &Node) -> Option<String> {
    let At { value, span } = reader.string(node)?;
    if !super::scalars::is_identifier(&value)
        || KEYWORDS.contains(&value.as_str())
        || value.chars().any(|c| c.is_ascii_uppercase())
    {
        reader.error(
            span,
            format!("`{value}` cannot name a module"),
            "here",
            "write lower-case letters, digits and `_`, a letter first",
        );
        return None;
    }
    Some(value)
}

fn arches(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let mut list: Vec<_> = reader.array(node).filter_map(|n| reader.word(n, &ARCHES)).collect();
    list.sort();
    list.dedup();
    list
}

/// The architectures that something exists for: at least one.
fn existing(reader: &mut Reader, node: &Node) -> Vec<Arch> {
    let list = arches(reader, node);
    if list.is_empty() {
        reader.error(reader.span(node.span()), "no architecture", "an empty list", "name x86, x64, or both");
    }
    list
}

fn group(reader: &mut Reader, node: &Node, axis: &mut Axis) {
    let Some(table) = reader.table(node, &["label", "of"]) else { return };
    let Some(label) = table.require(reader, "label").and_then(|n| reader.string(n)) else { return };
    let mut of = Vec::new();
    for node in table.require(reader, "of").map(|n| reader.array(n)).into_iter().flatten() {
        let Some(name) = reader.string(node) else { continue };
        match axis.versions.iter().position(|v| v.label == name.value) {
            Some(version) => of.push(version),
            None => reader.error(
                name.span,
                format!("`{}` is no version", name.value),
                "unknown label",
                "name versions that the axis has",
            ),
        }
    }
    // A group stands in ranges, which would take in whatever lies between.
    if of.windows(2).any(|pair| pair[1] != pair[0] + 1) {
        let title = format!("the versions of `{}` do not follow each other", label.value);
        reader.error(table.span, title, "here", "list neighbours of the axis, oldest first");
    }
    check_label(reader, &label, axis);
    axis.groups.push((label.value, of));
}
