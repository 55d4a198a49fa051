//! The explorer: builds its page, which compiles the libraries for a browser, and runs its tests.

use crate::steps::{Run, Step, cargo, rustup};
use crate::{Error, site, workspace};

pub fn steps() -> Vec<(String, Run)> {
    vec![("explorer".to_owned(), Box::new(tested) as Run)]
}

fn tested() -> Result<Step, Error> {
    if let Some(why) = missing() {
        return Ok(Step::Absent(why));
    }
    let folder = workspace::root().join("target/site");
    if let Err(error) = site::explorer(&folder, site::Profile::Dev, false) {
        return Ok(Step::Failed(error.to_string()));
    }
    let page = folder.join("explorer.html").display().to_string();
    cargo(&["test", "-q", "--workspace", "--test", "etl", "explorer"], &[("ETW_LAYOUTS_EXPLORER", &page)])
}

fn missing() -> Option<String> {
    let is_installed = rustup(&["target", "list", "--installed"]).iter().any(|line| line == site::BROWSER);
    (!is_installed).then(|| format!("not installed: rustup target add {}", site::BROWSER))
}
