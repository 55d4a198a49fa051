//! The references between the structures of a target, as a picture (`etw map`) and as a table.

use super::facts::Atlas;
use super::frame::{page as framed, scrolled};
use super::paths;
use crate::html::Html;
use crate::map::svg::{WAYS, picture};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::map::Map;

/// The page. Only the first of the targets with the same references has one.
pub fn page(atlas: &Atlas, target: TargetId) -> Option<(String, String)> {
    let kernel = &atlas.kernels[target];
    if kernel.map != target {
        return None;
    }
    let map = Map::of(atlas.layouts, target, None);
    Some(framed(paths::of_map(&kernel.name), "builds", format_args!("Map of {}", kernel.name), |html| {
        html.el("h1", &[], |html| {
            html.text("References between structures in ");
            html.link(format_args!("../{}", paths::of_kernel(&kernel.name)), &kernel.name);
        });
        html.leaf("p", &[("class", &"lead")], "Each line goes from a member to the structure it references. Structures without references to or from others are not shown. A dotted box marks a structure without a known layout.");
        html.el("p", &[("class", &"kernels")], |html| {
            html.text("Builds with these references: ");
            for (_, same) in atlas.kernels.iter().filter(|(_, same)| same.map == target) {
                html.link(format_args!("../{}", paths::of_kernel(&same.name)), &same.name);
                html.text(" ");
            }
        });
        html.el("p", &[("class", &"legend")], |html| {
            for (_, class, words) in WAYS {
                html.el("span", &[], |html| {
                    html.el("svg", &[("class", &"map"), ("width", &44), ("height", &10), ("aria-hidden", &"true")], |html| {
                        html.void("path", &[("class", &class), ("d", &"M2 5h40")]);
                    });
                    html.text(format_args!(" {words}"));
                });
            }
        });
        scrolled(html, "Map of the structures", |html| {
            let link = |name: &str| known(atlas, target, name).then(|| format!("../{}", paths::of_type(name)));
            picture(&map, link, html);
        });
        html.leaf("h2", &[("id", &"links")], "All references");
        scrolled(html, "References between structures", |html| table(atlas, target, &map, html));
    }))
}

fn known(atlas: &Atlas, target: TargetId, name: &str) -> bool {
    atlas.layouts.by_target[target].contains_key(name)
}

fn table(atlas: &Atlas, target: TargetId, map: &Map, html: &mut Html) {
    let name = |name: &str, html: &mut Html| match known(atlas, target, name) {
        true => html.link(format_args!("../{}", paths::of_type(name)), name),
        false => html.text(format_args!("{name} (no known layout)")),
    };
    html.el("table", &[("class", &"list")], |html| {
        html.el("thead", &[], |html| {
            html.el("tr", &[], |html| {
                for heading in ["Structure", "Member", "Kind", "Target structure"] {
                    html.leaf("th", &[("scope", &"col")], heading);
                }
            });
        });
        html.el("tbody", &[], |html| {
            for structure in &map.structures {
                for link in &structure.links {
                    html.el("tr", &[], |html| {
                        html.el("th", &[("scope", &"row")], |html| name(&structure.name, html));
                        let count = if link.count == 1 { String::new() } else { format!(" [{}]", link.count) };
                        html.leaf("td", &[], format_args!("{}{count}", link.member));
                        html.leaf("td", &[], link.way.word());
                        html.el("td", &[], |html| {
                            name(&link.to, html);
                            if let Some(by) = &link.link {
                                html.text(format_args!(", linked by {by}"));
                            }
                        });
                    });
                }
            }
        });
    });
}
