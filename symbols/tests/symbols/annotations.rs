//! Annotations in program databases that clang and LLD write, and in damaged ones.

use etw_layouts_symbols::pdb;
use std::fs;
use test_support::clang;
use test_support::folder::Folder;
use test_support::installed;

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
