//! Every command on folders that someone else prepared. Nothing outside of the folder of the command changes, a command that only reads changes
//! nothing at all, and every command ends.

use etw_layouts_etl::wire::Arch;
use etw_layouts_etl::{ClockType, HeaderType};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use test_support::dumps;
use test_support::folder::Folder;
use test_support::installed;
use test_support::traces::{PRODUCERS, fixture_of};

/// Whether a command changes files of its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reads,
    Writes,
}

use Kind::{Reads, Writes};

/// The commands for each folder.
const COMMANDS: [(&str, &[(Kind, &str)]); 4] = [
    ("dataset", &[(Writes, "etl export -o dataset a.etl"), (Writes, "etl export -o dataset b.etl")]),
    (
        "specs",
        &[
            (Reads, "list --specs specs --facts facts"),
            (Reads, "show DEVICE --specs specs --facts facts"),
            (Reads, "diff 10.0.19041.1-x64 10.0.19041.2-x64 --specs specs --facts facts"),
            (Reads, "map --build 10.0.19041.1 --specs specs --facts facts"),
            (Reads, "export json --specs specs --facts facts"),
            (Reads, "verify --specs specs --facts facts"),
            (Reads, "fmt --check --specs specs --facts facts"),
            (Reads, "import new.facts --dry-run --specs specs --facts facts"),
            (Writes, "fmt --specs specs --facts facts"),
            (Writes, "import new.facts --specs specs --facts facts"),
        ],
    ),
    ("atlas", &[(Writes, "atlas --specs specs -o atlas")]),
    (
        "out",
        &[
            (Writes, "export json --specs specs -o out"),
            (Writes, "export layouts --specs specs -o out"),
            (Writes, "open DEVICE --specs specs -o out/page.html"),
            (Writes, "etl save -o out/new.etl a.etl"),
            (Writes, "etl pcap -o out/new.pcapng a.etl"),
            (Writes, "dump save -o out a.dmp"),
        ],
    ),
];

/// Files and folders of the program that links, pipes and folders take the place of. `PART` is the name of a part.
const PLACES: [(&str, &[&str]); 4] = [
    (
        "dataset",
        &[
            "dataset/_etw",
            "dataset/_etw/lock",
            "dataset/_etw/parts",
            "dataset/_etw/parts/PART.json",
            "dataset/_etw/parts/PART.json.part",
            "dataset/_etw/staging",
            "dataset/_etw/staging/PART",
            "dataset/_etw/staging/PART/events",
            "dataset/_etw/staging/PART/events/PART.parquet",
            "dataset/events",
            "dataset/events/PART.parquet",
            "dataset/manifest.json",
            "dataset/manifest.json.part",
        ],
    ),
    (
        "specs",
        &[
            "specs/.lock",
            "specs/.change",
            "specs/.change.etw-new",
            "specs/DEVICE.toml.etw-new",
            "specs/DEVICE.toml.etw-new.part",
            "facts/a.facts.etw-new",
            "specs/.journal",
        ],
    ),
    ("atlas", &["atlas/atlas.txt", "atlas/atlas.txt.part", "atlas/index.html", "atlas/type", "atlas/type/DEVICE.html"]),
    ("out", &["out/new.etl", "out/page.html", "out/new.pcapng", "out/atlas.json", "out/a-11-A_logger.etl"]),
];

/// Paths that the program never writes. `OUTSIDE` is a folder beside that of the command.
const PATHS: [&str; 12] = [
    "../OUTSIDE/precious",
    "../../OUTSIDE/precious",
    "../../../OUTSIDE/precious",
    "../../../../OUTSIDE",
    "/ABSOLUTE/precious",
    "events/../../../OUTSIDE/precious",
    "C:\\\\precious",
    "\\\\\\\\?\\\\C:\\\\precious",
    "events/NUL",
    "events/link/precious",
    "",
    "..",
];

