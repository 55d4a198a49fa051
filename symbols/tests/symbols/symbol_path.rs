//! Searches along symbol paths, in folders and on a server on loopback.

use crate::server::{Entry, Server};
use etw_layouts_symbols::store::{Reason, SymbolPath};
use etw_layouts_symbols::{Pdb, Uuid};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};
use test_support::installed;
use test_support::pe::{Random, cabinet, msf, pdb};

/// The folder of the file in a store.
const HOME: &str = "ntkrnlmp.pdb/BBED7C2955FBE4522AAA23F4B8677AD91f";

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("etw-layouts-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn put(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Every file in it, by its path.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push(path.strip_prefix(&self.0).unwrap().display().to_string().replace('\\', "/")),
                }
            }
        }
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Searches along a path. `$` in the path is replaced by the folder, which also has the default cache.
fn find(path: &str, folder: &Folder) -> Result<PathBuf, String> {
    find_with(path, folder, &mut |_, _| {})
}

fn find_with(path: &str, folder: &Folder, progress: &mut dyn FnMut(u64, Option<u64>)) -> Result<PathBuf, String> {
    let path = path.replace('$', folder.0.to_str().unwrap());
    let path = SymbolPath::parse(&path, &folder.0.join("default")).map_err(|error| error.to_string())?;
    path.find(&pdb(), progress).map_err(|error| error.to_string())
}

#[test]
fn equal_paths() {
    let parse = |text: &str| SymbolPath::parse(text, Path::new("default"));
    let equal = [
        ("srv*a*b", " SRV*a*b ;; "),
        ("srv*a*https://host/symbols", "symsrv*SymSrv.DLL*a*https://host/symbols/"),
        ("srv*", "srv*default*https://msdl.microsoft.com/download/symbols"),
        ("srv**b", "srv*default*b"),
        ("srv*https://host;https://host", "srv*default*https://host;srv*default*https://host"),
        ("cache*;b", "cache*default;b"),
        ("cache*a;srv*b*c;d", "srv*a;srv*a*b*c;srv*a*d"),
        ("cache*a;srv*a*c", "cache*a;srv*c"),
    ];
    for (left, right) in equal {
        assert_eq!(parse(left).unwrap(), parse(right).unwrap(), "{left}");
    }
    let errors = [
        (" ; ", "empty symbol path"),
        ("srv*a*ftp://host", "unsupported URL `ftp://host` in the symbol path"),
        ("file:///a", "unsupported URL `file:///a` in the symbol path"),
        ("https://", "unsupported URL `https://` in the symbol path"),
        ("symsrv*other.dll*a", "unsupported symbol server in `symsrv*other.dll*a`"),
        ("a*b", "unsupported symbol server in `a*b`"),
    ];
    for (text, expected) in errors {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.starts_with(expected) && (message.contains("; ") || message.contains(": ")), "{message}");
    }
}

