//! Annotations in program databases that clang and LLD write, and in damaged ones.

use etw_layouts_symbols::pdb;
use std::fs;
use test_support::clang;
use test_support::folder::Folder;
use test_support::installed;
use test_support::pdb::{container_with_copies, information, type_stream, words};

/// Module, function and texts of an annotation.
type Annotated = (u32, String, Vec<String>);

/// The annotations, and the corrupt modules.
fn read(file: &[u8]) -> (Vec<Annotated>, Vec<u32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut found = Vec::new();
    let corrupt = pdb::annotations(file, |annotation| {
        let function = annotation.function.map_or_else(String::new, text);
        found.push((annotation.module, function, annotation.texts().map(text).collect()));
    });
    (found, corrupt.expect("a program database"))
}

/// The annotations are those that llvm-pdbutil prints. Damage of a record hides the annotations after it in its module, which is reported.
#[test]
fn annotations_of_functions() {
    let folder = Folder::new("annotations");
    let Some(linker) = clang::linker() else { return };
    let path = clang::annotated(&linker, &folder.0.join("annotated"));
    let mut file = fs::read(&path).expect("a program database");
    let (found, corrupt) = read(&file);
    let functions: Vec<_> = found.iter().map(|(module, function, texts)| (*module, &**function, &*texts[0])).collect();
    assert_eq!((functions, corrupt), (vec![(0, "start", "Other"), (0, "start", "TMF:"), (0, "stop", "TMF:")], vec![]));
    assert_eq!(found[0].2, ["Other", "text"]);
    if let Some(pdbutil) = installed::program("llvm-pdbutil") {
        let output = pdbutil.command().args(["dump", "-symbols"]).arg(&path).output().expect("llvm-pdbutil starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed.matches("S_ANNOTATION").count(), 3, "{printed}");
        let mut rest = &*printed;
        for text in found.iter().flat_map(|(_, _, texts)| texts) {
            let at = rest.find(&text.escape_default().to_string().replace("\\'", "'")).or_else(|| rest.find(&**text));
            rest = &rest[at.unwrap_or_else(|| panic!("{text}: {printed}"))..];
        }
    }
    let at = file.windows(5).rposition(|bytes| bytes == b"TMF:\0").expect("an annotation") - 12;
    file[at..at + 2].copy_from_slice(&[0xFF, 0xFF]);
    let (found, corrupt) = read(&file);
    assert_eq!((found.len(), corrupt), (2, vec![0]));
}

/// In a corrupt file, thousands of streams can have the same pages. No more is read than the file has bytes, and the modules that are left out are reported.
#[test]
fn streams_that_share_pages() {
    const COPIES: usize = 2000;
    const TEXT: usize = 60;
    // Size and kind, offset and section, one text.
    let record = [&[70_u8, 0, 0x19, 0x10, 0, 0, 0, 0, 0, 0, 1, 0][..], &[b'x'; TEXT - 1], &[0]].concat();
    let symbols = [vec![4, 0, 0, 0], record.repeat(900)].concat();
    let module = |number: usize| {
        let mut entry = vec![0; 64];
        entry[34..36].copy_from_slice(&(number as u16).to_le_bytes());
        entry[36..40].copy_from_slice(&words(&[symbols.len() as u32]));
        [entry, b"m\0o\0".to_vec()].concat()
    };
    let list: Vec<u8> = (4..=4 + COPIES).flat_map(module).collect();
    let mut modules = test_support::pdb::modules(0x8664);
    modules[24..28].copy_from_slice(&words(&[list.len() as u32]));
    modules.extend(list);
    let streams = [vec![], information(&[]), type_stream(20_040_203, &[]), modules, symbols.clone()];
    let file = container_with_copies(&streams, COPIES);
    let (mut count, most) = (0, file.len() / symbols.len() + 1);
    let corrupt = pdb::annotations(&file, |_| count += 1).expect("a program database");
    assert!(count >= 900 && count <= 900 * most, "{count} annotations in {} bytes", file.len());
    assert_eq!(count / 900 + corrupt.len(), 1 + COPIES);
    assert_eq!(*corrupt.last().expect("modules that are left out"), COPIES as u32);
}
