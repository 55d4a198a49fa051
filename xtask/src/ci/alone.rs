//! The tests on a machine with Rust and a C compiler only: the test programs run once more, without other programs and without variables.
//!
//! Unit tests are left out, because they start no programs; a test of the workspace ensures that.

use crate::steps::{Step, printed};
use crate::{Error, workspace};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs that the tests may require.
const PROGRAMS: [&str; 5] = ["cargo", "rustc", "cc", "ld", "git"];
/// The test program that lists the skipped tests; it runs last.
const LIST: &str = "skipped";

/// A test program, and the folder of its package.
struct Test {
    name: String,
    program: PathBuf,
    folder: PathBuf,
}

/// Runs the test programs. Prints the tests that were skipped.
pub fn tests() -> Result<Step, Error> {
    let programs = workspace::root().join("target/programs");
    if let Some(absent) = link(&programs)? {
        return Ok(Step::Absent(format!("install {absent}")));
    }
    let mut tests = built()?;
    tests.sort_by_key(|test| test.name == LIST);
    let mut failed = String::new();
    for Test { name, program, folder } in tests {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", &programs).env("CARGO_MANIFEST_DIR", &folder).current_dir(folder).stdin(Stdio::null());
        // Without this, cargo compiles the dependencies of the macros' tests anew.
        command.envs(env::var_os(PROFILE).map(|value| (PROFILE, value)));
        let output = command.output()?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        if name == LIST {
            anstream::println!("{}", text[0].trim());
        }
        if !output.status.success() {
            failed += &format!("{name}\n{}", text.concat());
        }
    }
    Ok(if failed.is_empty() { Step::Passed } else { Step::Failed(failed) })
}

/// The profile that `.ci/run` sets.
const PROFILE: &str = "CARGO_PROFILE_DEV_DEBUG";

/// Makes a folder of links to the programs. Returns a program that is not installed.
fn link(folder: &Path) -> Result<Option<&'static str>, Error> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    // The programs of the toolchain itself: those of rustup read variables.
    let output = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    let toolchain = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("bin");
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = [toolchain].into_iter().chain(env::split_paths(&path)).collect();
    for name in PROGRAMS {
        let file = OsString::from(format!("{name}{}", env::consts::EXE_SUFFIX));
        let Some(program) = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) else {
            return Ok(Some(name));
        };
        symlink(&program, &folder.join(&file))?;
    }
    Ok(None)
}

#[cfg(unix)]
fn symlink(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(windows)]
fn symlink(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_file(program, link)
}

/// The integration tests of the workspace, which are compiled if necessary.
fn built() -> Result<Vec<Test>, Error> {
    let output = printed(&["test", "--workspace", "--no-run", "--message-format", "json"])?;
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let test = |message: Value| {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let is_test = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "test");
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let (name, program) = (text(&message["target"]["name"])?, text(&message["executable"])?.into());
        is_test.then_some(Test { name, program, folder })
    };
    let tests: Vec<_> = messages.filter_map(test).collect();
    match tests.iter().any(|test| test.name == LIST) {
        true => Ok(tests),
        false => Err("cargo lists no test programs".into()),
    }
}
