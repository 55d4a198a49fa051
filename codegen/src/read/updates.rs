//! Reads named updates: `[[update]]`.

use super::names::{build, check_label, existing};
use super::reader::{Reader, Table};
use crate::axis::{Arch, Axis, Build, Kernel, Update};
use crate::source::Span;
use crate::syntax::Node;

/// An update. Its builds are added to the axis, unless they are already on it.
pub(super) fn update(reader: &mut Reader, table: &Table, axis: &mut Axis) {
    let Some(name) = table.require(reader, "name").and_then(|node| reader.string(node)) else { return };
    check_label(reader, &name, axis);
    let architectures = table.get("architectures").map(|node| existing(reader, node));
    let mut kernels: Vec<Build> = Vec::new();
    let listed = table.require(reader, "kernels").map(|node| (builds(reader, node), reader.span(node.span())));
    if let Some((_, span)) = listed.as_ref().filter(|(list, _)| list.is_empty()) {
        reader.error(*span, "update has no build", "empty list", "list the first revision of each build with the change");
    }
    for (build, span) in listed.into_iter().flat_map(|(list, _)| list) {
        if let Some(before) = kernels.last().filter(|before| before.number >= build.number) {
            let title = format!("builds out of order: {build:#} after {before:#}");
            reader.error(span, title, "out of order", "write one revision of each build, oldest first");
        } else if add(reader, axis, build, architectures.as_deref(), span) {
            kernels.push(build);
        }
    }
    let mut without = Vec::new();
    for (build, span) in table.get("without").map(|node| builds(reader, node)).into_iter().flatten() {
        let number = axis.canonical(build).number;
        if kernels.iter().any(|kernel| kernel.number == number) {
            let title = format!("build {:#} is in `kernels` and in `without`", Build { revision: 0, ..build });
            reader.error(span, title, "in both lists", "remove it from one of them");
        }
        without.push(number);
    }
    let doc = table.text(reader, "doc");
    axis.updates.push(Update { name: name.value, kernels, without, architectures, doc, span: table.span });
}

fn builds(reader: &mut Reader, node: &Node) -> Vec<(Build, Span)> {
    let nodes: Vec<_> = reader.array(node).collect();
    nodes.into_iter().filter_map(|node| Some((build(reader, node)?, reader.span(node.span())))).collect()
}

/// Adds the first build with an update, on the architectures of the first row of the build, unless a row of the axis states
/// others. Returns whether the build is on the axis.
fn add(reader: &mut Reader, axis: &mut Axis, build: Build, architectures: Option<&[Arch]>, span: Span) -> bool {
    let Some(first) = axis.kernels.iter().position(|kernel| kernel.build.number == build.number) else {
        let title = format!("build {:#} is in no version", Build { revision: 0, ..build });
        reader.error(span, title, "here", "add the first revision of this build to a [[version]]");
        return false;
    };
    if build < axis.kernels[first].build {
        let title = format!("build {build:#} is before the first row of its build, {:#}", axis.kernels[first].build);
        reader.error(span, title, "here", "write the first row: an update cannot be older than its build");
        return false;
    }
    // Another update can name the same build. A build with its own row states its architectures there.
    let end = first + axis.kernels[first..].partition_point(|kernel| kernel.build < build);
    let has = |arch: &Arch| architectures.is_none_or(|of| of.contains(arch));
    let own = axis.kernels.get(end).filter(|kernel| kernel.build == build && !kernel.of_update);
    let architectures: Vec<Arch> = own.unwrap_or(&axis.kernels[first]).architectures.iter().copied().filter(has).collect();
    if architectures.is_empty() {
        let title = format!("build {build:#} has none of the architectures of the update");
        reader.error(span, title, "here", "add the architecture to the update or to the build");
        return false;
    }
    match axis.kernels.get_mut(end).filter(|kernel| kernel.build == build) {
        Some(kernel) => {
            kernel.architectures.extend(if kernel.of_update { architectures } else { Vec::new() });
            kernel.architectures.sort();
            kernel.architectures.dedup();
        }
        None => {
            let of = &axis.kernels[first];
            let module = format!("{}_{}", of.module, build.revision);
            let (version, added) = (of.version, of.added);
            let kernel = Kernel {
                build,
                service_pack: None,
                module,
                version,
                architectures,
                same: Vec::new(),
                of_update: true,
                added,
                span,
            };
            axis.kernels.insert(end, kernel);
        }
    }
    true
}
