//! Rows that an import adds to the version axis.

use super::texts;
use etw_layouts_codegen::axis::{Arch, Axis, Build, Kernel, TargetId, Version};
use etw_layouts_codegen::spec::{ErratumKind, ErratumValue, Spec};

/// The build as the axis names it: several build numbers can have the same kernel.
pub fn kernel_of(build: Build, axis: &Axis) -> Build {
    let release = axis.releases.iter().find(|release| release.same.iter().any(|same| same.number == build.number));
    let number = release.map_or(build.number, |release| release.build.number);
    axis.canonical(Build { number, ..build })
}

/// Note on a new revision, if another build has a revision on the axis.
const SEVERAL: &str = "if several builds received the change of a new revision, name it: replace their rows by one `[[update]]`";

/// Index of a build on an architecture.
pub fn find(axis: &Axis, build: Build, arch: Arch) -> Option<TargetId> {
    axis.targets.iter().find(|(_, t)| t.arch == arch && axis.kernels[t.kernel].build == build).map(|(id, _)| id)
}

/// A copy of the spec in which a build has another revision, wherever it is named.
pub fn moved(spec: &Spec, from: Build, to: Build) -> Spec {
    let mut moved = spec.clone();
    for kernel in moved.axis.kernels.iter_mut().filter(|kernel| kernel.build == from) {
        kernel.module = match stem(&kernel.module, from) {
            stem if stem == kernel.module => kernel.module.clone(),
            stem => format!("{stem}_{}", to.revision),
        };
        kernel.build = to;
    }
    for update in &mut moved.axis.updates {
        update.kernels.iter_mut().filter(|kernel| **kernel == from).for_each(|kernel| *kernel = to);
    }
    for definition in moved.definitions.values_mut() {
        definition.each_erratum(&mut |erratum| {
            for fact in [&mut erratum.document, &mut erratum.actual] {
                if let (ErratumKind::In, ErratumValue::Text(text)) = (erratum.what, fact) {
                    *text = renamed(text, &format!("{from:#}"), &format!("{to:#}"));
                }
            }
        });
    }
    moved
}

/// A text with another name of a build. The name can be the start of a longer number, which is another build.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let (mut out, mut done) = (String::new(), 0);
    for (start, _) in text.match_indices(from) {
        let end = start + from.len();
        if !is_digit(text[..start].chars().next_back()) && !is_digit(text[end..].chars().next()) {
            out = out + &text[done..start] + to;
            done = end;
        }
    }
    out + &text[done..]
}

/// Adds a build to the axis, for an architecture and those that follow it in other revisions of the build.
pub fn add(axis: &mut Axis, build: Build, arch: Arch) {
    let with = |of: &[Arch]| Arch::ALL.into_iter().filter(|a| *a == arch || of.contains(a)).collect::<Vec<_>>();
    if let Some(kernel) = axis.kernels.iter_mut().find(|kernel| kernel.build == build) {
        // Architectures outside the update need a separate row.
        kernel.of_update &= kernel.architectures.contains(&arch);
        kernel.architectures = with(&kernel.architectures);
        return;
    }
    let module = module(axis, build);
    let of_build = |kernel: &&Kernel| kernel.build.number == build.number;
    // Architectures follow as in other revisions of this build.
    let follows = |other: &Arch| {
        let is_known = axis.kernels.iter().filter(of_build).any(|kernel| kernel.architectures.contains(other));
        is_known && axis.follows.get(other) == Some(&arch)
    };
    let architectures = Arch::ALL.into_iter().filter(|other| *other == arch || follows(other)).collect();
    let at = axis.kernels.partition_point(|kernel| kernel.build < build);
    let known = axis.kernels.iter().find(of_build).map(|kernel| kernel.version);
    let is_first =
        |kernel: &Kernel| !axis.kernels.iter().any(|k| k.build.number == kernel.build.number && k.build < kernel.build);
    let is_revised = axis.kernels.iter().any(|kernel| kernel.build.number != build.number && !is_first(kernel));
    if let Some(version) = known.filter(|_| is_revised) {
        texts::remark(axis.comments.entry(axis.versions[version].label.clone()).or_default(), SEVERAL);
    }
    let mut same = Vec::new();
    let version = known.unwrap_or_else(|| {
        let release = axis.releases.iter().position(|release| release.build.number == build.number);
        // The version gets the name of the release.
        let (label, release) = match release.map(|index| axis.releases.remove(index)) {
            Some(release) => {
                same = release.same;
                (release.label, release.release)
            }
            None => (build.number[2].to_string(), format!("Windows build {}", build.number[2])),
        };
        let index = axis.kernels[..at].last().map_or(0, |kernel| kernel.version + 1);
        let architectures = axis.architectures.clone();
        axis.versions.insert(index, Version { label, release, unverifiable: None, architectures });
        axis.kernels.iter_mut().filter(|kernel| kernel.version >= index).for_each(|kernel| kernel.version += 1);
        axis.groups.iter_mut().flat_map(|(_, of)| of).filter(|of| **of >= index).for_each(|of| *of += 1);
        index
    });
    let kernel = Kernel {
        build,
        service_pack: None,
        module,
        version,
        architectures,
        same,
        of_update: false,
        added: false,
        span: Default::default(),
    };
    axis.kernels.insert(at, kernel);
}

/// Module name of a build: that of its first revision or service pack, followed by the own revision. The first revision has no
/// suffix.
fn module(axis: &Axis, build: Build) -> String {
    let of_build: Vec<_> = axis.kernels.iter().filter(|kernel| kernel.build.number == build.number).collect();
    let pack = of_build.iter().rfind(|kernel| kernel.build < build && kernel.service_pack.is_some());
    let first = pack.or(of_build.first());
    let release = axis.releases.iter().find(|release| release.build.number == build.number);
    match (first, release) {
        (Some(kernel), _) => format!("{}_{}", stem(&kernel.module, kernel.build), build.revision),
        (None, Some(release)) => release.module.clone(),
        (None, None) => format!("build_{}", build.number.map(|n| n.to_string()).join("_")),
    }
}

/// The name of a module without the revision.
fn stem(module: &str, build: Build) -> &str {
    module.strip_suffix(&format!("_{}", build.revision)).unwrap_or(module)
}
