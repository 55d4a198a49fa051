//! Programs and folders of real files that tests use from outside the repository.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Environment variable with names separated by spaces, such as `clang ETW_LAYOUTS_ETL`. Tests fail if one of these is missing.
pub const REQUIRED: &str = "ETW_LAYOUTS_REQUIRED";

/// The folder in an environment variable. Calls [`absent`] if the variable is not set.
pub fn folder(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        absent(variable);
    }
    folder
}

/// Whether `ETW_LAYOUTS_ALL` is set: tests that use a sample of targets, builds or real traces use all of them.
pub fn all() -> bool {
    env::var_os("ETW_LAYOUTS_ALL").is_some()
}

/// An installed program. Only [`program`] and [`python`] return one, so that no test starts a program whose absence it does not
/// report.
#[derive(Clone, Debug)]
pub struct Program(PathBuf);

impl Program {
    /// A command that starts it.
    pub fn command(&self) -> Command {
        Command::new(&self.0)
    }
}

/// A program, if it is installed. Calls [`absent`] if not.
pub fn program(name: &str) -> Option<Program> {
    let is_there = starts(name);
    if !is_there {
        absent(name);
    }
    is_there.then(|| Program(name.into()))
}

/// The Python interpreter, `ETW_LAYOUTS_PYTHON` or `python3`, if it can import these packages (`jsonschema, volatility3`). Calls
/// [`absent`] if not.
pub fn python(packages: &str) -> Option<Program> {
    let python = PathBuf::from(env::var_os("ETW_LAYOUTS_PYTHON").unwrap_or("python3".into()));
    let output = Command::new(&python).args(["-c", &format!("import {packages}")]).stderr(Stdio::null()).status();
    let imports = output.is_ok_and(|status| status.success());
    if !imports {
        absent(packages);
    }
    imports.then_some(Program(python))
}

/// Whether a program starts. The result of `--version` is ignored.
pub fn starts(name: &str) -> bool {
    Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Reports that the running test is skipped, completely or in part, because a program or folder is missing. The test still prints
/// `ok`; the last test of the workspace lists all such tests with [`missed`].
///
/// # Panics
///
/// [`REQUIRED`] names the tool.
pub fn absent(tool: &str) {
    // Miri supports neither files nor programs.
    if cfg!(miri) {
        return;
    }
    let required = env::var(REQUIRED).unwrap_or_default();
    let is_required = required.split_whitespace().any(|name| tool.split(", ").any(|part| part == name));
    assert!(!is_required, "{tool} is absent, and {REQUIRED} names it");
    let crate_name = env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_str()?.rsplit_once('-')?.0.to_owned()));
    let test = format!("{} {}", crate_name.unwrap_or_default(), thread::current().name().unwrap_or("a test"));
    // `eprintln` is not used, because the test harness shows its output only for failing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {tool} is missing");
    let Some(folder) = records() else { return };
    let file = format!("{test} {tool}").replace([':', '/', ' '], "_");
    let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(file), format!("{tool}\t{test}")));
}

/// The tests that were skipped since the last call: pairs of missing program or folder and test, sorted.
pub fn missed() -> Vec<(String, String)> {
    let Some(entries) = records().and_then(|folder| fs::read_dir(folder).ok()) else { return Vec::new() };
    let taken = |path: &Path| {
        let text = fs::read_to_string(path).ok()?;
        fs::remove_file(path).ok()?;
        text.split_once('\t').map(|(tool, test)| (tool.to_owned(), test.to_owned()))
    };
    let mut missed: Vec<_> = entries.flatten().filter_map(|entry| taken(&entry.path())).collect();
    missed.sort();
    missed
}

/// The folder of records next to the test programs. All tests of a build share it.
fn records() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.parent()?.join("tests-left-out"))
}
