//! The table of all layouts that [`etw_layouts_runtime::packed`] reads, and its listing as text.

mod builds;
mod listing;
mod matching;
mod members;
mod sections;

pub use listing::listing;
pub(super) use matching::matching;

use crate::axis::Arch;
use crate::layouts::{Form, Layouts};
use crate::registry::Registry;
use builds::builds;
pub(super) use etw_layouts_runtime::packed::Layouts as Opened;
use etw_layouts_runtime::packed::format::{self, NONE};
use members::Members;
use sections::{Sections, number};

/// The bytes of the table of all layouts and examined builds. The same specs and facts give the same bytes on every host.
///
/// # Errors
///
/// There are more names, layouts or other parts than the format can number; the error names them.
pub fn table(layouts: &Layouts, registry: &Registry) -> Result<Vec<u8>, String> {
    table_of(layouts, registry, |_| true)
}

/// The table of some structures.
///
/// # Errors
///
/// As [`table`].
pub fn table_of(layouts: &Layouts, registry: &Registry, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<u8>, String> {
    // Records refer to names by their place in the sorted list of all names, which is known only at the end.
    let mut all = Sections::default();
    sections(layouts, registry, &is_wanted, &mut all)?;
    let mut sorted = Sections::with_names(all)?;
    sections(layouts, registry, &is_wanted, &mut sorted)?;
    sorted.finish()
}

fn sections(layouts: &Layouts, registry: &Registry, is_wanted: impl Fn(&str) -> bool, out: &mut Sections) -> Result<(), String> {
    builds(layouts, registry, out)?;
    let mut members = Members::new(layouts);
    for name in layouts.spec.definitions.keys().filter(|name| is_wanted(name)) {
        let changes = changes(layouts, name, &mut members, out)?;
        if changes.is_empty() {
            continue;
        }
        let structure = format::Structure {
            name: out.name(name),
            change_count: number("changes of a structure", changes.len())?,
            changes: out.count::<format::Change>()?,
        };
        out.add(&structure)?;
        changes.iter().try_for_each(|change| out.add(change).map(|_| ()))?;
        for facts_files in registry.facts_files.chunks(8) {
            let bits = facts_files.iter().rev().fold(0, |byte, facts_file| byte << 1 | u8::from(facts_file.holds.contains(name)));
            out.add(&format::Holding { bits })?;
        }
    }
    Ok(())
}

/// The changes of the layout of a structure; empty if the definition is an enumeration.
fn changes(layouts: &Layouts, name: &str, members: &mut Members, out: &mut Sections) -> Result<Vec<format::Change>, String> {
    let axis = &layouts.spec.axis;
    let mut last = [NONE; Arch::ALL.len()];
    let mut changes = Vec::new();
    for (at, target) in axis.targets.iter() {
        let id = layouts.by_target[at].get(name).copied();
        let layout = match id.filter(|&id| matches!(layouts.layouts[id].form, Form::Aggregate(_))) {
            Some(id) => members.layout(id, out)?,
            None => NONE,
        };
        let before = &mut last[target.arch as usize];
        if *before != layout {
            *before = layout;
            changes.push(format::Change { revision: number("builds", target.revision)?, arch: target.arch as u8, layout });
        }
    }
    changes.sort_by_key(|change| (change.revision, change.arch));
    Ok(changes)
}
