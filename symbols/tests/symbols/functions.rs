//! Functions at addresses, in program databases that clang and LLD write, and in damaged ones.

use etw_layouts_symbols::ImageFile;
use etw_layouts_symbols::image::Exports;
use etw_layouts_symbols::pdb::{Error, Function, Functions};
use std::fs;
use test_support::clang;
use test_support::folder::Folder;
use test_support::installed;
use test_support::pdb::{container, information, modules, record, streams, type_stream, words};

/// The image as it is loaded, and its program database; `None` without clang and LLD.
fn compiled(folder: &Folder, target: (&str, &str)) -> Option<(Vec<u8>, Vec<u8>)> {
    let (image, pdb) = clang::link(clang::INLINED, target, &clang::linker()?, &folder.0.join("traced"), &[]);
    Some((clang::mapped(&fs::read(image).expect("an image")), fs::read(pdb).expect("a program database")))
}

fn names(found: &[Function]) -> Vec<(&str, Option<u32>)> {
    found.iter().map(|function| (&*function.name, function.source.as_ref().map(|(_, line)| *line))).collect()
}

#[test]
fn functions_inlined_functions_and_lines() {
    // The function has a prologue in its own line for x86.
    for (target, first) in [(clang::X64, 12), (clang::X86, 11)] {
        let folder = Folder::new(&format!("functions-{}", target.0));
        let Some((image, pdb)) = compiled(&folder, target) else { return };
        // The code is in the first section.
        let stop = 0x1000 + image[0x1000..].iter().position(|byte| *byte == 0xCC).expect("the instruction") as u32;
        let mut functions = Functions::open(pdb).expect("a program database");
        let found = functions.at(stop);
        assert_eq!(names(&found), [("inner", Some(5)), ("middle", Some(9)), ("outer", Some(13))], "{target:?}");
        let file = found[0].source.as_ref().map(|(file, _)| file.replace('\\', "/"));
        assert!(file.is_some_and(|file| file.ends_with("/traced.c")), "{found:?}");
        assert_eq!(names(&functions.at(0x1000)), [("outer", Some(first))], "{target:?}");
        assert_eq!(names(&functions.at(stop + 1)), [("outer", Some(14))], "{target:?}");
        assert_eq!(names(&functions.at(0)), [], "{target:?}");
        assert!(!functions.has_failed());
    }
}

/// The exports of code are those that llvm-readobj prints. An address before the first export, or in another section, has none.
#[test]
fn exports_of_an_image() {
    let folder = Folder::new("exports");
    let Some(linker) = clang::linker() else { return };
    let text = "__declspec(dllexport) int data = 1; volatile int value; void own(void) { value = 1; }\n\
                __declspec(dllexport) void first(void) { own(); value = 2; }\n\
                __declspec(dllexport) void second(void) { value = 3; }\n";
    for target in [clang::X64, clang::X86] {
        let (path, _) = clang::link(text, target, &linker, &folder.0.join(target.0), &[]);
        let file = fs::read(&path).expect("an image");
        let exports = Exports::read(&file).expect("an image");
        let Some(readobj) = installed::program("llvm-readobj") else { return };
        let printed = readobj.command().arg("--coff-exports").arg(&path).output().expect("llvm-readobj starts");
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let address = |name: &str| {
            let at = printed.split(&format!("Name: {name}\n")).nth(1).and_then(|rest| rest.split("RVA: 0x").nth(1));
            at.and_then(|rest| u32::from_str_radix(rest.lines().next()?, 16).ok()).expect("an address")
        };
        let (first, second, data) = (address("first"), address("second"), address("data"));
        assert_eq!((exports.at(first), exports.at(second)), (Some(("first", 0)), Some(("second", 0))), "{printed}");
        assert_eq!((exports.at(second - 1), exports.at(second + 5)), (Some(("first", second - 1 - first)), Some(("second", 5))));
        assert_eq!([exports.at(data), exports.at(0x1000), exports.at(0), exports.at(u32::MAX)], [None; 4]);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let headers = word(0x3C) as usize;
        // The linker writes a hash of the image as its time stamp.
        let own = ImageFile { name: String::new(), time_stamp: word(headers + 8), size: word(headers + 24 + 56) };
        assert!(exports.is_of(&own, None) && !exports.is_of(&ImageFile { size: own.size + 0x1000, ..own.clone() }, None));
        for at in (0..file.len()).step_by(3) {
            let mut damaged = file.clone();
            damaged[at] ^= 0xFF;
            if let Ok(exports) = Exports::read(&damaged) {
                let _ = exports.at(first);
            }
            let _ = Exports::read(&file[..at]);
        }
    }
}

/// Damaged program databases have errors, or other functions. None ends the program.
#[test]
fn damaged_files() {
    let folder = Folder::new("functions-damaged");
    let Some((_, pdb)) = compiled(&folder, clang::X64) else { return };
    // An unused page is of no interest, so the damage is where bytes are.
    let used: Vec<usize> = (0..pdb.len()).filter(|at| pdb[*at] != 0).collect();
    let (mut seed, mut usable) = (1_u64, 0);
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for round in 0..400 {
        let mut damaged = pdb.clone();
        if round % 8 == 0 {
            damaged.truncate(random(pdb.len()));
        } else {
            for _ in 0..=random(8) {
                damaged[used[random(used.len())]] = [0, 1, 0x7F, 0x80, 0xFF, random(256) as u8][random(6)];
            }
        }
        if let Ok(mut functions) = Functions::open(damaged) {
            usable += 1;
            for address in [0, 0x1000, 0x1005, 0x2000, u32::MAX] {
                functions.at(address);
            }
        }
    }
    assert!((100..400).contains(&usable), "{usable}");
}

/// Records that would make `pdb-addr2line` recurse until the stack overflows.
#[test]
fn scopes_without_end_are_refused() {
    let with_ids = |ids: &[Vec<u8>]| {
        let [nothing, _, types, _] = <[Vec<u8>; 4]>::try_from(streams()).expect("four streams");
        container(&[nothing, information(&[]), types, modules(0x8664), type_stream(20_040_203, ids)])
    };
    let function = |scope: u32| record(0x1601, &[&words(&[scope, 0x1000])[..], b"f\0"].concat());
    for (ids, at) in [(vec![function(0x1000)], "0x1000"), (vec![function(0), function(0x1000)], "0x1001")] {
        let error = Functions::open(with_ids(&ids)).map(drop);
        let Err(Error::Damaged { reason }) = error else { panic!("{error:?}") };
        assert_eq!(reason, format!("the scope of identifier {at} is no name"));
    }
}
