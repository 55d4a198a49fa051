//! Features: the sets that users can select compile.

use super::{Step, both, printed};
use crate::Error;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What `cargo metadata` states.
#[derive(Deserialize)]
struct Workspace {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    features: BTreeMap<String, Vec<String>>,
    /// The registries that the package can be published to; empty for a package of the workspace alone.
    publish: Option<Vec<String>>,
}

/// Checks each published package with no feature, each feature alone, all but one, and all. A warning is an error, because an import that
/// only some features need is unused without them.
pub fn compiled() -> Result<Step, Error> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let metadata = printed(&["metadata", "--quiet", "--no-deps", "--offline", "--format-version=1"])?;
    let Workspace { packages } = serde_json::from_str(&metadata)?;
    let mut failed = String::new();
    for Package { name, features, .. } in packages.iter().filter(|package| package.publish.is_none()) {
        for set in sets(features) {
            let check = ["check", "--quiet", "-p", name, "--no-default-features", "--features", &set];
            let (succeeded, text) = both(&cargo, &check, &[])?;
            // `--quiet` leaves only errors and warnings.
            if !succeeded || !text.is_empty() {
                failed += &format!("{name} with the features `{set}`\n{text}\n");
            }
        }
    }
    Ok(if failed.is_empty() { Step::Passed } else { Step::Failed(failed) })
}

/// The sets of features to check, each as a list with commas: none, each alone, all but one, and all. A feature that needs another fails alone; code that
/// needs a feature which it does not name fails without it.
fn sets(features: &BTreeMap<String, Vec<String>>) -> BTreeSet<String> {
    let names: Vec<&str> = features.keys().map(String::as_str).filter(|name| *name != "default").collect();
    let without = |one: &&str| names.iter().filter(|other| *other != one).copied().collect::<Vec<_>>().join(",");
    let alone = names.iter().map(|name| (*name).to_owned());
    if names.is_empty() {
        BTreeSet::new()
    } else {
        alone.chain(names.iter().map(without)).chain([String::new(), names.join(",")]).collect()
    }
}
