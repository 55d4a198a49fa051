//! Hostile tables: their import always ends, and the size of the table limits its cost.

use super::*;
use etw_layouts_symbols::{Aggregate, AggregateKind, Enumeration, Integer, Member, Type, TypeFacts};

/// The specs of some types, before they are resolved.
fn entered(types: Types) -> Result<Texts, Error> {
    let (mut texts, table) = empty(types);
    pass::entered(&mut texts, &table, std::iter::empty, "specs")?;
    Ok(texts)
}

/// Specs without types, and a table with some types.
fn empty(types: Types) -> (Texts, BuildTable) {
    let (texts, _) = shipped();
    let mut texts: Texts = texts.into_iter().filter(|(path, _)| path.ends_with("scalars.toml")).collect();
    texts.insert("specs/windows.toml".into(), "architectures = [\"x86\", \"x64\"]\n".into());
    let build = Build { number: [10, 0, 99999], revision: 1 };
    let table = BuildTable {
        globals: BTreeMap::new(),
        source: "hostile".into(),
        producer: "test".into(),
        build,
        label: build.to_string(),
        arch: Arch::X64,
        pdb: None,
        image: None,
        types: types.into(),
        offsets: std::sync::Arc::default(),
    };
    (texts, table)
}

/// A structure of members, each given by its offset and type.
fn structure(members: impl Iterator<Item = (u64, Type)>) -> TypeFacts {
    let member = |(i, (offset, ty))| Member { name: format!("M{i}"), offset, ty };
    let members: Vec<Member> = members.enumerate().map(member).collect();
    TypeFacts::Aggregate(Aggregate { kind: AggregateKind::Struct, size: 0x100_0000, members })
}

fn one(facts: TypeFacts) -> Types {
    [("T".to_owned(), facts)].into()
}

fn byte() -> Type {
    Type::Integer(Integer::UnsignedChar)
}

fn bit(unit: Integer, position: u32) -> Type {
    Type::Bits { unit: Type::Integer(unit).into(), position, width: 1 }
}

/// Tables with many members: consecutive bytes, bytes at one offset, consecutive bit fields, and constants.
#[test]
fn many_members() {
    for (what, apart) in [("apart", 1), ("together", 0)] {
        let texts = entered(one(structure((0..60_000).map(|i| (i * apart, byte())))));
        let texts = texts.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(texts["specs/nt/T.toml"].matches("name = \"M").count(), 60_000, "{what}");
    }
    let bits = (0..30_000).flat_map(|i| [(4 * i, bit(Integer::UnsignedLong, 0)), (4 * i, bit(Integer::UnsignedLong, 1))]);
    let texts = entered(one(structure(bits))).expect("bits");
    assert_eq!(texts["specs/nt/T.toml"].matches("name = \"M").count(), 60_000);
    let constants = (0..100_000).map(|i| (format!("C{i}"), i / 2)).collect();
    let texts = entered(one(TypeFacts::Enumeration(Enumeration { size: 4, signed: true, constants }))).expect("constants");
    assert_eq!(texts["specs/nt/T.toml"].matches("name = \"C").count(), 100_000);
}

/// Members that can be arranged in too many ways are rejected early.
#[test]
fn too_many_arrangements() {
    let long = || Type::Integer(Integer::UnsignedLong);
    // In `bytes`, two thousand members begin at each byte of the first one. In `stairs`, each member begins within the one
    // before.
    let bytes = structure([(0, long())].into_iter().chain((0..8_000).map(|i| (i % 4, byte()))));
    let stairs = structure((0..20_000).map(|i| (i, long())));
    for (what, facts) in [("bytes", bytes), ("stairs", stairs)] {
        let error = entered(one(facts)).map(|_| ()).expect_err(what).to_string();
        assert!(error.contains("T: its members share bytes in too many ways"), "{error}");
    }
}

