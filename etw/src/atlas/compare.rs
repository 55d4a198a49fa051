//! Comparisons of targets. The pages of builds compare consecutive targets in the form of `etw diff`; the script compares any two
//! targets in a table.

use super::branches::ARCHITECTURES;
use super::confidence::Confidences;
use super::facts::Atlas;
use super::frame::page as framed;
use super::paths;
use crate::html::Html;
use crate::print::{GREEN, RED, YELLOW};
use crate::{Error, diff};
use anstyle::Style;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::diff::{Side, changes};
use etw_layouts_symbols::TypeFacts;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

/// Marks in the sides of all targets the types whose layout is inferred or uncertain, with the other layouts that they can have.
pub fn mark_unexamined(atlas: &mut Atlas, confidences: &Confidences) {
    let mark = |target: TargetId| {
        let unexamined = confidences.unexamined(atlas, target);
        let others = unexamined.iter().flat_map(|(name, others)| others.iter().map(|other| (*name, TargetId::from(*other))));
        let alternatives: Vec<Side> = others.map(|(name, other)| atlas.kernels[other].side.only(name)).collect();
        (unexamined.into_keys().map(str::to_owned).collect(), alternatives)
    };
    let marks: Vec<_> = atlas.axis.targets.ids().map(mark).collect();
    for (kernel, (unexamined, alternatives)) in atlas.kernels.values_mut().zip(marks) {
        (kernel.side.unexamined, kernel.side.alternatives) = (unexamined, alternatives);
    }
}

/// The changes of a target since the previous one, in the form of `etw diff`.
pub fn step(atlas: &Atlas, target: TargetId, html: &mut Html) {
    let now = &atlas.kernels[target];
    let Some(before) = now.before else { return };
    lines(&atlas.kernels[before].side, &now.side, html);
}

/// The lines of `etw diff`, each with the class of its style.
pub fn lines(a: &Side, b: &Side, html: &mut Html) {
    html.el("pre", &[("class", &"diff"), ("tabindex", &"0"), ("aria-label", &"Differences")], |html| {
        for (style, line) in diff::lines(a, b, &changes(a, b)) {
            match CLASSES.iter().find(|(of, _)| *of == style) {
                None => html.text(&line),
                Some((_, class)) => html.leaf("span", &[("class", class)], &line),
            }
            html.text("\n");
        }
    });
}

/// The CSS classes for the styles in which `etw diff` prints added, removed and changed lines.
const CLASSES: [(Style, &str); 3] = [(GREEN, "new"), (RED, "gone"), (YELLOW, "moved")];

