//! Every confidence in a layout, with a version axis and examined builds of tests.

use etw_layouts_codegen::emit::packed::table;
use etw_layouts_codegen::registry::{self, ExaminedBuild, FactsFile, FactsKind, Registry};
use etw_layouts_codegen::{Sources, read, resolve};
use etw_layouts_runtime::Uuid;
use etw_layouts_runtime::meta::{Absent, Arch, Build, Confidence, Image, Pdb, UpdateFacts as _};
use etw_layouts_runtime::packed::{self, Layouts, Structure};
use std::collections::BTreeMap;

/// A build of 10.0 with its revision, and the layout of T on x86 and x64: `A`, `B` or `C`; `0` without T; `-` without the architecture.
type Row = (u32, u32, [char; 2]);

/// An update of 100 changes the layout; 200 is documented; 300 is the last build for x86, and the same as 301; 400 begins without the
/// structure, and its update 60 adds it; for 600 there are only images.
const ROWS: [Row; 8] = [
    (100, 5, ['A', 'A']),
    (100, 40, ['A', 'B']),
    (200, 5, ['A', 'A']),
    (300, 5, ['A', 'A']),
    (400, 5, ['-', '0']),
    (400, 60, ['-', 'C']),
    (600, 5, ['-', 'C']),
    (600, 50, ['-', 'B']),
];

const SYMBOLS: usize = 0;
const CONVERTED: usize = 1;
const IMAGES: usize = 2;
/// Symbols that do not contain the structure.
const OTHERS: usize = 3;

fn seen(build: u32, revision: u32, facts_file: usize) -> ExaminedBuild {
    let build = Build::new(10, 0, build, revision);
    ExaminedBuild { build, arch: Arch::X64, pdb: None, image: None, globals: BTreeMap::new(), facts_file }
}

fn pdb(age: u32) -> Option<registry::Pdb> {
    Some(registry::Pdb { name: "a.pdb".into(), guid: Uuid::from_u128(7), age })
}

fn image(time_stamp: u32, size: u32) -> Option<registry::Image> {
    Some(registry::Image { name: "a.exe".into(), time_stamp, size })
}

fn examined() -> Vec<ExaminedBuild> {
    vec![
        ExaminedBuild { pdb: pdb(2), ..seen(100, 10, SYMBOLS) },
        ExaminedBuild { arch: Arch::X86, ..seen(100, 20, CONVERTED) },
        ExaminedBuild { pdb: pdb(1), ..seen(100, 20, SYMBOLS) },
        seen(100, 25, OTHERS),
        ExaminedBuild { image: image(9, 1), ..seen(100, 28, IMAGES) },
        seen(100, 50, CONVERTED),
        seen(150, 9, IMAGES),
        seen(250, 3, SYMBOLS),
        seen(300, 5, OTHERS),
        seen(350, 9, IMAGES),
        seen(400, 5, OTHERS),
        seen(400, 70, SYMBOLS),
        seen(400, 80, SYMBOLS),
        ExaminedBuild { image: image(8, 3), ..seen(600, 5, IMAGES) },
    ]
}

/// The table of an axis with these rows, and of the structure T. Its layouts have 0xA, 0xB and 0xC bytes. `updates` is text of the axis.
fn bytes(rows: &[Row], updates: &str, builds: Vec<ExaminedBuild>) -> Vec<u8> {
    let mut axis = "architectures = [\"x86\", \"x64\"]\n".to_owned();
    let mut scopes: BTreeMap<char, Vec<String>> = BTreeMap::new();
    for own in rows.chunk_by(|one, other| one.0 == other.0) {
        axis += &format!("\n[[release]]\nlabels = [\"{0}\"]\nname = \"Release {0}\"\nrevisions = [\n", own[0].0);
        for (build, revision, layouts) in own {
            let arch = if layouts[0] == '-' { ", architectures = [\"x64\"]" } else { "" };
            let same = if (*build, *revision) == (300, 5) { SAME } else { "" };
            axis += &format!("  {{ build = \"10.0.{build}.{revision}\", module = \"b{build}_{revision}\"{arch}{same} }},\n");
            for (layout, arch) in layouts.iter().zip(["x86", "x64"]).filter(|(layout, _)| layout.is_alphabetic()) {
                scopes.entry(*layout).or_default().push(format!("10.0.{build}.{revision} {arch}"));
            }
        }
        axis += "]\n";
    }
    let all: Vec<_> = scopes.values().flatten().cloned().collect();
    let types: Vec<_> = scopes
        .iter()
        .map(|(layout, own)| format!("{:?} = \"UCHAR [{}]\"", own.join(", "), *layout as u32 - 'A' as u32 + 0xA))
        .collect();
    let (all, types) = (all.join(", "), types.join(", "));
    let text = format!("[struct]\nname = \"T\"\nin = \"{all}\"\nmembers = [{{ name = \"All\", type = {{ {types} }} }}]\n");
    let scalars = "[scalar]\nVOID = { size = 0, c = \"void\" }\nUCHAR = { size = 1, c = \"unsigned char\" }\n";
    let mut sources = Sources::default();
    for (path, text) in [("windows.toml", &*(axis + updates)), ("scalars.toml", scalars), ("T.toml", &*text)] {
        sources.add(path, text);
    }
    let layouts = resolve(read(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)))).expect("layouts");
    let kinds = [
        ("symbols", FactsKind::Symbols),
        ("converted", FactsKind::Converted),
        ("images", FactsKind::Images),
        ("others", FactsKind::Symbols),
    ];
    let facts_file = |(name, kind)| {
        let holds = if name == "others" { [].into() } else { ["T".to_owned()].into() };
        FactsFile { name: String::from(name), kind, holds, shows: [].into() }
    };
    table(&layouts, &Registry { builds, facts_files: kinds.map(facts_file).into() }).expect("a table")
}

