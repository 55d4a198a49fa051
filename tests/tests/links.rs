//! The pages refer only to existing files and tests.

use std::fs;
use std::path::Path;
use tests::root;

#[test]
fn pages_have_no_dead_links() {
    let mut pages = 0;
    let mut dead = Vec::new();
    for folder in ["", "corpus", "docs", "specs"] {
        let folder = root().join(folder);
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_none_or(|end| end != "md") {
                continue;
            }
            pages += 1;
            let text = fs::read_to_string(&path).expect("a page");
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
            let within = targets.filter(|target| !target.is_empty() && !target.contains("://"));
            let is_there = |target: &&str| folder.join(target).exists() && !Path::new(target).is_absolute();
            dead.extend(within.filter(|target| !is_there(target)).map(|target| format!("{}: {target}", path.display())));
        }
    }
    assert!(pages > 8, "{pages} pages");
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// Each promise in docs/UNTRUSTED-INPUT.md names an existing test: a function in the linked file, or the fuzz target in that
/// file.
#[test]
fn tests_named_in_a_page_exist() {
    let text = fs::read_to_string(root().join("docs/UNTRUSTED-INPUT.md")).expect("the page");
    let mut named = 0;
    for (at, _) in text.match_indices("`](") {
        let (before, after) = (&text[..at], &text[at + 3..]);
        let name = before.rsplit('`').next().unwrap_or_default();
        let path = root().join("docs").join(after.split(')').next().unwrap_or_default());
        let source = fs::read_to_string(&path).expect("a file of tests");
        let is_target = path.file_stem().is_some_and(|stem| stem == name) && source.contains("pub fn run(");
        assert!(is_target || source.contains(&format!("fn {name}()")), "{} has no `{name}`", path.display());
        named += 1;
    }
    assert!(named > 25, "{named} tests");
}