/// A cache can be a received folder: files are not stored through links.
#[test]
#[cfg(unix)]
fn links_in_a_cache() {
    let key = HOME.split_once('/').unwrap().1;
    for (place, to) in
        [("a/ntkrnlmp.pdb", "outside"), (&format!("a/ntkrnlmp.pdb/{key}"), "outside"), (&format!("a/{HOME}"), "outside/file")]
    {
        let folder = Folder::new();
        folder.put("outside/file", b"precious");
        let stored = folder.put(&format!("s/{HOME}/ntkrnlmp.pdb"), &msf(&pdb(), 20));
        let link = folder.0.join(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(folder.0.join(to), &link).unwrap();
        // The file is used from its store.
        assert_eq!(find("srv*$/a*$/s", &folder).unwrap(), stored, "{place}");
        assert_eq!(fs::read(folder.0.join("outside/file")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(folder.0.join("outside")).unwrap().count(), 1, "{place}");
    }
}

/// Each layout of a folder, and the expected place of the file.
#[test]
fn folders() {
    let bytes = msf(&pdb(), 20);
    let packed = cabinet("ntkrnlmp.pdb", &bytes);
    let home = |file: &str| format!("{HOME}/{file}");
    let lower = home("NTKRNLMP.PDB").to_lowercase();
    let cases: [(String, &[u8], &str, String); 11] = [
        ("s/ntkrnlmp.pdb".into(), &bytes, "$/s", "s/ntkrnlmp.pdb".into()),
        ("s/pdb/ntkrnlmp.pdb".into(), &bytes, "/nowhere;$/s", "s/pdb/ntkrnlmp.pdb".into()),
        ("s/symbols/pdb/ntkrnlmp.pdb".into(), &bytes, "$/s", "s/symbols/pdb/ntkrnlmp.pdb".into()),
        (format!("s/{HOME}/ntkrnlmp.pdb"), &bytes, "$/s", format!("s/{HOME}/ntkrnlmp.pdb")),
        (format!("s/{lower}"), &bytes, "srv*$/s", format!("s/{lower}")),
        (format!("s/{HOME}/ntkrnlmp.pdb"), &bytes, "srv*$/a*$/b*$/s", format!("a/{HOME}/ntkrnlmp.pdb")),
        (format!("b/{HOME}/ntkrnlmp.pdb"), &bytes, "srv*$/a*$/b*$/s", format!("a/{HOME}/ntkrnlmp.pdb")),
        ("s/ntkrnlmp.pdb".into(), &bytes, "cache*$/a;$/s", format!("a/{HOME}/ntkrnlmp.pdb")),
        ("s/ntkrnlmp.pdb".into(), &bytes, "srv**$/s", format!("default/{HOME}/ntkrnlmp.pdb")),
        (format!("s/{HOME}/ntkrnlmp.pd_"), &packed, "$/s", format!("default/{HOME}/ntkrnlmp.pdb")),
        (format!("s/{HOME}/ntkrnlmp.pd_"), &packed, "cache*$/a;srv*$/b*$/s", format!("a/{HOME}/ntkrnlmp.pdb")),
    ];
    for (place, content, path, expected) in cases {
        let folder = Folder::new();
        folder.put(&place, content);
        let found = find(path, &folder).unwrap();
        assert_eq!(found, folder.0.join(&expected), "{path}");
        assert!(fs::read(&found).unwrap() == bytes, "{path}");
        assert!(folder.files().iter().all(|file| !file.ends_with(".new")), "{:?}", folder.files());
    }
    // Each cache in the path gets a copy.
    let folder = Folder::new();
    folder.put("s/ntkrnlmp.pdb", &bytes);
    find("srv*$/a*$/b*$/s", &folder).unwrap();
    assert_eq!(folder.files(), [format!("a/{HOME}/ntkrnlmp.pdb"), format!("b/{HOME}/ntkrnlmp.pdb"), "s/ntkrnlmp.pdb".into()]);
}

/// Each form of an entry on a server. The second search sends no request.
#[test]
fn servers() {
    let bytes = msf(&pdb(), 200);
    let packed = cabinet("ntkrnlmp.pdb", &bytes);
    let home = |file: &str| format!("{HOME}/{file}");
    type Case<'a> = (&'a str, Vec<(String, Entry)>);
    let cases: [Case; 5] = [
        ("plain", vec![(home("ntkrnlmp.pdb"), Entry::File(bytes.clone()))]),
        ("compressed", vec![(home("ntkrnlmp.pd_"), Entry::File(packed.clone()))]),
        ("compressed under the plain name", vec![(home("ntkrnlmp.pdb"), Entry::File(packed.clone()))]),
        (
            "redirect",
            vec![(home("ntkrnlmp.pdb"), Entry::Redirect("/symbols/there".into())), ("there".into(), Entry::File(bytes.clone()))],
        ),
        (
            "wrong, then compressed",
            vec![
                (home("ntkrnlmp.pdb"), Entry::File(msf(&Pdb { guid: Uuid::from_u128(1), ..pdb() }, 20))),
                (home("ntkrnlmp.pd_"), Entry::File(packed.clone())),
            ],
        ),
    ];
    for (name, entries) in cases {
        let server = Server::start();
        for (path, entry) in entries {
            server.put(&path, entry);
        }
        let folder = Folder::new();
        let mut reports: Vec<(u64, Option<u64>)> = Vec::new();
        let path = format!("cache*$/a;srv*$/b*{}", server.url());
        let found = find_with(&path, &folder, &mut |done, whole| reports.push((done, whole))).unwrap();
        assert!(fs::read(&found).unwrap() == bytes, "{name}");
        assert_eq!(folder.files(), [format!("a/{HOME}/ntkrnlmp.pdb"), format!("b/{HOME}/ntkrnlmp.pdb")], "{name}");
        if name == "plain" {
            let whole = bytes.len() as u64;
            assert!(reports.is_sorted() && reports.first() == Some(&(0, Some(whole))), "{reports:?}");
            assert_eq!(reports.last(), Some(&(whole, Some(whole))));
        }
        assert!(!server.requests().is_empty());
        assert_eq!(find(&path, &folder).as_ref(), Ok(&found), "{name}");
        assert_eq!(server.requests(), [""; 0], "{name}");
    }
}

/// A PDB in the container MSFZ is requested, is in a folder of its own in each cache, and is found there.
#[test]
fn compressed_containers() {
    let bytes = crate::pdb::msfz();
    let pdb = Pdb { name: "ntkrnlmp.pdb".into(), guid: Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF), age: 2 };
    let home = "ntkrnlmp.pdb/0123456789ABCDEF0123456789ABCDEF2";
    let (server, folder) = (Server::start(), Folder::new());
    server.put(&format!("{home}/ntkrnlmp.pdb"), Entry::Accepted("application/msfz0", bytes.clone()));
    let path = format!("srv*$/a*$/b*{}", server.url()).replace('$', folder.0.to_str().unwrap());
    let path = SymbolPath::parse(&path, &folder.0.join("default")).unwrap();
    let places = ["a", "b"].map(|cache| format!("{cache}/{home}/msfz0/ntkrnlmp.pdb"));
    for requests in [1, 0] {
        assert_eq!(path.find(&pdb, &mut |_, _| {}).unwrap(), folder.0.join(&places[0]));
        assert_eq!((folder.files(), server.requests().len()), (places.to_vec(), requests));
        assert!(fs::read(folder.0.join(&places[0])).unwrap() == bytes);
    }
}

