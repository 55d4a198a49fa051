//! Every confidence in a layout, with a handwritten axis and registry.

extern crate std;

use super::{
    Absent, Arch, Axis, Build, Change, Confidence, Image, Kernel, Layout, Members, Pdb, Registry, Seen, Structure, Update,
    UpdateFacts as _, Witness, WitnessKind,
};
use crate::generated::pdb;
use core::marker::PhantomData;
use std::boxed::Box;
use std::string::ToString;
use std::vec::Vec;
use uuid::Uuid;

const fn layout(size: usize) -> Layout {
    Layout { name: "T", size, align: 8, members: &[], of: &Members { name: "T", names: &[] }, places: &[] }
}

static A: Layout = layout(0xA);
static B: Layout = layout(0xB);
static C: Layout = layout(0xC);

const BOTH: &[Arch] = &[Arch::X86, Arch::X64];

const fn row(build: u32, revision: u32, architectures: &'static [Arch]) -> Kernel {
    Kernel { build: Build::new(10, 0, build, revision), label: "", architectures, same: &[] }
}

/// An update of 100 changes the layout; 200 is documented; 300 is the last build for x86; 400 begins without the structure, and its
/// update 60 adds it; for 600 there are only images.
static AXIS: Axis = Axis {
    kernels: &[
        row(100, 5, BOTH),
        row(100, 40, BOTH),
        row(200, 5, BOTH),
        Kernel { same: &[Build::new(10, 0, 301, 0)], ..row(300, 5, BOTH) },
        row(400, 5, &[Arch::X64]),
        row(400, 60, &[Arch::X64]),
        row(600, 5, &[Arch::X64]),
        row(600, 50, &[Arch::X64]),
    ],
    updates: &[],
};

const SYMBOLS: u32 = 0;
const CONVERTED: u32 = 1;
const IMAGES: u32 = 2;
/// Symbols that do not contain the structure.
const OTHERS: u32 = 3;

const fn seen(build: u32, revision: u32, witness: u32) -> Seen {
    let build = Build::new(10, 0, build, revision);
    Seen { build, arch: Arch::X64, pdb: None, image: None, globals: &[], witness }
}

static REGISTRY: Registry = Registry {
    kernels: &[
        Seen { pdb: pdb(7, 2), ..seen(100, 10, SYMBOLS) },
        Seen { arch: Arch::X86, ..seen(100, 20, CONVERTED) },
        Seen { pdb: pdb(7, 1), ..seen(100, 20, SYMBOLS) },
        seen(100, 25, OTHERS),
        Seen { image: Some(Image { time_stamp: 9, size: 1 }), ..seen(100, 28, IMAGES) },
        seen(100, 50, CONVERTED),
        seen(150, 9, IMAGES),
        seen(250, 3, SYMBOLS),
        seen(300, 5, OTHERS),
        seen(350, 9, IMAGES),
        seen(400, 5, OTHERS),
        seen(400, 70, SYMBOLS),
        seen(400, 80, SYMBOLS),
        Seen { image: Some(Image { time_stamp: 8, size: 3 }), ..seen(600, 5, IMAGES) },
    ],
    pdbs: &[2, 0],
    images: &[13, 4],
    witnesses: &[
        Witness { name: "symbols", kind: WitnessKind::Symbols },
        Witness { name: "converted", kind: WitnessKind::Converted },
        Witness { name: "images", kind: WitnessKind::Images },
        Witness { name: "others", kind: WitnessKind::Symbols },
    ],
};

static T: Structure = Structure {
    name: "T",
    axis: &AXIS,
    registry: &REGISTRY,
    held: &[1 << SYMBOLS | 1 << CONVERTED | 1 << IMAGES],
    changes: &[
        Change::layout(Build::new(10, 0, 100, 5), Arch::X64, &A),
        Change::layout(Build::new(10, 0, 100, 5), Arch::X86, &A),
        Change::layout(Build::new(10, 0, 100, 40), Arch::X64, &B),
        Change::layout(Build::new(10, 0, 200, 5), Arch::X64, &A),
        Change::none(Build::new(10, 0, 400, 5), Arch::X64),
        Change::layout(Build::new(10, 0, 400, 60), Arch::X64, &C),
        Change::layout(Build::new(10, 0, 600, 50), Arch::X64, &B),
    ],
    of: PhantomData,
};

