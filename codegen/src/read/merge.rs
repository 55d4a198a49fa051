//! Merges an axis and the files that extend it into one order of builds.

use super::reader::Reader;
use crate::axis::Axis;

/// Sorts the builds of an axis and of the files that extend it, and then the versions by their first builds.
pub(super) fn merge(reader: &mut Reader, axis: &mut Axis) {
    // The sort is stable: of two equal builds, the first stays first.
    axis.kernels.sort_by_key(|kernel| kernel.build);
    let first = |version: usize| axis.kernels.iter().position(|kernel| kernel.version == version).unwrap_or(usize::MAX);
    let mut order: Vec<_> = (0..axis.versions.len()).collect();
    order.sort_by_cached_key(|&version| first(version));
    let mut new = vec![0; order.len()];
    order.iter().enumerate().for_each(|(index, &version)| new[version] = index);
    axis.versions = order.iter().map(|&version| axis.versions[version].clone()).collect();
    axis.kernels.iter_mut().for_each(|kernel| kernel.version = new[kernel.version]);
    let twins = axis.kernels.windows(2).filter(|pair| pair[0].build == pair[1].build && pair[0].span.file != pair[1].span.file);
    for pair in twins {
        let title = format!("duplicate build {:#}: already on the extended axis", pair[1].build);
        let help = "remove this row: ranges can already use the build";
        reader.error_also((pair[0].span, "on the axis here"), pair[1].span, title, "the duplicate", help);
    }
    for (index, kernel) in axis.kernels.iter().enumerate() {
        let before = axis.kernels[..index].iter().rposition(|other| other.version == kernel.version);
        let Some(between) = before.map(|before| &axis.kernels[before + 1..index]).and_then(<[_]>::first) else { continue };
        let label = &axis.versions[kernel.version].label;
        // Ranges can use a label, and would include every build in between.
        let title = format!("builds of version `{label}` are not adjacent: {:#} is before {:#}", between.build, kernel.build);
        let (wrong, other) = if between.added { (between, kernel) } else { (kernel, between) };
        let help = "use the label of the version around this build, or a new label outside of other versions";
        reader.error_also((other.span, "the other build"), wrong.span, title, "build in between", help);
    }
}
