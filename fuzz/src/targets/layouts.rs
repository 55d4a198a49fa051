//! Tables of layouts.

use etw_layouts::LAYOUTS;
use etw_layouts::runtime::View;
use etw_layouts::runtime::meta::Build;
use etw_layouts::runtime::packed::format::{HEADER, MAGIC, VERSION};
use etw_layouts::runtime::packed::{Layout, Layouts, Type};
use etw_layouts::{Arch, bytemuck};
use etw_layouts_codegen::emit::packed::{listing, table};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Sources, read, resolve, stored};

const AXIS: &str = include_str!("../../../tests/macro/specs/windows.toml");
const SCALARS: &str = include_str!("../../../tests/macro/specs/scalars.toml");
const SPEC: &str = r#"
[struct]
name = "OUTER"
members = [
  { name = "Bits",   type = "ULONG", bits = 3 },
  { name = "Inner",  struct = [{ name = "Low", type = "ULONG" }] },
  { name = "List",   type = "ULONG [2][3]" },
]
"#;

/// Any bytes are refused, or are a table: every walk ends, and what is found by name or by file is what has that name or file. The magic
/// number, the version and the length are corrected.
///
/// Any bytes are also refused as stored layouts and stored builds, or are read; what is read is written and read again.
pub fn run(input: &[u8]) {
    if let Some(layouts) = stored::read_layouts(input, Sources::default()) {
        let again = stored::read_layouts(&stored::layouts(&layouts), Sources::default());
        assert_eq!(format!("{:?}", Some(layouts)), format!("{again:?}"));
    }
    if let Some(registry) = stored::read_registry(input) {
        assert_eq!(stored::read_registry(&stored::registry(&registry)), Some(registry));
    }
    let _ = Layouts::from_bytes(input);
    let mut bytes = input.to_vec();
    bytes.resize(bytes.len().max(HEADER), 0);
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let length = bytes.len() as u32;
    bytes[12..16].copy_from_slice(bytemuck::bytes_of(&length));
    let Ok(table) = Layouts::from_bytes(&bytes) else { return };
    for structure in table.structures() {
        assert_eq!(table.structure(structure.name).map(|found| found.name), Some(structure.name));
        for layout in structure.layouts() {
            walk(layout.layout(), 0);
            if let Ok(view) = View::new(layout, &[0xFF; 16]) {
                assert!(format!("{view:?}").len() < 1 << 23);
            }
        }
        for kernel in table.revisions().take(4) {
            for build in [kernel.build, Build { revision: kernel.build.revision.wrapping_add(1), ..kernel.build }] {
                for arch in Arch::ALL {
                    let Ok(selected) = structure.select(build, arch) else { continue };
                    assert_eq!(selected.layout.name, structure.name);
                    assert!(selected.candidates().next().flatten().is_some_and(|first| *first == *selected.layout));
                    let _ = (selected.is_sure_of_members(), selected.is_sure_of_member("Bits"));
                }
            }
        }
    }
    for seen in table.examined().take(100) {
        assert!(seen.pdb.is_none_or(|pdb| table.by_pdb(pdb).is_some_and(|found| found.pdb.is_some())));
        assert!(seen.image.is_none_or(|image| table.by_image(image).is_some_and(|found| found.image.is_some())));
        let _ = (seen.globals().count(), table.by_build(seen.build, seen.arch, seen.image));
    }
    let _ = listing(&table, "");
}

fn walk(layout: Layout, depth: usize) {
    assert!(depth <= 64, "structures in themselves");
    for member in layout.members() {
        assert!(member.offset + member.size <= layout.size);
        let memory = [0xFF; 64];
        let _ = member.unsigned(&memory);
        let mut ty = member.ty;
        while let Type::Array(element) = ty {
            ty = element.ty();
        }
        match ty {
            // The first member is enough: many levels of many members would be a long walk.
            Type::Layout(inner) if depth < 2 => walk(inner, depth + 1),
            Type::Values(values) => _ = values.constants().count(),
            _ => {}
        }
    }
}

/// A small table, the same layouts as they are stored, and the table of the crate.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut sources = Sources::default();
    [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("OUTER.toml", SPEC)]
        .into_iter()
        .for_each(|(path, text)| sources.add(path, text));
    let layouts = resolve(read(sources).expect("a spec")).expect("layouts");
    let small = table(&layouts, &Registry::default()).expect("a table");
    vec![small, stored::layouts(&layouts), LAYOUTS.bytes().to_vec()]
}