/// Build, architecture, word, sizes of the layout and of the other possible layout, and a part of the sentence.
#[rustfmt::skip]
const CASES: &[(&str, Arch, &str, &[usize], &str)] = &[
    ("10.0.100.10", Arch::X64, "verified (PDB)", &[0xA], "verified against the symbols of this build"),
    ("10.0.100.50", Arch::X64, "verified (converted symbols)", &[0xB], "verified against converted symbols"),
    ("10.0.100.28", Arch::X64, "partly verified (image)", &[0xA, 0xB], "the image of this build shows the offsets of some members"),
    ("10.0.100.25", Arch::X64, "documented", &[0xA, 0xB], "the symbols of this build do not contain the structure"),
    ("10.0.300.5", Arch::X64, "documented", &[0xA], "the symbols of this build do not contain the structure"),
    ("10.0.301.9", Arch::X64, "documented", &[0xA], "the symbols of this build do not contain the structure"),
    ("10.0.200.5", Arch::X64, "documented", &[0xA], "no symbols of this build were examined"),
    ("10.0.200.1", Arch::X64, "documented", &[0xA], "no symbols of this build were examined"),
    ("10.0.100.15", Arch::X64, "between", &[0xA], "the examined builds 10.0.100.10 and 10.0.100.20 have the same layout"),
    ("10.0.100.30", Arch::X64, "uncertain", &[0xA, 0xB], "10.0.100.20 and 10.0.100.50, the nearest known builds, have different"),
    ("10.0.100.45", Arch::X64, "uncertain", &[0xB, 0xA], "10.0.100.20 and 10.0.100.50, the nearest known builds, have different"),
    // A change in the next release may apply to this one, too.
    ("10.0.100.51", Arch::X64, "uncertain", &[0xB, 0xA], "10.0.100.50 and 10.0.200.5,"),
    ("10.0.100.30", Arch::X86, "after", &[0xA], "from 10.0.100.20, the last update of this build with examined symbols"),
    ("10.0.100.10", Arch::X86, "architecture", &[0xA], "from 10.0.100.20, an examined build: x64 has the same layout in both builds"),
    ("10.0.100.15", Arch::X86, "architecture", &[0xA], "from 10.0.100.20, an examined build: x64 has the same layout in both builds"),
    ("10.0.100.6", Arch::X64, "before", &[0xA], "from 10.0.100.10, the first update of this build with examined symbols"),
    ("10.0.100.0", Arch::X64, "before", &[0xA], "from 10.0.100.10, the first update of this build with examined symbols"),
    ("10.0.400.75", Arch::X64, "between", &[0xC], "10.0.400.70 and 10.0.400.80"),
    ("10.0.400.65", Arch::X64, "uncertain", &[0xC], "10.0.400.5 and 10.0.400.70"),
    // A build that is not on the axis follows the first release of the previous build, not its last update.
    ("10.0.150.7", Arch::X64, "releases", &[0xA], "the releases 10.0.100.5 and 10.0.200.5 have the same layout"),
    ("10.0.150.9", Arch::X64, "partly verified (image)", &[0xA, 0xB], "the image of this build"),
    // An image does not decide between different layouts of the neighbors.
    ("10.0.350.9", Arch::X64, "uncertain", &[0xA], "10.0.300.5 and 10.0.400.5, the nearest known builds, have different"),
    ("10.0.350", Arch::X64, "uncertain", &[0xA], "10.0.300.5 and 10.0.400.5, the nearest known builds, have different"),
    ("10.0.700", Arch::X64, "newest", &[0xC], "from 10.0.600.5, the newest known release"),
    ("10.0.250.3", Arch::X64, "verified (PDB)", &[0xA], "verified against the symbols of this build"),
    ("10.0.250.4", Arch::X64, "after", &[0xA], "from 10.0.250.3, the last update of this build with examined symbols"),
    ("10.0.600.5", Arch::X64, "partly verified (image)", &[0xC], "the image of this build"),
    ("10.0.600.30", Arch::X64, "documented", &[0xC], "no symbols of this build were examined"),
    // The structure does not exist, with the confidence in this.
    ("10.0.400.5", Arch::X64, "documented", &[], "does not have the structure: documented; the symbols of this build do not"),
    ("10.0.400.50", Arch::X64, "uncertain", &[], "10.0.400.5 and 10.0.400.70"),
    // There is no such kernel.
    ("10.0.99.1", Arch::X64, "no such kernel", &[], "the oldest build of this architecture is 10.0.100.5"),
    ("10.0.400.5", Arch::X86, "no such kernel", &[], "the newest build of this architecture is 10.0.300.5, with its updates"),
    ("10.0.302.1", Arch::X86, "no such kernel", &[], "the newest build of this architecture"),
    ("10.0.301.1", Arch::X86, "documented", &[0xA], "no symbols of this build were examined"),
];

