//! A map as JSON.

use crate::target::{Target, target};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::Choice;
use etw_layouts_project::map;
use serde::Serialize;

/// A map and its target.
#[derive(Serialize)]
pub struct Document<'a> {
    #[serde(flatten)]
    target: Target<'a>,
    /// The structure that all references lead to, if one was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    structures: Vec<Structure<'a>>,
}

#[derive(Serialize)]
struct Structure<'a> {
    name: &'a str,
    size: u64,
    links: Vec<Link<'a>>,
}

#[derive(Serialize)]
struct Link<'a> {
    member: &'a str,
    offset: u64,
    count: u64,
    /// `embeds`, `points to` or `list head of`.
    kind: &'static str,
    target: &'a str,
    /// The member that links the entries of a list.
    linked_by: Option<&'a str>,
    has_layout: bool,
}

/// The document.
pub fn json<'a>(map: &'a map::Map, axis: &'a Axis, choice: &'a Choice) -> Document<'a> {
    let link = |link: &'a map::Link| Link {
        member: &link.member,
        offset: link.offset,
        count: link.count,
        kind: link.way.word(),
        target: &link.to,
        linked_by: link.link.as_deref(),
        has_layout: link.is_specified,
    };
    let structure = |structure: &'a map::Structure| Structure {
        name: &structure.name,
        size: structure.size,
        links: structure.links.iter().map(link).collect(),
    };
    let structures = map.structures.iter().map(structure).collect();
    Document { target: target(axis, choice), to: map.to.as_deref(), structures }
}
