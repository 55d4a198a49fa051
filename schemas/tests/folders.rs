//! Files and folders that a user names.

use crate::tmf;
use etw_layouts_schemas::files::{Format, read_path};
use etw_layouts_schemas::manifest;
use std::sync::atomic::{AtomicUsize, Ordering};
use test_support::folder::Folder;
use test_support::wevt as kit;

#[test]
fn every_format_by_its_content() {
    let kinds = include_str!("manifests/kinds.man");
    let mut schemas = manifest::read(kinds.as_bytes()).unwrap();
    schemas.providers[0].events.retain(|event| event.id != 3);
    let (resource, table) = kit::compile(&schemas.providers);
    let table = kit::table(&table);
    let (image, language) = (kit::image(Some(&resource), None), kit::image(None, Some(&table)));

    let folder = Folder::new("schemas-of-a-folder");
    let utf16: Vec<u8> =
        "\u{FEFF}".encode_utf16().chain(kinds.replace("UTF-8", "UTF-16").encode_utf16()).flat_map(u16::to_le_bytes).collect();
    folder.file("a/manifest.bin", kinds);
    folder.file("a/wide.xml", utf16);
    folder.file("a/b/Example.DLL", &image);
    folder.file("a/b/EN-us/example.dll.MUI", &language);
    folder.file("a/b/de-DE/example.dll.mui", kit::image(None, Some(&kit::table(&[(0x1000, "Deutsch".to_owned())].into()))));
    folder.file("a/b/alone.sys", &image);
    folder.file("messages.tmf.txt", tmf::FILE);
    // Files without schemas: a page, a picture, a DOS program, an empty file, a library.
    folder.file("page.xml", "<html/>");
    folder.file("picture.man", b"\x89PNG");
    folder.file("dos.exe", b"MZ");
    folder.file("empty.man", "");
    folder.file("plain.dll", kit::image(None, None));
    // Corrupt files.
    folder.file("corrupt/cut.man", &kinds[..kinds.len() / 2]);
    folder.file("corrupt/cut.dll", &image[..image.len() / 4]);
    folder.file("corrupt/signature.dll", kit::image(Some(b"CRAM"), None));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("..", folder.0.join("a/loop")).unwrap();
        std::os::unix::fs::symlink("manifest.bin", folder.0.join("a/link.man")).unwrap();
    }

    let (calls, last) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let progress = |progress: etw_layouts_schemas::files::PathProgress| {
        calls.fetch_add(1, Ordering::Relaxed);
        last.fetch_max(progress.files, Ordering::Relaxed);
        assert_eq!(progress.total, 15);
    };
    let found = read_path(&folder.0, &progress).unwrap();
    assert_eq!((calls.into_inner(), last.into_inner()), (15, 15));
    let name = |path: &std::path::Path| path.strip_prefix(&folder.0).unwrap().to_str().unwrap().replace('\\', "/");
    let files: Vec<_> =
        found.files.iter().map(|file| (name(&file.path), file.format, file.language_file.as_deref().map(name))).collect();
    let language = Some("a/b/EN-us/example.dll.MUI".to_owned());
    assert_eq!(
        files,
        [
            ("a/b/Example.DLL".to_owned(), Format::Binary, language),
            ("a/b/alone.sys".to_owned(), Format::Binary, None),
            ("a/manifest.bin".to_owned(), Format::Manifest, None),
            ("a/wide.xml".to_owned(), Format::Manifest, None),
            ("messages.tmf.txt".to_owned(), Format::Tmf, None),
        ]
    );
    let messages: Vec<_> = found
        .files
        .iter()
        .map(|file| file.schemas.providers.first().map(|provider| provider.events[0].message.as_str()))
        .collect();
    assert_eq!(
        messages,
        [Some("Connected to \"%1\" <%2> "), Some(""), Some("Connected to \"%1\" <%2> "), Some("Connected to \"%1\" <%2> "), None]
    );
    assert_eq!(found.files[4].messages.len(), 6);
    // Two language files count as files without schemas, too.
    assert_eq!(found.others, 7);
    let unusable: Vec<_> = found.unusable.iter().map(|file| format!("{}: {}", name(&file.path), file.reason)).collect();
    assert_eq!(unusable.len(), 3, "{unusable:?}");
    for (text, expected) in unusable.iter().zip([
        "corrupt/cut.dll: truncated PE file: its resources exceed the end of the file",
        "corrupt/cut.man: line 40: malformed XML",
        "corrupt/signature.dll: WEVT_TEMPLATE resource, offset 0x0: not a WEVT_TEMPLATE resource",
    ]) {
        assert!(text.starts_with(expected), "{text}, not {expected}");
    }

    let one = read_path(&folder.0.join("a/b/Example.DLL"), &|_| ()).unwrap();
    assert_eq!((one.files.len(), one.files[0].schemas == found.files[0].schemas), (1, true));
    assert!(read_path(&folder.0.join("none"), &|_| ()).is_err());
}
