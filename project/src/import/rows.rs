//! Revisions that an import adds to the version axis.

use super::texts;
use etw_layouts_codegen::axis::{Arch, Axis, Build, Release, Revision, TargetId};
use etw_layouts_codegen::spec::{ErratumKind, ErratumValue, Spec};

/// The build as the axis names it: several build numbers can have the same revision.
pub fn build_on_axis(build: Build, axis: &Axis) -> Build {
    let release = axis.unimported.iter().find(|release| release.shared.iter().any(|shared| shared.build.number == build.number));
    let number = release.map_or(build.number, |release| release.build.number);
    axis.canonical(Build { number, ..build })
}

/// Note on a new revision, if another build has a revision on the axis.
const SEVERAL: &str =
    "if several builds received the change of a new revision, name it: replace their revisions by one `[[update]]`";

/// Index of a build on an architecture.
pub fn find(axis: &Axis, build: Build, arch: Arch) -> Option<TargetId> {
    axis.targets.iter().find(|(_, t)| t.arch == arch && axis.revisions[t.revision].build == build).map(|(id, _)| id)
}

/// A copy of the spec in which a build has another revision, wherever it is named.
pub fn moved(spec: &Spec, from: Build, to: Build) -> Spec {
    let mut moved = spec.clone();
    for revision in moved.axis.revisions.iter_mut().filter(|revision| revision.build == from) {
        revision.module = match stem(&revision.module, from) {
            stem if stem == revision.module => revision.module.clone(),
            stem => format!("{stem}_{}", to.revision),
        };
        revision.build = to;
    }
    for update in &mut moved.axis.updates {
        update.revisions.iter_mut().filter(|revision| **revision == from).for_each(|revision| *revision = to);
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
    if let Some(revision) = axis.revisions.iter_mut().find(|revision| revision.build == build) {
        // Architectures outside the update need a separate row.
        revision.of_update &= revision.architectures.contains(&arch);
        revision.architectures = with(&revision.architectures);
        return;
    }
    let module = module(axis, build);
    let of_build = |revision: &&Revision| revision.build.number == build.number;
    // Architectures follow as in other revisions of this build.
    let follows = |other: &Arch| {
        let is_known = axis.revisions.iter().filter(of_build).any(|revision| revision.architectures.contains(other));
        is_known && axis.ranges.get(other) == Some(&arch)
    };
    let architectures = Arch::ALL.into_iter().filter(|other| *other == arch || follows(other)).collect();
    let at = axis.revisions.partition_point(|revision| revision.build < build);
    let known = axis.revisions.iter().find(of_build).map(|revision| revision.release);
    let is_first = |revision: &Revision| {
        !axis.revisions.iter().any(|other| other.build.number == revision.build.number && other.build < revision.build)
    };
    let is_revised = axis.revisions.iter().any(|revision| revision.build.number != build.number && !is_first(revision));
    if let Some(release) = known.filter(|_| is_revised) {
        texts::remark(axis.comments.entry(axis.releases[release].label().to_owned()).or_default(), SEVERAL);
    }
    let mut shared = Vec::new();
    let release = known.unwrap_or_else(|| {
        let unimported = axis.unimported.iter().position(|release| release.build.number == build.number);
        // The release keeps its labels and its name.
        let (labels, name) = match unimported.map(|index| axis.unimported.remove(index)) {
            Some(release) => {
                shared = release.shared;
                (release.labels, release.name)
            }
            None => (vec![build.number[2].to_string()], format!("Windows build {}", build.number[2])),
        };
        let index = axis.revisions[..at].last().map_or(0, |revision| revision.release + 1);
        let architectures = axis.architectures.clone();
        axis.releases.insert(index, Release { labels, name, unverifiable: None, architectures });
        axis.revisions.iter_mut().filter(|revision| revision.release >= index).for_each(|revision| revision.release += 1);
        index
    });
    let revision = Revision {
        build,
        service_pack: None,
        module,
        release,
        architectures,
        shared,
        of_update: false,
        added: false,
        span: Default::default(),
    };
    axis.revisions.insert(at, revision);
}

/// Module name of a build: that of its first revision or service pack, followed by the own revision. The first revision has no
/// suffix.
fn module(axis: &Axis, build: Build) -> String {
    let of_build: Vec<_> = axis.revisions.iter().filter(|revision| revision.build.number == build.number).collect();
    let pack = of_build.iter().rfind(|revision| revision.build < build && revision.service_pack.is_some());
    let first = pack.or(of_build.first());
    let release = axis.unimported.iter().find(|release| release.build.number == build.number);
    match (first, release) {
        (Some(revision), _) => format!("{}_{}", stem(&revision.module, revision.build), build.revision),
        (None, Some(release)) => release.module.clone(),
        (None, None) => format!("build_{}", build.number.map(|n| n.to_string()).join("_")),
    }
}

/// The name of a module without the revision.
fn stem(module: &str, build: Build) -> &str {
    module.strip_suffix(&format!("_{}", build.revision)).unwrap_or(module)
}
