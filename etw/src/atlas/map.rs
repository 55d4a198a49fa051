//! How the structures of a kernel hang together, as a picture and as a table.

use super::facts::Atlas;
use super::frame::{page as framed, scrolled};
use super::html::Html;
use super::paths;
use etw_layouts_project::map::{Map, Way};
use std::collections::{BTreeMap, BTreeSet};

/// The size of a box, and the distance from one to the next.
const BOX: (u64, u64) = (250, 34);
const STEP: (u64, u64) = (340, 44);

/// The page.
pub fn page(atlas: &Atlas, target: usize) -> (String, String) {
    let kernel = &atlas.kernels[target];
    let map = Map::of(atlas.layouts, target, None);
    framed(paths::of_map(&kernel.name), "kernels", format_args!("Map of {}", kernel.name), |html| {
        html.el("h1", &[], |html| {
            html.text("How structures hang together in ");
            html.link(format_args!("../{}", paths::of_kernel(&kernel.name)), &kernel.name);
        });
        html.leaf("p", &[("class", &"lead")], "Which member leads to which structure. A structure that leads nowhere is left out, unless a pointer or a list leads to it.");
        html.el("p", &[("class", &"legend")], |html| {
            for (class, words) in [("holds", "holds it"), ("points", "points to it"), ("lists", "heads a list of them")] {
                html.el("span", &[], |html| {
                    html.el("svg", &[("class", &"map"), ("width", &44), ("height", &10), ("aria-hidden", &"true")], |html| {
                        html.void("path", &[("class", &class), ("d", &"M2 5h40")]);
                    });
                    html.text(format_args!(" {words}"));
                });
            }
        });
        scrolled(html, "Map of the structures", |html| picture(atlas, target, &map, html));
        html.leaf("h2", &[("id", &"links")], "Every link");
        scrolled(html, "Links of the structures", |html| table(atlas, target, &map, html));
    })
}

fn class(way: Way) -> &'static str {
    match way {
        Way::Holds => "holds",
        Way::PointsTo => "points",
        Way::Lists => "lists",
    }
}

fn picture(atlas: &Atlas, target: usize, map: &Map, html: &mut Html) {
    let places = places(map);
    let columns = places.values().map(|place| place.0 + 1).max().unwrap_or(1);
    let rows = places.values().map(|place| place.1 + 1).max().unwrap_or(1);
    let (width, height) = (columns * STEP.0, rows * STEP.1 + 8);
    let view = format!("0 0 {width} {height}");
    html.el("svg", &[("class", &"map"), ("viewBox", &view), ("width", &width), ("height", &height)], |html| {
        html.leaf("title", &[], "Map of the structures; the table below says the same");
        let mut once = BTreeSet::new();
        for structure in &map.structures {
            for link in structure.links.iter().filter(|link| once.insert((&structure.name, &link.to, link.way))) {
                let (Some(from), Some(to)) = (places.get(structure.name.as_str()), places.get(link.to.as_str())) else {
                    continue;
                };
                let (x, y) = (from.0 * STEP.0 + BOX.0, from.1 * STEP.1 + BOX.1 / 2 + 4);
                let (end, below) = (to.0 * STEP.0, to.1 * STEP.1 + BOX.1 / 2 + 4);
                let path = match to.0 > from.0 {
                    true => format!("M{x} {y}C{} {y} {} {below} {end} {below}", x + 60, end.saturating_sub(60)),
                    // Back, or down: around the right side.
                    false => format!("M{x} {y}C{} {y} {} {below} {} {below}", x + 70, end + BOX.0 + 70, end + BOX.0),
                };
                html.el("path", &[("class", &class(link.way)), ("d", &path)], |html| {
                    html.leaf("title", &[], format_args!("{}.{} {} {}", structure.name, link.member, link.way.word(), link.to));
                });
            }
        }
        for (name, place) in &places {
            let (x, y) = (place.0 * STEP.0, place.1 * STEP.1 + 4);
            let draw = |html: &mut Html| {
                html.void("rect", &[("x", &x), ("y", &y), ("width", &BOX.0), ("height", &BOX.1), ("rx", &4)]);
                html.leaf("text", &[("x", &(x + 10)), ("y", &(y + 22))], name);
            };
            match atlas.layouts.by_target[target].contains_key(*name) {
                true => html.el("a", &[("href", &format_args!("../{}", paths::of_type(name)))], draw),
                false => html.el("g", &[("class", &"unknown")], draw),
            }
        }
    });
}

/// Column and row of each structure: as far from where the map begins as the links lead, and near to what leads there.
fn places(map: &Map) -> BTreeMap<&str, (u64, u64)> {
    let mut depth: BTreeMap<&str, u64> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for structure in &map.structures {
        let own = *depth.entry(&structure.name).or_insert_with(|| {
            order.push(&structure.name);
            0
        });
        for link in &structure.links {
            depth.entry(&link.to).or_insert_with(|| {
                order.push(&link.to);
                own + 1
            });
        }
    }
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for name in order {
        let column = depth[name];
        let row = rows.entry(column).or_default();
        places.insert(name, (column, *row));
        *row += 1;
    }
    places
}

fn table(atlas: &Atlas, target: usize, map: &Map, html: &mut Html) {
    let name = |name: &str, html: &mut Html| match atlas.layouts.by_target[target].contains_key(name) {
        true => html.link(format_args!("../{}", paths::of_type(name)), name),
        false => html.text(format_args!("{name} (no layout is known)")),
    };
    html.el("table", &[("class", &"list")], |html| {
        html.el("thead", &[], |html| {
            html.el("tr", &[], |html| {
                for heading in ["structure", "offset", "member", "way", "leads to"] {
                    html.leaf("th", &[("scope", &"col")], heading);
                }
            });
        });
        html.el("tbody", &[], |html| {
            for structure in &map.structures {
                for link in &structure.links {
                    html.el("tr", &[], |html| {
                        html.el("th", &[("scope", &"row")], |html| name(&structure.name, html));
                        html.leaf("td", &[], format_args!("{:#06x}", link.offset));
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
