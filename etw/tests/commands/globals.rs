//! Addresses of global variables. They are facts of one PDB each, and are imported, kept and verified against symbols.

use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::folder::Folder;

/// Facts of six kernels with the same layouts and different addresses.
const FACTS: &str = "10.0.19041.985-x64.facts";

/// Exit status and output of a command on the specs and facts of a folder.
fn etw(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
    let output = command.args(words).args(["--specs", "specs", "--facts", "facts"]).current_dir(folder).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false if to.extension().is_some_and(|extension| extension == "toml" || extension == "facts") => {
                _ = fs::copy(entry.path(), to).unwrap()
            }
            false => {}
        }
    }
}

/// Copies the specs and facts of the project to a folder.
fn project(root: &Path, folder: &Folder) {
    ["specs", "facts"].iter().for_each(|name| copied(&root.join(name), &folder.0.join(name)));
    fs::remove_file(folder.0.join("specs/Cargo.toml")).unwrap();
}

#[test]
fn addresses_are_facts_of_one_pdb() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shipped = fs::read_to_string(root.join("facts").join(FACTS)).unwrap();
    let (head, types) = shipped.split_at(shipped.find("\nstruct ").unwrap());
    assert!(head.lines().filter(|line| line.starts_with("kernel ")).count() > 1 && head.contains("EtwpDebuggerData"), "{head}");
    let kernels = head.lines().filter(|line| line.starts_with("kernel ")).count();
    let folder = Folder::new("globals");
    project(&root, &folder);
    let without: String = head.lines().filter(|line| !line.starts_with(' ')).map(|line| format!("{line}\n")).collect();
    let facts = format!("facts/{FACTS}");
    folder.file(&facts, without.trim_end().to_owned() + types);

    // The addresses of each kernel are imported, and nothing else changes. A second import changes nothing.
    folder.file("new/kernels.facts", &shipped);
    let (status, said) = etw(&folder.0, &["import", "new"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fs::read_to_string(folder.0.join(&facts)).unwrap(), shipped);
    let nothing = |name: &str| {
        let (status, said) = etw(&folder.0, &["import", name]);
        assert!(status == Some(0) && said.ends_with("nothing to import\n"), "{said}");
    };
    nothing("new");
    // A table with fewer addresses removes none.
    folder.file("new/kernels.facts", without.trim_end().to_owned() + types);
    nothing("new");
    folder.file("new/kernels.facts", shipped.replace("PspHostSiloGlobals", "KeNumberProcessors"));
    let (status, said) = etw(&folder.0, &["import", "new"]);
    assert_eq!(status, Some(0), "{said}");
    let both = fs::read_to_string(folder.0.join(&facts)).unwrap();
    assert_eq!(both.matches(" PspHostSiloGlobals\n").count() + both.matches(" KeNumberProcessors\n").count(), 2 * kernels);

    // Another table of the same PDB is verified against the facts. Other addresses in another PDB are not a difference.
    folder.file("new/kernels.facts", &shipped);
    let count = head.lines().skip_while(|line| !line.starts_with(' ')).take_while(|line| line.starts_with(' ')).count();
    let (status, said) = etw(&folder.0, &["verify", "--verbose", "--symbols", "new"]);
    assert!(
        status == Some(0)
            && said.contains(&format!("addresses of {count} global variables, {count} equal to those in the facts of this PDB")),
        "{said}"
    );
    let line = head.lines().find(|line| line.ends_with(" EtwpDebuggerData")).unwrap();
    let wrong = shipped.replacen(line, " 0x123450 EtwpDebuggerData", 1);
    folder.file("new/kernels.facts", &wrong);
    let (status, said) = etw(&folder.0, &["verify", "--symbols", "new"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("EtwpDebuggerData address: the facts of this PDB have 0x") && said.contains("1 difference"), "{said}");
    let (status, said) = etw(&folder.0, &["import", "new"]);
    assert!(status == Some(2) && said.contains("one of the tables of this PDB is wrong"), "{said}");
    let guid = head.split(' ').find(|word| word.len() == 32).unwrap();
    folder.file("new/kernels.facts", wrong.replacen(guid, &"7".repeat(32), 1));
    assert_eq!(etw(&folder.0, &["verify", "--symbols", "new"]).0, Some(0));
    // The specs state which kernels have a variable.
    folder.file("new/kernels.facts", shipped.replace("PspHostSiloGlobals", "WmipLoggerContext"));
    let (status, said) = etw(&folder.0, &["verify", "--symbols", "new", "--format", "json"]);
    assert!(status == Some(1) && said.contains("that 10.0.19041.985-x64 has none"), "{said}");
}

/// An imported table has a variable more and a type less than the existing facts. The facts then contain both.
#[test]
fn an_import_of_addresses_keeps_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = Folder::new("globals-types");
    project(&root, &folder);
    let facts = "facts/10.0.19041.1415-x64.facts";
    let shipped = fs::read_to_string(root.join(facts)).unwrap();
    let from = shipped.find("\nstruct SILO_USER_SHARED_DATA ").unwrap();
    let to = from + 1 + shipped[from + 1..].find("\nstruct ").unwrap();
    let variable = shipped.lines().find(|line| line.ends_with(" EtwpDebuggerData")).unwrap();
    folder.file(facts, shipped.replace(&format!("{variable}\n"), ""));
    folder.file("new/kernel.facts", shipped[..from].to_owned() + &shipped[to..]);
    let (status, said) = etw(&folder.0, &["import", "new"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fs::read_to_string(folder.0.join(facts)).unwrap(), shipped);
}

/// A kernel with a known PDB, one with two known images, one without any, and one without the variable.
const BY_BUILD: &str = "build\tarch\tEtwThreatIntProvRegHandle\tETW_REG_ENTRY.GuidEntry
10.0.19041.1415\tx64\tc197c0\t20
10.0.22000.469\tx64\tc15d38\t20
10.0.17763.9999\tx64\t0x3f0008\t0x20
10.0.10240.16384\tx64\t0\t20
";

/// A table that identifies kernels by build and not by PDB: its addresses are imported, verified against the known PDBs, and
/// exported with their evidence.
#[test]
fn addresses_by_build() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = Folder::new("globals-by-build");
    project(&root, &folder);
    for entry in fs::read_dir(folder.0.join("facts")).unwrap().map(Result::unwrap) {
        if entry.file_name().to_str().unwrap().ends_with("-addresses.facts") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let expect = |words: &[&str], status: i32, parts: &[&str]| {
        let (found, said) = etw(&folder.0, words);
        assert_eq!(found, Some(status), "{words:?}: {said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{words:?}, {part}: {said}"));
    };
    let (import, verify) = (["import", "table.tsv"], ["verify", "--symbols", "table.tsv"]);

    for (from, to, finding) in [
        ("c197c0", "c197c8", "address in the image: the facts of the kernel's PDB have 0xc197c0, the table has 0xc197c8"),
        ("x64\t0\t", "x64\t8\t", "that 10.0.10240.16384-x64 has none"),
    ] {
        folder.file("table.tsv", BY_BUILD.replace(from, to));
        expect(&verify, 1, &[finding, "1 image differs", "1 difference"]);
        expect(&import, 2, &[finding, "nothing was written; correct the address"]);
    }
    folder.file("table.tsv", "build\tarch\tEtwThreatIntProvRegHandle\n10.0.10240.16384\tx64\t0\n");
    expect(&verify, 2, &["table.tsv: contains no structure or variable of the specs"]);
    expect(&import, 2, &["table.tsv: contains no structure or variable of the specs"]);

    folder.file("table.tsv", BY_BUILD);
    expect(&verify, 0, &["4 offsets by 4 images"]);
    expect(
        &[&verify[..], &["-v"]].concat(),
        0,
        &[
            "4 images",
            "4 offsets equal, 3 addresses  table.tsv",
            "addresses of global variables, 1 equal to those in the facts of the kernel's PDB",
        ],
    );
    expect(&[&verify[..], &["--format", "json"]].concat(), 0, &["\"file\": null", "\"stated\": 1,\n        \"equal\": 1"]);
    expect(&import, 0, &["4 images are not in the facts yet\nno spec file changes"]);
    expect(&import, 0, &["0 images are not in the facts yet\nnothing to import"]);
    // One more variable of a known kernel.
    folder.file("table.tsv", "build\tarch\tEtwpDebuggerData\n10.0.17763.9999\tx64\t1000\n");
    expect(&import, 0, &["1 images are not in the facts yet"]);
    let facts = fs::read_to_string(folder.0.join("facts/10.0.10240.16384-x64-addresses.facts")).unwrap();
    let all = "kernel 10.0.17763.9999 x64 -\n 0x3f0008 EtwThreatIntProvRegHandle\n 0x1000 EtwpDebuggerData\n";
    assert!(facts.contains(all) && facts.ends_with("offsets ETW_REG_ENTRY\n 0x20 GuidEntry\n"), "{facts}");

    let rows = [
        "10.0.19041.1415,x64,ntkrnlmp.pdb,",
        ",0xc197c0,PDB\n",
        "ntoskrnl.exe,0xddc66c3f,0x1047000,0xc15d38,\"build, in one of its 2 images\"\n",
        "10.0.17763.9999,x64,,,,,,,0x3f0008,build\n",
        // The variable exists since Windows 10 1703.
        "10.0.10240.16384,x64,,,,,,,,\n",
        ",,unknown\n",
    ];
    expect(&["export", "offsets", "EtwThreatIntProvRegHandle"], 0, &rows);
    let row = ["\"address\": 12672312,", "\"evidence\": \"build\",", "\"images\": 2"];
    expect(&["export", "offsets", "EtwThreatIntProvRegHandle", "--format", "json"], 0, &row);
    let listed = &["PDBs  image tables", "\"builds_in_image_tables\": 3,"];
    expect(&["list", "--globals", "EtwThreatInt*"], 0, &listed[..1]);
    expect(&["list", "--globals", "EtwThreatInt*", "--format", "json"], 0, &listed[1..]);
    let isf = [
        "2 symbols of 10.0.17763.9999-x64, from a table that names the build and architecture, but not the PDB",
        "\"address\": 4128776,",
    ];
    expect(&["export", "isf", "10.0.17763.9999-x64"], 0, &isf);
    let none =
        "no symbols: 2 images of 10.0.22000.469-x64 are known, and the table does not name the one that its addresses belong to";
    expect(&["export", "isf", "10.0.22000.469-x64"], 0, &[none]);
}
