//! The page of a layout that is not the newest of its structure: its members, its byte map, and the changes before it.

use crate::facts::{Atlas, Structure};
use crate::frame::Page;
use crate::{compare, marks, members, paths, structure};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::LayoutId;
use etw_layouts_project::matrix::Matrix;
use maud::html;

/// The pages of a structure's layouts.
pub fn pages(atlas: &Atlas, structure: &Structure) -> Vec<(String, String)> {
    let mut ids: Vec<LayoutId> = structure.sheets.keys().copied().filter(|&id| !atlas.is_newest(id)).collect();
    ids.sort_unstable();
    ids.into_iter().filter_map(|id| page(atlas, structure, id)).collect()
}

fn page(atlas: &Atlas, structure: &Structure, id: LayoutId) -> Option<(String, String)> {
    let name = structure.name();
    let (layout, sheet) = (&atlas.layouts.layouts[id], structure.sheets.get(&id)?);
    let speaker = atlas.speaker(id)?;
    let scope = atlas.scope(&layout.targets);
    let mut page = Page::new(atlas.layout_page(id), "structures", format_args!("{name} in {scope}"));
    let content = html! {
        h1 {
            span.kind { (sheet.kind) }
            code { a href={ "../" (paths::type_page(name)) } { (name) } }
            " in " (scope)
        }
        p.lead { (format_args!("{:#x}", sheet.size)) " bytes, aligned to " (sheet.align) "." }
        p.kernels {
            a href="../legend.html" { "Evidence levels" }
            " of the targets with this layout: "
            @for target in layout.targets.iter() {
                @let confidence = atlas.choice(name, target).confidence;
                @let kernel = &atlas.kernels[target].name;
                span {
                    (marks::source(atlas.source(Some(name), target, confidence), confidence)) " "
                    a href={ "../" (paths::target_page(kernel)) } { (kernel) }
                }
            }
        }
        (page.part("the-members", "Members"))
        (members::table(sheet, atlas, name, ""))
        @for [before, now] in steps(structure, id) {
            @let (a, b) = (&atlas.kernels[before], &atlas.kernels[now]);
            (page.part(&format!("before-{}", atlas.axis.targets[now].arch), format_args!("Changes from {} to {}", a.name, b.name)))
            p {
                "The last build with the previous layout, and the first with this one. "
                a href={ "../compare.html#a=" (a.name) "&b=" (b.name) "&only=" (name) } { "Compare other builds" }
            }
            (compare::lines(atlas, &a.side.only(name), &b.side.only(name)))
        }
        (page.part("the-bytes", "Bytes"))
        (structure::bytes(atlas, name, speaker, sheet, ""))
    };
    Some(page.finish(&content))
}

/// The steps to a layout, by architecture: the last target before it, and the first target with it.
fn steps(structure: &Structure, id: LayoutId) -> Vec<[TargetId; 2]> {
    let step = |matrix: &Matrix| {
        let pair = matrix.columns.windows(2).find(|pair| pair[1].layout == id && pair[0].layout != id)?;
        let targets = [pair[0].targets.last()?.0, pair[1].targets.first()?.0];
        Some((pair[0].layout, targets))
    };
    let mut steps: Vec<_> = structure.matrices.iter().filter_map(step).collect();
    // A step that two architectures share is shown once.
    steps.dedup_by_key(|(before, _)| *before);
    steps.into_iter().map(|(_, targets)| targets).collect()
}
