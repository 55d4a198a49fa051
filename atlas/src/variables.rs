//! The page of the global variables that lead to the state of ETW.

use crate::facts::Atlas;
use crate::frame::{Page, table};
use crate::index::filter;
use crate::paths;
use etw_layouts_codegen::spec::Global;
use maud::{Markup, html};

/// The page.
pub fn page(atlas: &Atlas) -> (String, String) {
    let rows = html! { @for global in atlas.layouts.spec.globals.values() { (row(atlas, global)) } };
    let content = html! {
        h1 { "Global variables of the kernel" }
        p.lead { "The variables that lead to the state of ETW, by their names in symbols." }
        p {
            "Each kernel has its own addresses, which only its symbols state. " code { "etw export isf" } " and "
            code { "etw export json" } " write the addresses of examined builds. The number of builds is that of examined builds with a known address."
        }
        (filter("Filter by name or description "))
        (table("Global variables", "list variables filtered", &["Variable", "Type", "Versions", "Builds", "Description"], &rows))
    };
    Page::new("variables.html".into(), "structures", "Global variables").finish(&content)
}

/// The address of a variable, from the root.
pub fn address(name: &str) -> String {
    format!("variables.html#{name}")
}

fn row(atlas: &Atlas, global: &Global) -> Markup {
    let name = &global.name.value;
    let known = atlas.registry.builds.iter().filter(|seen| seen.globals.contains_key(name)).count();
    html! {
        tr id=(name) {
            th scope="row" { a href={ "#" (name) } { (name) } }
            td {
                @for (index, piece) in global.ty.0.iter().enumerate() {
                    @if index > 0 { "; " }
                    (linked(atlas, &piece.value.to_string()))
                    @if global.ty.0.len() > 1 { " in " (atlas.scope(&piece.targets)) }
                }
                @if global.ty.0.is_empty() { "unknown" }
            }
            td { (atlas.scope(&global.scope)) }
            td { (known) }
            td.doc { (global.doc) }
        }
    }
}

/// A type whose name is a link, on a page at the root.
fn linked(atlas: &Atlas, ty: &str) -> Markup {
    let (name, rest) = ty.split_once(' ').unwrap_or((ty, ""));
    html! {
        @if atlas.layouts.spec.definitions.contains_key(name) { a href=(paths::type_page(name)) { (name) } } @else { (name) }
        " " (rest)
    }
}
