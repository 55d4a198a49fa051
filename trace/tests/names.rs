//! Names of files, images and methods.

use crate::real::{self, open};
use etw_layouts_etl::{Schemas, Uuid};
use std::collections::BTreeMap;
use test_support::records::{Written, written};

/// Names in a real trace, as an independent search through all events finds them: for each kind, the number of questions and answers, the number of
/// different names, and the most frequent one. Images and methods are those of the sampled addresses; images by file name.
struct Known {
    file: &'static str,
    files: (usize, usize, &'static str, usize),
    images: (usize, usize, usize, &'static str, usize),
    methods: (usize, usize, &'static str, usize),
}

const KNOWN: [Known; 3] = [
    Known {
        file: "microsoft__net.4.5.2.x86.etl",
        files: (2389, 2389, r"\Device\HarddiskVolume2\Windows\Microsoft.NET\Framework\v4.0.30319\clr.dll", 399),
        images: (6681, 4043, 59, "clr.dll", 2445),
        methods: (2538, 55, "System.DateTime.GetDatePart", 1140),
    },
    Known {
        file: "microsoft__net.4.5.2.x64.etl",
        files: (1229, 1228, r"\Device\HarddiskVolume2\Windows\Microsoft.NET\Framework64\v4.0.30319\clr.dll", 670),
        images: (6215, 1537, 59, "clr.dll", 339),
        methods: (4494, 58, "System.DateTime.GetDatePart", 1856),
    },
    Known {
        file: "microsoft__net.4.5.x86.etl",
        files: (536, 536, r"\Device\HarddiskVolume1\temp\PerfViewData.etl", 324),
        images: (4664, 4554, 66, "clr.dll", 1571),
        methods: (68, 2, "NULL.@NewArray1ValueType", 53),
    },
];

#[test]
fn names_are_those_of_an_independent_search() {
    for known in KNOWN {
        let Some(bytes) = real::read(known.file) else { continue };
        let trace = open(&[(known.file, &bytes)]);
        let session = &trace.sessions()[0];
        let drives: Vec<_> = session.volumes().iter().map(|volume| (volume.disk, &volume.drive[..])).collect();
        assert_eq!(drives, [(0, "C:")], "{}", known.file);
        let (mut asked_files, mut samples) = (0, 0);
        let [mut files, mut images, mut methods] = [const { BTreeMap::<String, usize>::new() }; 3];
        for event in trace.events().map(|event| event.expect("an event")) {
            let header = event.header();
            let Some(decoded) = header.decode(Schemas::BUILT_IN) else { continue };
            let number = |name| decoded.get(name).and_then(|value| value.number()).expect("a number");
            match (decoded.schema.provider, decoded.schema.event) {
                ("DiskIo", "Read" | "Write") => {
                    asked_files += 1;
                    if let Some(name) = event.file_name().expect("a name") {
                        *files.entry(name).or_default() += 1;
                    }
                }
                ("PerfInfo", "SampleProf") => {
                    let Some(process @ 1..) = event.who().by.process else { continue };
                    samples += 1;
                    let (names, address) = (event.names(), number("InstructionPointer"));
                    if let Some(image) = names.image(process, address, event.tick()).expect("an image") {
                        assert!((image.start..image.start + u64::from(image.size)).contains(&address), "{image:?}");
                        let name = image.name.rsplit('\\').next().expect("a name").to_owned();
                        *images.entry(name).or_default() += 1;
                    }
                    if let Some(method) = names.method(process, address, event.tick()).expect("a method") {
                        *methods.entry(method.name).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        assert!(session.user_path(known.files.2).starts_with(r"C:\"), "{}", known.file);
        let sum = |names: &BTreeMap<String, usize>| names.values().sum::<usize>();
        let (file, image, method) = (known.files.2, known.images.3, known.methods.2);
        assert_eq!((asked_files, sum(&files), file, files[file]), known.files, "{}", known.file);
        assert_eq!((samples, sum(&images), images.len(), image, images[image]), known.images, "{}", known.file);
        assert_eq!((sum(&methods), methods.len(), method, methods[method]), known.methods, "{}", known.file);
    }
}

/// The class of events of files.
const FILE_IO: Uuid = Uuid::from_u128(0x90cbdc39_4a3e_11d1_84f4_0000f80464e3);

/// Files and images whose keys and addresses are reused.
#[test]
fn a_name_is_valid_until_its_end() {
    let text = |text: &str| [text, "\0"].concat().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let file = |tick, hook, object: u64, name: &str| {
        Written::kernel(tick, 0, hook, [object.to_le_bytes().to_vec(), text(name)].concat())
    };
    let image = |tick, hook, start: u64, size: u64, name: &str| {
        let words = [start, size, 7, 0, 0, 0, 0].map(u64::to_le_bytes).concat();
        Written::kernel(tick, 0, hook, [words, text(name)].concat())
    };
    let (load, unload, rundown) = (0x030A, 0x1402, 0x1404);
    let bytes = written(&[
        file(10, 0x0400, 5, "first"),
        file(20, 0x0423, 5, "first"),
        file(30, 0x0420, 5, "second"),
        Written::relogged(35, (FILE_IO, 0), [8_u64.to_le_bytes().to_vec(), text("relogged")].concat()),
        // Its name is only known from its deletion.
        file(40, 0x0423, 6, "deleted"),
        image(10, load, 0x1000, 0x9000, "outer"),
        image(11, load, 0x2000, 0x100, "inner"),
        image(12, unload, 0x2000, 0x100, "inner"),
        image(20, load, 0x2800, 0x100, "other"),
        image(30, unload, 0x1000, 0x9000, "outer"),
        image(40, load, 0x0800, 0x1000, "later"),
        image(90, rundown, 0xF000, 0x1000, "rundown"),
    ]);
    let trace = open(&[("made", &bytes)]);
    let names = trace.names(0).expect("a session");
    let of_file = |object, tick| names.file_name(object, tick).expect("a name");
    let of_image = |address, tick| names.image(7, address, tick).expect("an image").map(|image| image.name);
    let files =
        [(5, 9), (5, 10), (5, 19), (5, 25), (5, 99), (6, 1), (6, 41), (8, 36)].map(|(object, tick)| of_file(object, tick));
    let expected = [None, Some("first"), Some("first"), None, Some("second"), Some("deleted"), None, Some("relogged")];
    assert_eq!(files.each_ref().map(Option::as_deref), expected);
    let asked = [
        (0x2050, 11),
        (0x1000, 5),
        (0x1000, 15),
        (0x3000, 25),
        (0x2850, 25),
        (0x3000, 35),
        (0x1000, 45),
        (0xF010, 1),
        (0xFFFF, 99),
    ];
    let expected =
        [Some("inner"), None, Some("outer"), Some("outer"), Some("other"), None, Some("later"), Some("rundown"), Some("rundown")];
    let images = asked.map(|(address, tick)| of_image(address, tick));
    assert_eq!(images.each_ref().map(Option::as_deref), expected);
    assert_eq!(names.image(8, 0x1000, 15).expect("an image"), None);
}

/// Images that are loaded at one address, one after the other, have their own program databases, even if an event states it after the load. An image
/// whose program database no event states has none.
#[test]
fn a_program_database_is_that_of_the_loaded_image() {
    const IMAGE_ID: Uuid = Uuid::from_u128(0xb3e675d7_2554_4f18_830b_2762732560de);
    let text = |text: &str| [text, "\0"].concat().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let image = |tick, hook| {
        let words = [0x1000_u64, 0x1000, 7, 0, 0, 0, 0].map(u64::to_le_bytes).concat();
        Written::kernel(tick, 0, hook, [words, text("same.dll")].concat())
    };
    let pdb = |tick, age: u32| {
        let head = [&0x1000_u64.to_le_bytes()[..], &7_u32.to_le_bytes(), &[9; 16], &age.to_le_bytes()].concat();
        Written::relogged(tick, (IMAGE_ID, 36), [&head[..], b"same.pdb\0"].concat())
    };
    let (load, unload, start, end) = (0x030A, 0x1402, 0x1403, 0x1404);
    let bytes = written(&[
        image(5, start),
        image(10, unload),
        pdb(10, 1),
        image(30, load),
        pdb(31, 2),
        image(40, unload),
        // The event states no program database.
        image(50, load),
        image(60, unload),
        image(70, load),
        image(90, end),
        pdb(90, 4),
    ]);
    let trace = open(&[("made", &bytes)]);
    let names = trace.names(0).expect("a session");
    let age = |tick| names.pdb(7, 0x1000, tick).expect("a name").map(|pdb| pdb.age);
    let found = [3, 9, 30, 31, 39, 50, 59, 70, 95].map(age);
    assert_eq!(found, [Some(1), Some(1), Some(2), Some(2), Some(2), None, None, Some(4), Some(4)]);
}
