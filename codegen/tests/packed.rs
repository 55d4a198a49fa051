//! Tables of layouts from specs of two versions: tokens of the older one, and bytes that are not a table.

use etw_layouts_codegen::emit::packed::table;
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, FactsKind, Registry};
use etw_layouts_codegen::{Builder, Sources, compile, read, resolve};
use etw_layouts_runtime::meta::{Arch, Build, Confidence, SymbolSource};
use etw_layouts_runtime::packed::format::{self, HEADER, OFFSETS, Record, Section, VERSION};
use etw_layouts_runtime::packed::{Error, Layout, Layouts, Missing, Type};
use etw_layouts_runtime::{Token, View, tokens};

const AXIS: &str = include_str!("../../tests/macro/specs/windows.toml");
const SCALARS: &str = include_str!("../../tests/macro/specs/scalars.toml");
const INNER_SPEC: &str = r#"
[struct]
name = "INNER"
members = [{ name = "Low", type = "ULONG" }, { name = "High", type = "ULONG" }]
"#;
/// What a program was compiled with.
const OLD: &str = r#"
[struct]
name = "OUTER"
members = [
  { name = "First",  type = "ULONG" },
  { name = "Bits",   type = "ULONG", bits = 3 },
  { name = "Inner",  type = "INNER" },
  { name = "Other",  type = "INNER" },
  { name = "Gone",   type = "ULONG" },
  { name = "Last",   type = "ULONG [2][3]" },
]
"#;
/// A member is inserted first, and all others are in another order; one is gone, and one has another type.
const NEW: &str = r#"
[struct]
name = "OUTER"
members = [
  { name = "Added",  type = "ULONG" },
  { name = "Last",   type = "ULONG [2][3]" },
  { name = "Other",  type = "ULONG" },
  { name = "Inner",  type = "INNER" },
  { name = "Bits",   type = "ULONG", bits = 3 },
  { name = "First",  type = "ULONG" },
]
"#;

tokens! {
    INNER {
        Low LOW, "all versions";
        High HIGH, "all versions";
    }
}

tokens! {
    OUTER {
        First FIRST, "all versions";
        Bits BITS, "all versions";
        Inner INNER: INNER, "all versions";
        Other OTHER: INNER, "all versions" or OTHER_VALUE, "all versions";
        Gone GONE, "all versions";
        Last LAST, "all versions";
    }
}

fn bytes(outer: &str) -> Vec<u8> {
    table_of(&[("INNER.toml", INNER_SPEC), ("OUTER.toml", outer)])
}

fn table_of(specs: &[(&str, &str)]) -> Vec<u8> {
    let mut sources = Sources::default();
    for (path, text) in [("windows.toml", AXIS), ("scalars.toml", SCALARS)].iter().chain(specs) {
        sources.add(*path, *text);
    }
    let layouts = resolve(read(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)))).expect("layouts");
    let facts_file =
        FactsFile { name: "a.facts".to_owned(), kind: FactsKind::Symbols, holds: ["OUTER".to_owned()].into(), shows: [].into() };
    let kernel = &layouts.spec.axis.revisions[0];
    let globals = [("Variable".to_owned(), 0x10)].into();
    let seen =
        ExaminedBuild { build: kernel.build, arch: kernel.architectures[0], pdb: None, image: None, globals, facts_file: 0 };
    table(&layouts, &Registry { builds: vec![seen], facts_files: vec![facts_file] }).expect("a table")
}

fn any(table: &Layouts) -> (Build, Arch) {
    let kernel = table.revisions().next().expect("a build");
    (kernel.build, kernel.architectures().next().expect("an architecture"))
}

