//! Compiles C text with clang and LLD to images and program databases.

use crate::installed::{self, Program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of clang, and the linker's machine.
pub const X86: (&str, &str) = ("i686-pc-windows-msvc", "/machine:x86");
pub const X64: (&str, &str) = ("x86_64-pc-windows-msvc", "/machine:x64");
pub const ARM64: (&str, &str) = ("aarch64-pc-windows-msvc", "/machine:arm64");

/// A function that two others are inlined in. The innermost stops in a debugger, with an instruction of the byte 0xCC.
pub const INLINED: &str = "
volatile int value;
static inline __attribute__((always_inline)) void inner(void) {
    value = 1;
    __builtin_debugtrap();
}
static inline __attribute__((always_inline)) void middle(void) {
    value = 2;
    inner();
}
__declspec(dllexport) void outer(void) {
    value = 3;
    middle();
    value = 4;
}
";

/// A function with two annotations, as the WPP preprocessor writes them for its messages, and one of another kind. The second message states a function.
pub const ANNOTATED: &str = r##"
volatile int value;
__declspec(dllexport) void start(void) {
    value = 1;
    __annotation(L"TMF:", L"1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 example // SRC=Device.c MJ= MN=",
        L"#typev Device_c87 10 \"%0%!FUNC!: %10!d! of %11!s!\" //   LEVEL=ERROR FLAGS=INIT", L"{", L"Count, ItemLong -- 10",
        L"Name, ItemString -- 11", L"}");
    __annotation(L"Other", L"text");
}
__declspec(dllexport) void stop(void) {
    value = 2;
    __annotation(L"TMF:", L"1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 example // SRC=Device.c MJ= MN=",
        L"#typev Device_c99 11 \"%0%!FUNC! ends\" //   LEVEL=INFO FLAGS=INIT FUNC=Device::Stop", L"{", L"}");
}
"##;

/// clang, and LLD as a linker for Windows.
#[derive(Clone, Debug)]
pub struct Linker {
    clang: Program,
    /// The program and its first arguments.
    lld: Vec<String>,
}

/// LLD from the system or from Rust. Calls [`installed::absent`] if LLD or clang is missing.
pub fn linker() -> Option<Linker> {
    let runs = |command: &[String]| Command::new(&command[0]).args(&command[1..]).arg("--version").output().is_ok();
    let clang = installed::program("clang")?;
    let rust = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
    let library = PathBuf::from(String::from_utf8_lossy(&rust.stdout).trim());
    let rust_lld = library.with_file_name("bin").join("rust-lld").display().to_string();
    let candidates = [vec!["lld-link".into()], vec![rust_lld, "-flavor".into(), "link".into()]];
    let found = candidates.into_iter().find(|candidate| runs(candidate));
    if found.is_none() {
        installed::absent("lld-link");
    }
    Some(Linker { clang, lld: found? })
}

/// Compiles and links a library without code. Returns the paths of the image and of the program database.
pub fn link(
    text: &str,
    (triple, machine): (&str, &str),
    linker: &Linker,
    stem: &Path,
    resources: &[PathBuf],
) -> (PathBuf, PathBuf) {
    let file = |extension: &str| PathBuf::from(format!("{}.{extension}", stem.display()));
    fs::write(file("c"), text).expect("a temporary file");
    let mut clang = linker.clang.command();
    clang.args(["-target", triple, "-g", "-gcodeview", "-c", "-o"]).args([file("obj"), file("c")]);
    let mut link = Command::new(&linker.lld[0]);
    link.args(&linker.lld[1..]).args(["/dll", "/noentry", "/nodefaultlib", "/debug", machine]);
    link.args([("/out:", "dll"), ("/pdb:", "pdb")].map(|(flag, extension)| format!("{flag}{}", file(extension).display())));
    link.arg(file("obj")).args(resources);
    for command in [&mut clang, &mut link] {
        let output = command.output().expect("clang and the linker start");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    (file("dll"), file("pdb"))
}

/// Compiles and links [`ANNOTATED`]. Returns the program database. LLD replaces annotations by empty records of the same size (S_SKIP); they are
/// restored from the object file.
pub fn annotated(linker: &Linker, stem: &Path) -> PathBuf {
    let (_, path) = link(ANNOTATED, X64, linker, stem, &[]);
    let object = fs::read(path.with_extension("obj")).expect("an object file");
    let mut pdb = fs::read(&path).expect("a program database");
    let is_annotation = |at: &usize| object[at + 2..].starts_with(&[0x19, 0x10]) && object[at + 10] < 10 && object[at + 11] == 0;
    let mut count = 0;
    for from in (0..object.len() - 16).filter(is_annotation) {
        let size = 2 + usize::from(u16::from_le_bytes([object[from], object[from + 1]]));
        let skip = [&object[from..from + 2], &[7, 0], &vec![0; size - 4]].concat();
        let at = pdb.windows(size).position(|bytes| bytes == skip).expect("an empty record");
        pdb[at..at + size].copy_from_slice(&object[from..from + size]);
        count += 1;
    }
    assert_eq!(count, 3, "annotations in the object file");
    fs::write(&path, pdb).expect("a temporary file");
    path
}

/// An image as loaded in memory: its headers, and each section at its address.
pub fn mapped(file: &[u8]) -> Vec<u8> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let u32_at = |at: usize| u16_at(at) | u16_at(at + 2) << 16;
    let headers = u32_at(0x3C);
    let (count, first) = (u16_at(headers + 6), headers + 24 + u16_at(headers + 20));
    let mut image = vec![0; u32_at(headers + 24 + 56)];
    image[..u32_at(headers + 24 + 60)].copy_from_slice(&file[..u32_at(headers + 24 + 60)]);
    for section in (0..count).map(|index| first + index * 40) {
        let [virtual_size, at, size, from] = [8, 12, 16, 20].map(|field| u32_at(section + field));
        let size = size.min(virtual_size);
        image[at..at + size].copy_from_slice(&file[from..from + size]);
    }
    image
}
