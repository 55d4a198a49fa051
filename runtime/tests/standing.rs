//! Every standing that a layout can have, over an axis and a registry made by hand.

#![forbid(unsafe_code)]

use etw_layouts_runtime::meta::{
    Absent, Axis, Change, Image, Kernel, Layout, Members, Pdb, Registry, Seen, Standing, Structure, Witness, WitnessKind,
};
use etw_layouts_runtime::{Arch, Build};
use std::marker::PhantomData;

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

/// Of 100 an update changes the layout; 200 is known from documents; x86 ends with 300; 400 begins without the structure, which its
/// update 60 brings; of 600 there are images only.
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
};

const SYMBOLS: u32 = 0;
const CONVERTED: u32 = 1;
const IMAGES: u32 = 2;
/// Symbols that do not hold the structure.
const OTHERS: u32 = 3;

const fn seen(build: u32, revision: u32, witness: u32) -> Seen {
    let build = Build::new(10, 0, build, revision);
    Seen { build, arch: Arch::X64, pdb: None, image: None, globals: &[], witness }
}

static REGISTRY: Registry = Registry {
    kernels: &[
        Seen { pdb: Some(&Pdb { guid: 7, age: 2 }), ..seen(100, 10, SYMBOLS) },
        Seen { arch: Arch::X86, ..seen(100, 20, CONVERTED) },
        Seen { pdb: Some(&Pdb { guid: 7, age: 1 }), ..seen(100, 20, SYMBOLS) },
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

/// The build, the word, the layout and the other one, and the neighbours that the sentence names.
#[rustfmt::skip]
const CASES: &[(&str, Arch, &str, &[usize], &str)] = &[
    ("10.0.100.10", Arch::X64, "proven", &[0xA], "symbols of this very kernel confirm it"),
    ("10.0.100.50", Arch::X64, "converted", &[0xB], "a converted symbol table of this very kernel"),
    ("10.0.100.28", Arch::X64, "partly seen", &[0xA, 0xB], "the image of this very kernel confirms the offsets of some members"),
    ("10.0.100.25", Arch::X64, "not checkable", &[0xA, 0xB], "were read, and do not hold it"),
    ("10.0.300.5", Arch::X64, "not checkable", &[0xA], "were read, and do not hold it"),
    ("10.0.301.9", Arch::X64, "not checkable", &[0xA], "were read, and do not hold it"),
    ("10.0.200.5", Arch::X64, "stated", &[0xA], "no symbols of this build were read"),
    ("10.0.200.1", Arch::X64, "stated", &[0xA], "no symbols of this build were read"),
    ("10.0.100.15", Arch::X64, "agree", &[0xA], "between 10.0.100.10 and 10.0.100.20, whose symbols agree"),
    ("10.0.100.30", Arch::X64, "differ", &[0xA, 0xB], "between 10.0.100.20 and 10.0.100.50, which differ"),
    ("10.0.100.45", Arch::X64, "differ", &[0xB, 0xA], "between 10.0.100.20 and 10.0.100.50, which differ"),
    ("10.0.100.51", Arch::X64, "later", &[0xB], "later than 10.0.100.50,"),
    ("10.0.100.30", Arch::X86, "later", &[0xA], "later than 10.0.100.20,"),
    ("10.0.100.6", Arch::X64, "earlier", &[0xA], "earlier than 10.0.100.10,"),
    ("10.0.100.0", Arch::X64, "earlier", &[0xA], "earlier than 10.0.100.10,"),
    ("10.0.400.75", Arch::X64, "agree", &[0xC], "between 10.0.400.70 and 10.0.400.80"),
    ("10.0.400.65", Arch::X64, "differ", &[0xC], "between 10.0.400.5 and 10.0.400.70"),
    // A build of no update that is known follows the first release of the one before, not its last update.
    ("10.0.150.7", Arch::X64, "unseen", &[0xA], "between 10.0.100.5 and 10.0.200.5; these agree"),
    ("10.0.150.9", Arch::X64, "partly seen", &[0xA], "the image of this very kernel"),
    // Of which neighbour its offsets are, an image does not tell.
    ("10.0.350.9", Arch::X64, "unseen", &[0xA], "between 10.0.300.5 and 10.0.400.5; these differ"),
    ("10.0.350", Arch::X64, "unseen", &[0xA], "between 10.0.300.5 and 10.0.400.5; these differ"),
    ("10.0.700", Arch::X64, "unseen", &[0xC], "newer than 10.0.600.5 and all others"),
    ("10.0.250.3", Arch::X64, "proven", &[0xA], "symbols of this very kernel"),
    ("10.0.250.4", Arch::X64, "later", &[0xA], "later than 10.0.250.3,"),
    ("10.0.600.5", Arch::X64, "partly seen", &[0xC], "the image of this very kernel"),
    ("10.0.600.30", Arch::X64, "stated", &[0xC], "no symbols of this build were read"),
    // The structure is not there, and how sure that is.
    ("10.0.400.5", Arch::X64, "not checkable", &[], "does not have the structure: symbols of this build were read"),
    ("10.0.400.50", Arch::X64, "differ", &[], "between 10.0.400.5 and 10.0.400.70, which differ"),
    // There is no such kernel.
    ("10.0.99.1", Arch::X64, "no such kernel", &[], "the first of this architecture is 10.0.100.5"),
    ("10.0.400.5", Arch::X86, "no such kernel", &[], "the last of this architecture is 10.0.300.5, and its updates"),
    ("10.0.302.1", Arch::X86, "no such kernel", &[], "the last of this architecture"),
    ("10.0.301.1", Arch::X86, "stated", &[0xA], "no symbols of this build were read"),
];

#[test]
fn a_layout_stands_as_its_kernel_was_seen() {
    for &(build, arch, word, sizes, sentence) in CASES {
        let selected = T.select(build.parse().expect("a build"), arch);
        let (found, text, layouts) = match selected {
            Ok(selected) => {
                let layouts = [Some(selected.layout), selected.other].into_iter().flatten().map(|layout| layout.size).collect();
                (selected.standing.word(), selected.standing.to_string(), layouts)
            }
            Err(absent @ Absent::Structure { standing }) => {
                assert_eq!(absent.word(), "no such structure");
                (standing.word(), absent.to_string(), Vec::new())
            }
            Err(absent) => (absent.word(), absent.to_string(), Vec::new()),
        };
        assert_eq!((found, &layouts[..]), (word, sizes), "{build} {arch}: {text}");
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
            without.is_none_or(|it| matches!(it.standing, Standing::Stated | Standing::Unseen { .. })),
            "{build} {arch} {word}"
        );
    }
    let nowhere = Structure { axis: &Axis { kernels: &[] }, ..alone };
    assert_eq!(nowhere.select(Build::new(10, 0, 100, 5), Arch::X64).unwrap_err(), Absent::Arch);
}

/// The kernels of a build that were seen, in any order and by several witnesses each: the nearest count, and of a kernel's witnesses the
/// one that says the most.
#[test]
fn the_nearest_witness_counts() {
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
                (5, "earlier", [None, Some(10)]),
                (10, "proven", [None, None]),
                (15, "agree", [Some(10), Some(20)]),
                (20, "proven", [None, None]),
                (25, "alike", [Some(20), Some(30)]),
                (30, "converted", [None, None]),
                (35, "differ", [Some(30), Some(50)]),
                (60, "later", [Some(50), None]),
            ];
            for (revision, word, neighbours) in cases {
                let standing = all.select(Build::new(10, 0, 100, revision), Arch::X64).unwrap().standing;
                let found = standing.neighbours().map(|build| build.map(|build| build.revision));
                assert_eq!((standing.word(), found), (word, neighbours), "{revision} of {:?}", registry.kernels);
                assert_eq!(standing.is_stand_in(), word != "proven" && word != "converted");
            }
        }
    }
    let unseen = |build| T.select(Build::new(10, 0, build, 0), Arch::X64).unwrap().standing.neighbours();
    assert_eq!(unseen(350), [Some(Build::new(10, 0, 300, 5)), Some(Build::new(10, 0, 400, 5))]);
    assert_eq!(unseen(700), [Some(Build::new(10, 0, 600, 5)), None]);
    assert!(T.layouts().map(|layout| layout.size).eq([0xA, 0xB, 0xC]), "each once");
}

