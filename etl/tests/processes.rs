//! Processes with their images, and processes of threads, from kernel events.

use crate::decoded::{each, kernel};
use etw_layouts::events;
use etw_layouts_etl::payload::InType;
use etw_layouts_etl::processes::Processes;
use etw_layouts_etl::threads::Threads;
use etw_layouts_etl::write::Record;

/// A kernel event to write: the values of the number fields that it sets, and its text. Its other number fields are 0.
struct Made {
    hook: u16,
    version: u8,
    /// The process in the header.
    process: Option<u32>,
    numbers: Vec<(&'static str, u64)>,
    text: &'static str,
}

impl Made {
    fn payload(&self) -> Vec<u8> {
        let schema = events::find((self.hook >> 8) as u8, self.hook as u8, self.version).expect("a schema").schema;
        let bytes = schema.fields.iter().flat_map(|field| {
            let number = self.numbers.iter().find(|(name, _)| *name == field.name).map_or(0, |(_, number)| *number);
            let width = match field.in_type {
                InType::INT8 | InType::UINT8 => 1,
                InType::UINT16 => 2,
                InType::INT32 | InType::UINT32 | InType::WBEMSID => 4,
                InType::POINTER | InType::SIZET => 8,
                InType::ANSISTRING => return [self.text.as_bytes(), &[0]].concat(),
                InType::UNICODESTRING => return self.text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect(),
                other => panic!("{}: {other:?}", field.name),
            };
            number.to_le_bytes()[..width].to_vec()
        });
        bytes.collect()
    }
}

const START: u16 = 0x0301;
const END: u16 = 0x0302;
const LOAD: u16 = 0x030A;
const UNLOAD: u16 = 0x1402;
const EXISTS: u16 = 0x1403;

/// Each load of an image is an entry in the process that had the identifier at that time.
#[test]
fn images() {
    let process = |hook, id, session, text| {
        let numbers = vec![("ProcessId", id), ("ParentId", 4), ("SessionId", session), ("ExitStatus", 3)];
        Made { hook, version: 1, process: Some(99), numbers, text }
    };
    let image = |hook, id, base, text| {
        let numbers = vec![("ProcessId", id), ("ImageBase", base), ("ImageSize", 8)];
        Made { hook, version: 2, process: Some(99), numbers, text }
    };
    let made = [
        image(LOAD, 7, 0x1000, "before"),
        process(START, 8, u32::MAX.into(), "first.exe"),
        image(LOAD, 8, 0x1000, "a"),
        image(LOAD, 8, 0x2000, "b"),
        image(EXISTS, 8, 0x1000, "a"),
        image(EXISTS, 8, 0x3000, "c"),
        image(UNLOAD, 8, 0x2000, "b"),
        image(LOAD, 8, 0x2000, "b"),
        image(LOAD, 8, 0x1000, "other"),
        process(END, 8, u32::MAX.into(), "first.exe"),
        process(START, 8, 1, "second.exe"),
        image(LOAD, 8, 0x2000, "b"),
        image(UNLOAD, 8, 0x2000, "b"),
    ];
    let payloads = made.each_ref().map(Made::payload);
    let records = made.iter().zip(&payloads);
    let records = records.map(|(made, payload)| Record::new(kernel(made.hook, made.version, made.process), true, payload));
    let (mut processes, mut time) = (Processes::default(), 0);
    each(records, |event, _| {
        time += 1;
        processes.add(event, time).expect("a whole payload");
    });
    let mut text = String::new();
    for process in processes.finish() {
        let times = (process.start, process.end);
        text += &format!("{} {:?} {:?} {times:?} {:?}\n", process.id, process.image, process.session, process.exit_status);
        for image in process.images {
            text += &format!("    {} {:#x} {:?}\n", image.path, image.base, (image.load, image.unload));
        }
    }
    let expected = r#"7 None None (None, None) None
    before 0x1000 (Some(1), None)
8 Some("first.exe") None (Some(2), Some(10)) Some(3)
    a 0x1000 (Some(3), None)
    b 0x2000 (Some(4), Some(7))
    c 0x3000 (None, None)
    b 0x2000 (Some(8), None)
    other 0x1000 (Some(9), None)
8 Some("second.exe") Some(1) (Some(11), None) None
    b 0x2000 (Some(12), Some(13))
"#;
    assert!(text == expected, "{text}");
}

/// The process of the thread in the payload, unless the header states a process.
#[test]
fn threads() {
    let thread = |hook, process, id| {
        let numbers = vec![("TThreadId", id), ("ProcessId", process)];
        Made { hook, version: 1, process: Some(99), numbers, text: "" }
    };
    let switch = |process, id| Made { hook: 0x0524, version: 2, process, numbers: vec![("NewThreadId", id)], text: "" };
    let made = [
        (switch(None, 5), None),
        (thread(0x0501, 8, 5), None),
        (thread(0x0503, 9, 6), None),
        (switch(None, 5), Some(8)),
        (switch(None, 6), Some(9)),
        (switch(None, 7), None),
        (switch(Some(3), 5), None),
        (thread(0x0502, 8, 5), None),
        (switch(None, 5), None),
    ];
    let payloads = made.each_ref().map(|(made, _)| made.payload());
    let records = made.iter().zip(&payloads);
    let records = records.map(|((made, _), payload)| Record::new(kernel(made.hook, made.version, made.process), true, payload));
    let (mut threads, mut of) = (Threads::default(), Vec::new());
    each(records, |event, _| {
        of.push(threads.process(event));
        threads.add(event);
    });
    assert_eq!(of, made.map(|(_, process)| process));
}
