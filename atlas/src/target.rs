//! The page of a target: its evidence, its changes, and all its structures.

use crate::facts::{Atlas, AtlasTarget};
use crate::frame::{self, Page, copy, fact};
use crate::{compare, marks, paths};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::registry::{ExaminedBuild, FactsKind};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// How many examined builds are shown before the list is collapsed.
const EXAMINED: usize = 8;

pub fn page(atlas: &Atlas, target: TargetId) -> (String, String) {
    let kernel = &atlas.kernels[target];
    let mut page = Page::new(paths::target_page(&kernel.name), "builds", &kernel.name);
    let content = html! {
        h1 { (kernel.name) }
        p.lead { (atlas.axis.windows(atlas.axis.newest(target).build)) }
        dl.facts { (facts(atlas, target)) }
        (page.part("evidence", "Examined builds with these layouts"))
        @if kernel.seen.is_empty() {
            p { "No symbols or images of builds with these layouts were examined." }
        } @else {
            p { "Symbol files with name, GUID and age; images with name, time stamp and size." }
            (examined(atlas, kernel))
        }
        @if let Some(before) = kernel.before {
            @let previous = &atlas.kernels[before];
            (page.part("the-changes", format_args!("Changes since {}", atlas.build(before))))
            @if atlas.is_update(target) {
                p { "An update within its build. The last build without the change: " (atlas.latest_build(before)) "." }
            }
            (compare::lines(atlas, &previous.side, &kernel.side))
            p { a href={ "../compare.html#a=" (previous.name) "&b=" (kernel.name) } { "As tables" } }
        }
        (page.part("structures", "All structures and values"))
        details {
            summary { (atlas.layouts.by_target[target].len()) " of this build" }
            (structures(atlas, target))
        }
    };
    page.finish(&content)
}

fn facts(atlas: &Atlas, target: TargetId) -> Markup {
    let (axis, kernel) = (atlas.axis, &atlas.kernels[target]);
    let link =
        |other: TargetId, text: String| html! { a href={ "../" (paths::target_page(&atlas.kernels[other].name)) } { (text) } };
    let source = atlas.source(None, target, kernel.choice.confidence);
    let shared: Vec<_> = axis.revision_of(target).shared.iter().map(|shared| shared.build.to_string()).collect();
    let is_other = |other: &TargetId| *other != target && axis.targets[*other].revision == axis.targets[target].revision;
    let others: Vec<TargetId> = axis.targets.ids().filter(is_other).collect();
    html! {
        (fact("Label", atlas.label(target)))
        (fact("Evidence", html! { (marks::source(source, kernel.choice.confidence)) " " (kernel.choice.sentence(axis)) }))
        @if !shared.is_empty() { (fact("Also", shared.join(", "))) }
        @for (name, other) in [("Previous", kernel.before), ("Next", kernel.after)] {
            @if let Some(other) = other { (fact(name, link(other, atlas.build(other)))) }
        }
        (fact("Map", html! { a href={ "../" (atlas.map_page(target)) } { "references between its structures" } }))
        @if !others.is_empty() {
            (fact("Other architectures", html! { @for other in others { (link(other, axis.targets[other].arch.to_string())) " " } }))
        }
    }
}

/// All structures of the target, each with its size. A structure has a symbol only if its evidence level differs from that of the
/// target.
fn structures(atlas: &Atlas, target: TargetId) -> Markup {
    let own = atlas.source(None, target, atlas.kernels[target].choice.confidence);
    html! {
        p {
            "A symbol marks structures with another "
            a href="../legend.html" { "evidence level" }
            " than the build. Sizes link to the layouts."
        }
        ul.all {
            @for (name, &id) in &atlas.layouts.by_target[target] {
                @let size = format!("{:#x}", atlas.layouts.layouts[id].extent().size);
                @let page = atlas.layout_page(id);
                @let confidence = atlas.choice(name, target).confidence;
                @let source = atlas.source(Some(name), target, confidence);
                li {
                    a href={ "../" (paths::type_page(name)) } { (name) } " "
                    @if page.starts_with("layout/") { a href={ "../" (page) } { (size) } } @else { (size) }
                    @if source != own { " " (marks::source(source, confidence)) }
                }
            }
        }
    }
}

fn examined(atlas: &Atlas, kernel: &AtlasTarget) -> Markup {
    // The target's own build first, then the latest.
    let own = kernel.name.rsplit_once('-').map_or("", |(build, _)| build);
    let is_known = |seen: &ExaminedBuild| seen.pdb.is_some() || seen.image.is_some();
    let mut list: Vec<&ExaminedBuild> = kernel.seen.clone();
    // A build without identity is left out if the same build is also listed with one.
    list.retain(|own| is_known(own) || !kernel.seen.iter().any(|seen| seen.build == own.build && is_known(seen)));
    list.sort_by_key(|seen| (seen.build.to_string() != own, seen.pdb.is_none(), std::cmp::Reverse(seen.build.revision)));
    let (first, rest) = list.split_at(list.len().min(EXAMINED));
    let mut known = BTreeSet::new();
    let mut table = |list: &[&ExaminedBuild], label: &str| {
        let rows = html! { @for seen in list { (row(atlas, seen, &mut known)) } };
        frame::table(label, "list identities", &["Build", "Evidence", "Symbol file", "Image"], &rows)
    };
    html! {
        (table(first, "Examined builds"))
        @if !rest.is_empty() {
            details id="more-evidence" {
                summary { (rest.len()) " more examined builds" }
                (table(rest, "More examined builds"))
            }
        }
    }
}

/// The id of the row of an examined build: the identity of its symbols or its image.
pub fn row_id(seen: &ExaminedBuild) -> Option<String> {
    let pdb = seen.pdb.as_ref().map(|pdb| format!("pdb-{:x}{:x}", pdb.guid.simple(), pdb.age));
    pdb.or_else(|| seen.image.as_ref().map(|image| format!("image-{:08x}", image.time_stamp)))
}

fn row(atlas: &Atlas, seen: &ExaminedBuild, known: &mut BTreeSet<String>) -> Markup {
    let words = match atlas.registry.facts_files.get(seen.facts_file).map(|facts_file| facts_file.kind) {
        Some(FactsKind::Symbols) => "symbols",
        Some(FactsKind::Converted) => "converted symbols",
        Some(FactsKind::Images) => "image",
        _ => "",
    };
    // Of two rows with the same identity, the first has the id.
    let id = row_id(seen).filter(|id| known.insert(id.clone()));
    html! {
        tr id=[id] {
            th scope="row" { (seen.build) }
            td { (words) }
            td {
                @if let Some(pdb) = &seen.pdb { (pdb.name) " " code { (pdb.guid) } (copy()) " " (pdb.age) } @else { "—" }
            }
            td {
                @if let Some(image) = &seen.image {
                    (image.name) " " code { (format_args!("{:08X}", image.time_stamp)) } (copy())
                    " " (format_args!("{:#x}", image.size))
                } @else { "—" }
            }
        }
    }
}
