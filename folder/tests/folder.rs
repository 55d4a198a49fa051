//! Paths, links and files that are not regular.

use etw_layouts_folder::{Folder, is_name};
use std::fs;
use std::path::{Path, PathBuf};

/// A temporary folder `own` with a file, beside a folder `other` that must not change.
struct Fixture(PathBuf);

impl Fixture {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("etw-layouts-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for path in ["own/inner/file", "other/file"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "text").unwrap();
        }
        Self(root)
    }

    fn folder(&self) -> Folder {
        Folder::open(&self.0.join("own")).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn names() {
    let fixture = Fixture::new("names");
    let folder = fixture.folder();
    let long = "a".repeat(256);
    for name in [
        "", ".", "..", "...", "a.", "a ", "a/b", "a\\b", "C:", "a:b", "a\0b", "a\nb", "a?", "a*", "a|b", "<a>", "\"a\"", "CON",
        "nul.txt", "Aux", "com1", "COM¹.x", "lpt9.a.b", "con .txt", "CONIN$", &long,
    ] {
        assert!(!is_name(name), "{name:?}");
        // In a path, `/` separates names.
        if name != "a/b" {
            for path in [name.to_owned(), format!("inner/{name}"), format!("{name}/file")] {
                assert!(folder.read(&path, 9).is_err() && folder.create_file(&path).is_err(), "{path:?}");
            }
        }
    }
    for path in ["../other/file", "inner/../../other/file", "/etc/passwd", "inner//file", "inner/", "\\\\?\\C:\\file"] {
        assert!(folder.read(path, 9).is_err() && folder.rename("inner/file", &folder, path).is_err(), "{path:?}");
        assert!(folder.remove_file(path).is_err() && folder.folder(path).is_err(), "{path:?}");
    }
    for name in ["a", ".lock", "ä b.c", "part-0.json", "provider=A%20b", "COM", "COM10", "CONSOLE", "nul-", "a..b", &long[1..]] {
        assert!(is_name(name), "{name:?}");
    }
    assert_eq!(contents(&fixture.0), ["other/file text", "own/inner/file text"]);
}

#[test]
fn files() {
    let fixture = Fixture::new("files");
    let folder = fixture.folder();
    assert_eq!(folder.read("inner/file", 4).unwrap().as_deref(), Some(&b"text"[..]));
    assert!(folder.read("inner/file", 3).unwrap_err().to_string().contains("file too large: more than 3 bytes"));
    assert_eq!((folder.read("none", 9).unwrap(), folder.stat("no/ne").unwrap()), (None, None));
    assert_eq!(folder.stat("inner/file").unwrap().unwrap().bytes, 4);
    folder.replace("new/a", b"one").unwrap();
    folder.write("b", b"two").unwrap();
    folder.rename("b", &folder.folder("inner").unwrap().unwrap(), "deep/er/c").unwrap();
    let lock = folder.lock_file("inner/file").map(drop).unwrap_err().to_string();
    assert!(lock.contains("`inner/file` is not a plain file name"), "{lock}");
    drop(folder.lock_file("lock").unwrap());
    assert_eq!(folder.names().unwrap(), ["inner", "lock", "new"]);
    folder.remove_file("lock").unwrap();
    folder.remove_file("lock").unwrap();
    folder.remove_folder("new").unwrap();
    assert_eq!(contents(&fixture.0), ["other/file text", "own/inner/deep/er/c two", "own/inner/file text"]);
}

#[test]
#[cfg(unix)]
fn links() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new("links");
    let (folder, own, other) = (fixture.folder(), fixture.0.join("own"), fixture.0.join("other"));
    let link = || {
        let _ = fs::remove_file(own.join("link"));
        symlink(&other, own.join("link")).unwrap();
        let _ = fs::remove_file(own.join("file"));
        symlink(other.join("file"), own.join("file")).unwrap();
    };
    link();
    // Links within the folder are refused, too.
    symlink("inner/file", own.join("near")).unwrap();
    symlink("inner", own.join("beside")).unwrap();
    let refused = [
        folder.read("near", 9).map(drop),
        folder.lock_file("near").map(drop),
        folder.read("beside/file", 9).map(drop),
        folder.create_file("beside/new").map(drop),
        folder.read("link/file", 9).map(drop),
        folder.read("file", 9).map(drop),
        folder.stat("file").map(drop),
        folder.lock_file("file").map(drop),
        folder.create_file("link/new").map(drop),
        folder.folder("link").map(drop),
        folder.create_folder("link/new").map(drop),
        folder.remove_file("link/file"),
        folder.remove_folder("link"),
        folder.rename("inner/file", &folder, "link/file"),
    ];
    for (index, result) in refused.into_iter().enumerate() {
        let error = result.expect_err(&index.to_string()).to_string();
        assert!(error.contains("is a link; remove it"), "{index}: {error}");
    }
    // A link is replaced or removed, not what it leads to.
    folder.create_file("file").unwrap();
    link();
    folder.rename("inner/file", &folder, "file").unwrap();
    link();
    folder.remove_file("file").unwrap();
    ["link", "near", "beside"].iter().for_each(|name| folder.remove_file(name).unwrap());
    folder.create_folder("tree").unwrap();
    symlink(&other, own.join("tree/link")).unwrap();
    folder.remove_folder("tree").unwrap();
    assert_eq!(contents(&fixture.0), ["other/file text"]);
    // The folder itself can be a link.
    symlink(&own, fixture.0.join("outer")).unwrap();
    Folder::open(&fixture.0.join("outer")).unwrap();
}

/// Files that are not regular are not opened for reading or writing, which could wait for someone else.
#[test]
#[cfg(unix)]
fn irregular() {
    let fixture = Fixture::new("irregular");
    let folder = fixture.folder();
    let _socket = std::os::unix::net::UnixListener::bind(fixture.0.join("own/socket")).unwrap();
    for name in ["socket", "inner"] {
        let results = [folder.read(name, 9).map(drop), folder.stat(name).map(drop), folder.lock_file(name).map(drop)];
        assert!(results.into_iter().all(|result| result.is_err()), "{name}");
    }
    assert!(folder.create_file("inner").is_err() && folder.remove_file("inner").is_err());
    assert!(folder.remove_folder("socket").is_err());
}

/// The files of a folder with their texts, sorted.
fn contents(root: &Path) -> Vec<String> {
    fn add(root: &Path, folder: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true => add(root, &path, all),
                false => {
                    let name = path.strip_prefix(root).unwrap().display().to_string().replace('\\', "/");
                    all.push(format!("{name} {}", fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    let mut all = Vec::new();
    add(root, root, &mut all);
    all.sort();
    all
}
