//! Snapshots, and conversion of tables to snapshots.

use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{Arch, MAX_DEPTH, Offsets, Rules, Snapshot, SymbolTable, Type, TypeFacts, Types, compare};

/// Printing a snapshot and reading it again gives the same snapshot.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match Snapshot::parse(text) {
        Ok(snapshot) => again(&snapshot),
        Err(error) => assert!(error.line >= 1 && !error.to_string().is_empty()),
    }
}

/// Conversion to a snapshot keeps a table, up to the maximum nesting.
pub(crate) fn kept(table: SymbolTable) {
    let SymbolTable { producer, pdb, arch, types, globals, .. } = table;
    let kernel = Kernel { build: [10, 0, 19041, 1], arch: arch.unwrap_or(Arch::X64), pdb, image: None, globals };
    again(&Snapshot { producer, kernels: vec![kernel], types, offsets: Offsets::new() });
}

/// Lower bound of the work for these types: one byte for each character of a name and each step of a type.
pub(crate) fn work(types: &Types) -> usize {
    types.values().map(work_of).sum()
}

fn work_of(facts: &TypeFacts) -> usize {
    match facts {
        TypeFacts::Aggregate(aggregate) => {
            aggregate.members.iter().map(|member| member.name.chars().count() + work_of_type(&member.ty)).sum()
        }
        TypeFacts::Enumeration(enumeration) => enumeration.constants.iter().map(|(name, _)| name.chars().count() + 1).sum(),
    }
}

fn work_of_type(ty: &Type) -> usize {
    match ty {
        Type::Pointer(inner) | Type::Array(inner, _) | Type::Bits { unit: inner, .. } => 1 + work_of_type(inner),
        Type::Aggregate(name) | Type::Enumeration(name) => name.chars().count(),
        Type::Unnamed(facts) => 1 + work_of(facts),
        _ => 1,
    }
}

/// Printing a snapshot and reading it again gives the same snapshot.
pub(crate) fn again(snapshot: &Snapshot) {
    let text = snapshot.to_string();
    match Snapshot::parse(&text) {
        Ok(again) => assert_eq!(again, *snapshot),
        Err(error) => assert!(error.reason.contains(&format!("deeper than {MAX_DEPTH}")), "{error}\n{text}"),
    }
    let reports = compare(&snapshot.types, &snapshot.types, Rules::for_producer(&snapshot.producer));
    assert_eq!(reports.len(), snapshot.types.len());
}

/// Some shipped snapshots, and one with all features of the format.
pub fn seeds() -> Vec<Vec<u8>> {
    let paths = crate::project().fact_files().expect("the shipped snapshots");
    let mut seeds: Vec<_> = paths.iter().step_by(9).map(|path| std::fs::read(path.path()).expect("a snapshot")).collect();
    seeds.push(
        b"etw-layouts-symbols 1\nproducer a b\nkernel 5.1.2600.0 x86 -\n\
          kernel 10.0.19041.329 x64 nt%20krnl.pdb BBED7C2955FBE4522AAA23F4B8677AD9 1 nt.exe 0x5a4a1693 0x8a0000\n\
          \x20 0x8 A%20\n 0x0 B\n\
          kernel 10.0.19041.330 x64 - nt.exe 0x0 0x0\n\
          enum E u2\n -1 Min\n 0 %\nstruct S 0x20\n 0x0 a *fn\n 0x0 b 3@5:uint\n 0x4 c 2[3[c1]]\n 0x8 d *void\n 0x8 e ?\n\
          \x20 0x8 f f8\noffsets A\noffsets B%20\n 0x8 a\n 0x0 b\n"
            .to_vec(),
    );
    seeds.push(
        b"etw-layouts-symbols 1\nproducer -\nkernel 5.1.2600.0 x86 -\nunion U 0x8\n 0x0 u struct 0x8\n  0x0 v 2[enum i4\n 0x4 w #E\n"
            .to_vec(),
    );
    seeds
}