/// The page that compares any two targets.
pub fn page(atlas: &Atlas) -> (String, String) {
    framed("compare.html".into(), "compare", "Compare two targets", |html| {
        html.leaf("h1", &[], "Compare two targets");
        html.leaf(
            "p",
            &[("class", &"lead")],
            "The members of both sides in one table, and the builds that changed each structure.",
        );
        html.leaf(
            "p",
            &[],
            "Enter a build and revision, a label or a KB number: 10.0.19041.1415-x64, 19041.1415, 2004, KB5031356.",
        );
        html.el("form", &[("class", &"scripted filter"), ("id", &"compare")], |html| {
            for (id, label) in [("a", "from"), ("b", "to")] {
                html.leaf("label", &[("for", &id)], label);
                let input: [(&str, &dyn Display); 7] = [
                    ("id", &id),
                    ("list", &"kernels"),
                    ("size", &"22"),
                    ("placeholder", &"10.0.19041.1415-x64"),
                    ("autocomplete", &"off"),
                    ("spellcheck", &"false"),
                    ("required", &"required"),
                ];
                html.void("input", &input);
            }
            html.leaf("label", &[("for", &"only")], "only");
            html.void(
                "input",
                &[
                    ("id", &"only"),
                    ("list", &"names"),
                    ("size", &"26"),
                    ("placeholder", &"every structure"),
                    ("autocomplete", &"off"),
                    ("spellcheck", &"false"),
                ],
            );
            html.leaf("button", &[], "Compare");
            html.leaf("button", &[("type", &"button"), ("id", &"swap")], "Swap");
            html.el("datalist", &[("id", &"kernels")], |html| {
                for (target, kernel) in atlas.kernels.iter() {
                    html.void("option", &[("value", &kernel.name), ("label", &atlas.release(target))]);
                }
            });
            html.el("datalist", &[("id", &"names")], |html| {
                atlas.layouts.spec.definitions.keys().for_each(|name| html.void("option", &[("value", name)]));
            });
        });
        html.el("div", &[("id", &"outcome"), ("aria-live", &"polite"), ("class", &"scripted")], |html| {
            html.leaf("p", &[("id", &"way")], "");
            html.leaf("div", &[("id", &"tables")], "");
        });
        html.leaf("h2", &[("id", &"consecutive-builds")], "Consecutive builds");
        html.leaf("p", &[], "The changes of each build work without JavaScript.");
        for arch in ARCHITECTURES {
            html.leaf("h3", &[], arch);
            html.el("ol", &[("class", &"steps")], |html| {
                for (_, target) in atlas.axis.along(arch) {
                    let Some(before) = atlas.kernels[target].before else { continue };
                    html.el("li", &[], |html| {
                        let to = format!("{}#the-changes", paths::of_kernel(&atlas.kernels[target].name));
                        html.link(to, format_args!("{} → {}", atlas.build(before), atlas.build(target)));
                    });
                }
            });
        }
    })
}

/// The data of the script: for each structure, the layout number at each target, and for each enumeration or set of macros, the number of
/// its constants; -1 where it does not exist. Runs of equal numbers are written once, with their length. The layouts of structures are in a file per structure, constants are here.
#[derive(Serialize)]
struct Data<'a> {
    layouts: BTreeMap<&'a str, Vec<(i64, usize)>>,
    /// For each type, the index of its lists of confidence columns.
    columns: BTreeMap<&'a str, usize>,
    /// The confidence column of each branch of builds, or -1.
    lists: Vec<&'a [i32]>,
    /// The constants, by number.
    values: Vec<&'a [(String, i64)]>,
}

/// The data of the script.
pub fn data(atlas: &Atlas, confidences: &Confidences) -> Result<String, Error> {
    let (mut layouts, mut values) = (BTreeMap::new(), Vec::<&[(String, i64)]>::new());
    let mut numbers: HashMap<&[(String, i64)], usize> = HashMap::new();
    for name in atlas.layouts.spec.definitions.keys() {
        // Layouts do not contain the constants of macros.
        let mut of = |target: TargetId| match atlas.kernels[target].side.types.get(name) {
            Some(TypeFacts::Enumeration(set)) => Some(*numbers.entry(&set.constants).or_insert_with(|| {
                values.push(&set.constants);
                values.len() - 1
            })),
            Some(TypeFacts::Aggregate(_)) => atlas.layouts.by_target[target].get(name).copied(),
            None => None,
        };
        let mut number = |target| of(target).and_then(|number| i64::try_from(number).ok()).unwrap_or(-1);
        let all: Vec<i64> = atlas.axis.targets.ids().map(&mut number).collect();
        let runs = all.chunk_by(|one, other| one == other).map(|run| (run[0], run.len()));
        layouts.insert(name.as_str(), runs.collect());
    }
    let (mut columns, mut lists) = (BTreeMap::new(), Vec::<&[i32]>::new());
    for (name, own) in confidences.columns() {
        let index = lists.iter().position(|known| known == own).unwrap_or_else(|| {
            lists.push(own);
            lists.len() - 1
        });
        columns.insert(name.as_str(), index);
    }
    Ok(format!("window.atlasCompare = {};\n", serde_json::to_string(&Data { layouts, columns, lists, values })?))
}
