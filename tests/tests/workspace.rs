//! Checks of all crates in the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use tests::root;

/// `test = false` saves compiling a library twice, but tests in the library are then not run. Finds such tests.
#[test]
fn no_test_is_in_a_library_without_tests() {
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

/// Tests start other programs only through `installed`, which reports those that are missing. Rust is always there.
#[test]
fn programs_are_started_through_installed() {
    const ALWAYS: [&str; 2] = ["cargo", "rustc"];
    let mut looked_at = 0;
    for path in sources(&root()) {
        let text = fs::read_to_string(&path).expect("a source file");
        let is_test = path.strip_prefix(root()).is_ok_and(|path| path.components().any(|part| part.as_os_str() == "tests"));
        if !is_test && !text.contains("#[test]\n") {
            continue;
        }
        looked_at += 1;
        for start in text.split(concat!("Command::new", "(\"")).skip(1) {
            let program = start.split('"').next().unwrap_or_default();
            assert!(ALWAYS.contains(&program), "{}: use installed::program(\"{program}\")", path.display());
        }
    }
    assert!(looked_at > 100, "{looked_at} files");
}

/// The Rust files below a folder, without those of builds.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let below = folders.iter().filter(|path| !path.ends_with("target")).flat_map(|path| sources(path));
    files.into_iter().filter(is_source).chain(below).collect()
}

/// A file with a test in a folder.
fn with_a_test(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => with_a_test(&path),
        false => fs::read_to_string(&path).is_ok_and(|text| text.contains("#[test]\n")).then(|| path.display().to_string()),
    })
}

/// Enumerations of the crates that programs embed can grow without a change of their major version, except those whose values are
/// complete: their documentation lists all, and programs match them without a rest.
#[test]
fn enumerations_can_grow() {
    const COMPLETE: [&str; 11] =
        ["Any", "Arch", "Evidence", "Loaded", "Nested", "Part", "PointerSize", "Presence", "Step", "SymbolSource", "Text"];
    let mut count = 0;
    for file in ["runtime/src", "payload/src"].iter().flat_map(|folder| sources(&root().join(folder))) {
        let text = fs::read_to_string(&file).expect("a source");
        let mut attributes = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub enum ") {
                let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                let can_grow = attributes.contains("#[non_exhaustive]") || COMPLETE.contains(&name);
                assert!(can_grow, "{}: `{name}` needs `#[non_exhaustive]`", file.display());
                count += 1;
            }
            attributes = if line.starts_with("#[") || line.starts_with("///") { attributes + line } else { String::new() };
        }
    }
    assert!(count > 10, "{count} enumerations");
}
