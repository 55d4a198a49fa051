//! Specs without some builds, as if these were unknown.

use super::super::texts::{self, Texts};
use super::{find, layouts};
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId, TargetSet};
use etw_layouts_codegen::emit;
use etw_layouts_codegen::spec::{Body, Erratum, ErratumKind, Member, Shape, ValuesKind};
use std::collections::BTreeSet;

/// The specs without some builds on the axis and in ranges. Facts that no layout depends on and symbols cannot restore are
/// removed.
pub fn taken_out(texts: &Texts, builds: &BTreeSet<Build>) -> Texts {
    let mut spec = layouts(texts).spec;
    let old = spec.axis.clone();
    let path = texts.keys().find(|path| path.ends_with("windows.toml")).expect("an axis");
    let mut out: Texts =
        texts.iter().filter(|(path, _)| path.ends_with("scalars.toml")).map(|(p, t)| (p.clone(), t.clone())).collect();
    let mut axis = without(&old, builds);
    let reach = old.scope(old.documented_range.as_deref().expect("how far documents reach")).expect("a scope");
    axis.documented_range = None;
    out.insert(path.clone(), emit::toml::axis(&axis));
    let read = |out: &Texts| texts::spec(out).axis;
    axis.documented_range = Some(ended(&old, &read(&out), &reach));
    out.insert(path.clone(), emit::toml::axis(&axis));
    spec.axis = read(&out);
    let new = spec.axis.clone();
    let mapped = |set: &mut TargetSet| *set = mapped(&old, &new, set);
    for definition in spec.definitions.values_mut() {
        definition.layout_sets(&mut |set| mapped(set));
        definition.other_sets(&mut |set| mapped(set));
        kept_errata(&mut definition.errata);
        match &mut definition.body {
            Body::Aggregate(aggregate) => kept(&mut aggregate.members),
            Body::Values(values) => {
                values.constants.retain(|constant| !constant.scope.is_empty());
                for constant in &mut values.constants {
                    kept_errata(&mut constant.errata);
                    // No layout depends on the values of macros.
                    if values.kind != ValuesKind::Enum {
                        constant.value.0.truncate(1);
                        constant.value.0.iter_mut().for_each(|piece| piece.targets.clone_from(&constant.scope));
                    }
                }
            }
        }
    }
    for definition in spec.definitions.values().filter(|definition| !definition.scope.is_empty()) {
        let path = &spec.sources.file(definition.name.span).path;
        out.insert(path.clone(), emit::toml::definition(&spec, definition));
    }
    out
}

fn kept(members: &mut Vec<Member>) {
    members.retain(|member| !member.scope.is_empty());
    for member in members {
        member.leads_to.clear();
        kept_errata(&mut member.errata);
        if let Shape::Inline(_, members) = &mut member.shape {
            kept(members);
        }
    }
}

/// Removes errata without targets, and errata about ranges: those can concern builds that lack the definition.
fn kept_errata(errata: &mut Vec<Erratum>) {
    errata.retain(|erratum| !erratum.scope.is_empty() && erratum.what != ErratumKind::In);
}

/// The axis without some builds, and without releases and updates that become empty.
fn without(old: &Axis, builds: &BTreeSet<Build>) -> Axis {
    let mut axis = old.clone();
    axis.revisions.retain(|kernel| !builds.contains(&kernel.build));
    let is_left = |release: usize| axis.revisions.iter().any(|kernel| kernel.release == release);
    let left: Vec<usize> = (0..axis.releases.len()).filter(|&release| is_left(release)).collect();
    let place = |release: usize| left.iter().position(|other| *other == release);
    axis.releases = left.iter().map(|&release| old.releases[release].clone()).collect();
    axis.revisions.iter_mut().for_each(|kernel| kernel.release = place(kernel.release).expect("a release that is left"));
    // The first remaining build of a release is named after the release.
    for release in 0..axis.releases.len() {
        let first = axis.revisions.iter_mut().find(|kernel| kernel.release == release);
        first.into_iter().for_each(|kernel| kernel.of_update = false);
    }
    let gone = |build: &Build| builds.contains(build);
    for update in &mut axis.updates {
        let last = update.revisions.last().copied();
        update.revisions.retain(|build| !gone(build));
        // Builds after the last one of an update have the update from the start. If the last one is removed, builds between the
        // old and the new last one must be excluded.
        let between = axis.revisions.iter().map(|kernel| kernel.build.number);
        let own: BTreeSet<_> = between.filter(|number| last.is_some_and(|last| *number <= last.number)).collect();
        let listed: BTreeSet<_> = update.revisions.iter().map(|build| build.number).collect();
        let least = update.revisions.last().map_or([0; 3], |last| last.number);
        let more =
            own.into_iter().filter(|number| *number > least && !listed.contains(number) && !update.without.contains(number));
        update.without.extend(more.collect::<Vec<_>>());
        update.without.sort();
    }
    axis.updates.retain(|update| !update.revisions.is_empty());
    axis
}

/// Maps a set of targets from one axis to another.
fn mapped(old: &Axis, new: &Axis, set: &TargetSet) -> TargetSet {
    let place = |t: TargetId| find(new, old.revision_of(t).build, old.targets[t].arch);
    set.iter().filter_map(place).collect()
}

/// A scope that ends with the last build of a set on each architecture, so that it excludes builds that are imported again.
fn ended(old: &Axis, axis: &Axis, set: &TargetSet) -> String {
    let set = mapped(old, axis, set);
    let builds = |arch| {
        let of = set.iter().map(|t| axis.targets[t]).filter(|t| t.arch == arch).map(|t| axis.revisions[t.revision].build);
        let builds: Vec<Build> = of.collect();
        let number = |build: &Build| Build { revision: 0, ..*build };
        Some(format!("{:#}..{:#} {arch}", number(builds.first()?), number(builds.last()?)))
    };
    Arch::ALL.into_iter().filter_map(builds).collect::<Vec<_>>().join(", ")
}