/// The key of the revision whose kernel another release shares.
const SAME: &str = ", releases = [{ build = \"10.0.301.7\" }]";

fn t<'a>(table: &Layouts<'a>) -> Structure<'a> {
    table.structure("T").expect("the structure")
}

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
    // There is no such build.
    ("10.0.99.1", Arch::X64, "no such build", &[], "the oldest build of this architecture is 10.0.100.5"),
    ("10.0.400.5", Arch::X86, "no such build", &[], "the newest build of this architecture is 10.0.300.5, with its updates"),
    ("10.0.302.1", Arch::X86, "no such build", &[], "the newest build of this architecture"),
    ("10.0.301.1", Arch::X86, "documented", &[0xA], "no symbols of this build were examined"),
];

/// The reason of an inferred layout, otherwise the confidence.
fn word(confidence: Confidence) -> &'static str {
    confidence.reason().unwrap_or(confidence.word())
}

#[test]
fn confidence_depends_on_the_examined_builds() {
    let bytes = bytes(&ROWS, "", examined());
    let table = Layouts::from_bytes(&bytes).expect("a table");
    for &(build, arch, expected, sizes, sentence) in CASES {
        let selected = t(&table).select(build.parse().expect("a build"), arch);
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
    let [with, without] = [examined(), Vec::new()].map(|examined| bytes(&ROWS, "", examined));
    let [with, without] = [&with, &without].map(|bytes| Layouts::from_bytes(bytes).expect("a table"));
    for &(build, arch, word, ..) in CASES {
        let [with, without] = [with, without].map(|of| t(&of).select(build.parse().expect("a build"), arch).ok());
        assert_eq!(with.map(|it| it.layout.size), without.map(|it| it.layout.size), "{build} {arch} {word}");
        assert!(
            without.is_none_or(|it| !it.confidence.is_sure() && it.confidence != Confidence::PartlyVerified),
            "{build} {arch} {word}"
        );
    }
    assert_eq!(t(&with).select(Build::new(10, 0, 100, 5), Arch::Arm64).unwrap_err(), Absent::Arch);
}

/// The nearest examined builds determine the confidence, in any order of the registry. If a build has several facts files, the strongest
/// evidence counts.
#[test]
fn the_nearest_examined_build_counts() {
    let builds = [
        seen(100, 10, CONVERTED),
        seen(100, 10, SYMBOLS),
        seen(100, 20, SYMBOLS),
        seen(100, 20, CONVERTED),
        seen(100, 30, CONVERTED),
        seen(100, 50, CONVERTED),
    ];
    for first in 0..builds.len() {
        let mut builds = builds.to_vec();
        builds.rotate_left(first);
        let bytes = bytes(&ROWS, "", builds);
        let table = Layouts::from_bytes(&bytes).expect("a table");
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
            let confidence = t(&table).select(Build::new(10, 0, 100, revision), Arch::X64).unwrap().confidence;
            let found = confidence.neighbours().map(|build| build.map(|build| build.revision));
            assert_eq!((word(confidence), found), (expected, neighbours), "{revision}, the first is {first}");
            assert_eq!(confidence.is_inferred(), !confidence.is_verified());
        }
        let unseen = |build| t(&table).select(Build::new(10, 0, build, 0), Arch::X64).unwrap().confidence.neighbours();
        assert_eq!(unseen(350), [Some(Build::new(10, 0, 300, 5)), Some(Build::new(10, 0, 400, 5))]);
        assert_eq!(unseen(700), [Some(Build::new(10, 0, 600, 5)), None]);
        assert!(t(&table).layouts().map(|layout| layout.size).eq([0xA, 0xB, 0xC]), "each once");
    }
}

/// Build 301 is identical to 300 from revision 7 on. Earlier revisions of 300 are not evidence for 301.
#[test]
fn identical_builds() {
    let bytes = bytes(&[(300, 5, ['A', 'A'])], "", [6, 7, 9].map(|revision| seen(300, revision, SYMBOLS)).into());
    let table = Layouts::from_bytes(&bytes).expect("a table");
    let pdb = "verified (PDB)";
    for (build, revision, expected) in
        [(300, 6, pdb), (301, 6, "before"), (301, 7, pdb), (301, 8, "between"), (301, 9, pdb), (301, 5, "before")]
    {
        let confidence = t(&table).select(Build::new(10, 0, build, revision), Arch::X64).unwrap().confidence;
        assert_eq!(word(confidence), expected, "{build}.{revision}");
    }
}

