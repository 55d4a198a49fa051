//! A map as a graph for Graphviz.

use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::Choice;
use etw_layouts_project::map::{Map, Way};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The graph. Structures are boxes, embedded structures have dashed lines, pointers solid lines, lists bold lines.
pub fn dot(map: &Map, axis: &Axis, choice: &Choice) -> String {
    let note = choice.note(axis).map_or(String::new(), |note| format!("\n{note}"));
    let mut out = String::from("digraph etw {\n");
    let _ = writeln!(out, "  label={};", quoted(&format!("ETW structures in {}{note}", choice.label(axis))));
    out += "  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n";
    for structure in &map.structures {
        let label = format!("{}\n{:#x} bytes", structure.name, structure.size);
        let _ = writeln!(out, "  {} [label={}];", quoted(&structure.name), quoted(&label));
    }
    let links = || map.structures.iter().flat_map(|structure| structure.links.iter().map(move |link| (structure, link)));
    let unknown: BTreeSet<_> = links().filter(|(_, link)| !link.is_specified).map(|(_, link)| &link.to).collect();
    for name in unknown {
        let _ = writeln!(out, "  {} [style=dotted];", quoted(name));
    }
    for (structure, link) in links() {
        let style = match link.way {
            Way::Embeds => "dashed",
            Way::PointsTo => "solid",
            Way::Lists => "bold",
        };
        let count = if link.count == 1 { String::new() } else { format!("[{}]", link.count) };
        let by = link.link.as_ref().map_or(String::new(), |by| format!("\nby {by}"));
        let label = quoted(&format!("{}{count} +{:#x}{by}", link.member, link.offset));
        let _ = writeln!(out, "  {} -> {} [style={style}, label={label}];", quoted(&structure.name), quoted(&link.to));
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
