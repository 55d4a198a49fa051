//! The page of a target: its evidence, its changes, and all its structures.

use super::facts::{Atlas, AtlasTarget};
use super::frame::{copy, page as framed, scrolled};
use super::{compare, marks, paths};
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::registry::{ExaminedBuild, FactsKind};
use std::collections::BTreeSet;
use std::fmt::Display;

/// How many examined builds are shown before the list is collapsed.
const EXAMINED: usize = 8;

pub fn page(atlas: &Atlas, target: TargetId) -> (String, String) {
    let kernel = &atlas.kernels[target];
    framed(paths::of_kernel(&kernel.name), "builds", &kernel.name, |html| {
        html.leaf("h1", &[], &kernel.name);
        html.leaf("p", &[("class", &"lead")], atlas.axis.windows(atlas.axis.newest(target).build));
        html.el("dl", &[("class", &"facts")], |html| facts(atlas, target, html));
        html.part("evidence", "Examined builds with these layouts");
        match kernel.seen.is_empty() {
            true => html.leaf("p", &[], "No symbols or images of builds with these layouts were examined."),
            false => {
                html.leaf("p", &[], "Symbol files with name, GUID and age; images with name, time stamp and size.");
                facts_files(atlas, kernel, html);
            }
        }
        if let Some(before) = kernel.before {
            html.part("the-changes", format_args!("Changes since {}", atlas.build(before)));
            if atlas.is_update(target) {
                html.leaf(
                    "p",
                    &[],
                    format_args!(
                        "An update within its build. The last build without the change: {}.",
                        atlas.latest_build(before)
                    ),
                );
            }
            compare::step(atlas, target, html);
            let to = format!("../compare.html#a={}&b={}", atlas.kernels[before].name, kernel.name);
            html.el("p", &[], |html| html.link(to, "As tables"));
        }
        html.part("structures", "All structures and values");
        html.el("details", &[], |html| {
            html.leaf("summary", &[], format_args!("{} of this build", atlas.layouts.by_target[target].len()));
            structures(atlas, target, html);
        });
    })
}

fn facts(atlas: &Atlas, target: TargetId, html: &mut Html) {
    let kernel = &atlas.kernels[target];
    let mut fact = |name: &str, value: &dyn Fn(&mut Html)| {
        html.el("div", &[], |html| {
            html.leaf("dt", &[], name);
            html.el("dd", &[], |html| value(html));
        });
    };
    fact("Label", &|html| html.text(atlas.label(target)));
    fact("Evidence", &|html| {
        marks::source(html, atlas.source(None, target, kernel.choice.confidence), kernel.choice.confidence);
        html.text(format_args!(" {}", kernel.choice.sentence(atlas.axis)));
    });
    let shared = &atlas.axis.revision_of(target).shared;
    if !shared.is_empty() {
        let builds: Vec<_> = shared.iter().map(|shared| shared.build.to_string()).collect();
        fact("Also", &|html| html.text(builds.join(", ")));
    }
    for (name, other) in [("Previous", kernel.before), ("Next", kernel.after)] {
        if let Some(other) = other {
            fact(name, &|html| {
                html.link(format_args!("../{}", paths::of_kernel(&atlas.kernels[other].name)), atlas.build(other))
            });
        }
    }
    fact("Map", &|html| html.link(format_args!("../{}", atlas.map_page(target)), "references between its structures"));
    let others = || {
        atlas
            .axis
            .targets
            .ids()
            .filter(|&other| other != target && atlas.axis.targets[other].revision == atlas.axis.targets[target].revision)
    };
    if others().next().is_some() {
        fact("Other architectures", &|html| {
            others().for_each(|other| {
                html.link(format_args!("../{}", paths::of_kernel(&atlas.kernels[other].name)), atlas.axis.targets[other].arch);
                html.text(" ");
            })
        });
    }
}