#[test]
fn tokens_find_members_by_name() {
    let (old, new) = (bytes(OLD), bytes(NEW));
    let value = |table: &[u8], find: &dyn Fn(Layout) -> Result<u64, Missing>| {
        let table = Layouts::from_bytes(table).expect("a table");
        let (build, arch) = any(&table);
        let selected = table.structure("OUTER").expect("the structure").select(build, arch).expect("a layout");
        assert_eq!(selected.confidence, Confidence::Verified(SymbolSource::Pdb));
        find(selected.layout.layout())
    };
    // Each ULONG of the structure has its own index as its value.
    let memory: Vec<u8> = (0..16_u32).flat_map(u32::to_le_bytes).collect();
    let read = |token: Token<OUTER::Type>| {
        let memory = &memory;
        move |layout: Layout| layout.resolve(token).map(|member| member.unsigned(memory).expect("memory"))
    };
    let both = |find: &dyn Fn(Layout) -> Result<u64, Missing>| [value(&old, find), value(&new, find)];
    assert_eq!(both(&read(OUTER::FIRST)), [Ok(0), Ok(11)]);
    assert_eq!(both(&read(OUTER::BITS)), [Ok(1), Ok(10 & 7)]);
    assert_eq!(both(&read(OUTER::GONE)), [Ok(6), Err(Missing::Member)]);
    assert_eq!(both(&read(OUTER::OTHER_VALUE)), [Ok(4 | 5 << 32), Ok(7)]);
    assert_eq!(both(&|layout| layout.resolve(OUTER::OTHER).map(|member| member.offset as u64)), [Ok(0x10), Err(Missing::Type)]);
    assert_eq!(both(&|layout| layout.resolve(OUTER::INNER).map(|member| member.offset as u64)), [Ok(8), Ok(0x20)]);
    assert_eq!(both(&|layout| layout.resolve(INNER::LOW).map(|member| member.offset as u64)), [Err(Missing::Structure); 2]);
    let high = |layout: Layout| match layout.resolve(OUTER::INNER)?.ty {
        Type::Layout(inner) => inner.resolve(INNER::HIGH).map(|member| member.offset as u64),
        other => panic!("{other:?}"),
    };
    assert_eq!(both(&high), [Ok(4), Ok(4)]);
    // A member that the program does not know is reachable by name, and others are not found.
    let named =
        |name: &'static str| move |layout: Layout| layout.member(name).map(|member| member.offset as u64).ok_or(Missing::Member);
    assert_eq!(both(&named("Added")), [Err(Missing::Member), Ok(0)]);
    assert_eq!(both(&named("Nowhere")), [Err(Missing::Member); 2]);
}

/// Every length and every changed byte of a small table: an error, or a table whose walk ends.
#[test]
fn corrupt_tables() {
    let good = bytes(OLD);
    assert!((0..good.len()).all(|length| Layouts::from_bytes(&good[..length]).is_err()));
    let newer = [&good[..8], &(VERSION + 1).to_le_bytes(), &good[12..]].concat();
    let error = Layouts::from_bytes(&newer).unwrap_err();
    assert_eq!(error, Error::Version { found: VERSION + 1 });
    assert!(error.to_string().ends_with("newer than 1: update the program that reads it"), "{error}");
    let (mut refused, mut walked) = (0, 0);
    for at in 0..good.len() {
        for change in [1, 2, 0x80, 0xFF] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            match Layouts::from_bytes(&bytes) {
                Err(_) => refused += 1,
                Ok(table) => {
                    walked += 1;
                    assert!(at >= HEADER, "changed byte {at} of the header");
                    walk(&table);
                }
            }
            // An unchecked table gives wrong answers, but no panic.
            if at >= HEADER {
                walk(&Layouts::trusted(&bytes));
            }
        }
    }
    assert!(refused > 1_000 && walked > 100, "{refused} {walked}");
}

