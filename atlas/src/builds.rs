//! Build data for the script: the names of builds, and the target with the layouts of each revision.

use crate::branches::{ARCHITECTURES, numbers};
use crate::facts::Atlas;
use crate::index::kind;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::spec::Body;
use etw_layouts_project::Error;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct Data<'a> {
    targets: Vec<TargetData<'a>>,
    /// The key is a name of a build or update and an architecture, such as `1703-x64`. The value is the number and revision of
    /// the build, or the reason why the name has no build.
    names: BTreeMap<String, Named>,
    /// Builds that share the kernel of another build: the number of the other build, and the first revision that shares it.
    same: BTreeMap<String, (String, u32)>,
    /// The key is the number of a build and an architecture.
    branches: BTreeMap<String, Branch>,
    /// The definitions: `s` for a structure or union; for values, their kind.
    types: BTreeMap<&'a str, &'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Named {
    Build(String, u32),
    Error(String),
}

/// The revisions of a build at which the layouts or the evidence can change, each with its target.
#[derive(Serialize)]
struct Branch {
    /// Its index in the lists of confidence data.
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
    /// The name in use: release, update and KB number.
    windows: String,
    /// The page of the map of its references.
    map: String,
    /// The target that this one is compared with: the previous update, or the first build of the previous release.
    base: Option<usize>,
}

/// The data of the script.
pub fn data(atlas: &Atlas) -> Result<String, Error> {
    let targets = atlas.kernels.iter().map(|(target, kernel)| {
        let own = atlas.axis.revision_of(target);
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
    let values = atlas.values.iter().filter_map(|definition| match &definition.body {
        Body::Values(values) => Some((definition.name.value.as_str(), kind(values.kind))),
        Body::Aggregate(_) => None,
    });
    let types = types.chain(values).collect();
    let branches = atlas.branches.iter().enumerate().map(|(at, branch)| {
        let from = branch.points.iter().map(|asked| asked.own.revision).collect();
        let target = branch.points.iter().map(|asked| asked.target.into()).collect();
        (format!("{}-{}", dotted(branch.number), branch.arch), Branch { at, from, target })
    });
    let data = Data { targets: targets.collect(), names: names(atlas), same: same(atlas), branches: branches.collect(), types };
    Ok(format!("window.atlasBuilds = {};\n", serde_json::to_string(&data)?))
}

/// The names that [`find_build`](etw_layouts_codegen::axis::Axis::find_build) accepts: labels, builds with and without a
/// revision, and releases.
fn names(atlas: &Atlas) -> BTreeMap<String, Named> {
    let axis = atlas.axis;
    let kernels = (0..axis.revisions.len()).map(|kernel| axis.revision_name(kernel));
    let numbers = numbers(axis, atlas.registry).into_iter().flat_map(|number| [dotted(number), number[2].to_string()]);
    let ends = axis.labels().filter_map(|label| label.split_once('-')).map(|(_, end)| end.to_owned());
    let names: BTreeSet<String> = axis.labels().map(str::to_owned).chain(kernels).chain(numbers).chain(ends).collect();
    let mut all = BTreeMap::new();
    for (name, arch) in names.iter().flat_map(|name| ARCHITECTURES.map(|arch| (name, arch))) {
        let named = match axis.find_build(name, arch) {
            Ok(Asked { own, target, .. }) => {
                // A build number without its own row has no known revision.
                let build = if own.revision == 0 { axis.revision_of(target).build } else { own };
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

/// Release names in common use, without `Windows`, each with the first build of the release.
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
    let pairs =
        atlas.axis.revisions.iter().flat_map(|kernel| kernel.shared.iter().map(|shared| (shared.build, kernel.build.number)));
    pairs.map(|(same, own)| (dotted(same.number), (dotted(own), same.revision))).collect()
}

/// The three numbers of a build.
pub fn dotted([major, minor, build]: [u32; 3]) -> String {
    format!("{major}.{minor}.{build}")
}
