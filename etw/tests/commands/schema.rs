//! The keys and types in the JSON output of `show`, `diff` and `map`.

use etw_layouts_cli::{diff, map, show};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::diff::{Verdict, changes, sides};
use etw_layouts_project::history;
use etw_layouts_project::map::Map;
use etw_layouts_project::subject::Subject;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The paths of all JSON values with their types: for every structure and enumeration of a target, the differences between
/// neighboring targets, the map of a target, and histories.
pub fn text(layouts: &Layouts, registry: &Registry, (own, seen): (&Layouts, &Registry)) -> String {
    let axis = &layouts.spec.axis;
    let mut schema = BTreeMap::new();
    let mut add = |command: &str, json: Value| paths(&json, command, &mut schema);
    let newest = layouts.by_target.ids().rfind(|&target| axis.targets[target].arch == Arch::X64).expect("x64");
    for name in layouts.by_target[newest].keys() {
        let build = axis.revision_of(newest).build.to_string();
        let subject = Subject::find(layouts, registry, name, Some(&build), Some(Arch::X64)).expect(name).expanded(9);
        add("show", serde_json::to_value(show::json(layouts, registry, &subject)).expect("JSON"));
    }
    let names: Vec<_> = axis.along(Arch::X64).map(|(_, target)| axis.target_name(target)).collect();
    for pair in names.windows(2) {
        let [old, new] = sides(layouts, registry, [&pair[0], &pair[1]], None).expect("targets");
        let changes = changes(&old, &new);
        let verdict = Verdict::of(&old, &new, &changes);
        add("diff", serde_json::to_value(diff::json(axis, &old, &new, &changes, &verdict)).expect("JSON"));
    }
    let choice = Choice::of(layouts, registry, axis.newest(newest), None);
    add("map", serde_json::to_value(map::json(&Map::of(layouts, newest, None), axis, &choice)).expect("JSON"));
    for asked in ["DEVICE", "DEVICE.Owner", "STATE"] {
        let history = history::of(own, seen, asked, None).expect(asked);
        add("history", serde_json::to_value(show::history::json(&history, own)).expect("JSON"));
    }
    let line =
        |(path, types): (String, BTreeSet<&str>)| format!("{path}: {}\n", types.into_iter().collect::<Vec<_>>().join(" or "));
    schema.into_iter().map(line).collect()
}

/// Adds the paths of all values below a value. Nested members have the same path as members.
fn paths(value: &Value, path: &str, schema: &mut BTreeMap<String, BTreeSet<&str>>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(values) => {
            values.iter().for_each(|value| paths(value, &format!("{path}[]"), schema));
            "array"
        }
        Value::Object(values) => {
            for (key, value) in values {
                let is_nested = key == "members" && path.ends_with(".members[]");
                let below = if is_nested { path.trim_end_matches("[]").to_owned() } else { format!("{path}.{key}") };
                paths(value, &below, schema);
            }
            "object"
        }
    };
    schema.entry(path.to_owned()).or_default().insert(kind);
}