/// The reason of an inferred layout, otherwise the confidence.
fn word(confidence: Confidence) -> &'static str {
    confidence.reason().unwrap_or(confidence.word())
}

#[test]
fn confidence_depends_on_the_examined_builds() {
    for &(build, arch, expected, sizes, sentence) in CASES {
        let selected = T.select(build.parse().expect("a build"), arch);
        let (found, text, layouts) = match selected {
            Ok(selected) => {
                let layouts = selected.candidates().flatten().map(|layout| layout.size).collect();
                (word(selected.confidence), selected.confidence.to_string(), layouts)
            }
            Err(absent @ Absent::Structure { confidence }) => {
                assert_eq!(absent.word(), "no such structure");
                (word(confidence), absent.to_string(), Vec::new())
            }
            Err(absent) => (absent.word(), absent.to_string(), Vec::new()),
        };
        assert_eq!((found, &layouts[..]), (expected, sizes), "{build} {arch}: {text}");
        assert!(text.contains(sentence), "{build} {arch}: {text}");
    }
}

#[test]
fn without_a_registry_nothing_is_confirmed() {
    let alone = Structure { registry: Registry::EMPTY, held: &[], ..T };
    for &(build, arch, word, ..) in CASES {
        let [with, without] = [&T, &alone].map(|of| of.select(build.parse().expect("a build"), arch).ok());
        assert_eq!(with.map(|it| it.layout.size), without.map(|it| it.layout.size), "{build} {arch} {word}");
        assert!(
            without.is_none_or(|it| !it.confidence.is_sure() && it.confidence != Confidence::PartlyVerified),
            "{build} {arch} {word}"
        );
    }
    let nowhere = Structure { axis: &Axis { kernels: &[], updates: &[] }, ..alone };
    assert_eq!(nowhere.select(Build::new(10, 0, 100, 5), Arch::X64).unwrap_err(), Absent::Arch);
}

/// The nearest examined builds determine the confidence, in any order of the registry. If a build has several sets of facts, the strongest
/// evidence counts.
#[test]
fn the_nearest_examined_build_counts() {
    const KERNELS: [Seen; 6] = [
        seen(100, 10, CONVERTED),
        seen(100, 10, SYMBOLS),
        seen(100, 20, SYMBOLS),
        seen(100, 20, CONVERTED),
        seen(100, 30, CONVERTED),
        seen(100, 50, CONVERTED),
    ];
    for first in 0..KERNELS.len() {
        for reversed in [false, true] {
            let mut kernels = KERNELS;
            kernels.rotate_left(first);
            if reversed {
                kernels.reverse();
            }
            let registry: &Registry = Box::leak(Box::new(Registry { kernels: Box::leak(Box::new(kernels)), ..REGISTRY }));
            let all = Structure { registry, ..T };
            let cases: [(u32, &str, [Option<u32>; 2]); 8] = [
                (5, "before", [None, Some(10)]),
                (10, "verified (PDB)", [None, None]),
                (15, "between", [Some(10), Some(20)]),
                (20, "verified (PDB)", [None, None]),
                (25, "between", [Some(20), Some(30)]),
                (30, "verified (converted symbols)", [None, None]),
                (35, "uncertain", [Some(30), Some(50)]),
                (60, "uncertain", [Some(50), Some(5)]),
            ];
            for (revision, expected, neighbours) in cases {
                let confidence = all.select(Build::new(10, 0, 100, revision), Arch::X64).unwrap().confidence;
                let found = confidence.neighbours().map(|build| build.map(|build| build.revision));
                assert_eq!((word(confidence), found), (expected, neighbours), "{revision} of {:?}", registry.kernels);
                assert_eq!(confidence.is_inferred(), !confidence.is_verified());
            }
        }
    }
    let unseen = |build| T.select(Build::new(10, 0, build, 0), Arch::X64).unwrap().confidence.neighbours();
    assert_eq!(unseen(350), [Some(Build::new(10, 0, 300, 5)), Some(Build::new(10, 0, 400, 5))]);
    assert_eq!(unseen(700), [Some(Build::new(10, 0, 600, 5)), None]);
    assert!(T.layouts().map(|layout| layout.size).eq([0xA, 0xB, 0xC]), "each once");
}

