//! Imports of the tables in `new/`. The result is written, and the same import again has nothing to do.
//!
//! Instructions: `add NAME`, `build BUILD`, `arch ARCH`, `new-build` as the options of the command; `each alone` imports each table on its
//! own and writes nothing.

use super::{Case, run};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::import::{Import, Plan, Request, Texts, prepare};
use etw_layouts_project::project::Files;
use etw_layouts_project::tables::Stated;
use etw_layouts_project::{Error, Project, verify};
use similar::TextDiff;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

#[test]
fn imports_of_small_projects() {
    run("import", |case| {
        let or_error = |result: Result<String, Error>| result.unwrap_or_else(|error| format!("error: {error}\n"));
        let new: Vec<&str> = case.files.keys().filter(|path| path.starts_with("new/")).map(String::as_str).collect();
        if case.values("each").next().is_none() {
            return or_error(imported(case, &new));
        }
        let one = |path: &&str| format!("> {path}\n{}", or_error(alone(case, path)));
        new.iter().map(one).collect()
    });
}

#[test]
fn unreadable_and_unwritable_projects_are_errors() {
    let built_in = || Files::Embedded(&[]);
    let error = |project: Project| project.folders().map(|_| ()).expect_err("a part is built in").to_string();
    let no_facts = "no folder for the facts of new builds; name a folder of facts";
    assert_eq!(error(Project::of(Files::Folder("specs".into()), built_in())), no_facts);
    let no_specs = "cannot change the built-in specs; name a folder with a copy of them, and a folder of facts";
    assert_eq!(error(Project::of(built_in(), Files::Folder("facts".into()))), no_specs);
    // A folder in place of a file.
    let case = Case::of("unread", "--- facts/updates.txt/a\n");
    let project = case.project();
    assert!(project.updates().is_err());
    let lock = project.lock("import").expect("no one has it");
    assert!(lock.replace(vec![(case.root.join("facts/updates.txt"), None)]).is_err());
}

fn alone(case: &Case, path: &str) -> Result<String, Error> {
    let mut text = String::new();
    let added: Vec<String> = case.values("add").map(str::to_owned).collect();
    match planned(case, &[path], &added, &mut text)? {
        Some(plan) => {
            describe(&plan, &mut text)?;
            Ok(text + &changed(&before(case), &plan.texts))
        }
        None => Ok(text + "nothing to import\n"),
    }
}

fn before(case: &Case) -> Texts {
    case.files.iter().filter(|(path, _)| path.starts_with("specs/")).map(own).collect()
}

fn imported(case: &Case, new: &[&str]) -> Result<String, Error> {
    let project = case.project();
    let added: Vec<String> = case.values("add").map(str::to_owned).collect();
    let mut text = String::new();
    let Some(plan) = planned(case, new, &added, &mut text)? else { return Ok(text + "nothing to import\n") };
    describe(&plan, &mut text)?;
    text += &changed(&before(case), &plan.texts);
    let layouts = project.layouts()?;
    let lock = project.lock("import")?;
    let facts = files(&project);
    import(case, new, &layouts, &added)?.write(&project, lock, &plan)?;
    text += &gained(&facts, &files(&project));
    let after = project.layouts()?;
    assert!(plan.texts.iter().all(|(path, text)| fs::read_to_string(project.root.join(path)).is_ok_and(|now| now == *text)));
    let report = verify::shipped(&project, &after)?;
    let wrong = report.tables.iter().chain(&report.images).flat_map(|table| &table.structures);
    wrong.flat_map(|(_, found)| &found.differences).for_each(|finding| text += &format!("wrong: {}\n", finding.line()));
    report.claims.iter().for_each(|claim| text += &format!("claim: {}\n", claim.line()));
    let mut again = String::new();
    assert!(planned(case, new, &added, &mut again)?.is_none(), "a repeated import changes nothing");
    Ok(text + &again)
}

