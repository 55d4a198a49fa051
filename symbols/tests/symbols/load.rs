//! Files that exceed the size limit of their kind.

use etw_layouts_symbols::load;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// A sparse file of the given length, which begins with `start`.
fn file(name: &str, start: &[u8], length: u64) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut file = File::create(&path).unwrap();
    file.write_all(start).unwrap();
    file.set_len(length).unwrap();
    path
}

#[test]
fn the_kind_of_a_file_limits_its_size() {
    const MSF: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
    let length = |path: &PathBuf| load(path).map(|bytes| bytes.len()).map_err(|error| error.kind());
    assert_eq!(length(&file("table.json", b"{}", 64 << 20)), Ok(64 << 20));
    assert_eq!(length(&file("large.json", b"{}", 3 << 30)), Err(ErrorKind::FileTooLarge));
    assert_eq!(length(&file("kernel.pdb", MSF, 65 << 20)), Ok(65 << 20));
    assert_eq!(length(&file("large.pdb", MSF, 3 << 30)), Err(ErrorKind::FileTooLarge));
    if cfg!(unix) {
        // These devices state no length, and the second one has no end.
        assert_eq!(length(&"/dev/null".into()), Ok(0));
        assert_eq!(length(&"/dev/zero".into()), Err(ErrorKind::FileTooLarge));
    }
    let message = load(&file("large.json", b"{}", 3 << 30)).unwrap_err().to_string();
    assert!(message.starts_with("file too large: more than 64 MiB, the limit for files of this kind"), "{message}");
}

#[cfg(feature = "store")]
#[test]
fn the_size_of_images_is_limited() {
    let load = |length| etw_layouts_symbols::image::load(&file("ntoskrnl.exe", b"MZ", length)).map(|bytes| bytes.len());
    assert_eq!(load(1 << 20).ok(), Some(1 << 20));
    assert_eq!(load(3 << 30).map_err(|error| error.kind()), Err(ErrorKind::FileTooLarge));
}
