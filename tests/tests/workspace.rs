//! What holds of all crates of the workspace.

use std::fs;
use std::path::Path;
use tests::root;

/// `test = false` saves compiling a library twice. It also keeps tests that stand in the library from being run.
#[test]
fn no_test_stands_where_none_is_run() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let members = manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']')).expect("members").0;
    let mut looked_at = 0;
    for member in members.split('"').skip(1).step_by(2) {
        let folder = root().join(member);
        let own = fs::read_to_string(folder.join("Cargo.toml")).expect("the manifest of a member");
        let library = own.split_once("[lib]\n").map_or("", |(_, rest)| rest.split("\n[").next().unwrap_or_default());
        if library.lines().any(|line| line == "test = false") {
            looked_at += 1;
            let found = with_a_test(&folder.join("src"));
            assert!(
                found.is_none(),
                "{} has a test that is never run: {member}/Cargo.toml says `test = false`",
                found.unwrap_or_default()
            );
        }
    }
    assert!(looked_at > 10, "{looked_at} crates");
}

/// A file of a folder that has a test in it.
fn with_a_test(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => with_a_test(&path),
        false => fs::read_to_string(&path).is_ok_and(|text| text.contains("#[test]\n")).then(|| path.display().to_string()),
    })
}
