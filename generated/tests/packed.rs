//! The table of all layouts gives the same answers as the metadata in Rust.

use etw_layouts::kernels::{GLOBALS, REGISTRY};
use etw_layouts::runtime::meta::{self, Build, UpdateFacts};
use etw_layouts::runtime::packed::{self, Layouts};
use etw_layouts::structures::ALL;
use etw_layouts::{Arch, LAYOUTS, axis::AXIS};
use std::collections::BTreeSet;

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn the_table_is_valid() {
    let opened = Layouts::from_bytes(LAYOUTS.bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert!(opened.structures().map(|own| own.name()).eq(ALL.iter().map(|own| own.name)));
    assert!(opened.structures().count() > 50);
}

/// Every structure in every examined build, and in builds before, between and after them, on every architecture.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn selections_are_equal() {
    let (mut found, mut absent, mut open) = (0, 0, 0);
    let builds = builds();
    for (at, structure) in ALL.iter().enumerate() {
        let own = LAYOUTS.structure(structure.name).unwrap_or_else(|| panic!("{}", structure.name));
        assert!(own.layouts().map(shown).eq(structure.layouts().map(|layout| known(&layout))), "{}", structure.name);
        let history = own.history().map(|(kernel, arch, layout)| (kernel.build, arch, layout.map(|layout| layout.size())));
        let stated = structure.changes.iter().map(|change| (change.since, change.arch, change.layout.map(|layout| layout.size)));
        assert!(history.eq(stated), "{}", structure.name);
        // All structures have the same examined builds, so that a part of them is enough for each. The variable asks for all.
        let step = if std::env::var_os("ETW_LAYOUTS_QUESTIONS").is_some() { 1 } else { 60 };
        let asked = builds.iter().enumerate().filter(|(index, _)| index % step == at % step);
        for (build, arch) in asked.flat_map(|(_, build)| Arch::ALL.map(|arch| (*build, arch))) {
            let about = || format!("{} at {build}-{arch}", structure.name);
            let (theirs, ours) = match (structure.select(build, arch), own.select(build, arch)) {
                (Ok(theirs), Ok(ours)) => (theirs, ours),
                (theirs, ours) => {
                    assert_eq!(theirs.err(), ours.err(), "{}", about());
                    absent += 1;
                    continue;
                }
            };
            found += 1;
            assert_eq!(theirs.confidence, ours.confidence, "{}", about());
            assert_eq!((theirs.kernel.build, theirs.kernel.label), (ours.kernel.build, ours.kernel.label), "{}", about());
            let same = |theirs: Option<&meta::Layout>, ours: Option<packed::Layout>| theirs.map(places) == ours.map(own_places);
            assert!(same(Some(&theirs.layout), Some(ours.layout)), "{}", about());
            let (one, other): (Vec<_>, Vec<_>) = (theirs.candidates().collect(), ours.candidates().collect());
            assert_eq!(one.len(), other.len(), "{}", about());
            if one.len() == 1 {
                continue;
            }
            open += 1;
            assert!(one.iter().zip(&other).all(|(one, other)| same(one.as_deref(), *other)), "{}", about());
            assert_eq!(theirs.agrees_on_members(), ours.agrees_on_members(), "{}", about());
            assert_eq!(theirs.is_sure_of_members(), ours.is_sure_of_members(), "{}", about());
            for member in theirs.layout.members {
                let about = || format!("{} in {}", member.name, about());
                assert_eq!(theirs.is_sure_of_member(member.name), ours.is_sure_of(member.name), "{}", about());
            }
        }
    }
    assert!(found > 3_000 && absent > 3_000 && open > 500, "{found} {absent} {open}");
}