/// Build 301 is identical to 300 from revision 7 on. Earlier revisions of 300 are not evidence for 301.
#[test]
fn identical_builds() {
    const SAME: &[Build] = &[Build::new(10, 0, 301, 7)];
    static AXIS: Axis = Axis { kernels: &[Kernel { same: SAME, ..row(300, 5, BOTH) }], updates: &[] };
    static SIXTH_ON: Registry =
        Registry { kernels: &[seen(300, 6, SYMBOLS), seen(300, 7, SYMBOLS), seen(300, 9, SYMBOLS)], ..REGISTRY };
    static CHANGES: [Change; 1] = [Change::layout(Build::new(10, 0, 300, 5), Arch::X64, &A)];
    let of = Structure { axis: &AXIS, registry: &SIXTH_ON, changes: &CHANGES, ..T };
    let pdb = "verified (PDB)";
    for (build, revision, expected) in
        [(300, 6, pdb), (301, 6, "before"), (301, 7, pdb), (301, 8, "between"), (301, 9, pdb), (301, 5, "before")]
    {
        let confidence = of.select(Build::new(10, 0, build, revision), Arch::X64).unwrap().confidence;
        assert_eq!(word(confidence), expected, "{build}.{revision}");
    }
}

/// An update changed 100 and 200. No build of 100 with the update was examined.
#[test]
fn an_update_applies_to_every_branch() {
    const KERNELS: &[Build] = &[Build::new(10, 0, 100, 40), Build::new(10, 0, 200, 30)];
    static AXIS: Axis = Axis {
        kernels: &[row(100, 5, BOTH), row(100, 40, BOTH), row(200, 5, BOTH), row(200, 30, BOTH), row(300, 5, BOTH)],
        updates: &[Update { name: "u", kernels: KERNELS, without: &[], architectures: &[] }],
    };
    static EXAMINED: Registry =
        Registry { kernels: &[seen(100, 10, SYMBOLS), seen(200, 5, SYMBOLS), seen(200, 40, SYMBOLS)], ..REGISTRY };
    const fn change(build: u32, revision: u32, arch: Arch, layout: &'static Layout) -> Change {
        Change::layout(Build::new(10, 0, build, revision), arch, layout)
    }
    static CHANGES: [Change; 8] = [
        change(100, 5, Arch::X86, &A),
        change(100, 5, Arch::X64, &A),
        change(100, 40, Arch::X86, &B),
        change(100, 40, Arch::X64, &B),
        change(200, 5, Arch::X86, &A),
        change(200, 5, Arch::X64, &A),
        change(200, 30, Arch::X86, &B),
        change(200, 30, Arch::X64, &B),
    ];
    let of = Structure { axis: &AXIS, registry: &EXAMINED, changes: &CHANGES, ..T };
    static NO_UPDATES: Axis = Axis { updates: &[], ..AXIS };
    let alone = Structure { axis: &NO_UPDATES, ..of };
    let cases = [
        // The update begins at the build that it states, not after the last examined build without it.
        (100, 30, Arch::X64, "uncertain", &[0xA, 0xB][..]),
        (100, 45, Arch::X64, "branch", &[0xB]),
        (100, 45, Arch::X86, "unverified", &[0xB]),
        (200, 35, Arch::X64, "uncertain", &[0xB, 0xA]),
        (200, 40, Arch::X86, "unverified", &[0xB]),
        (200, 50, Arch::X64, "after", &[0xB]),
    ];
    // An update of another architecture is no reason.
    static OF_X86: Axis =
        Axis { updates: &[Update { name: "u", kernels: KERNELS, without: &[], architectures: &[Arch::X86] }], ..AXIS };
    let confidence = |of: &Structure| word(of.select(Build::new(10, 0, 100, 45), Arch::X64).unwrap().confidence);
    assert_eq!([confidence(&of), confidence(&Structure { axis: &OF_X86, ..of })], ["branch", "documented"]);
    for (build, revision, arch, expected, sizes) in cases {
        let [with, without] = [&of, &alone].map(|of| of.select(Build::new(10, 0, build, revision), arch).unwrap());
        let layouts: Vec<_> = with.candidates().flatten().map(|layout| layout.size).collect();
        assert_eq!((word(with.confidence), &layouts[..]), (expected, sizes), "{build}.{revision} {arch}: {with:?}");
        assert!(word(without.confidence) != "branch" && without.layout.size == with.layout.size, "{without:?}");
    }
    let axis = &AXIS.updates[0];
    assert!([(100, 40), (200, 99), (300, 5)].iter().all(|&(build, revision)| axis.has(Build::new(10, 0, build, revision))));
    assert!([(100, 39), (200, 29), (99, 5)].iter().all(|&(build, revision)| !axis.has(Build::new(10, 0, build, revision))));
}