#[test]
fn nothing_outside_changes() {
    let sample = Folder::new("hostile-sample");
    prepare(&sample.0);
    let part = fs::read_dir(sample.0.join("dataset/_etw/parts")).unwrap().next().unwrap().unwrap().path();
    let part = part.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut cases = Vec::new();
    for (folder, places) in PLACES {
        for place in places {
            for edit in [Edit::FileLink, Edit::FolderLink, Edit::Pipe, Edit::Folder] {
                cases.push((folder, place.replace("PART", &part), edit));
            }
        }
    }
    for path in PATHS {
        for (folder, file) in [("dataset", format!("dataset/_etw/parts/{part}.json")), ("specs", "specs/.change".into())] {
            cases.extend([Edit::Path(path), Edit::Name(path)].map(|edit| (folder, file.clone(), edit)));
        }
        cases.push(("atlas", "atlas/atlas.txt".into(), Edit::Path(path)));
    }
    let pipes = installed::program("mkfifo");
    cases.retain(|(_, _, edit)| {
        cfg!(unix) && (*edit != Edit::Pipe || pipes.is_some()) || matches!(edit, Edit::Folder | Edit::Path(_) | Edit::Name(_))
    });
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for first in 0..threads {
            let (cases, sample) = (&cases, &sample.0);
            scope.spawn(move || cases.iter().skip(first).step_by(threads).for_each(|case| check(sample, case)));
        }
    });
    println!("{} hostile folders", cases.len());
}

