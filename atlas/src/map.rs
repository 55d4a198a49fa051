//! The references between the structures of a target, as a picture (`etw map`) and as a table.

use crate::facts::Atlas;
use crate::frame::{Page, scrolled, table};
use crate::index::filter;
use crate::paths;
use crate::svg::{WAYS, picture};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::map::Map;
use maud::{Markup, html};

/// The page. Only the first of the targets with the same references has one.
pub fn page(atlas: &Atlas, target: TargetId) -> Option<(String, String)> {
    let kernel = &atlas.kernels[target];
    if kernel.map != target {
        return None;
    }
    let map = Map::of(atlas.layouts, target, None);
    let link = |name: &str| has_layout(atlas, target, name).then(|| format!("../{}", paths::type_page(name)));
    let content = html! {
        h1 {
            "References between structures in "
            a href={ "../" (paths::target_page(&kernel.name)) } { (kernel.name) }
        }
        p.lead {
            "Each line goes from a member to the structure it references. Structures without references to or from others are not \
             shown. A dotted box marks a structure without a known layout."
        }
        p.kernels {
            "Builds with these references: "
            @for (_, same) in atlas.kernels.iter().filter(|(_, same)| same.map == target) {
                a href={ "../" (paths::target_page(&same.name)) } { (same.name) } " "
            }
        }
        p.legend {
            @for (_, class, words) in WAYS {
                span {
                    svg.map width="44" height="10" aria-hidden="true" { path class=(class) d="M2 5h40" {} }
                    " " (words)
                }
            }
        }
        div.map-page {
            p.to-table { a href="#links" { "All references as a table" } }
            (scrolled("Map of the structures", &picture(&map, link)))
            h2 id="links" { "All references" }
            (filter("Filter by structure or member "))
            (references(atlas, target, &map))
        }
    };
    Some(Page::new(paths::map_page(&kernel.name), "builds", format_args!("Map of {}", kernel.name)).finish(&content))
}

fn has_layout(atlas: &Atlas, target: TargetId, name: &str) -> bool {
    atlas.layouts.by_target[target].contains_key(name)
}

fn references(atlas: &Atlas, target: TargetId, map: &Map) -> Markup {
    let name = |name: &str| match has_layout(atlas, target, name) {
        true => html! { a href={ "../" (paths::type_page(name)) } { (name) } },
        false => html! { (name) " (no known layout)" },
    };
    let rows = html! {
        @for (structure, link) in map.structures.iter().flat_map(|structure| structure.links.iter().map(move |link| (structure, link))) {
            tr {
                th scope="row" { (name(&structure.name)) }
                td { (link.member) @if link.count != 1 { " [" (link.count) "]" } }
                td { (link.way.word()) }
                td { (name(&link.to)) @if let Some(by) = &link.link { ", linked by " (by) } }
            }
        }
    };
    table("References between structures", "list filtered", &["Structure", "Member", "Kind", "Target structure"], &rows)
}
