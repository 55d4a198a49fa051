//! Reads named updates: `[[update]]`.

use super::names::{build, check_label, existing};
use super::reader::{Reader, Table};
use crate::axis::{Arch, Axis, Build, Revision, Update};
use crate::source::Span;
use crate::syntax::Node;

/// An update. Its builds are added to the axis, unless they are already on it.
pub(super) fn update(reader: &mut Reader, table: &Table, axis: &mut Axis) {
    let Some(name) = table.require(reader, "name").and_then(|node| reader.string(node)) else { return };
    check_label(reader, &name, axis);
    let architectures = table.get("architectures").map(|node| existing(reader, node));
    let mut revisions: Vec<Build> = Vec::new();
    let listed = table.require(reader, "revisions").map(|node| (builds(reader, node), reader.span(node.span())));
    if let Some((_, span)) = listed.as_ref().filter(|(list, _)| list.is_empty()) {
        reader.error(*span, "update has no build", "empty list", "list the first revision of each build with the change");
    }
    for (build, span) in listed.into_iter().flat_map(|(list, _)| list) {
        if let Some(before) = revisions.last().filter(|before| before.number >= build.number) {
            let title = format!("builds out of order: {build:#} after {before:#}");
            reader.error(span, title, "out of order", "write one revision of each build, oldest first");
        } else if add(reader, axis, build, architectures.as_deref(), span) {
            revisions.push(build);
        }
    }
    let mut without = Vec::new();
    for (build, span) in table.get("without").map(|node| builds(reader, node)).into_iter().flatten() {
        let number = axis.canonical(build).number;
        if revisions.iter().any(|revision| revision.number == number) {
            let title = format!("build {:#} is in `revisions` and in `without`", Build { revision: 0, ..build });
            reader.error(span, title, "in both lists", "remove it from one of them");
        }
        without.push(number);
    }
    let doc = table.text(reader, "doc");
    axis.updates.push(Update { name: name.value, revisions, without, architectures, doc, span: table.span });
}

fn builds(reader: &mut Reader, node: &Node) -> Vec<(Build, Span)> {
    let nodes: Vec<_> = reader.array(node).collect();
    nodes.into_iter().filter_map(|node| Some((build(reader, node)?, reader.span(node.span())))).collect()
}

/// Adds the first build with an update, on the architectures of the first revision of the build, unless a release states
/// others. Returns whether the build is on the axis.
fn add(reader: &mut Reader, axis: &mut Axis, build: Build, architectures: Option<&[Arch]>, span: Span) -> bool {
    let Some(first) = axis.revisions.iter().position(|revision| revision.build.number == build.number) else {
        let title = format!("build {:#} is in no release", Build { revision: 0, ..build });
        reader.error(span, title, "here", "add the first revision of this build to a [[release]]");
        return false;
    };
    if build < axis.revisions[first].build {
        let title = format!("build {build:#} is before the first revision of its build, {:#}", axis.revisions[first].build);
        reader.error(span, title, "here", "write the first revision: an update cannot be older than its build");
        return false;
    }
    // Another update can name the same build. A revision in a release states its architectures there.
    let end = first + axis.revisions[first..].partition_point(|revision| revision.build < build);
    let has = |arch: &Arch| architectures.is_none_or(|of| of.contains(arch));
    let own = axis.revisions.get(end).filter(|revision| revision.build == build && !revision.of_update);
    let architectures: Vec<Arch> = own.unwrap_or(&axis.revisions[first]).architectures.iter().copied().filter(has).collect();
    if architectures.is_empty() {
        let title = format!("build {build:#} has none of the architectures of the update");
        reader.error(span, title, "here", "add the architecture to the update or to the build");
        return false;
    }
    match axis.revisions.get_mut(end).filter(|revision| revision.build == build) {
        Some(revision) => {
            revision.architectures.extend(if revision.of_update { architectures } else { Vec::new() });
            revision.architectures.sort();
            revision.architectures.dedup();
        }
        None => {
            let of = &axis.revisions[first];
            let module = format!("{}_{}", of.module, build.revision);
            let (release, added) = (of.release, of.added);
            let revision = Revision {
                build,
                service_pack: None,
                module,
                release,
                architectures,
                shared: Vec::new(),
                of_update: true,
                added,
                span,
            };
            axis.revisions.insert(end, revision);
        }
    }
    true
}