/// Without a PDB, there are addresses only for the single image of a build.
#[test]
fn addresses_by_build() {
    const PLACED: Seen = Seen { globals: &[("Variable", 0x10)], ..seen(100, 0, IMAGES) };
    const fn image(size: u32) -> Image {
        Image { time_stamp: 9, size }
    }
    const fn at(revision: u32, of: Seen) -> Seen {
        Seen { build: Build::new(10, 0, 100, revision), ..of }
    }
    const OF_IMAGE: Seen = Seen { image: Some(image(1)), ..PLACED };
    const OF_PDB: Seen = Seen { pdb: pdb(7, 2), ..PLACED };
    static KERNELS: Registry = Registry {
        kernels: &[
            at(0, PLACED),
            at(1, PLACED),
            at(1, Seen { globals: &[], ..OF_IMAGE }),
            at(1, Seen { globals: &[], ..OF_IMAGE }),
            at(2, PLACED),
            at(2, Seen { globals: &[], ..OF_IMAGE }),
            at(2, Seen { globals: &[], image: Some(image(2)), ..PLACED }),
            at(3, PLACED),
            at(3, OF_PDB),
            at(4, PLACED),
            at(5, OF_PDB),
            at(6, Seen { arch: Arch::X86, ..PLACED }),
        ],
        pdbs: &[],
        images: &[],
        witnesses: &[],
    };
    for (revision, file, known) in [
        (0, Some(image(1)), false),
        (1, Some(image(1)), true),
        (1, Some(image(2)), false),
        (1, None, false),
        (2, Some(image(1)), false),
        (3, Some(image(1)), false),
        (4, Some(image(1)), true),
        (4, None, true),
        (5, Some(image(1)), false),
        (6, Some(image(1)), false),
    ] {
        let found = KERNELS.by_build(Build::new(10, 0, 100, revision), Arch::X64, file);
        let expected: &[_] = if known { &[("Variable", 0x10)] } else { &[] };
        assert_eq!(found, expected, "{revision} {file:?}");
    }
}

#[test]
fn a_kernel_is_found_by_its_files() {
    let build = |seen: Option<&Seen>| seen.map(|seen| seen.build.revision);
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: Uuid::from_u128(7), age: 1 })), Some(20));
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: Uuid::from_u128(7), age: 2 })), Some(10));
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: Uuid::from_u128(7), age: 3 })), None);
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 9, size: 1 })), Some(28));
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 8, size: 3 })), Some(5));
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 8, size: 1 })), None);
    // The bytes in a debug directory, and the number in the order of the text.
    let bytes = *b"\x29\x7C\xED\xBB\xFB\x55\x22\x45\xAA\xA2\x3F\x4B\x86\x77\xAD\x90";
    assert_eq!(Pdb::from_bytes(bytes, 1).guid.as_u128(), 0xBBED7C29_55FB_4522_AAA2_3F4B8677AD90);
}
