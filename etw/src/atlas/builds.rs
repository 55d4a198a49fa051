//! Builds as the script looks them up: their names, and the target whose layouts each revision has.

use super::branches::{ARCHITECTURES, numbers};
use super::facts::Atlas;
use crate::Error;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Build};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct Data<'a> {
    targets: Vec<TargetData<'a>>,
    /// By the name of a build or an update and an architecture, such as `1703-x64`, the number and the revision of the build, or why the name has
    /// none.
    names: BTreeMap<String, Named>,
    /// Builds that are the kernel of another, with the number of that and their own first revision.
    same: BTreeMap<String, (String, u32)>,
    /// By the number of a build and an architecture.
    branches: BTreeMap<String, Branch>,
    /// The definitions: `s` for a structure or union, `v` for values.
    types: BTreeMap<&'a str, &'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Named {
    Build(String, u32),
    Error(String),
}

/// The revisions of a build from which on the layouts or the evidence may be others, each with its target.
#[derive(Serialize)]
struct Branch {
    /// Its place in the lists of the confidence.
    at: usize,
    from: Vec<u32>,
    target: Vec<usize>,
}

#[derive(Serialize)]
struct TargetData<'a> {
    name: &'a str,
    arch: &'static str,
    number: String,
    revision: u32,
    /// As people call it: release, update and KB number.
    windows: String,
    /// The page of the map of its references.
    map: String,
    /// The target that its changes are compared with: the update before it, or the first build of the release before it.
    base: Option<usize>,
}

/// The data of the script.
pub fn data(atlas: &Atlas) -> Result<String, Error> {
    let targets = atlas.kernels.iter().map(|(target, kernel)| {
        let own = atlas.axis.kernel_of(target);
        TargetData {
            name: &kernel.name,
            arch: atlas.axis.targets[target].arch.as_str(),
            number: dotted(own.build.number),
            revision: own.build.revision,
            windows: atlas.axis.windows(own.build).to_string(),
            map: atlas.map_page(target),
            base: kernel.base.map(usize::from),
        }
    });
    let types = atlas.structures.iter().map(|structure| (structure.name(), "s"));
    let types = types.chain(atlas.values.iter().map(|definition| (definition.name.value.as_str(), "v"))).collect();
    let branches = atlas.branches.iter().enumerate().map(|(at, branch)| {
        let from = branch.points.iter().map(|asked| asked.own.revision).collect();
        let target = branch.points.iter().map(|asked| asked.target.into()).collect();
        (format!("{}-{}", dotted(branch.number), branch.arch), Branch { at, from, target })
    });
    let data = Data { targets: targets.collect(), names: names(atlas), same: same(atlas), branches: branches.collect(), types };
    Ok(format!("window.atlasBuilds = {};\n", serde_json::to_string(&data)?))
}

/// Labels, builds with and without a revision, and releases, as [`find_build`](etw_layouts_codegen::axis::Axis::find_build) knows them.
fn names(atlas: &Atlas) -> BTreeMap<String, Named> {
    let axis = atlas.axis;
    let kernels = (0..axis.kernels.len()).map(|kernel| axis.kernel_name(kernel));
    let numbers = numbers(axis, atlas.registry).into_iter().flat_map(|number| [dotted(number), number[2].to_string()]);
    let ends = axis.labels().filter_map(|label| label.split_once('-')).map(|(_, end)| end.to_owned());
    let names: BTreeSet<String> = axis.labels().map(str::to_owned).chain(kernels).chain(numbers).chain(ends).collect();
    let mut all = BTreeMap::new();
    for (name, arch) in names.iter().flat_map(|name| ARCHITECTURES.map(|arch| (name, arch))) {
        let named = match axis.find_build(name, arch) {
            Ok(Asked { own, target, .. }) => {
                // A number without a row of its own has no revision that is known.
                let build = if own.revision == 0 { axis.kernel_of(target).build } else { own };
                Named::Build(dotted(build.number), build.revision)
            }
            Err(error) if error.starts_with("ambiguous") => Named::Error(error),
            Err(_) => continue,
        };
        all.insert(format!("{}-{arch}", name.to_lowercase()), named);
    }
    for (arch, name, build) in ARCHITECTURES.into_iter().flat_map(|arch| releases(atlas, arch)) {
        all.entry(format!("{name}-{arch}")).or_insert(Named::Build(dotted(build.number), build.revision));
    }
    for (build, kbs) in &axis.kbs {
        for (kb, arch) in kbs.iter().flat_map(|kb| ARCHITECTURES.map(|arch| (kb, arch))) {
            if axis.at(*build, arch).is_some() {
                all.entry(format!("kb{kb}-{arch}")).or_insert_with(|| Named::Build(dotted(build.number), build.revision));
            }
        }
    }
    all
}

/// Releases as people call them, without `Windows`, each with its first build.
fn releases<'a>(atlas: &'a Atlas, arch: Arch) -> impl Iterator<Item = (Arch, String, Build)> + use<'a> {
    atlas.axis.along(arch).flat_map(move |(build, _)| {
        let release = atlas.axis.windows(build).release.unwrap_or_default().to_lowercase();
        let parts: Vec<String> = release.split(", ").map(|part| part.trim_start_matches("windows ").to_owned()).collect();
        let whole = parts.clone().into_iter();
        let short = parts.into_iter().filter_map(|part| Some(part.split_once(" version ")?.0.to_owned()));
        whole.chain(short).map(move |name| (arch, name, build)).collect::<Vec<_>>()
    })
}

fn same(atlas: &Atlas) -> BTreeMap<String, (String, u32)> {
    let pairs = atlas.axis.kernels.iter().flat_map(|kernel| kernel.same.iter().map(|same| (same, kernel.build.number)));
    pairs.map(|(same, own)| (dotted(same.number), (dotted(own), same.revision))).collect()
}

/// The three numbers of a build.
pub fn dotted([major, minor, build]: [u32; 3]) -> String {
    format!("{major}.{minor}.{build}")
}