/// An update changed 100 and 200. No build of 100 with the update was examined.
#[test]
fn an_update_applies_to_every_branch() {
    let rows = [(100, 5, ['A', 'A']), (100, 40, ['B', 'B']), (200, 5, ['A', 'A']), (200, 30, ['B', 'B']), (300, 5, ['B', 'B'])];
    let update = |of: &str| {
        format!("\n[[update]]\nname = \"u\"\nrevisions = [\"10.0.100.40\", \"10.0.200.30\"]\ndoc = \"A change.\"\n{of}")
    };
    let tables = [&update(""), "", &update("architectures = [\"x86\"]\n")]
        .map(|updates| bytes(&rows, updates, vec![seen(100, 10, SYMBOLS), seen(200, 5, SYMBOLS), seen(200, 40, SYMBOLS)]));
    let [of, alone, of_x86] = [0, 1, 2].map(|at| Layouts::from_bytes(&tables[at]).expect("a table"));
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
    let confidence = |of: &Layouts| word(t(of).select(Build::new(10, 0, 100, 45), Arch::X64).unwrap().confidence);
    assert_eq!([confidence(&of), confidence(&of_x86)], ["branch", "documented"]);
    for (build, revision, arch, expected, sizes) in cases {
        let [with, without] = [of, alone].map(|of| t(&of).select(Build::new(10, 0, build, revision), arch).unwrap());
        let layouts: Vec<_> = with.candidates().flatten().map(|layout| layout.size).collect();
        assert_eq!((word(with.confidence), &layouts[..]), (expected, sizes), "{build}.{revision} {arch}: {with:?}");
        assert!(word(without.confidence) != "branch" && without.layout.size == with.layout.size, "{without:?}");
    }
    let update = of.updates().next().expect("the update");
    assert!([(100, 40), (200, 99), (300, 5)].iter().all(|&(build, revision)| update.has(Build::new(10, 0, build, revision))));
    assert!([(100, 39), (200, 29), (99, 5)].iter().all(|&(build, revision)| !update.has(Build::new(10, 0, build, revision))));
}

/// Without a PDB, there are addresses only for the single image of a build.
#[test]
fn addresses_by_build() {
    let globals: BTreeMap<_, _> = [("Variable".to_owned(), 0x10)].into();
    let placed = |revision| ExaminedBuild { globals: globals.clone(), ..seen(100, revision, IMAGES) };
    let of_image = |revision, size| ExaminedBuild { image: image(9, size), ..seen(100, revision, IMAGES) };
    let of_pdb = |revision, age| ExaminedBuild { pdb: pdb(age), ..placed(revision) };
    let builds = vec![
        placed(0),
        placed(1),
        of_image(1, 1),
        of_image(1, 1),
        placed(2),
        of_image(2, 1),
        ExaminedBuild { image: image(9, 2), ..placed(2) },
        placed(3),
        of_pdb(3, 1),
        placed(4),
        of_pdb(5, 2),
        ExaminedBuild { arch: Arch::X86, ..placed(6) },
    ];
    let bytes = bytes(&ROWS, "", builds);
    let table = Layouts::from_bytes(&bytes).expect("a table");
    let file = |size| Some(Image { time_stamp: 9, size });
    for (revision, file, is_known) in [
        (0, file(1), false),
        (1, file(1), true),
        (1, file(2), false),
        (1, None, false),
        (2, file(1), false),
        (3, file(1), false),
        (4, file(1), true),
        (4, None, true),
        (5, file(1), false),
        (6, file(1), false),
    ] {
        let found = table.by_build(Build::new(10, 0, 100, revision), Arch::X64, file);
        let globals: Vec<_> = found.into_iter().flat_map(|seen| seen.globals()).collect();
        let expected: &[_] = if is_known { &[("Variable", 0x10)] } else { &[] };
        assert_eq!(globals, expected, "{revision} {file:?}");
    }
}

#[test]
fn a_kernel_is_found_by_its_files() {
    let bytes = bytes(&ROWS, "", examined());
    let table = Layouts::from_bytes(&bytes).expect("a table");
    let revision = |seen: Option<packed::ExaminedBuild>| seen.map(|seen| seen.build.revision);
    let by_pdb = |age| revision(table.by_pdb(Pdb { guid: Uuid::from_u128(7), age }));
    let by_image = |time_stamp, size| revision(table.by_image(Image { time_stamp, size }));
    assert_eq!([by_pdb(1), by_pdb(2), by_pdb(3)], [Some(20), Some(10), None]);
    assert_eq!([by_image(9, 1), by_image(8, 3), by_image(8, 1)], [Some(28), Some(5), None]);
    // The bytes in a debug directory, and the number in the order of the text.
    let bytes = *b"\x29\x7C\xED\xBB\xFB\x55\x22\x45\xAA\xA2\x3F\x4B\x86\x77\xAD\x90";
    assert_eq!(Pdb::from_bytes(bytes, 1).guid.as_u128(), 0xBBED7C29_55FB_4522_AAA2_3F4B8677AD90);
}
