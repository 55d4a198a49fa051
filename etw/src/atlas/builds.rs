//! What the script knows of builds: their names, the targets whose layouts they have, and which were examined.

use super::facts::{ARCHITECTURES, Atlas};
use crate::Error;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Build, TargetId};
use etw_layouts_codegen::registry::WitnessKind;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct Data<'a> {
    targets: Vec<TargetData<'a>>,
    /// Targets by each name of a build and an architecture, such as `1703-x64`, each with the number of the build and its revision.
    named: BTreeMap<String, (usize, String, u32)>,
    /// The updates by KB number, each with its builds.
    kbs: BTreeMap<u32, Vec<String>>,
    /// Builds that are the kernel of another, with the number of that and their own first revision.
    same: BTreeMap<String, (String, u32)>,
    /// The name of the release of each build number.
    releases: BTreeMap<String, String>,
    /// By architecture and build number, the examined revisions, each with its set of facts.
    seen: BTreeMap<&'static str, Revisions>,
    /// The evidence of each set of facts: `s` for symbols, `c` for converted ones, `i` for an image.
    witnesses: String,
    /// The definitions: `s` for a structure or union, `v` for values.
    types: BTreeMap<&'a str, &'static str>,
}

/// The examined revisions of each build number, each with its set of facts.
type Revisions = BTreeMap<String, BTreeSet<(u32, usize)>>;

#[derive(Serialize)]
struct TargetData<'a> {
    name: &'a str,
    arch: &'static str,
    number: String,
    revision: u32,
    label: &'a str,
    /// As people call it: release, update and KB number.
    windows: String,
    /// The latest examined build with its layouts.
    latest: String,
    /// The page of the map of its references.
    map: String,
    /// The target of its architecture before it.
    before: Option<usize>,
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
            label: atlas.label(target),
            windows: atlas.axis.windows(own.build).to_string(),
            latest: latest(atlas, target),
            map: atlas.map_page(target),
            before: kernel.before.map(usize::from),
        }
    });
    let types = atlas.structures.iter().map(|structure| (structure.name(), "s"));
    let types = types.chain(atlas.values.iter().map(|definition| (definition.name.value.as_str(), "v"))).collect();
    let data = Data {
        targets: targets.collect(),
        named: named(atlas),
        kbs: kbs(atlas),
        same: same(atlas),
        releases: releases(atlas),
        seen: seen(atlas),
        witnesses: atlas.registry.witnesses.iter().map(|witness| letter(witness.kind)).collect(),
        types,
    };
    Ok(format!("window.atlasBuilds = {};\n", serde_json::to_string(&data)?))
}

/// The latest examined build with the layouts of a target; without one, the target's own.
pub fn latest(atlas: &Atlas, target: TargetId) -> String {
    let builds = atlas.kernels[target].seen.iter().map(|seen| seen.build);
    builds.max_by_key(|build| build.revision).map_or_else(|| atlas.build(target), |build| build.to_string())
}

fn letter(kind: WitnessKind) -> char {
    match kind {
        WitnessKind::Symbols => 's',
        WitnessKind::Converted => 'c',
        _ => 'i',
    }
}

/// Labels, and builds with and without a revision, as [`find_build`](etw_layouts_codegen::axis::Axis::find_build) knows them.
fn named(atlas: &Atlas) -> BTreeMap<String, (usize, String, u32)> {
    let axis = atlas.axis;
    let kernels = (0..axis.kernels.len()).map(|kernel| axis.kernel_name(kernel));
    let numbers = numbers(atlas).into_iter().map(dotted);
    let names: BTreeSet<String> = axis.labels().map(str::to_owned).chain(kernels).chain(numbers).collect();
    let all = names.iter().flat_map(|name| ARCHITECTURES.map(|arch| (name, arch, axis.find_build(name, arch))));
    let one = |(name, arch, asked): (&String, Arch, Result<Asked, String>)| {
        let Asked { own, target, .. } = asked.ok()?;
        // A number without a row of its own has no revision that is known.
        let build = if own.revision == 0 { axis.kernel_of(target).build } else { own };
        Some((format!("{}-{arch}", name.to_lowercase()), (target.into(), dotted(build.number), build.revision)))
    };
    all.filter_map(one).collect()
}

/// The build numbers of the axis, of examined builds and of updates.
fn numbers(atlas: &Atlas) -> BTreeSet<[u32; 3]> {
    let axis = atlas.axis;
    let own = axis.kernels.iter().flat_map(|kernel| kernel.same.iter().chain([&kernel.build]));
    let seen = atlas.registry.kernels.iter().map(|kernel| &kernel.build);
    own.chain(seen).chain(axis.kbs.keys()).map(|build| build.number).collect()
}

fn kbs(atlas: &Atlas) -> BTreeMap<u32, Vec<String>> {
    let mut all: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (build, kbs) in &atlas.axis.kbs {
        kbs.iter().for_each(|kb| all.entry(*kb).or_default().push(build.to_string()));
    }
    all
}

fn same(atlas: &Atlas) -> BTreeMap<String, (String, u32)> {
    let pairs = atlas.axis.kernels.iter().flat_map(|kernel| kernel.same.iter().map(|same| (same, kernel.build.number)));
    pairs.map(|(same, own)| (dotted(same.number), (dotted(own), same.revision))).collect()
}

fn releases(atlas: &Atlas) -> BTreeMap<String, String> {
    let name = |number| Some((dotted(number), atlas.axis.windows(Build { number, revision: 0 }).release?.to_owned()));
    numbers(atlas).into_iter().filter_map(name).collect()
}

fn seen(atlas: &Atlas) -> BTreeMap<&'static str, Revisions> {
    let mut all: BTreeMap<&str, Revisions> = BTreeMap::new();
    for kernel in &atlas.registry.kernels {
        let build = atlas.axis.canonical(kernel.build);
        let own = all.entry(kernel.arch.as_str()).or_default().entry(dotted(build.number)).or_default();
        own.insert((build.revision, kernel.witness));
    }
    all
}

/// The three numbers of a build.
pub fn dotted([major, minor, build]: [u32; 3]) -> String {
    format!("{major}.{minor}.{build}")
}