/// If the transfer from a server breaks off, the next server is used.
#[test]
fn broken_downloads() {
    let bytes = msf(&pdb(), 200);
    let place = format!("{HOME}/ntkrnlmp.pdb");
    let (first, second, folder) = (Server::start(), Server::start(), Folder::new());
    first.put(&place, Entry::Cut(bytes.clone(), 30_000));
    let path = format!("srv*$/a*{};srv*$/a*{}", first.url(), second.url());
    let error = find(&path, &folder).unwrap_err();
    assert!(error.contains("ntkrnlmp.pdb: stopped after 30000 bytes"), "{error}");
    assert_eq!((first.requests().len(), second.requests().len()), (1, 2));
    assert_eq!(folder.files(), [""; 0]);
    second.put(&place, Entry::File(bytes.clone()));
    assert!(fs::read(find(&path, &folder).unwrap()).unwrap() == bytes);
    assert_eq!(folder.files(), [format!("a/{place}")]);
}

/// The error lists every place in order, and no invalid file is kept.
#[test]
fn errors_list_every_place() {
    let bytes = msf(&pdb(), 20);
    let server = Server::start();
    let url = server.url();
    let folder = Folder::new();
    folder.put("r/ntkrnlmp.pdb", &msf(&Pdb { age: 5, ..pdb() }, 20));
    folder.put(&format!("s/{HOME}/ntkrnlmp.pdb"), &bytes[..5000]);
    folder.put(&format!("s/{HOME}/ntkrnlmp.pd_"), &cabinet("ntkrnlmp.pdb", &bytes)[..900]);
    folder.put("t/pdb/ntkrnlmp.pdb", b"short");
    let old = [b"Microsoft C/C++ program database 2.00\r\n\x1AJG\0\0".as_slice(), &[0; 64]].concat();
    folder.put("u/ntkrnlmp.pdb", &old);
    folder.put("v/symbols/pdb/ntkrnlmp.pdb", &[b"Microsoft MSFZ Container\r\n\x1aALD\0\0".as_slice(), &[0; 64]].concat());
    server.put(
        &format!("{HOME}/ntkrnlmp.pdb"),
        Entry::File(b"<!DOCTYPE html><html><body>Please log in to the network first.</body></html>".to_vec()),
    );
    server.put(&format!("{HOME}/ntkrnlmp.pd_"), Entry::Status(403));
    server.put("loop", Entry::Redirect("/symbols/loop".into()));
    server.put(&format!("r/{HOME}/ntkrnlmp.pdb"), Entry::Redirect("/symbols/loop".into()));
    let path = format!("srv*$/a*$/r;$/s;$/t;$/u;$/v;srv*$/a*{url};srv*$/a*{url}/r;srv*$/a*http://127.0.0.1:1");
    let error = find(&path, &folder).unwrap_err();
    let error = error.replace(folder.0.to_str().unwrap(), "$").replace(&url, "URL");
    // The message of the operating system differs between systems.
    let start = error.find("io: ").unwrap();
    let end = start + error[start..].find('\n').unwrap();
    let error = [&error[..start], "refused", &error[end..]].concat();
    let expected = "\
ntkrnlmp.pdb with key BBED7C2955FBE4522AAA23F4B8677AD91f not found along the symbol path:
  $/a: the folder does not exist
  $/r/ntkrnlmp.pdb: is a different PDB, with GUID BBED7C2955FBE4522AAA23F4B8677AD9 and age 5
  $/s/HOME/ntkrnlmp.pdb: cannot be used: truncated PDB, 5000 of 10240 bytes; download it again
  $/s/HOME/ntkrnlmp.pd_: is a cabinet that cannot be expanded (failed to fill whole buffer)
  $/t/pdb/ntkrnlmp.pdb: is not a PDB: it begins with `short`
  $/u/ntkrnlmp.pdb: cannot be used: unsupported PDB in MSF 2.00, the format of Visual C++ 6 and Windows 2000; name one of Windows XP or later
  $/v/symbols/pdb/ntkrnlmp.pdb: is a PDB without a GUID
  URL/HOME/ntkrnlmp.pdb: is not a PDB: it begins with `<!DOCTYPE html><`
  URL/HOME/ntkrnlmp.pd_: HTTP 403 Forbidden
  URL/r/HOME/ntkrnlmp.pdb: too many redirects
  http://127.0.0.1:1/HOME/ntkrnlmp.pdb: refused
add a store that has it to the path, or give the PDB itself";
    assert_eq!(error, expected.replace("HOME", HOME));
    assert!(folder.files().iter().all(|file| !file.starts_with("a/")), "{:?}", folder.files());
}

