//! TraceLogging: what is made, what is broken, and what real files have.

use etw_layouts_etl::tracelogging::{Data, Fault, Reason, Step};
use etw_layouts_etl::{Event, Scratch, Trace};
use std::fs;
use test_support::logging::{Logging, logging};
use test_support::witness;

/// The steps of the event of a trace, and what ended them.
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
    for buffer in Trace::new(bytes).unwrap().buffers() {
        buffer.unwrap().image(&mut scratch).events().for_each(|event| work(&event.unwrap()));
    }
}

/// Wherever payload or schema end, that is told, and what comes before is what it was.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn cut_off() {
    let whole = logging();
    let (all, None) = steps(&whole) else { panic!("the whole event is not decoded") };
    for length in 0..whole.payload.len() {
        let mut cut = whole.clone();
        cut.payload.truncate(length);
        let (some, fault) = steps(&cut);
        assert!(
            some < all && fault.is_some_and(|fault| fault.reason == Reason::Payload && fault.offset <= length),
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
    assert_eq!(steps(&longer), (all, Some(Fault { reason: Reason::Rest, offset: whole.payload.len() })));
}

/// What is made to take forever or to nest without end does neither.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn hostile() {
    let made = |fields: &[u8], payload: &[u8]| {
        let schema = [&[0, 0, 0, 0][..], fields].concat();
        Logging { schema, payload: payload.to_vec(), ..logging() }.sized()
    };
    // Arrays of 65,535 arrays of 65,535 structures, of no members at last.
    let arrays = made(&[&[b's', 0, 0xB8, 1, 0xFF, 0xFF].repeat(4)[..], &[b'e', 0, 0xB8, 0, 0xFF, 0xFF]].concat(), &[]);
    let (some, fault) = steps(&arrays);
    assert!(some < 100_000 && fault.is_some_and(|fault| fault.reason == Reason::Work), "{some} {fault:?}");
    let deep = made(&[b's', 0, 0x98, 1].repeat(5_000), &[]);
    assert!(matches!(steps(&deep), (..100, Some(Fault { reason: Reason::Depth, .. }))));
    for (fields, reason) in [
        (&[b'n', 0, 0][..], Reason::Type(0)),
        (&[b'n', 0, 31], Reason::Type(31)),
        (&[b'n', 0, 0x98, 2, b'm', 0, 3], Reason::Members),
        (&[0xFF, 0, 3], Reason::Name),
        (&[b'n', 0, 0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0], Reason::Tags),
    ] {
        let (_, fault) = steps(&made(fields, &[0; 1]));
        assert_eq!(fault.map(|fault| fault.reason), Some(reason));
    }
}

/// All such events of the real files are decoded.
#[test]
fn real() {
    let Some(folder) = witness::folder("ETW_LAYOUTS_ETL") else { return };
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

/// What a consumer shows of an event's fields is what they are.
#[test]
fn golden_values() {
    let Some(folder) = witness::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut found, mut all) = (0, String::new());
    for entry in fs::read_dir(folder.join("golden")).unwrap() {
        all += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    for entry in fs::read_dir(folder.join("golden")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_owned();
        let path = folder.join(format!("{}.etl", name.display()));
        events(&fs::read(path).unwrap(), &mut |event| {
            let Some(logging) = event.trace_logging() else { return };
            let (mut line, mut field) = (String::new(), None);
            for step in logging.steps().map(Result::unwrap) {
                match step {
                    Step::Field(next) => field = Some(next.name),
                    Step::Value(value) => {
                        let shown = match value.data {
                            Data::Text(text) => match text.chars().next() {
                                // The consumer shows a character as its number.
                                Some(first) if text.chars().count() == 1 => u32::from(first).to_string(),
                                _ => text.to_string(),
                            },
                            Data::Boolean(is) => if is { "True" } else { "False" }.to_owned(),
                            Data::Signed(number) => number.to_string(),
                            // It shows 64 bits as a signed number, whatever their type.
                            Data::Unsigned(number) => (number as i64).to_string(),
                            // It shortens the others, and shows milliseconds of a SYSTEMTIME wrong.
                            Data::Guid(guid) => guid.to_string()[..20].to_owned() + "...",
                            Data::FileTime(_) | Data::SystemTime(_) => continue,
                            other => panic!("no event of that consumer's has {other:?}"),
                        };
                        line += &format!("{}={shown}; ", field.unwrap());
                    }
                    _ => {}
                }
            }
            assert!(all.contains(&line), "{line}");
            found += 1;
        });
    }
    println!("{found} events have the values that a consumer shows");
    assert!(found > 0);
}
