//! Tests the worked examples of README.md, CONTRIBUTING.md and docs/NEW-BUILDS.md against the real output. Their Rust code is
//! tested as doctests.

use etw_layouts_cli::{diff, show};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Sources, compile};
use etw_layouts_project::diff::{changes, sides};
use etw_layouts_project::format::formatted_texts;
use etw_layouts_project::subject::Subject;
use std::fs;
use tests::{project, root};

/// `BLESS=1` updates the pages.
#[test]
fn worked_examples_work() {
    worked_examples("README.md", 1);
    worked_examples("CONTRIBUTING.md", 2);
    worked_examples("docs/NEW-BUILDS.md", 1);
}

fn worked_examples(page: &str, count: usize) {
    let path = root().join(page);
    let page = fs::read_to_string(&path).expect(page);
    let mut specs = specs();
    let mut added = Vec::new();
    let mut printed = String::new();
    let (mut examples, mut rest) = (0, page.as_str());
    while let Some((before, after)) = rest.split_once("\n```") {
        let (info, after) = after.split_once('\n').expect("a line after the fence");
        let (body, after) = after.split_once("```").expect("the fence ends");
        let body = match info.split_once(' ') {
            Some(("toml", path)) => {
                assert!(specs.iter().all(|(known, _)| known != path), "{path} exists");
                specs.push((path.to_owned(), body.to_owned()));
                added.push(path);
                body.to_owned()
            }
            Some(("diff", path)) => {
                let (_, text) = specs.iter_mut().find(|(known, _)| known == path).expect(path);
                *text = patched(text, body);
                body.to_owned()
            }
            _ if info == "console" => {
                examples += 1;
                let command = body.lines().next().and_then(|line| line.strip_prefix("$ ")).expect("a command");
                format!("$ {command}\n{}", output(&layouts(&specs), command))
            }
            _ => body.to_owned(),
        };
        printed += &format!("{before}\n```{info}\n{body}```");
        rest = after;
    }
    printed += rest;
    assert_eq!(examples, count);
    let sources = layouts(&specs).spec.sources;
    let changed = formatted_texts(&sources, &sources).expect("no comment would be lost");
    for path in added {
        assert_eq!(changed.get(path), None, "an example is not in its form");
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &printed).expect("the page can be written");
    }
    assert!(printed == page || std::env::var_os("BLESS").is_some(), "the current output of the examples is:\n{printed}");
}

/// The project's spec files, by their paths from the root.
fn specs() -> Vec<(String, String)> {
    let layouts = project().layouts().expect("the specs resolve");
    layouts.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect()
}

fn layouts(specs: &[(String, String)]) -> Layouts {
    let mut sources = Sources::default();
    for (path, text) in specs {
        sources.add(path.clone(), text.clone());
    }
    compile(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn registry(layouts: &Layouts) -> Registry {
    project().registry(&layouts.spec.axis).expect("the facts can be read")
}

fn output(layouts: &Layouts, command: &str) -> String {
    let words: Vec<_> = command.split(' ').collect();
    let text = match words[..] {
        ["cargo", "xtask", "show", name, "--build", build, "--arch", arch] => {
            let registry = registry(layouts);
            let subject = Subject::find(layouts, &registry, name, Some(build), arch.parse().ok()).expect("a layout");
            show::text(layouts, &registry, &subject, None)
        }
        ["etw", "show", name, "--build", build] => {
            // The program also has the KB numbers of updates.
            let layouts = project().layouts().expect("the specs resolve");
            let registry = registry(&layouts);
            let subject = Subject::find(&layouts, &registry, name, Some(build), None).expect("a layout");
            show::text(&layouts, &registry, &subject, None)
        }
        ["cargo", "xtask", "diff", a, b, "--only", name] => {
            let [old, new] = sides(layouts, &registry(layouts), [a, b], Some(name)).expect("targets");
            diff::text(&old, &new, &changes(&old, &new))
        }
        _ => panic!("unsupported command in an example: {command}"),
    };
    anstream::adapter::strip_str(&text).to_string()
}

/// A text with a hunk of a diff applied.
fn patched(text: &str, hunk: &str) -> String {
    let side = |other: char| -> String {
        let lines = hunk.lines().filter(|line| !line.starts_with(other));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or(""))).collect()
    };
    let (old, new) = (side('+'), side('-'));
    assert_eq!(text.matches(&old).count(), 1, "not one place for\n{hunk}");
    text.replacen(&old, &new, 1)
}