/// The cause of a failure is the place with the last reason in this order: not found, refused, unreachable, unusable.
#[test]
fn reasons() {
    let (folder, server) = (Folder::new(), Server::start());
    let place = format!("{HOME}/ntkrnlmp.pdb");
    folder.put("damaged/ntkrnlmp.pdb", b"short");
    for (at, status) in [("refused", 403), ("busy", 429), ("broken", 503)] {
        server.put(&format!("{at}/{place}"), Entry::Status(status));
        server.put(&format!("{at}/{HOME}/ntkrnlmp.pd_"), Entry::Status(status));
    }
    let url = server.url();
    for (path, reason, cause) in [
        (format!("$/none;srv*$/a*{url}"), Reason::NotFound, "none"),
        (format!("srv*$/a*{url}/refused;$/none"), Reason::Refused, "refused"),
        (format!("srv*$/a*{url}/busy;srv*$/a*{url}/refused"), Reason::Unreachable, "busy"),
        (format!("srv*$/a*{url};srv*$/a*{url}/broken"), Reason::Unreachable, "broken"),
        ("srv*$/a*http://127.0.0.1:1".to_owned(), Reason::Unreachable, "127.0.0.1:1"),
        (format!("srv*$/a*{url}/broken;$/damaged"), Reason::Unusable, "damaged"),
    ] {
        let path = SymbolPath::parse(&path.replace('$', folder.0.to_str().unwrap()), &folder.0.join("cache")).unwrap();
        let error = path.find(&pdb(), &mut |_, _| {}).unwrap_err();
        let found = error.cause().unwrap();
        assert!(found.reason == reason && found.place.contains(cause), "{error}");
        // Without servers, only folders are searched.
        let error = path.without_servers().find(&pdb(), &mut |_, _| {}).unwrap_err();
        assert!(error.tried.iter().all(|tried| !tried.place.contains("127.0.0.1")), "{error}");
    }
}

