//! Views read every member of the specs at every target, and report absent members.

use etw_layouts::LAYOUTS;
use etw_layouts::runtime::View;
use etw_layouts_codegen::layouts::Form;
use etw_layouts_codegen::{Sources, read, resolve};
use etw_layouts_project::Choice;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares every member of each structure at each target with the layout of the specs.
#[test]
fn every_member_at_every_target() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let layouts = resolve(read(Sources::load(&specs).unwrap()).unwrap()).unwrap();
    let registry = tests::project().registry(&layouts.spec.axis).unwrap();
    let memory: Vec<u8> = (0..16384_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let (mut present, mut absent) = (0, 0);
    for structure in LAYOUTS.structures() {
        let names: BTreeSet<_> = structure.layouts().flat_map(|layout| layout.members()).map(|member| member.name).collect();
        let targets = LAYOUTS.revisions().flat_map(|kernel| kernel.architectures().map(move |arch| (kernel, arch)));
        for (target, (kernel, arch)) in layouts.by_target.ids().zip(targets) {
            let at = layouts.spec.axis.target_name(target);
            let ours = layouts.get(target, structure.name).map(|layout| match &layout.form {
                Form::Aggregate(aggregate) => aggregate,
                Form::Enumeration(_) => panic!("{} is a structure", structure.name),
            });
            let own = structure.targets().find(|target| target.revision.build == kernel.build && target.arch == arch);
            let selected = structure.select(kernel.build, arch);
            let Some((ours, (own, selected))) = ours.zip(own.zip(selected.ok())) else {
                assert!(ours.is_none() && own.is_none() && selected.is_err(), "{} at {at}", structure.name);
                continue;
            };
            assert!(*selected.layout == *own.layout, "{} at {at}", structure.name);
            // The generated code and the commands report the same confidence.
            let asked = layouts.spec.axis.newest(target);
            let choice = Choice::of(&layouts, &registry, asked, Some(structure.name));
            assert_eq!(selected.confidence, choice.confidence, "{} at {at}", structure.name);
            // The view begins at an odd address.
            let view = View::at(selected.layout, &memory, 1).unwrap();
            for name in &names {
                let what = format!("{}.{name} at {at}", structure.name);
                let value = view.member(name);
                let flat = ours.flat();
                let Some(flat) = flat.iter().find(|flat| flat.name == *name) else {
                    assert!(value.is_none(), "{what}");
                    absent += 1;
                    continue;
                };
                let value = value.unwrap_or_else(|| panic!("{what}"));
                let start = 1 + flat.offset as usize;
                let expected = &memory[start..start + flat.field.size as usize];
                assert_eq!(value.bytes(), expected, "{what}");
                if let Some(bits) = flat.field.bits {
                    let unit = expected.iter().rev().fold(0_u64, |unit, &byte| unit << 8 | u64::from(byte));
                    assert_eq!(value.unsigned(), (unit & bits.mask()) >> bits.position, "{what}");
                }
                present += 1;
            }
        }
    }
    assert!(present > 10_000 && absent > 5_000, "{present} members present, {absent} absent");
}
