//! An axis that others extend: its kernels and theirs in one order.

use super::reader::Reader;
use crate::axis::Axis;

/// Puts the kernels of the files that extend an axis among its own, and the versions in the order of their first kernels.
pub(super) fn merge(reader: &mut Reader, axis: &mut Axis) {
    // Of two by one number the first stays the first.
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
        let title = format!("the axis has the kernel {:#} already", pair[1].build);
        let help = "leave this row out: ranges can name the kernel, and its layouts are the axis's";
        reader.error_also((pair[0].span, "the axis has it here"), pair[1].span, title, "the same", help);
    }
    for (index, kernel) in axis.kernels.iter().enumerate() {
        let before = axis.kernels[..index].iter().rposition(|other| other.version == kernel.version);
        let Some(between) = before.map(|before| &axis.kernels[before + 1..index]).and_then(<[_]>::first) else { continue };
        let label = &axis.versions[kernel.version].label;
        // A label stands for a range, which would take in whatever lies between.
        let title =
            format!("the kernels of `{label}` do not follow each other: {:#} lies before {:#}", between.build, kernel.build);
        let (wrong, other) = if between.added { (between, kernel) } else { (kernel, between) };
        let help = "give a kernel the label of the version that it lies in, or one of its own outside the others";
        reader.error_also((other.span, "the other kernel"), wrong.span, title, "this does not fit in", help);
    }
}