/// A build that is another's kernel from revision 7 on: what was seen below is not seen of it.
#[test]
fn another_builds_kernel() {
    const SAME: &[Build] = &[Build::new(10, 0, 301, 7)];
    static AXIS: Axis = Axis { kernels: &[Kernel { same: SAME, ..row(300, 5, BOTH) }] };
    static SIXTH_ON: Registry =
        Registry { kernels: &[seen(300, 6, SYMBOLS), seen(300, 7, SYMBOLS), seen(300, 9, SYMBOLS)], ..REGISTRY };
    static CHANGES: [Change; 1] = [Change::layout(Build::new(10, 0, 300, 5), Arch::X64, &A)];
    let of = Structure { axis: &AXIS, registry: &SIXTH_ON, changes: &CHANGES, ..T };
    for (build, revision, word) in
        [(300, 6, "proven"), (301, 6, "earlier"), (301, 7, "proven"), (301, 8, "agree"), (301, 9, "proven"), (301, 5, "earlier")]
    {
        let standing = of.select(Build::new(10, 0, build, revision), Arch::X64).unwrap().standing;
        assert_eq!(standing.word(), word, "{build}.{revision}");
    }
}

/// Addresses without a PDB are those of the only image of the build, or else nobody's.
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
    const OF_PDB: Seen = Seen { pdb: Some(&Pdb { guid: 7, age: 2 }), ..PLACED };
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
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: 7, age: 1 })), Some(20));
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: 7, age: 2 })), Some(10));
    assert_eq!(build(REGISTRY.by_pdb(Pdb { guid: 7, age: 3 })), None);
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 9, size: 1 })), Some(28));
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 8, size: 3 })), Some(5));
    assert_eq!(build(REGISTRY.by_image(Image { time_stamp: 8, size: 1 })), None);
    // As the first bytes of a debug directory have it, and as it is written.
    let bytes = *b"\x29\x7C\xED\xBB\xFB\x55\x22\x45\xAA\xA2\x3F\x4B\x86\x77\xAD\x90";
    assert_eq!(Pdb::from_bytes(bytes, 1).guid, 0xBBED7C29_55FB_4522_AAA2_3F4B8677AD90);
}