/// Unions of two equal unions, in many levels: whole, a view of eight bytes would have 2^61 numbers.
#[test]
fn overlapping_structures_are_printed_in_part() {
    let name = |level: u32| if level == 60 { "OUTER".to_owned() } else { format!("LEVEL_{level}") };
    let spec = |level: u32| {
        let ty = if level == 0 { "ULONG".to_owned() } else { name(level - 1) };
        let array = if level == 60 { " [2]" } else { "" };
        let members = format!("{{ name = \"A\", type = \"{ty}{array}\" }}, {{ name = \"B\", type = \"ULONG\" }}");
        (format!("{}.toml", name(level)), format!("[union]\nname = \"{}\"\nmembers = [{members}]\n", name(level)))
    };
    let specs: Vec<_> = (0..=60).map(spec).collect();
    let specs: Vec<_> = specs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut bytes = table_of(&specs);
    // Specs cannot state so many members, so the second member of each union becomes what the first is.
    let section = |section: usize| {
        let offset = bytes[OFFSETS + 4 * section..].first_chunk().expect("a header");
        u32::from_le_bytes(*offset) as usize
    };
    let members = section(Section::Member as usize)..section(Section::Member as usize + 1);
    let both = bytes[members].chunks_exact_mut(2 * <format::Member as Record>::SIZE);
    both.for_each(|both| both.copy_within(..2, <format::Member as Record>::SIZE));

    let table = Layouts::from_bytes(&bytes).expect("a table");
    let (build, arch) = any(&table);
    let layout = table.structure("OUTER").expect("the structure").select(build, arch).expect("a layout").layout;
    let view = View::new(layout, &[7, 0, 0, 0, 8, 0, 0, 0]).expect("enough bytes");
    let text = format!("{view:?}");
    assert!(text.starts_with("OUTER { A: [LEVEL_59 { A: LEVEL_58") && text.contains("LEVEL_0 { A: 7, A: 7 }"), "{text}");
    assert!(text.ends_with(".. }") && text.len() < 1 << 20, "{} bytes", text.len());
    let value = format!("{:?}", view.member("A").expect("a member"));
    assert!(value.starts_with("[LEVEL_59 { A: ") && value.ends_with("..]") && value.len() < 1 << 20, "{} bytes", value.len());
}

fn walk(table: &Layouts) {
    let (build, arch) = (Build::new(1, 0, 7, 5), Arch::X64);
    for structure in table.structures().take(50) {
        let sizes = structure.layouts().map(|layout| layout.members().map(|member| member.size).fold(0, usize::wrapping_add));
        let selected = structure.select(build, arch).map(|selected| selected.candidates().count());
        let _ = (sizes.fold(0, usize::wrapping_add), selected, table.structure(structure.name));
    }
    let names = table.examined().take(1000).flat_map(|seen| seen.globals()).map(|(name, _)| name.len());
    let _ = names.sum::<usize>();
}

/// Generated code uses the table in a file only if it has the layouts of the specs.
#[test]
fn a_table_with_other_layouts_is_refused() {
    let file = std::env::temp_dir().join(format!("etw-layouts-table-{}.bin", std::process::id()));
    let specs = |text: &str| {
        Builder::default()
            .text("a.toml", AXIS)
            .text("b.toml", SCALARS)
            .text("c.toml", INNER_SPEC)
            .text("d.toml", text)
            .table(&file)
    };
    let sources = |text: &str| {
        let mut sources = Sources::default();
        for (name, text) in [("a.toml", AXIS), ("b.toml", SCALARS), ("c.toml", INNER_SPEC), ("d.toml", text)] {
            sources.add(name, text);
        }
        sources
    };
    let error = |text: &str| match specs(text).generate() {
        Ok(generated) => format!("{}", generated.text.contains(&format!("include_bytes!({:?})", file.display().to_string()))),
        Err(error) => error.to_string(),
    };
    assert!(error(OLD).contains("etw-layouts-table"), "no file: {}", error(OLD));
    std::fs::write(&file, table(&compile(sources(OLD)).unwrap(), &Registry::default()).unwrap()).unwrap();
    assert_eq!(error(OLD), "true");
    let differs =
        "`OUTER` has other layouts or builds in the table than in the specs; write the file again with `etw export layouts`";
    assert!(error(NEW).ends_with(differs), "{}", error(NEW));
    std::fs::write(&file, b"no table").unwrap();
    assert!(
        error(OLD).contains(&format!("{}: ", file.display())) && error(OLD).contains("write the file again"),
        "{}",
        error(OLD)
    );
    std::fs::remove_file(&file).unwrap();
}