/// All structures of the target, each with its size. A structure has a symbol only if its evidence level differs from that of the
/// target.
fn structures(atlas: &Atlas, target: TargetId, html: &mut Html) {
    html.el("p", &[], |html| {
        html.text("A symbol marks structures with another ");
        html.link("../legend.html", "evidence level");
        html.text(" than the build. Sizes link to the layouts.");
    });
    let whole = atlas.source(None, target, atlas.kernels[target].choice.confidence);
    html.el("ul", &[("class", &"all")], |html| {
        for (name, &id) in &atlas.layouts.by_target[target] {
            html.el("li", &[], |html| {
                html.link(format_args!("../{}", paths::of_type(name)), name);
                html.text(" ");
                let size = format!("{:#x}", atlas.layouts.layouts[id].extent().size);
                match atlas.layout_page(id) {
                    page if page.starts_with("layout/") => html.link(format_args!("../{page}"), size),
                    _ => html.text(size),
                }
                let confidence = atlas.choice(name, target).confidence;
                let source = atlas.source(Some(name), target, confidence);
                if source != whole {
                    html.text(" ");
                    marks::source(html, source, confidence);
                }
            });
        }
    });
}

fn facts_files(atlas: &Atlas, kernel: &AtlasTarget, html: &mut Html) {
    // The target's own build first, then the latest.
    let own = kernel.name.rsplit_once('-').map_or("", |(build, _)| build);
    let is_known = |seen: &ExaminedBuild| seen.pdb.is_some() || seen.image.is_some();
    let mut list: Vec<&ExaminedBuild> = kernel.seen.clone();
    // A build without identity is left out if the same build is also listed with one.
    list.retain(|own| is_known(own) || !kernel.seen.iter().any(|seen| seen.build == own.build && is_known(seen)));
    list.sort_by_key(|seen| (seen.build.to_string() != own, seen.pdb.is_none(), std::cmp::Reverse(seen.build.revision)));
    let (first, rest) = list.split_at(list.len().min(EXAMINED));
    let mut known = BTreeSet::new();
    table(atlas, first, "Examined builds", &mut known, html);
    if !rest.is_empty() {
        html.el("details", &[("id", &"more-evidence")], |html| {
            html.leaf("summary", &[], format_args!("{} more examined builds", rest.len()));
            table(atlas, rest, "More examined builds", &mut known, html);
        });
    }
}

fn table(atlas: &Atlas, list: &[&ExaminedBuild], label: &str, known: &mut BTreeSet<String>, html: &mut Html) {
    scrolled(html, label, |html| {
        html.el("table", &[("class", &"list identities")], |html| {
            html.el("thead", &[], |html| {
                html.el("tr", &[], |html| {
                    for heading in ["Build", "Evidence", "Symbol file", "Image"] {
                        html.leaf("th", &[("scope", &"col")], heading);
                    }
                });
            });
            html.el("tbody", &[], |html| list.iter().for_each(|seen| facts_file(atlas, seen, known, html)));
        });
    });
}

/// The id of the row of an examined build: the identity of its symbols or its image.
pub fn row_id(seen: &ExaminedBuild) -> Option<String> {
    let pdb = seen.pdb.as_ref().map(|pdb| format!("pdb-{:x}{:x}", pdb.guid.simple(), pdb.age));
    pdb.or_else(|| seen.image.as_ref().map(|image| format!("image-{:08x}", image.time_stamp)))
}

fn facts_file(atlas: &Atlas, seen: &ExaminedBuild, known: &mut BTreeSet<String>, html: &mut Html) {
    let kind = atlas.registry.facts_files.get(seen.facts_file).map(|facts_file| facts_file.kind);
    let words = match kind {
        Some(FactsKind::Symbols) => "symbols",
        Some(FactsKind::Converted) => "converted symbols",
        Some(FactsKind::Images) => "image",
        _ => "",
    };
    // Of two rows with the same identity, the first has the id.
    let id = row_id(seen).filter(|id| known.insert(id.clone()));
    let attributes: Vec<(&str, &dyn Display)> = id.iter().map(|id| ("id", id as &dyn Display)).collect();
    html.el("tr", &attributes, |html| {
        html.leaf("th", &[("scope", &"row")], seen.build);
        html.leaf("td", &[], words);
        html.el("td", &[], |html| match &seen.pdb {
            Some(pdb) => {
                html.text(format_args!("{} ", pdb.name));
                html.leaf("code", &[], pdb.guid.to_string());
                copy(html);
                html.text(format_args!(" {}", pdb.age));
            }
            None => html.text("—"),
        });
        html.el("td", &[], |html| match &seen.image {
            Some(image) => {
                html.text(format_args!("{} ", image.name));
                html.leaf("code", &[], format_args!("{:08X}", image.time_stamp));
                copy(html);
                html.text(format_args!(" {:#x}", image.size));
            }
            None => html.text("—"),
        });
    });
}
