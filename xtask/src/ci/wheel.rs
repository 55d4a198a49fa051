//! The Python package: builds the wheel, installs it, and runs its tests.

use crate::steps::{Run, Step, command};
use crate::{Error, workspace};
use std::env;
use std::fs;
use std::process::Command;

pub fn steps() -> Vec<(String, Run)> {
    vec![("wheel".to_owned(), Box::new(tested) as Run)]
}

fn tested() -> Result<Step, Error> {
    let python = env::var("ETW_LAYOUTS_PYTHON").unwrap_or("python3".into());
    let imports = "import maturin, pytest, pyarrow, polars, pandas, duckdb, pytz";
    let has_packages = Command::new(&python).args(["-c", imports]).output().is_ok_and(|output| output.status.success());
    if !has_packages {
        return Ok(Step::Absent(format!(
            "{python}: pip install maturin pytest pyarrow polars pandas duckdb pytz pyspark matplotlib mypy volatility3"
        )));
    }
    let folder = workspace::root().join("target/wheel");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let (wheels, site) = (folder.join("wheels").display().to_string(), folder.join("site").display().to_string());
    fs::create_dir_all(&folder)?;
    let settings = folder.join("config.toml");
    fs::write(&settings, settings_of_tests()?)?;
    let (manifest, settings) = ("python/Cargo.toml", settings.display().to_string());
    let build =
        ["-m", "maturin", "build", "--profile", "dev", "--config", &settings, "-i", &python, "-m", manifest, "--out", &wheels];
    match command(&python, &build, &[])? {
        Step::Passed => {}
        step => return Ok(step),
    }
    let Some(wheel) = fs::read_dir(&wheels)?.next() else { return Ok(Step::Failed("maturin built no wheel".into())) };
    let wheel = wheel?.path().display().to_string();
    match command(&python, &["-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", &site, &wheel], &[])? {
        Step::Passed => {}
        step => return Ok(step),
    }
    // The tests of the Volatility plugins need memory images, which a test of the program makes.
    let images = folder.join("images");
    fs::create_dir_all(&images)?;
    let images = images.display().to_string();
    let cargo = env::var("CARGO").unwrap_or("cargo".into());
    let make = ["test", "--workspace", "--test", "dump", "memory_images"];
    match command(&cargo, &make, &[("ETW_LAYOUTS_IMAGES", &images)])? {
        Step::Passed => {}
        step => return Ok(step),
    }
    // Keep the tests from writing caches into the sources.
    let tests = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "python/tests"];
    let environment = [
        ("PYTHONPATH", site.as_str()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("ETW_LAYOUTS_WHEEL", &wheel),
        ("ETW_LAYOUTS_IMAGES", &images),
    ];
    command(&python, &tests, &environment)
}

/// The settings of the profile `test`, for the profile `dev`: with equal settings, cargo reuses the artifacts of the tests. The
/// profile `test` itself would build the library as a test program.
fn settings_of_tests() -> Result<String, Error> {
    let manifest = fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    let settings = manifest.find("[profile.test").map_or("", |at| &manifest[at..]);
    Ok(settings.replace("[profile.test", "[profile.dev"))
}
