//! Features: the sets that users can select compile.

use crate::Error;
use crate::steps::{Step, both, printed};
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

/// Checks each published package with no feature, each feature alone, and all. A feature that needs another fails alone.
///
/// A warning is an error, because an import that only some features need is unused without them.
pub fn alone() -> Result<Step, Error> {
    checked(|features| {
        let names = single(features);
        let alone = names.iter().map(|name| (*name).to_owned());
        alone.chain([String::new(), names.join(",")]).collect()
    })
}

/// Checks each published package with all features but one. Code that needs a feature which it does not name fails without it.
pub fn but_one() -> Result<Step, Error> {
    checked(|features| {
        let names = single(features);
        let without = |one: &&str| names.iter().filter(|other| *other != one).copied().collect::<Vec<_>>().join(",");
        names.iter().map(without).collect()
    })
}

/// Checks one of eight features of structures alone. They are generated from one template, and differ only in the features that
/// they need.
pub fn structures() -> Result<Step, Error> {
    checked(|features| grouped(features).into_iter().step_by(8).map(str::to_owned).collect())
}

/// The features of a package.
type Features = BTreeMap<String, Vec<String>>;

/// Checks the sets of features of each published package that has features; a set is a list with commas.
fn checked(sets: impl Fn(&Features) -> BTreeSet<String>) -> Result<Step, Error> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let metadata = printed(&["metadata", "--quiet", "--no-deps", "--offline", "--format-version=1"])?;
    let Workspace { packages } = serde_json::from_str(&metadata)?;
    let mut failed = String::new();
    let with_features = |package: &&Package| package.publish.is_none() && !single(&package.features).is_empty();
    for Package { name, features, .. } in packages.iter().filter(with_features) {
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

/// The features, without the default and those in a group of many.
fn single(features: &Features) -> Vec<&str> {
    let members = grouped(features);
    features.keys().map(String::as_str).filter(|name| *name != "default" && !members.contains(name)).collect()
}

/// The features in a group of many, such as the features of structures.
fn grouped(features: &Features) -> BTreeSet<&str> {
    let groups = features.iter().filter(|(name, list)| *name != "default" && list.len() > MANY);
    groups.flat_map(|(_, list)| list).map(String::as_str).collect()
}

/// More features than this are a group of many.
const MANY: usize = 10;