#[test]
fn names_cannot_leave_the_cache() {
    let folder = Folder::new();
    let path = SymbolPath::parse("srv*a*http://127.0.0.1:1", &folder.0).unwrap();
    for name in ["", "..", "../x.pdb", "c:x.pdb", "a\\b.pdb", "a\0.pdb"] {
        let error = path.find(&Pdb { name: name.into(), ..pdb() }, &mut |_, _| {}).unwrap_err();
        assert_eq!(error.tried[0].answer, "is not a file name", "{name:?}");
    }
}

/// Damaged entries never cause a panic. If only the content of a file is damaged, the file can still be accepted.
#[test]
fn no_entry_panics() {
    let mut random = Random(11);
    let bytes = msf(&pdb(), 12);
    let folder = Folder::new();
    let mut taken = 0;
    for (file, content, dense) in [("ntkrnlmp.pdb", bytes.clone(), 3600), ("ntkrnlmp.pd_", cabinet("ntkrnlmp.pdb", &bytes), 120)]
    {
        for _ in 0..1500 {
            let entry = folder.put(&format!("s/{HOME}/{file}"), &random.mutated(&content, dense));
            taken += usize::from(find("$/s", &folder).is_ok());
            fs::remove_file(entry).unwrap();
        }
    }
    assert!((100..2900).contains(&taken), "{taken}");
}

/// Real files, if they are available: GUID and age are those that their images state.
#[test]
fn real_files() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let files = [
        ("ntkrnlpa_xpsp3_x86_30B5FB31.pdb", 0x30B5_FB31_AE7E_4ACA_ABA7_50AA_241F_F331, 1),
        ("ntdll_win7_x86_E3C1142B.pdb", 0xE3C1_142B_AD00_4AB1_A930_386A_8D55_7B99, 2),
        ("ntdll_win10or11_x64_CCC0E361.pdb", 0xCCC0_E361_20F4_24BE_044D_E630_C3BD_80C4, 1),
        ("wntdll_win10or11_x86_1C96EAD8.pdb", 0x1C96_EAD8_0971_326D_3967_ED72_C983_E164, 1),
    ];
    let path = SymbolPath::parse(&format!("{}/pdb", folder.display()), Path::new("unused")).unwrap();
    for (name, guid, age) in files {
        let found = path.find(&Pdb { name: name.to_owned(), guid: Uuid::from_u128(guid), age }, &mut |_, _| {});
        assert_eq!(found.unwrap(), Path::new(&folder).join("pdb").join(name));
    }
}

/// An endless download ends at the size limit, and no part of it is kept.
#[test]
fn endless_files() {
    let folder = Folder::new();
    let server = Server::start();
    server.put(&format!("{HOME}/ntkrnlmp.pdb"), Entry::Endless);
    let message = find(&format!("srv*$/a*{}", server.url()), &folder).unwrap_err();
    assert!(message.contains("ntkrnlmp.pdb: has more than 512 MiB, the limit for PDBs"), "{message}");
    assert_eq!(folder.files(), [""; 0]);
}
