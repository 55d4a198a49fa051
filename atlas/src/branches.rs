//! All builds with the revisions for which the atlas shows a confidence.

use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Axis, Build};
use etw_layouts_codegen::registry::Registry;
use std::collections::BTreeSet;

/// The architectures in the order of the pages: most readers look for x64.
pub const ARCHITECTURES: [Arch; 3] = [Arch::X64, Arch::X86, Arch::Arm64];

/// The revisions of a build on an architecture.
pub struct Branch {
    pub number: [u32; 3],
    pub arch: Arch,
    /// The revisions at which the layouts or the evidence can change. If the build shares the kernel of another build from some
    /// revision on, only the revisions before that one.
    pub points: Vec<Asked>,
}

/// The branches of all builds that are named, examined or an update.
pub fn branches(axis: &Axis, registry: &Registry) -> Vec<Branch> {
    let mut branches = Vec::new();
    for number in numbers(axis, registry) {
        let shared = axis.revisions.iter().flat_map(|own| own.shared.iter().map(|shared| (shared.build, own.build.number)));
        let first =
            shared.filter(|(build, _)| build.number == number).map(|(build, canonical)| (build.revision, canonical)).next();
        let (end, canonical) = first.unwrap_or((u32::MAX, number));
        let rows = axis.revisions.iter().map(|kernel| kernel.build).filter(|build| build.number == canonical);
        let seen = registry.builds.iter().map(|seen| axis.canonical(seen.build)).filter(|build| build.number == canonical);
        let updates = axis.updates.iter().filter_map(|update| update.first_of(Build { number: canonical, revision: 0 }));
        let ends = seen.flat_map(|build| [build.revision, build.revision.saturating_add(1)]);
        let revisions = rows.chain(updates).map(|build| build.revision).chain(ends).chain([0]);
        let revisions: BTreeSet<u32> = revisions.filter(|revision| *revision < end).collect();
        for arch in ARCHITECTURES {
            let points = revisions.iter().filter_map(|&revision| axis.select(Build { number, revision }, arch).ok());
            branches.push(Branch { number, arch, points: points.collect() });
        }
    }
    branches.retain(|branch| !branch.points.is_empty());
    branches
}

/// The build numbers of the axis, of examined builds and of updates.
pub fn numbers(axis: &Axis, registry: &Registry) -> BTreeSet<[u32; 3]> {
    let own = axis.revisions.iter().flat_map(|kernel| kernel.shared.iter().map(|shared| &shared.build).chain([&kernel.build]));
    let seen = registry.builds.iter().map(|seen| &seen.build);
    own.chain(seen).chain(axis.kbs.keys()).map(|build| build.number).collect()
}
