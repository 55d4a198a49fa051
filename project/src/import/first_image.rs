//! The first build of a layout, if complete symbols exist only for a later update: the build of the first image that shows the
//! layout.

use super::build_on_axis;
use crate::tables::BuildTable;
use crate::verify::ours;
use etw_layouts_codegen::axis::{Axis, Build, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::compare_offsets;

/// The first update whose image shows the layout of the second of two rows of the axis, and not that of the first. `images` are
/// those between the two rows; all later ones must show this layout too. `None` if no image distinguishes the two layouts.
pub fn first_image(layouts: &Layouts, images: &[BuildTable], rows: [TargetId; 2], structure: &str) -> Option<Build> {
    let axis = &layouts.spec.axis;
    let [old, new] = rows.map(|target| ours::types(layouts, target, &[structure]));
    let mut images: Vec<_> = images.iter().map(|image| (build_on_axis(image.build, axis), image)).collect();
    images.retain(|(_, image)| image.offsets.contains_key(structure));
    images.sort_by_key(|(build, _)| *build);
    let has =
        |types, image: &BuildTable| compare_offsets(types, &image.offsets).iter().all(|report| report.differences.is_empty());
    let late = images.iter().rev().take_while(|(_, image)| has(&new, image) && !has(&old, image));
    late.last().map(|(build, _)| *build)
}

/// The previous row of the same build and architecture.
pub(super) fn before(axis: &Axis, row: TargetId) -> Option<TargetId> {
    let of = |target: TargetId| axis.revision_of(target).build;
    let same = axis.filter(|target| target.arch == axis.targets[row].arch);
    same.iter().filter(|&target| of(target).number == of(row).number && of(target) < of(row)).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Project;
    use etw_layouts_codegen::axis::Arch;
    use std::sync::Arc;

    #[test]
    fn images_date_the_start_of_a_layout() {
        let layouts = Project::at("..").layouts().expect("the specs resolve");
        let axis = &layouts.spec.axis;
        let row = axis.find("10.0.17763.1075-x64").expect("a row").target;
        let rows = [before(axis, row).expect("a row before"), row];
        let image = |revision, structure: &str, member: &str, offset| BuildTable {
            globals: [].into(),
            source: String::new(),
            label: String::new(),
            producer: String::new(),
            build: Build { number: [10, 0, 17763], revision },
            arch: Arch::X64,
            pdb: None,
            image: None,
            types: Arc::default(),
            offsets: Arc::new([(structure.to_owned(), [(member.to_owned(), offset)].into())].into()),
        };
        let guid = |revision, offset| image(revision, "ETW_GUID_ENTRY", "Guid", offset);
        let border = |images: &[BuildTable]| first_image(&layouts, images, rows, "ETW_GUID_ENTRY").map(|build| build.revision);
        let (old, new) = (0x18, 0x28);
        assert_eq!(border(&[guid(1000, new), guid(500, old), guid(900, new)]), Some(900));
        // An image with neither layout, or with the old one again, means that the layout starts later.
        assert_eq!(border(&[guid(500, new), guid(900, old), guid(1000, new)]), Some(1000));
        assert_eq!(border(&[guid(900, new), guid(1000, 0x30)]), None);
        // These images do not distinguish the layouts.
        assert_eq!(border(&[image(900, "ETW_REG_ENTRY", "GuidEntry", 0x20), image(900, "ETW_GUID_ENTRY", "GuidList", 0)]), None);
    }
}
