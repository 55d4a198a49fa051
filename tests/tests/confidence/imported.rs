//! Verifies the model of forgetting: specs and facts without a target, made by edits of their texts, have the layouts that the model
//! states; and an import of the target's tables into them brings back the layouts of the target.

use super::by_text::{Without, Workspace};
use super::forget::{Known, Target};
use etw_layouts::runtime::meta::Evidence;
use etw_layouts_codegen::axis::{Arch, Build, TargetId};
use etw_layouts_codegen::layouts::{Extent, Layouts};
use etw_layouts_project::import::{self, Request};
use etw_layouts_project::tables::Stated;
use etw_layouts_project::{Project, verify};
use etw_layouts_symbols::TypeFacts;
use std::collections::{BTreeMap, BTreeSet};
use test_support::folder::Folder;
use test_support::installed;

/// The number of targets that are rows of the version axis, and of others.
const ROWS: usize = 22;
const OTHERS: usize = 8;
/// Unless `ETW_LAYOUTS_ALL` is set, one of so many of these targets is forgotten.
const STEP: usize = 5;

/// Size, alignment and members of each type.
type Types = BTreeMap<String, (Extent, TypeFacts)>;

#[test]
fn the_model_of_forgetting_equals_edited_texts_and_an_import_brings_back_what_was_forgotten() {
    let known = Known::read();
    let workspace = Workspace::read(&known);
    let mut errors = Vec::new();
    let step = if installed::all() { 1 } else { STEP };
    let selection: Vec<(Target, Without)> = selection(&known, &workspace).into_iter().step_by(step).collect();
    assert!(!selection.is_empty());
    for (target, without) in &selection {
        let name = format!("{}-{}", target.0, target.1);
        let found = forgotten(&known, *target, without);
        println!("{name}: {} tables, {found:?}", without.tables.len());
        errors.extend(found.err().map(|error| format!("{name}: {error}")));
    }
    println!("{} targets", selection.len());
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Targets of all branches, rows of the axis first. Prints the number of those whose texts are not obvious.
fn selection(known: &Known, workspace: &Workspace) -> Vec<(Target, Without)> {
    let axis = &known.layouts.spec.axis;
    let is_row = |target: &Target| axis.along(target.1).any(|row| row.0 == target.0);
    let (rows, others): (Vec<Target>, Vec<Target>) = known.examined.keys().partition(|target| is_row(target));
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut selection = Vec::new();
    // An image shows a few members only.
    let with_table = others.into_iter().filter(|target| known.has_table(target)).collect();
    for (list, count) in [(rows, ROWS), (with_table, OTHERS)] {
        let mut possible = Vec::new();
        for target in list {
            match workspace.without(target) {
                Ok(without) => possible.push((target, without)),
                Err(reason) => *left_out.entry(reason).or_default() += 1,
            }
        }
        selection.extend(spread(possible, count));
    }
    println!("not selected, because the texts are not obvious: {left_out:?}");
    selection
}

/// Some of a list, evenly spaced.
fn spread<T>(list: Vec<T>, count: usize) -> Vec<T> {
    let all = list.len();
    let is_selected = |index: usize| index * count % all < count;
    list.into_iter().enumerate().filter(|(index, _)| is_selected(*index)).map(|(_, item)| item).collect()
}

/// Compares specs without a target with the model, imports the target, and compares its layouts with those of the workspace.
fn forgotten(known: &Known, target: Target, without: &Without) -> Result<(), String> {
    let folder = Folder::new(&format!("forgotten-{}-{}", target.0, target.1));
    for (path, text) in without.specs.iter().chain(&without.facts) {
        folder.file(path, text);
    }
    let project = Project::at(&folder.0);
    let layouts = project.layouts().map_err(|error| format!("the specs do not resolve: {error}"))?;
    let out = BTreeSet::from([target]);
    let model = known.without(&out, false);
    for arch in Arch::ALL {
        let by_text: Vec<_> = layouts.spec.axis.along(arch).collect();
        let by_model = model.rows(arch);
        let builds = |rows: &[(Build, TargetId)]| rows.iter().map(|row| row.0).collect::<BTreeSet<_>>();
        let (text_builds, model_builds) = (builds(&by_text), builds(by_model));
        if text_builds != model_builds {
            let more = |one: &BTreeSet<_>, other: &BTreeSet<_>| one.difference(other).copied().collect::<Vec<_>>();
            let [text, model] = [more(&text_builds, &model_builds), more(&model_builds, &text_builds)];
            return Err(format!("{arch}: only the texts have the rows {text:?}, only the model has {model:?}"));
        }
        for ((build, text), (_, model)) in by_text.iter().zip(by_model) {
            compare(&types(&known.layouts, *model), &types(&layouts, *text), |_| true)
                .map_err(|error| format!("{build} {arch}: {error}"))?;
        }
    }
    let tables: Vec<_> =
        without.tables.iter().enumerate().map(|(index, text)| folder.file(&format!("new/{index}.facts"), text).into()).collect();
    // The facts of a service pack can equal those of the release before it, which is doubtful.
    let request = Request { symbols: &tables, stated: &Stated::default(), added: &[], is_confirmed: true };
    let import = || {
        let lock = project.lock("import")?;
        let import = import::prepare(&project, &layouts, &request)?;
        let plan = import.plan()?.ok_or("nothing is new")?;
        import.write(&project, lock, &plan)
    };
    import().map_err(|error| format!("the import is refused: {error}"))?;
    let after = project.layouts().map_err(|error| format!("the imported specs do not resolve: {error}"))?;
    let at = |layouts: &Layouts| layouts.spec.axis.select(target.0, target.1).expect("an examined build").target;
    // A type that no table of the target has is not imported. Converted tables lack some constants of enumerations.
    let is_shown = |(of, evidence): &(Target, Evidence)| *of == target && *evidence != Evidence::Lacks;
    let shown = known.structures.iter().filter(|(_, evidence)| evidence.iter().any(is_shown));
    let shown: BTreeSet<&str> = shown.map(|(name, _)| name.as_str()).collect();
    compare(&types(&known.layouts, at(&known.layouts)), &types(&after, at(&after)), |name| shown.contains(name))
        .map_err(|error| format!("after the import: {error}"))
}

fn compare(ours: &Types, theirs: &Types, is_compared: impl Fn(&str) -> bool) -> Result<(), String> {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).filter(|name| is_compared(name)).collect();
    let different: Vec<_> = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name)).collect();
    if different.is_empty() { Ok(()) } else { Err(format!("other layouts of {different:?}")) }
}

fn types(layouts: &Layouts, target: TargetId) -> Types {
    let names: Vec<&str> = layouts.by_target[target].keys().map(String::as_str).collect();
    let with_extent = |(name, mut facts): (String, TypeFacts)| {
        // Symbols do not contain the order of the members of unions.
        if let TypeFacts::Aggregate(aggregate) = &mut facts {
            aggregate.members.sort_by(|one, other| (one.offset, &one.name).cmp(&(other.offset, &other.name)));
        }
        let extent = layouts.get(target, &name).expect("a layout of the target").extent();
        (name, (extent, facts))
    };
    verify::ours::types(layouts, target, &names).into_iter().map(with_extent).collect()
}
