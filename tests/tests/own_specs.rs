//! What users generate on their own, from a build script and from a macro, is what the specs say, and what `generate` writes.

use etw_layouts::{axis, structures};
use std::fs;
use std::mem::{align_of, offset_of, size_of};
use std::path::Path;
use test_macro::targets::{v7, v8};

#[test]
fn a_macro_gives_the_layouts_of_a_spec_of_ones_own() {
    assert_eq!(size_of::<v7::x64::DRIVER_EXTENSION>(), 0x20);
    assert_eq!(size_of::<v8::x86::DRIVER_EXTENSION>(), 0x20);
    assert_eq!(align_of::<v8::x86::DRIVER_EXTENSION>(), 8);
    assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Next), 0x10);
    assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Limit), 0x18);
    let mut extension: v8::x64::DRIVER_EXTENSION = etw_layouts::bytemuck::Zeroable::zeroed();
    extension.set_Removed(1);
    assert_eq!((extension.Flags(), extension.Started()), (2, 0));
}

/// All structures at all targets, as text and as the compiler has them.
#[test]
fn a_build_script_gives_the_committed_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated/src");
    let mut committed = String::new();
    for module in ["axis", "constants", "layouts", "members", "structures", "targets"] {
        committed +=
            "#[allow(non_snake_case, non_camel_case_types, non_upper_case_globals, unused, clippy::all, clippy::pedantic)]\n";
        nest(&root, &format!("pub mod {module}"), &mut committed);
    }
    for (number, (ours, theirs)) in test_build_script::TEXT.lines().zip(committed.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}", number + 1);
    }
    assert_eq!(test_build_script::TEXT.len(), committed.len());
    assert_eq!(format!("{:?}", test_build_script::axis::AXIS), format!("{:?}", axis::AXIS));
    assert_eq!(format!("{:?}", test_build_script::structures::ALL), format!("{:?}", structures::ALL));
}

/// The committed files in place of their declarations.
fn nest(folder: &Path, declaration: &str, out: &mut String) {
    let name = declaration.rsplit(' ').next().unwrap_or_default();
    let (file, within) = (folder.join(format!("{name}.rs")), folder.join(name));
    let text = fs::read_to_string(&file).or_else(|_| fs::read_to_string(within.join("mod.rs"))).expect(declaration);
    *out += &format!("{declaration} {{\n");
    for line in text.replace("by `cargo xtask generate` ", "").lines() {
        match line.strip_suffix(';').filter(|line| line.starts_with("mod ") || line.starts_with("pub mod ")) {
            Some(declaration) => nest(&within, declaration, out),
            None => *out += &format!("{line}\n"),
        }
    }
    *out += "}\n";
}
