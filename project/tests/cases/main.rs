//! Small projects with the expected output of the library. Each is a text with specs and facts.
//!
//! A case begins with comments and instructions, one per line. Files follow, each after a line of `--- ` and its path. Files of
//! `base.txt` are added unless the case has its own. After a line of `=` is the expected output, which `BLESS=1` writes anew.

mod events;
mod import;
mod print;
mod references;

use etw_layouts_project::Project;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

const RULER: &str = "================\n";

/// A case, whose files are written to a temporary folder.
struct Case {
    /// The lines before the first file, without comments.
    instructions: Vec<String>,
    files: BTreeMap<String, String>,
    root: PathBuf,
}

impl Case {
    fn of(name: &str, text: &str) -> Self {
        let (head, files) = text.split_once("--- ").unwrap_or((text, ""));
        let instructions = head.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
        let mut files = parts(files);
        let base = fs::read_to_string(folder().join("base.txt")).expect("the files of all cases");
        for (path, text) in parts(base.trim_start_matches("--- ")) {
            files.entry(path).or_insert(text);
        }
        let root = env::temp_dir().join(format!("etw-layouts-case-{}-{name}", process::id()));
        for (path, text) in &files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            fs::write(path, text).expect("a temporary file");
        }
        fs::create_dir_all(root.join("facts")).expect("a temporary folder");
        Self { instructions, files, root }
    }

    fn project(&self) -> Project {
        Project::at(self.root.clone())
    }

    /// The rest of each instruction with a name.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.instructions.iter().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '))
    }

    /// A text without the path of the temporary folder.
    fn shown(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.root);
    }
}

/// The files of a text, by path.
fn parts(text: &str) -> BTreeMap<String, String> {
    let part = |part: &str| part.split_once('\n').map(|(path, text)| (path.to_owned(), text.to_owned()));
    text.split("\n--- ").filter_map(|text| part(&format!("{}\n", text.trim_end_matches('\n')))).collect()
}

/// Runs all cases of a folder.
fn run(folder: &str, outcome: fn(&Case) -> String) {
    let mut paths: Vec<_> =
        fs::read_dir(self::folder().join(folder)).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no case");
    let mut wrong = String::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a case");
        let (input, golden) = text.split_once(RULER).unwrap_or((&text, ""));
        let case = Case::of(path.file_stem().and_then(|name| name.to_str()).expect("a name"), input);
        let seen = case.shown(&outcome(&case));
        if env::var_os("BLESS").is_some() {
            fs::write(&path, format!("{input}{RULER}{seen}")).expect("a case");
        } else if seen != golden {
            let diff = similar::TextDiff::from_lines(golden, &seen);
            wrong += &format!("{}\n{}", path.display(), diff.unified_diff().context_radius(2));
        }
    }
    assert!(wrong.is_empty(), "run again with BLESS=1 and review the changes\n{wrong}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}
