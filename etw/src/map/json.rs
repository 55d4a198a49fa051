//! A map as JSON.

use crate::object::object;
use crate::target::target;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::Choice;
use etw_layouts_project::map::{Link, Map, Structure};
use serde::Serialize;

/// A map and its target.
pub fn json<'a>(map: &'a Map, axis: &'a Axis, choice: &'a Choice) -> impl Serialize + use<'a> {
    let link = |link: &'a Link| {
        object! {
            member: &link.member,
            offset: link.offset,
            count: link.count,
            kind: link.way.word(),
            target: &link.to,
            // The member that links the entries of a list.
            linked_by: &link.link,
            has_layout: link.is_specified,
        }
    };
    let structure = |structure: &'a Structure| {
        object! {
            name: &structure.name,
            size: structure.size,
            links: structure.links.iter().map(link).collect::<Vec<_>>(),
        }
    };
    object! {
        #[serde(flatten)] target: target(axis, choice),
        // The structure that all references lead to, if one was selected.
        #[serde(flatten)] to: map.to.as_ref().map(|to| object! { to: to }),
        structures: map.structures.iter().map(structure).collect::<Vec<_>>(),
    }
}
