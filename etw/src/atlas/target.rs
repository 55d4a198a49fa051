//! The page of a kernel on an architecture: all that it has, and what proves it.

use super::facts::{Atlas, AtlasTarget};
use super::frame::{page as framed, scrolled};
use super::marks;
use super::paths;
use crate::html::Html;
use crate::print::guid;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::registry::{Seen, WitnessKind};
use etw_layouts_project::Choice;

/// The page.
pub fn page(atlas: &Atlas, target: TargetId) -> (String, String) {
    let kernel = &atlas.kernels[target];
    framed(paths::of_kernel(&kernel.name), "builds", &kernel.name, |html| {
        html.leaf("h1", &[], &kernel.name);
        html.leaf("p", &[("class", &"lead")], atlas.axis.windows(atlas.axis.newest(target).build));
        html.el("dl", &[("class", &"facts")], |html| facts(atlas, target, html));
        html.leaf("h2", &[("id", &"structures")], "Structures and values");
        html.leaf(
            "p",
            &[],
            "Structures, enumerations, flags and constants, with the confidence of their layouts for this target.",
        );
        scrolled(html, "Structures and values", |html| structures(atlas, target, html));
        html.leaf("h2", &[("id", &"proof")], "Evidence");
        match kernel.seen.is_empty() {
            true => html.leaf("p", &[], "No symbols or images of builds with these layouts were examined."),
            false => {
                html.leaf("p", &[], "Examined builds with these layouts: symbol files with name, GUID and age; images with name, time stamp and size.");
                scrolled(html, "Evidence", |html| witnesses(atlas, kernel, html));
            }
        }
        marks::legend(html, "../");
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
    if atlas.is_update(target) {
        fact("Revision", &|html| html.text("an update within its build that changed a layout"));
    }
    let same = &atlas.axis.kernel_of(target).same;
    if !same.is_empty() {
        let same: Vec<_> = same.iter().map(ToString::to_string).collect();
        fact("Also", &|html| html.text(same.join(", ")));
    }
    if let Some(before) = kernel.before {
        fact("Changes since", &|html| {
            html.link(
                format_args!("../{}", paths::of_step(&atlas.kernels[before].name, &kernel.name)),
                format_args!("{}", atlas.build(before)),
            )
        });
    }
    if let Some(after) = kernel.after {
        fact("Next changes", &|html| {
            html.link(
                format_args!("../{}", paths::of_step(&kernel.name, &atlas.kernels[after].name)),
                format_args!("in {}", atlas.build(after)),
            )
        });
    }
    fact("Map", &|html| html.link(format_args!("../{}", paths::of_map(&kernel.name)), "references between its structures"));
    let others = || {
        atlas
            .axis
            .targets
            .ids()
            .filter(|&other| other != target && atlas.axis.targets[other].kernel == atlas.axis.targets[target].kernel)
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

fn structures(atlas: &Atlas, target: TargetId, html: &mut Html) {
    let before = atlas.kernels[target].before;
    html.el("table", &[("class", &"list")], |html| {
        html.el("thead", &[], |html| {
            html.el("tr", &[], |html| {
                for heading in ["Name", "Kind", "Size", "Confidence", "Change since the previous target"] {
                    html.leaf("th", &[("scope", &"col")], heading);
                }
            });
        });
        html.el("tbody", &[], |html| {
            for (name, &id) in &atlas.layouts.by_target[target] {
                let choice = Choice::of(atlas.layouts, atlas.registry, atlas.axis.newest(target), Some(name));
                let change = match before.map(|before| atlas.layouts.by_target[before].get(name)) {
                    None => "",
                    Some(None) => "new",
                    Some(Some(&other)) if other != id => "changed",
                    Some(Some(_)) => "",
                };
                html.el("tr", &[], |html| {
                    html.el("th", &[("scope", &"row")], |html| html.link(format_args!("../{}", paths::of_type(name)), name));
                    html.leaf("td", &[], crate::show::kind(atlas.layouts, name, target));
                    let size = format!("{:#x}", atlas.layouts.layouts[id].extent().size);
                    html.el("td", &[], |html| match atlas.layout_page(id) {
                        page if page.starts_with("layout/") => html.link(format_args!("../{page}"), size),
                        _ => html.text(size),
                    });
                    html.el("td", &[], |html| {
                        let source = atlas.source(Some(name), target, choice.confidence);
                        marks::source(html, source, choice.confidence);
                        html.text(format_args!(" {}", marks::word(source, choice.confidence)));
                    });
                    html.el("td", &[], |html| {
                        if !change.is_empty() {
                            let class = if change == "new" { "change new" } else { "change moved" };
                            html.leaf("span", &[("class", &class)], change);
                        }
                    });
                });
            }
        });
    });
}

fn witnesses(atlas: &Atlas, kernel: &AtlasTarget, html: &mut Html) {
    html.el("table", &[("class", &"list")], |html| {
        html.el("thead", &[], |html| {
            html.el("tr", &[], |html| {
                for heading in ["Build", "Evidence", "Symbol file", "Image"] {
                    html.leaf("th", &[("scope", &"col")], heading);
                }
            });
        });
        html.el("tbody", &[], |html| kernel.seen.iter().for_each(|seen| witness(atlas, seen, html)));
    });
}

fn witness(atlas: &Atlas, seen: &Seen, html: &mut Html) {
    let kind = atlas.registry.witnesses.get(seen.witness).map(|witness| witness.kind);
    let words = match kind {
        Some(WitnessKind::Symbols) => "symbols",
        Some(WitnessKind::Converted) => "converted symbols",
        Some(WitnessKind::Images) => "image",
        _ => "",
    };
    html.el("tr", &[], |html| {
        html.leaf("th", &[("scope", &"row")], seen.build);
        html.leaf("td", &[], words);
        html.leaf(
            "td",
            &[],
            seen.pdb.as_ref().map_or_else(String::new, |pdb| format!("{} {} {}", pdb.name, guid(pdb.guid), pdb.age)),
        );
        let image = seen.image.as_ref().map(|image| format!("{} {:08X} {:#x}", image.name, image.time_stamp, image.size));
        html.leaf("td", &[], image.unwrap_or_default());
    });
}
