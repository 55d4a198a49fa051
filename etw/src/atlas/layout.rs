//! The page of a layout that is not the newest of its structure: its members, its byte map, and the changes before it.

use super::facts::{Atlas, Structure};
use super::frame::page as framed;
use super::{compare, marks, members, paths, structure};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::LayoutId;
use etw_layouts_project::matrix::Matrix;

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
    Some(framed(atlas.layout_page(id), "structures", format_args!("{name} in {scope}"), |html| {
        html.el("h1", &[], |html| {
            html.leaf("span", &[("class", &"kind")], sheet.kind);
            html.el("code", &[], |html| html.link(paths::to_type(name), name));
            html.text(format_args!(" in {scope}"));
        });
        html.leaf("p", &[("class", &"lead")], format_args!("{:#x} bytes, aligned to {}.", sheet.size, sheet.align));
        html.el("p", &[("class", &"kernels")], |html| {
            html.link("../legend.html", "Evidence levels");
            html.text(" of the targets with this layout: ");
            for target in layout.targets.iter() {
                html.el("span", &[], |html| {
                    let confidence = atlas.choice(name, target).confidence;
                    marks::source(html, atlas.source(Some(name), target, confidence), confidence);
                    html.text(" ");
                    let kernel = &atlas.kernels[target].name;
                    html.link(format_args!("../{}", paths::of_kernel(kernel)), kernel);
                });
            }
        });
        html.part("the-members", "Members");
        members::table(sheet, atlas, name, "", html);
        for [before, now] in steps(structure, id) {
            let arch = atlas.axis.targets[now].arch;
            let (a, b) = (&atlas.kernels[before], &atlas.kernels[now]);
            html.part(&format!("before-{arch}"), format_args!("Changes from {} to {}", a.name, b.name));
            html.el("p", &[], |html| {
                html.text("The last build with the previous layout, and the first with this one. ");
                html.link(format_args!("../compare.html#a={}&b={}&only={name}", a.name, b.name), "Compare other builds");
            });
            compare::lines(&a.side.only(name), &b.side.only(name), html);
        }
        html.part("the-bytes", "Bytes");
        structure::bytes(atlas, name, speaker, sheet, "", html);
    }))
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