/// The version axis, the updates and the examined builds, and all look-ups among them.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn registries_are_equal() {
    for (theirs, ours) in pairs(AXIS.kernels.iter(), LAYOUTS.kernels()) {
        assert_eq!((theirs.build, theirs.label), (ours.build, ours.label));
        assert!(theirs.architectures.iter().copied().eq(ours.architectures()) && theirs.same.iter().copied().eq(ours.same()));
    }
    for (theirs, ours) in pairs(AXIS.updates.iter(), LAYOUTS.updates()) {
        assert_eq!(theirs.name, ours.name);
        assert!(theirs.kernels.iter().copied().eq(UpdateFacts::kernels(&ours)), "{}", ours.name);
        assert!(theirs.without.iter().copied().eq(ours.without()), "{}", ours.name);
        assert!(theirs.architectures.iter().copied().eq(ours.architectures()), "{}", ours.name);
    }
    for (theirs, ours) in pairs(REGISTRY.witnesses.iter(), LAYOUTS.witnesses()) {
        assert_eq!((theirs.name, theirs.kind), (ours.name, ours.kind));
    }
    assert!(GLOBALS.iter().copied().eq(LAYOUTS.variables()));
    let id = |seen: &packed::Seen| (seen.build, seen.arch, seen.pdb, seen.image);
    for (theirs, ours) in pairs(REGISTRY.kernels.iter(), LAYOUTS.examined()) {
        let witness = &REGISTRY.witnesses[theirs.witness as usize];
        let (name, kind) = (ours.witness.name, ours.witness.kind);
        assert_eq!((theirs.build, theirs.arch, theirs.pdb, theirs.image), (ours.build, ours.arch, ours.pdb, ours.image));
        assert_eq!((witness.name, witness.kind), (name, kind));
        assert!(theirs.globals.iter().copied().eq(ours.globals()), "{:?}", theirs.build);
        if let Some(pdb) = ours.pdb {
            let found = LAYOUTS.by_pdb(pdb).expect("a known PDB");
            let known = REGISTRY.by_pdb(pdb).expect("a known PDB");
            assert_eq!((found.build, found.arch, found.pdb), (known.build, known.arch, ours.pdb));
        }
        if let Some(image) = ours.image {
            let found = LAYOUTS.by_image(image).expect("a known image");
            let known = REGISTRY.by_image(image).expect("a known image");
            assert_eq!((found.build, found.arch, found.image), (known.build, known.arch, ours.image));
            assert!(LAYOUTS.by_image(meta::Image { size: image.size ^ 1, ..image }).is_none(), "{:?}", id(&ours));
        }
        for image in [None, theirs.image] {
            let found = LAYOUTS.by_build(theirs.build, theirs.arch, image);
            let known = REGISTRY.by_build(theirs.build, theirs.arch, image);
            assert!(found.iter().flat_map(|seen| seen.globals()).eq(known.iter().copied()), "{:?}", id(&ours));
        }
    }
    for build in builds() {
        assert_eq!(AXIS.canonical(build), LAYOUTS.canonical(build));
    }
}

/// Examined builds, rows of the axis, builds identical to them, and for each number the revisions before, between and after these.
fn builds() -> Vec<Build> {
    let examined = REGISTRY.kernels.iter().map(|seen| seen.build);
    let rows = AXIS.kernels.iter().flat_map(|kernel| kernel.same.iter().copied().chain([kernel.build]));
    let known: BTreeSet<Build> = examined.chain(rows).collect();
    let around = known.iter().flat_map(|build| {
        let Build { number: [major, minor, build], revision } = *build;
        let after = Build::new(major, minor, build, revision + 1);
        [
            Build::new(major, minor, build, 0),
            after,
            Build::new(major, minor, build + 1, 1),
            Build::new(major, minor, build, 99_999),
        ]
    });
    let none = [Build::new(4, 0, 1381, 1), Build::new(5, 0, 2000, 1), Build::new(10, 0, 65_000, 1), Build::new(11, 0, 1, 1)];
    known.iter().copied().chain(around).chain(none).collect::<BTreeSet<_>>().into_iter().collect()
}

fn pairs<A, B>(a: impl Iterator<Item = A>, b: impl Iterator<Item = B>) -> Vec<(A, B)> {
    let (a, b): (Vec<_>, Vec<_>) = (a.collect(), b.collect());
    assert_eq!(a.len(), b.len());
    a.into_iter().zip(b).collect()
}

type Place<'a> = (&'a str, usize, usize, Option<(u32, u32)>);

fn places(layout: &meta::Layout) -> (usize, usize, Vec<Place<'_>>) {
    let members = layout.members.iter().map(|member| (member.name, member.offset, member.size, member.bits));
    (layout.size, layout.align, members.collect())
}

fn own_places(layout: packed::Layout<'_>) -> (usize, usize, Vec<Place<'_>>) {
    let members = layout.members().map(|member| (member.name, member.offset, member.size, member.bits));
    (layout.size(), layout.align(), members.collect())
}

/// All of a layout as text, types included.
fn known(layout: &meta::Layout) -> String {
    fn ty(own: &meta::Type) -> String {
        match own {
            meta::Type::Unsigned => "unsigned".into(),
            meta::Type::Signed => "signed".into(),
            meta::Type::Pointer => "pointer".into(),
            meta::Type::Values(values) => format!("{} {} {} {:?}", values.name, values.flags, values.signed, values.constants),
            meta::Type::Layout(layout) => known(layout),
            meta::Type::Array(own, size) => format!("[{}; {size}]", ty(own)),
            other => panic!("{other:?}"),
        }
    }
    let members = layout.members.iter().map(|member| format!("{} {}", member.c, ty(&member.ty))).collect::<Vec<_>>();
    format!("{} {:?} {members:?}", layout.name, places(layout))
}

fn shown(layout: packed::Layout) -> String {
    fn ty(own: packed::Type) -> String {
        match own {
            packed::Type::Unsigned => "unsigned".into(),
            packed::Type::Signed => "signed".into(),
            packed::Type::Pointer => "pointer".into(),
            packed::Type::Values(values) => {
                let constants = values.constants().collect::<Vec<_>>();
                format!("{} {} {} {constants:?}", values.name(), values.flags(), values.signed())
            }
            packed::Type::Layout(layout) => shown(layout),
            packed::Type::Array(element) => format!("[{}; {}]", ty(element.ty()), element.size),
            other => panic!("{other:?}"),
        }
    }
    let members = layout.members().map(|member| format!("{} {}", member.c, ty(member.ty))).collect::<Vec<_>>();
    format!("{} {:?} {members:?}", layout.name(), own_places(layout))
}
