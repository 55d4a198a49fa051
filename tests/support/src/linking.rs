//! Images and program databases of the headers that this workspace generates.

use crate::clang;
use crate::specs::held;
use etw_layouts_codegen::axis::{Arch, Build, TargetId};
use etw_layouts_codegen::emit::c;
use etw_layouts_codegen::layouts::Layouts;
use std::fs;
use std::path::{Path, PathBuf};

/// Links a library with a variable of each type, so that the compiler keeps all types. Returns its program database.
pub fn linked(layouts: &Layouts, target: TargetId, linker: &clang::Linker, stem: &Path, resources: &[PathBuf]) -> Vec<u8> {
    let mut text = c::header(layouts, target, None, c::Style::default());
    for name in held(layouts, target) {
        text += &format!("{name} variable_{name};\n");
    }
    let target = match layouts.spec.axis.targets[target].arch {
        Arch::X86 => clang::X86,
        Arch::X64 => clang::X64,
        Arch::Arm64 => clang::ARM64,
    };
    let (_, pdb) = clang::link(&text, target, linker, stem, resources);
    fs::read(pdb).expect("a program database")
}

/// A compiled resource file: the empty resource that starts every such file, and a resource of type 16 with number 1.
pub fn version_resource(build: Build) -> Vec<u8> {
    let entry = |content: &[u8], ty: u32, number: u32| {
        let words = [content.len() as u32, 32, ty << 16 | 0xFFFF, number << 16 | 0xFFFF, 0, 0, 0, 0];
        [words.map(u32::to_le_bytes).concat(), content.to_vec()].concat()
    };
    let [major, minor, number] = build.number;
    let fixed = [0xFEEF_04BD, 0x10000, major << 16 | minor, number << 16 | build.revision, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let head = [92u16, 52, 0].into_iter().chain("VS_VERSION_INFO\0".encode_utf16()).chain([0]);
    let content: Vec<u8> = head.flat_map(u16::to_le_bytes).chain(fixed.into_iter().flat_map(u32::to_le_bytes)).collect();
    [entry(&[], 0, 0), entry(&content, 16, 1)].concat()
}
