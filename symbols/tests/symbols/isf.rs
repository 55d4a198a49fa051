//! The facts that are read from a table.

use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{Arch, Offsets, Pdb, Snapshot, Type, TypeFacts, isf};
use serde_json::{Value, json};
use test_support::isf::{array, changed, named, read, table};

const LOGGER: &str = "\
etw-layouts-symbols 1
producer volatility3
kernel 10.0.1.2 x64 ntkrnlmp.pdb 0123456789ABCDEF0123456789ABCDEF 2
struct LIST 0x10
 0x0 Next *.LIST
 0x8 Last *.LIST
 0xc Low u2
 0xe High u2
struct LOGGER 0x90
 0x0 Id u4
 0x4 Number int
 0x8 Letters 4[c1]
 0xc Count uint
 0x10 Clock *fn
 0x18 Thread *.THREAD
 0x20 Context *void
 0x28 Hidden *?
 0x30 Kind 3@0:u8
 0x30 Frequency 61@3:u8
 0x38 List .LIST
 0x48 State #STATE
 0x4c Modes 3[#MODE]
 0x58 u union 0x8
  0x0 Whole u8
  0x0 s struct 0x4
   0x0 Low u2
   0x2 High u2
 0x60 Grid 2[4[u1]]
 0x68 Sides 2[enum i4]
  1 Left
 0x70 Text *u2
 0x78 Result i4
 0x80 Ratio f8
 0x88 Flag b1
enum MODE u4
 0 ModeOff
enum STATE i4
 -1 StateBad
 0 StateFree
 1 StateBusy
 1 StateLast
";

/// The selected type and the types that it embeds, as the text of a snapshot.
#[test]
fn closure_of_a_type() {
    let table = read(&table()).unwrap();
    assert_eq!(table.arch, Some(Arch::X64));
    let kernels = vec![Kernel { build: [10, 0, 1, 2], arch: Arch::X64, pdb: table.pdb, image: None, globals: table.globals }];
    let snapshot = Snapshot { producer: table.producer, kernels, types: table.types, offsets: Offsets::new() };
    assert_eq!(snapshot.to_string(), LOGGER);
    assert_eq!(Snapshot::parse(LOGGER).unwrap(), snapshot);
}

#[test]
fn every_type_and_absent_ones() {
    let text = table().to_string();
    let names = |wanted| isf::read(text.as_bytes(), &wanted).unwrap().types.into_keys().collect::<Vec<_>>();
    assert_eq!(names(isf::Wanted::All), ["LIST", "LOGGER", "MODE", "STATE", "THREAD"]);
    assert_eq!(names(isf::Wanted::from_iter(["STATE", "NOWHERE", "_unnamed_1", "__unnamed_1"])), ["STATE"]);
}

#[test]
fn compressed_tables_are_the_same() {
    let text = table().to_string();
    let packed = liblzma::encode_all(text.as_bytes(), 6).unwrap();
    let wanted = isf::Wanted::from_iter(["LOGGER"]);
    assert_eq!(isf::read(&packed, &wanted), isf::read(text.as_bytes(), &wanted));
    let pretty = serde_json::to_string_pretty(&table()).unwrap();
    assert_eq!(isf::read(pretty.as_bytes(), &wanted), isf::read(text.as_bytes(), &wanted));
}

#[test]
fn identity() {
    let pdb = "/metadata/windows/pdb";
    let identity = |changes: &[(&str, Value)]| {
        let table = read(&changed(changes)).unwrap();
        (table.producer, table.pdb.map(|Pdb { name, guid, age }| format!("{name} {:X} {age}", guid.simple())), table.arch)
    };
    let known = Some("ntkrnlmp.pdb 0123456789ABCDEF0123456789ABCDEF 2".to_owned());
    let (name, zero) = ("volatility3".to_owned(), json!("00000000000000000000000000000000"));
    let machine = |number: u32| (format!("{pdb}/machine_type"), json!(number));
    let cases = [
        (vec![(format!("{pdb}/GUID"), zero)], (name.clone(), None, Some(Arch::X64))),
        (vec![machine(332)], (name.clone(), known.clone(), Some(Arch::X86))),
        (vec![machine(0xAA64)], (name.clone(), known.clone(), Some(Arch::Arm64))),
        (vec![machine(0x1C4)], (name.clone(), known.clone(), None)),
        (vec![(format!("{pdb}/machine_type"), Value::Null)], (name.clone(), known.clone(), Some(Arch::X64))),
        (vec![("/metadata/windows".to_owned(), Value::Null)], (name, None, Some(Arch::X64))),
        (vec![("/metadata/producer".to_owned(), Value::Null)], ("unknown".to_owned(), known, Some(Arch::X64))),
    ];
    for (changes, expected) in cases {
        let changes: Vec<_> = changes.iter().map(|(place, value)| (place.as_str(), value.clone())).collect();
        assert_eq!(identity(&changes), expected, "{changes:?}");
    }
}

/// For an array of enumerations, Volatility 2 writes the negative number of bytes instead of the number of elements.
#[test]
fn negative_counts_are_bytes_of_enumerations() {
    let table = changed(&[("/user_types/_LOGGER/fields/Modes/type", array(-12, named("enum", "MODE")))]);
    let types = read(&table).unwrap().types;
    let TypeFacts::Aggregate(logger) = &types["LOGGER"] else { panic!() };
    let modes = logger.members.iter().find(|member| member.name == "Modes").unwrap();
    assert_eq!(modes.ty, Type::Array(Box::new(Type::Enumeration("MODE".to_owned())), 3));
}

/// Each thread caches definitions by their text. The cache must not be used for tables with other base types, or for a text that
/// refers to definitions elsewhere.
#[test]
fn definitions_of_tables_before() {
    let text = |table: &Value| {
        let table = read(table).unwrap();
        let kernels = vec![Kernel { build: [10, 0, 1, 2], arch: Arch::X64, pdb: table.pdb, image: None, globals: table.globals }];
        Snapshot { producer: table.producer, kernels, types: table.types, offsets: Offsets::new() }.to_string()
    };
    assert_eq!(text(&table()), LOGGER);
    let unsigned = changed(&[("/base_types/int/signed", json!(false))]);
    assert_eq!(text(&unsigned), LOGGER.replace("STATE i4", "STATE u4").replace("enum i4", "enum u4"));
    let lower = changed(&[("/user_types/__unnamed_3/fields/Low/offset", json!(1))]);
    let moved = LOGGER.replace(" 0xc Low u2", " 0xd Low u2").replace("   0x0 Low u2", "   0x1 Low u2");
    assert_eq!(text(&lower), moved);
    assert_eq!(text(&table()), LOGGER);
}
