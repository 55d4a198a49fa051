//! TraceLogging: constructed events, corrupt events, and events of real files.

use etw_layouts_etl::stat::{Grouping, Key, Stat};
use etw_layouts_etl::tracelogging::{Count, Data, Fault, FaultKind, Step};
use etw_layouts_etl::{Event, Scratch, Trace, Uuid};
use std::fs;
use test_support::installed;
use test_support::logging::{Logging, logging};

/// The number of steps of the event in a trace, and the fault that ended them.
fn steps(made: &Logging) -> (usize, Option<Fault>) {
    let bytes = made.trace();
    let mut steps = 0;
    let mut fault = None;
    events(&bytes, &mut |event| {
        for step in event.trace_logging().into_iter().flat_map(|logging| logging.steps()) {
            match step {
                Ok(_) => steps += 1,
                Err(found) => fault = Some(found),
            }
        }
    });
    (steps, fault)
}

fn events(bytes: &[u8], work: &mut dyn FnMut(&Event<'_>)) {
    let mut scratch = Scratch::default();
    for buffer in Trace::from_bytes(bytes).unwrap().buffers() {
        buffer.unwrap().decode(&mut scratch).events().for_each(|event| work(&event.unwrap()));
    }
}

/// Truncation of the payload or schema at any offset is an error, and the values before it are unchanged.
#[test]
fn truncated() {
    let whole = logging();
    let (all, None) = steps(&whole) else { panic!("the whole event is not decoded") };
    for length in 0..whole.payload.len() {
        let mut cut = whole.clone();
        cut.payload.truncate(length);
        let (some, fault) = steps(&cut);
        assert!(
            some < all && fault.is_some_and(|fault| fault.reason == FaultKind::Payload && fault.offset <= length),
            "{length}: {fault:?}"
        );
    }
    for length in 2..whole.schema.len() {
        let mut cut = whole.clone();
        cut.schema.truncate(length);
        assert!(steps(&cut.sized()).1.is_some(), "{length}");
    }
    let mut longer = whole.clone();
    longer.payload.push(0);
    assert_eq!(steps(&longer), (all, Some(Fault { reason: FaultKind::Rest, offset: whole.payload.len() })));
}

/// Malicious schemas cause neither unbounded work nor unbounded nesting.
#[test]
fn hostile() {
    let made = |fields: &[u8], payload: &[u8]| {
        let schema = [&[0, 0, 0, 0][..], fields].concat();
        Logging { schema, payload: payload.to_vec(), ..logging() }.sized()
    };
    // Nested arrays of 65,535 structures. The innermost structures have no members.
    let arrays = made(&[&[b's', 0, 0xB8, 1, 0xFF, 0xFF].repeat(4)[..], &[b'e', 0, 0xB8, 0, 0xFF, 0xFF]].concat(), &[]);
    let (some, fault) = steps(&arrays);
    assert!(some < 100_000 && fault.is_some_and(|fault| fault.reason == FaultKind::Work), "{some} {fault:?}");
    let deep = made(&[b's', 0, 0x98, 1].repeat(5_000), &[]);
    assert!(matches!(steps(&deep), (..100, Some(Fault { reason: FaultKind::Depth, .. }))));
    for (fields, reason) in [
        (&[b'n', 0, 0][..], FaultKind::Type(0)),
        (&[b'n', 0, 31], FaultKind::Type(31)),
        (&[b'n', 0, 0x98, 2, b'm', 0, 3], FaultKind::Members),
        (&[0xFF, 0, 3], FaultKind::Name),
        (&[b'n', 0, 0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0], FaultKind::Tags),
    ] {
        let (_, fault) = steps(&made(fields, &[0; 1]));
        let found = fault.unwrap().reason;
        assert!(found == reason && !found.to_string().is_empty(), "{found}");
    }
}

/// The meaning of a value's bytes, by the two types of its field.
#[test]
fn values() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let time = |words: [u16; 8]| words.map(u16::to_le_bytes).concat();
    let socket = |family: u8, rest: &[u8]| [&[28, 0, family, 0, 0x1F, 0x90][..], rest].concat();
    let v6 = |flow: u8| socket(23, &[&[flow, 0, 0, 0][..], &[0; 15], &[1, 9, 0, 0, 0]].concat());
    let (noon, not_noon) = ([2020, 2, 6, 29, 12, 59, 59, 999], [2020, 13, 6, 29, 12, 59, 59, 999]);
    let mut cases: Vec<(u8, u8, Vec<u8>, &str)> = vec![
        (1, 0, wide("aΩ😀\0"), "text aΩ😀"),
        (1, 0, vec![0, 0xD8, 0, 0], r"text \u{d800}"),
        (2, 0, b"a\x80\xFF\x7F\xA0\0".to_vec(), "text a€ÿ\u{7f}\u{a0}"),
        (2, 35, "Ω\0".into(), "text Ω"),
        (2, 35, b"\xCE\0".to_vec(), r"text \xce"),
        (3, 0, vec![0x80], "Signed(-128)"),
        (3, 2, b"a".to_vec(), "text a"),
        (4, 0, vec![0xFE], "Unsigned(254)"),
        (4, 4, vec![0xFE], "Hexadecimal(254)"),
        (4, 2, b"b".to_vec(), "text b"),
        (4, 3, vec![0], "Boolean(false)"),
        (4, 3, vec![1], "Boolean(true)"),
        (4, 3, vec![2], "Unsigned(2)"),
        (5, 0, vec![0, 0x80], "Signed(-32768)"),
        (6, 0, vec![1, 2], "Unsigned(513)"),
        (6, 2, wide("ω"), "text ω"),
        // Arrays of characters, with their length in the payload.
        (0x43, 2, b"\x02\0hi".to_vec(), "text hi"),
        (0x44, 2, b"\x02\0hi".to_vec(), "text hi"),
        (0x46, 2, [&[2, 0][..], &wide("hi")].concat(), "text hi"),
        (6, 7, vec![1, 2], "Unsigned(258)"),
        (7, 0, vec![0, 0, 0, 0x80], "Signed(-2147483648)"),
        (7, 15, vec![5, 0, 0, 0x80], "Hexadecimal(2147483653)"),
        (8, 8, vec![1, 2, 3, 4], "Ipv4(1.2.3.4)"),
        (8, 14, vec![1, 2, 3, 4], "Hexadecimal(67305985)"),
        (9, 0, vec![0, 0, 0, 0, 0, 0, 0, 0x80], "Signed(-9223372036854775808)"),
        (10, 37, vec![1, 2, 0, 0, 0, 0, 0, 0x80], "Hexadecimal(9223372036854776321)"),
        (11, 0, 0.5_f32.to_le_bytes().to_vec(), "Float(0.5)"),
        (12, 0, 0.25_f64.to_le_bytes().to_vec(), "Double(0.25)"),
        (13, 0, vec![0; 4], "Boolean(false)"),
        (13, 0, vec![1, 0, 0, 0], "Boolean(true)"),
        (13, 0, vec![0, 1, 0, 0], "Unsigned(256)"),
        (14, 0, vec![2, 0, 8, 9], "Binary([8, 9])"),
        (14, 9, vec![1, 0, 8], "Binary([8])"),
        (15, 0, (0..16).collect(), "Guid(03020100-0504-0706-0809-0a0b0c0d0e0f)"),
        (17, 0, vec![1, 0, 0, 0, 0, 0, 0, 0x40], "FileTime(4611686018427387905)"),
        (19, 0, vec![1, 2, 0, 0, 0, 0, 1, 5, 32, 0, 0, 0, 0x20, 2, 0, 0], "sid S-1-261-32-544"),
        (20, 0, vec![255, 0, 0, 1], "Hexadecimal(16777471)"),
        (21, 0, vec![0, 0, 0, 0, 0, 0, 0, 1], "Hexadecimal(72057594037927936)"),
        (22, 0, [&[4, 0][..], &wide("zä")].concat(), "text zä"),
        (22, 0, vec![3, 0, b'z', 0, 0], r"text z\x00"),
        (23, 0, vec![1, 0, 0x80], "text €"),
        (23, 11, vec![2, 0, 0xCE, 0xA9], "text Ω"),
        (25, 9, [&[16, 0][..], &[0; 15], &[1]].concat(), "Ipv6(::1)"),
        (25, 10, [&[16, 0, 2, 0, 0x1F, 0x90, 10, 0, 0, 1][..], &[0; 8]].concat(), "Socket(10.0.0.1:8080)"),
        (25, 10, [&[9, 0, 2, 0, 0x1F, 0x90, 10, 0, 0, 1][..], &[1]].concat(), "Socket(10.0.0.1:8080)"),
        (25, 10, v6(0), "Socket([::1%9]:8080)"),
        (25, 10, v6(1), "Socket([::1%9]:8080)"),
        (25, 10, vec![3, 0, 2, 0, 9], "Binary([2, 0, 9])"),
        (18, 0, time(noon), "time 2020-02-29T12:59:59.999"),
    ];
    // Each part one above its maximum, and months and days below their minimum.
    let wrong: Vec<_> =
        [(1, 0), (3, 0), (3, 32), (4, 24), (5, 60), (6, 60), (7, 1000)].map(|(at, value)| (at, value, time(noon))).to_vec();
    let wrong: Vec<_> = wrong
        .into_iter()
        .map(|(at, value, mut bytes)| {
            bytes[2 * at..][..2].copy_from_slice(&u16::to_le_bytes(value));
            bytes
        })
        .chain([time(not_noon)])
        .collect();
    let texts: Vec<_> = wrong.iter().map(|bytes| format!("{:?}", Data::Binary(bytes))).collect();
    cases.extend(wrong.into_iter().zip(&texts).map(|(bytes, text)| (18, 0, bytes, &text[..])));
    for (in_type, out_type, payload, expected) in cases {
        let schema = [0, 0, 0, 0, b'n', 0, in_type | 0x80, out_type].to_vec();
        let bytes = Logging { schema, payload, ..logging() }.sized().trace();
        let mut seen = Vec::new();
        events(&bytes, &mut |event| {
            for step in event.trace_logging().into_iter().flat_map(|logging| logging.steps()) {
                if let Step::Value(value) = step.unwrap() {
                    seen.push(match value.data() {
                        Data::Text(text) => format!("text {text}"),
                        Data::SystemTime(time) => format!("time {time}"),
                        Data::Sid(sid) => format!("sid {sid}"),
                        other => format!("{other:?}"),
                    });
                }
            }
        });
        assert_eq!(seen, [expected], "{in_type} {out_type}");
    }
}