fn own<'a>((path, text): (&'a String, &'a String)) -> (String, String) {
    (path.clone(), text.clone())
}

fn files(project: &Project) -> Texts {
    let entries = fs::read_dir(project.root.join("facts")).expect("the facts").map(|entry| entry.expect("a file").path());
    entries.map(|path| (project.shown(&path), fs::read_to_string(&path).expect("facts"))).collect()
}

/// The builds of each changed file of facts, and the number of its types.
fn gained(before: &Texts, after: &Texts) -> String {
    let mut text = String::new();
    for (path, new) in after.iter().filter(|(path, new)| before.get(*path) != Some(new)) {
        let kernels: Vec<&str> = new.lines().filter_map(|line| line.strip_prefix("kernel ")).collect();
        // Two lines belong to the header.
        let types = new.lines().filter(|line| !line.starts_with(' ') && !line.starts_with("kernel ")).count() - 2;
        text += &format!("{path}: {}; {types} types\n", kernels.join(", "));
        if new.contains("\noffsets ") {
            text += new;
        }
    }
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    gone.for_each(|path| text += &format!("{path} is gone\n"));
    text
}

fn import(case: &Case, new: &[&str], layouts: &Layouts, added: &[String]) -> Result<Import, Error> {
    let new: Vec<PathBuf> = new.iter().map(|path| case.root.join(path)).collect();
    let arch = case.values("arch").next().map(|arch| arch.parse().expect("an architecture"));
    let stated = Stated { build: case.values("build").next().map(str::to_owned), arch };
    let is_confirmed = case.instructions.iter().any(|line| line == "new-build");
    prepare(&case.project(), layouts, &Request { symbols: &new, stated: &stated, added, is_confirmed })
}

fn planned(case: &Case, new: &[&str], added: &[String], text: &mut String) -> Result<Option<Plan>, Error> {
    let layouts = case.project().layouts()?;
    let import = import(case, new, &layouts, added)?;
    let Import { known, images, left_out, notes, .. } = &import;
    known.iter().for_each(|name| *text += &format!("known: {name}\n"));
    images.iter().for_each(|count| *text += &format!("new images: {count}\n"));
    left_out.iter().for_each(|line| *text += &format!("left out: {line}\n"));
    notes.iter().for_each(|line| *text += &format!("{line}\n"));
    import.plan()
}

fn describe(plan: &Plan, text: &mut String) -> Result<(), Error> {
    let axis = &plan.layouts.spec.axis;
    let new: Vec<_> = plan.new.iter().map(|&target| axis.target_name(target)).collect();
    writeln!(text, "new: {}", new.join(", "))?;
    for (&target, builds) in &plan.same {
        let builds: Vec<_> = builds.iter().map(ToString::to_string).collect();
        writeln!(text, "same as {}: {}", axis.target_name(target), builds.join(", "))?;
    }
    plan.moved.iter().for_each(|[from, to]| *text += &format!("moved: {from} to {to}\n"));
    for border in &plan.borders {
        let [shown, along] = [&border.shown, &border.along].map(|names| names.join(", "));
        writeln!(text, "border: {}-{} shown [{shown}] along [{along}]", border.build, border.arch)?;
    }
    Ok(())
}

/// The texts that differ: a new one completely, an old one by its changed lines.
fn changed(before: &Texts, after: &Texts) -> String {
    let mut text = String::new();
    for (path, new) in after {
        match before.get(path) {
            None => text += &format!("--- {path}\n{new}"),
            Some(old) if old == new => {}
            Some(old) => {
                text += &format!("--- {path}\n");
                let diff = TextDiff::from_lines(old, new);
                let lines = diff.unified_diff().context_radius(0).to_string();
                lines.lines().filter(|line| !line.starts_with("@@")).for_each(|line| text += &format!("{line}\n"));
            }
        }
    }
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    gone.for_each(|path| text += &format!("--- {path} is gone\n"));
    text
}
