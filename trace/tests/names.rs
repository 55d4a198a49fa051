//! Names of files, images and methods.

use crate::real::{self, open};
use etw_layouts_etl::Schemas;
use std::collections::{BTreeMap, HashMap};

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
        let mut processes = HashMap::from([(0, 0)]);
        for event in trace.events().map(|event| event.expect("an event")) {
            let header = event.header();
            let Some(decoded) = header.decode(Schemas::BUILT_IN) else { continue };
            let number = |name| decoded.get(name).and_then(|value| value.number());
            if let ("Thread", "Start" | "DCStart" | "DCEnd" | "End") = (decoded.schema.provider, decoded.schema.event)
                && let (Some(thread), Some(process)) = (number("TThreadId"), number("ProcessId"))
            {
                processes.entry(thread).or_insert(process);
            }
        }
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
                    let Some(process @ 1..) = processes.get(&number("ThreadId")).map(|process| *process as u32) else { continue };
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
        let sum = |names: &BTreeMap<String, usize>| names.values().sum::<usize>();
        let (file, image, method) = (known.files.2, known.images.3, known.methods.2);
        assert_eq!((asked_files, sum(&files), file, files[file]), known.files, "{}", known.file);
        assert_eq!((samples, sum(&images), images.len(), image, images[image]), known.images, "{}", known.file);
        assert_eq!((sum(&methods), methods.len(), method, methods[method]), known.methods, "{}", known.file);
    }
}