/// Where and how a folder is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// A link to a file outside.
    FileLink,
    /// A link to a folder outside.
    FolderLink,
    /// A pipe that nobody writes to.
    Pipe,
    /// A folder with a file.
    Folder,
    /// The file names a file by this path.
    Path(&'static str),
    /// The file names itself, or the folder of a file, by this path.
    Name(&'static str),
}

fn check(sample: &Path, (folder, place, edit): &(&str, String, Edit)) {
    let (_, commands) = COMMANDS.iter().find(|(name, _)| name == folder).unwrap();
    for (kind, command) in *commands {
        let root = Folder::new(&format!("hostile-{:?}", thread::current().id()));
        let (own, outside) = (root.0.join("own"), root.0.join("outside"));
        copy(sample, &own);
        for name in ["precious", "PART.json", "type/precious", "a.etl"] {
            fs::create_dir_all(outside.join(name).parent().unwrap()).unwrap();
            fs::write(outside.join(name), "precious").unwrap();
        }
        apply(*edit, &own, place, &outside);
        let [before, own_before] = [&outside, &own].map(|folder| tree(folder));
        let (status, text) = run(&own, command);
        let about = format!("{edit:?} at {place}: etw {command}: {status:?} {text}");
        assert!(status.is_some_and(|status| (0..3).contains(&status)), "{about}");
        assert!(tree(&outside) == before, "{about}\n{:#?}", tree(&outside));
        if *kind == Reads {
            assert!(tree(&own) == own_before, "{about}");
        }
    }
}

fn apply(edit: Edit, own: &Path, place: &str, outside: &Path) {
    let path = own.join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let clear = || _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    let name = |path: &str| path.replace("OUTSIDE", "outside").replace("/ABSOLUTE", &outside.to_string_lossy());
    match edit {
        #[cfg(unix)]
        Edit::FileLink | Edit::FolderLink => {
            clear();
            let to = if edit == Edit::FileLink { outside.join("precious") } else { outside.to_owned() };
            std::os::unix::fs::symlink(to, &path).unwrap();
        }
        #[cfg(not(unix))]
        Edit::FileLink | Edit::FolderLink => unreachable!("left out"),
        Edit::Pipe => {
            clear();
            assert!(installed::program("mkfifo").unwrap().command().arg(&path).status().unwrap().success());
        }
        Edit::Folder => {
            clear();
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("file"), "text").unwrap();
        }
        Edit::Path(to) | Edit::Name(to) => {
            let to = name(to);
            #[cfg(unix)]
            for folder in ["dataset/events/link", "specs/link"] {
                let _ = fs::create_dir_all(own.join("dataset/events"));
                std::os::unix::fs::symlink(outside, own.join(folder)).unwrap();
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_path = matches!(edit, Edit::Path(_));
            let text = if place.ends_with(".json") {
                let (key, old) = if is_path { ("path", "events/") } else { ("part", "part-") };
                let start = text.find(&format!("\"{key}\": \"{old}")).unwrap() + key.len() + 5;
                let end = start + text[start..].find('"').unwrap();
                // With another size, the file is not complete, and would be removed.
                format!("{}{to}{}", &text[..start], &text[end..]).replace("\"bytes\": ", "\"bytes\": 1")
            } else if place.ends_with(".txt") {
                // FNV-1a of `precious`.
                let hash = "precious"
                    .bytes()
                    .fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
                format!("{text}{hash:016x} {to}\n")
            } else {
                let entry =
                    |folder: &str, path: &str| format!(r#"{{"folder":"{folder}","path":"{path}","old":null,"removed":true}}"#);
                let entries = if is_path { [entry("specs", &to), entry("facts", &to)].join(",") } else { entry(&to, "precious") };
                format!(r#"{{"command":"import","entries":[{entries}]}}"#)
            };
            fs::write(&path, text).unwrap();
        }
    }
}

/// Makes one folder of each kind with the program.
fn prepare(own: &Path) {
    let trace = |rounds| fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, rounds, &HeaderType::is_known).unwrap().bytes;
    let write = |name: &str, content: &[u8]| {
        fs::create_dir_all(own.join(name).parent().unwrap()).unwrap();
        fs::write(own.join(name), content).unwrap();
    };
    write("a.etl", &trace(2));
    write("b.etl", &trace(3));
    write("a.dmp", &dumps::whole("10.0.19041.264".parse().unwrap(), Arch::X64));
    write("specs/windows.toml", AXIS.as_bytes());
    write("specs/DEVICE.toml", b"[struct]\nname = \"DEVICE\"\n[[member]]\nname = \"Id\"\ntype = \"ULONG\"\n");
    for (name, build, size) in [("facts/a.facts", 1, 4), ("new.facts", 3, 8)] {
        let more = if size == 8 { " 0x4 Flags u4\n" } else { "" };
        let head = "etw-layouts-symbols 1\nproducer a test\nkernel 10.0.19041.";
        write(name, format!("{head}{build} x64 -\nstruct DEVICE {size:#x}\n 0x0 Id u4\n{more}").as_bytes());
    }
    fs::create_dir(own.join("out")).unwrap();
    for command in ["etl export -o dataset a.etl", "atlas --specs specs -o atlas", "verify --specs specs --facts facts"] {
        let (status, text) = run(own, command);
        assert!(status.is_some_and(|status| status < 2), "{command}: {text}");
    }
}

const AXIS: &str = r#"
architectures = ["x64"]

[[release]]
labels = ["one"]
revisions = [{ build = "10.0.19041.1", module = "one" }, { build = "10.0.19041.2", module = "two" }]
"#;

/// The exit status and the output of a command; no status if it does not end.
fn run(own: &Path, command: &str) -> (Option<i32>, String) {
    let mut etw = Command::new(env!("CARGO_BIN_EXE_etw"));
    etw.args(command.split(' ')).current_dir(own).stdin(Stdio::null());
    let [out, err] = ["out.txt", "err.txt"].map(|name| own.with_extension(name));
    etw.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
    let (mut child, start) = (etw.spawn().unwrap(), Instant::now());
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if start.elapsed() > Duration::from_secs(120) => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => sleep(Duration::from_millis(5)),
        }
    };
    (status, [out, err].map(|path| fs::read_to_string(path).unwrap_or_default()).concat())
}

/// Everything in a folder: content, kind, and where links lead.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            all.extend(tree(&path));
        }
        let content = match kind {
            _ if kind.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            _ if kind.is_file() => fs::read(&path).unwrap().escape_ascii().to_string(),
            _ => String::new(),
        };
        all.insert(path, format!("{kind:?} {content}"));
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &path),
            false => _ = fs::copy(entry.path(), path).unwrap(),
        }
    }
}