/// A bit field of a narrow unit is within the bytes of a wider unit.
#[test]
fn units_within_units() {
    let bits = [(0, bit(Integer::UnsignedLong, 0)), (0, bit(Integer::UnsignedLong, 1)), (0, bit(Integer::UnsignedChar, 2))];
    drop(entered(one(structure(bits.into_iter()))));
    let bits = (0..8).flat_map(|i| {
        let units = [Integer::UnsignedLong, Integer::UnsignedChar, Integer::UnsignedShort, Integer::UnsignedLongLong];
        units.map(|unit| (0, bit(unit, i)))
    });
    drop(entered(one(structure(bits))));
}

/// Each type embeds the next.
#[test]
fn a_deep_chain() {
    let held = |i: u64| if i == 20_000 { byte() } else { Type::Aggregate(format!("T{}", i + 1)) };
    let facts = |i| {
        TypeFacts::Aggregate(Aggregate {
            kind: AggregateKind::Struct,
            size: 1,
            members: vec![Member { name: "M".into(), offset: 0, ty: held(i) }],
        })
    };
    drop(entered((0..=20_000).map(|i| (format!("T{i}"), facts(i))).collect()));
}

/// Invalid names are errors with the name of the file, and are escaped for a terminal.
#[test]
fn invalid_names() {
    let long = "x".repeat(1000);
    for name in ["\"", "a b", "\u{1b}[31m", "..", "", "9A", &long] {
        let member = |ty| Member { name: name.into(), offset: 0, ty };
        let aggregate = |members| TypeFacts::Aggregate(Aggregate { kind: AggregateKind::Struct, size: 8, members });
        let inner = aggregate(vec![member(byte())]);
        let constants = [(name.to_owned(), 0)].into_iter().collect();
        let held = Type::Aggregate(name.to_owned());
        let holder = aggregate(vec![Member { name: "M".into(), offset: 0, ty: held }]);
        let all: [Types; 4] = [
            one(inner.clone()),
            one(aggregate(vec![Member { name: "M".into(), offset: 0, ty: Type::Unnamed(inner.clone().into()) }])),
            one(TypeFacts::Enumeration(Enumeration { size: 4, signed: true, constants })),
            [("T".to_owned(), holder), (name.to_owned(), inner)].into(),
        ];
        for types in all {
            let error = entered(types).map(|_| ()).expect_err(name).to_string();
            assert!(error.starts_with("hostile, 10.0.99999.1-x64: ") && error.contains(" is not a valid name"), "{error}");
            assert!(error.len() < 300 && !error.contains('\u{1b}'), "{error:?}");
        }
    }
    // A type with an invalid name that nothing embeds and nobody requests is left out.
    let texts = entered([("a b".to_owned(), structure(std::iter::once((0, byte()))))].into()).expect("nothing to say");
    assert_eq!(texts.len(), 2);
}

/// A type with the name of a Windows device is in a file with another name; types with names reserved in generated code are left out.
#[test]
fn reserved_names() {
    let names = ["CON", "nul", "Com1", "COM10", "self", "runtime", "bool", "X<int>", "a$b"];
    let byte = || structure(std::iter::once((0, byte())));
    let texts = entered(names.iter().map(|name| ((*name).to_owned(), byte())).collect()).expect("some of them");
    let files: Vec<_> = texts.keys().filter_map(|path| path.strip_prefix("specs/nt/")).collect();
    assert_eq!(files, ["COM10.toml", "CON-type.toml", "Com1-type.toml", "nul-type.toml"]);
}

/// An import does not write more files than a command reads.
#[test]
fn too_many_types() {
    let (texts, table) = empty((0..16_400).map(|i| (format!("T{i}"), structure(std::iter::once((0, byte()))))).collect());
    let input = Input { texts: &texts, known: &[], new: &[table], added: &[], folder: "specs" };
    let error = plan(&input).map(|_| ()).expect_err("too many files").to_string();
    assert!(error.starts_with("too many types: 16402 spec files, limit 16384"), "{error}");
}
