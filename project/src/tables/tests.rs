//! Files in folders, and their lists of builds.

use super::symbol_file::read_builds;
use super::*;
use std::fs;

/// The list of builds of a folder is read once, with the first table.
#[test]
fn a_list_of_builds_is_read_once() {
    let folder = std::env::temp_dir().join(format!("etw-layouts-builds-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let list = folder.join("builds.tsv");
    fs::write(&list, "file\tbuild\tarch\na.json\t10.0.19041.329\tx64\nb.json\t10.0.19041.1526\tarm64\n").expect("a list");
    for name in ["a.json", "b.json", "c.json"] {
        fs::write(folder.join(name), "").expect("a temporary file");
    }
    let found = files(std::slice::from_ref(&folder)).expect("they are there");
    let label = |file: &SymbolFile| {
        kernel(file, &Axis::default(), &Stated::default(), None).map(|(_, build, arch)| (build.revision, arch))
    };
    let first = label(&found[0]);
    fs::write(&list, "file\tbuild\tarch\nb.json\tnot a build\n").expect("another list");
    let later = [label(&found[1]), label(&found[2])];
    let anew = label(&SymbolFile::on_disk(folder.join("b.json")));
    fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    assert_eq!(first.ok(), Some((329, Some(axis::Arch::X64))));
    assert_eq!(later[0].as_ref().ok(), Some(&(1526, Some(axis::Arch::Arm64))));
    assert!(later[1].as_ref().is_err_and(|error| error.to_string().contains(": unknown build; ")), "{later:?}");
    assert!(anew.as_ref().is_err_and(|error| error.to_string().contains("builds.tsv in its folder, line 2: ")), "{anew:?}");
}

/// A missing folder has no facts yet. A folder or file that exists but cannot be read is an error, and is not treated as empty.
#[test]
fn a_folder_that_cannot_be_read_is_not_empty() {
    let folder = std::env::temp_dir().join(format!("etw-layouts-unread-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("a.facts");
    fs::write(&file, "").expect("a temporary file");
    let found = [&folder, &folder.join("none"), &file.join("below")].map(|path| in_folder(path).map(|files| files.len()).ok());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("circle", folder.join("circle")).expect("a link");
        assert!(in_folder(&folder.join("circle")).is_err());
    }
    fs::create_dir_all(folder.join("builds.tsv")).expect("a temporary folder");
    let list = read_builds(&folder.join("builds.tsv"));
    fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    assert_eq!(found, [Some(1), Some(0), None]);
    assert!(list.is_err(), "{list:?}");
}

/// Two links to their own folder give 2^40 valid paths.
#[cfg(unix)]
#[test]
fn link_cycles() {
    use std::os::unix::fs::symlink;
    let folder = std::env::temp_dir().join(format!("etw-layouts-circles-{}", std::process::id()));
    fs::create_dir_all(folder.join("below")).expect("a temporary folder");
    fs::write(folder.join("below/a.facts"), "").expect("a temporary file");
    for (to, link) in [(".", "one"), (".", "two"), ("..", "below/up"), ("below", "other")] {
        symlink(to, folder.join(link)).expect("a link");
    }
    let found = files(std::slice::from_ref(&folder));
    fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    let found: Vec<_> = found.expect("they are read").iter().map(|file| file.path().to_owned()).collect();
    assert_eq!(found, [folder.join("below/a.facts")]);
}
