//! Merges an axis and the files that extend it into one order of builds.

use super::reader::Reader;
use crate::axis::Axis;

/// Sorts the builds of an axis and of the files that extend it, and then the releases by their first builds.
pub(super) fn merge(reader: &mut Reader, axis: &mut Axis) {
    // The sort is stable: of two equal builds, the first stays first.
    axis.revisions.sort_by_key(|revision| revision.build);
    let first = |release: usize| axis.revisions.iter().position(|revision| revision.release == release).unwrap_or(usize::MAX);
    let mut order: Vec<_> = (0..axis.releases.len()).collect();
    order.sort_by_cached_key(|&release| first(release));
    let mut new = vec![0; order.len()];
    order.iter().enumerate().for_each(|(index, &release)| new[release] = index);
    axis.releases = order.iter().map(|&release| axis.releases[release].clone()).collect();
    axis.revisions.iter_mut().for_each(|revision| revision.release = new[revision.release]);
    let twins = axis.revisions.windows(2).filter(|pair| pair[0].build == pair[1].build && pair[0].span.file != pair[1].span.file);
    for pair in twins {
        let title = format!("duplicate build {:#}: already on the extended axis", pair[1].build);
        let help = "remove this revision: ranges can already use the build";
        reader.error_also((pair[0].span, "on the axis here"), pair[1].span, title, "the duplicate", help);
    }
    for (index, revision) in axis.revisions.iter().enumerate() {
        let before = axis.revisions[..index].iter().rposition(|other| other.release == revision.release);
        let Some(between) = before.map(|before| &axis.revisions[before + 1..index]).and_then(<[_]>::first) else { continue };
        let label = axis.releases[revision.release].label();
        // Ranges can use a label, and would include every build in between.
        let title = format!("builds of release `{label}` are not adjacent: {:#} is before {:#}", between.build, revision.build);
        let (wrong, other) = if between.added { (between, revision) } else { (revision, between) };
        let help = "use the label of the release around this build, or a new label outside of other releases";
        reader.error_also((other.span, "the other build"), wrong.span, title, "build in between", help);
    }
}