/// The name, tags and traits of an event, and the tags and counts of its fields.
#[test]
fn schema() {
    let whole = logging();
    let group = Some(Uuid::from_u128(0x0707_0707_0707_0707_0707_0707_0707_0707));
    let with = |traits: &[u8]| Logging { traits: [&[0, 0, b'M', 0], traits].concat(), ..whole.clone() }.sized();
    let long = [&[19, 0, 1][..], &[7; 16]].concat();
    for (made, name, expected) in [
        (whole.clone(), "Maker.Provider", Ok(group)),
        // A trait of another type precedes it, another group follows it, and a group with too few bytes is ignored.
        (with(&[&[4, 0, 9, 1][..], &long, &[19, 0, 1], &[8; 16]].concat()), "M", Ok(group)),
        (with(&[18, 0, 1, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]), "M", Ok(None)),
        (with(&[&[19, 0, 2][..], &[7; 16]].concat()), "M", Ok(None)),
        (with(&[2, 0, 1]), "M", Err(FaultKind::Truncated)),
        (with(&[9, 0, 1]), "M", Err(FaultKind::Truncated)),
        (with(&[9]), "M", Err(FaultKind::Truncated)),
    ] {
        let mut seen = Vec::new();
        events(&made.trace(), &mut |event| {
            seen.extend(event.traits().map(|traits| traits.map(|traits| (traits.name.to_owned(), traits.group))));
        });
        let expected = expected.map(|group| (name.to_owned(), group)).map_err(|reason| Fault { reason, offset: 0 });
        assert_eq!(seen, [expected]);
        // The key has the hash of the event's name only if events are counted by event.
        for by in [Grouping::Event, Grouping::Id] {
            let mut stat = Stat::new(by);
            let mut name = None;
            events(&made.trace(), &mut |event| {
                name = name.or(event.trace_logging().and_then(|logging| logging.schema.ok()).map(|one| Key::hash(one.event)));
                stat.add(event, None, 0, None);
            });
            let names: Vec<_> = stat.counts().into_iter().filter_map(|(key, _)| key.name).collect();
            assert_eq!(names, Vec::from_iter(name.filter(|_| by == Grouping::Event)), "{by:?}");
            assert!(Key::hash("a") != Key::hash("b") && Key::hash("a") > 1);
        }
    }
    let mut longer = whole.clone();
    longer.schema[0] += 1;
    let (some, fault) = steps(&longer);
    let fault = fault.unwrap();
    assert_eq!(
        (some, &fault.reason),
        (0, &FaultKind::Size { stated: whole.schema.len() as u16 + 1, present: whole.schema.len() })
    );
    assert!(fault.to_string().contains("bytes"), "{fault}");
    events(&whole.trace(), &mut |event| {
        let Some(logging) = event.trace_logging() else { return };
        assert_eq!(logging.schema.as_ref().map(|schema| (schema.event, schema.tags)), Ok(("Happened", 0x123_4567)));
        let (mut steps, mut fields) = (logging.steps(), Vec::new());
        while let Some(step) = steps.next() {
            fields.extend(match step.unwrap() {
                Step::Value(_) => steps.field(),
                Step::Structure(field) | Step::Array(field, _) => Some(field),
                Step::End => None,
            });
        }
        fields.retain(|field| field.tags > 0 || field.count != Count::One || field.members.count > 0);
        let mut fields: Vec<_> = fields.iter().map(|field| (field.name, field.tags, field.count, field.members.count)).collect();
        // Elements have the field of their array.
        fields.dedup();
        let expected = [
            ("i64", 0x80, Count::One, 0),
            ("outer", 0, Count::One, 3),
            ("inner", 0, Count::Variable, 1),
            ("none", 0, Count::Variable, 2),
            ("two", 0, Count::Constant(2), 0),
            ("chars", 0, Count::Variable, 0),
            ("own", 0, Count::Custom(&[0xAA, 0xBB]), 0),
        ];
        assert_eq!(fields, expected);
        let mut steps = logging.steps();
        assert_eq!(steps.rest(), whole.payload);
        assert!(steps.by_ref().all(|step| step.is_ok()) && steps.rest().is_empty());
    });
}

