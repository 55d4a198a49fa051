//! Comparisons of targets. The pages of builds compare consecutive targets in the form of `etw diff`; the script compares any two
//! targets in a table.

use crate::branches::ARCHITECTURES;
use crate::confidence::Confidences;
use crate::facts::Atlas;
use crate::frame::Page;
use crate::index_in;
use crate::paths;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::Error;
use etw_layouts_project::diff::Side;
use etw_layouts_symbols::TypeFacts;
use maud::{Markup, html};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

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

/// The lines of `etw diff`, each with the class of its style.
pub fn lines(atlas: &Atlas, a: &Side, b: &Side) -> Markup {
    html! {
        pre.diff tabindex="0" aria-label="Differences" {
            @for (class, line) in (atlas.lines)(a, b) {
                @if class.is_empty() { (line) } @else { span class=(class) { (line) } }
                "\n"
            }
        }
    }
}

/// The page that compares any two targets.
pub fn page(atlas: &Atlas) -> (String, String) {
    let steps = |arch| {
        let targets = atlas.axis.along(arch).map(|(_, target)| target);
        targets.filter_map(|target| Some((atlas.kernels[target].before?, target)))
    };
    let content = html! {
        h1 { "Compare two targets" }
        p.lead { "The members of both sides in one table, and the builds that changed each structure." }
        p { "Enter a build and revision, a label or a KB number: 10.0.19041.1415-x64, 19041.1415, 2004, KB5031356." }
        form class="scripted filter" id="compare" {
            @for (id, label) in [("a", "from"), ("b", "to")] {
                label for=(id) { (label) }
                input id=(id) list="kernels" size="22" placeholder="10.0.19041.1415-x64" autocomplete="off" spellcheck="false"
                    required="required";
            }
            label for="only" { "only" }
            input id="only" list="names" size="26" placeholder="every structure" autocomplete="off" spellcheck="false";
            button { "Compare" }
            button type="button" id="swap" { "Swap" }
            datalist id="kernels" {
                @for (target, kernel) in atlas.kernels.iter() { option value=(kernel.name) label=(atlas.release(target)) {} }
            }
            datalist id="names" { @for name in atlas.layouts.spec.definitions.keys() { option value=(name) {} } }
        }
        div.scripted id="outcome" aria-live="polite" {
            p id="way" {}
            div id="tables" {}
        }
        h2 id="consecutive-builds" { "Consecutive builds" }
        p { "The changes of each build work without JavaScript." }
        @for arch in ARCHITECTURES {
            h3 { (arch) }
            ol.steps {
                @for (before, target) in steps(arch) {
                    li {
                        a href={ (paths::target_page(&atlas.kernels[target].name)) "#the-changes" } {
                            (atlas.build(before)) " → " (atlas.build(target))
                        }
                    }
                }
            }
        }
    };
    Page::new("compare.html".into(), "compare", "Compare two targets").finish(&content)
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
        columns.insert(name.as_str(), index_in(&mut lists, own));
    }
    Ok(format!("window.atlasCompare = {};\n", serde_json::to_string(&Data { layouts, columns, lists, values })?))
}