/// All TraceLogging events of real files are decoded.
#[test]
fn real() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut found, mut values) = (0, 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "etl") {
            continue;
        }
        events(&fs::read(&path).unwrap(), &mut |event| {
            let Some(logging) = event.trace_logging() else { return };
            found += 1;
            assert!(matches!(logging.traits, Some(Ok(_))), "{}", path.display());
            for step in logging.steps() {
                let step = step.unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
                values += usize::from(matches!(step, Step::Value(_)));
            }
        });
    }
    println!("{found} events of TraceLogging decoded, {values} values");
    assert!(found > 0);
}

/// The values are equal to the output of a consumer on Windows.
#[test]
fn golden_values() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut found, mut all) = (0, String::new());
    for entry in fs::read_dir(folder.join("golden")).unwrap() {
        all += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    for entry in fs::read_dir(folder.join("golden")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_owned();
        let path = folder.join(format!("{}.etl", name.display()));
        events(&fs::read(path).unwrap(), &mut |event| {
            let Some(logging) = event.trace_logging() else { return };
            let mut line = String::new();
            for value in &logging.fields().unwrap() {
                let shown = match value.data() {
                    Data::Text(text) => match text.chars().next() {
                        // The consumer prints a character as its number.
                        Some(first) if text.chars().count() == 1 => u32::from(first).to_string(),
                        _ => text.to_string(),
                    },
                    Data::Boolean(is) => if is { "True" } else { "False" }.to_owned(),
                    Data::Signed(number) => number.to_string(),
                    // It prints every 64-bit integer as a signed number.
                    Data::Unsigned(number) => (number as i64).to_string(),
                    // It shortens GUIDs, and prints wrong milliseconds of a SYSTEMTIME.
                    Data::Guid(guid) => guid.to_string()[..20].to_owned() + "...",
                    Data::FileTime(_) | Data::SystemTime(_) => continue,
                    other => panic!("unexpected value in an event of the consumer: {other:?}"),
                };
                line += &format!("{}={shown}; ", value.name());
            }
            assert!(all.contains(&line), "{line}");
            found += 1;
        });
    }
    println!("{found} events have the values that a consumer shows");
    assert!(found > 0);
}
