//! The installed program `etw` in an empty folder, with the built-in specs and with those of its user.

use etw_layouts_cli::built_in;
use etw_layouts_project::Project;
use etw_layouts_project::project::Files;
use etw_layouts_project::stored::Stored;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("etw-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }

    /// The exit status and the output of `etw` in the folder.
    fn etw(&self, arguments: &str) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_etw")).args(arguments.split(' ')).current_dir(&self.0).output();
        let output = output.expect("etw runs");
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        (output.status.code(), out + &err)
    }

    fn says(&self, arguments: &str, status: i32, parts: &[&str]) {
        let (code, said) = self.etw(arguments);
        assert_eq!(code, Some(status), "{arguments}: {said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{arguments} does not print {part}: {said}"));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `-` is no folder or file of that name by accident.
#[test]
fn outputs_are_paths() {
    let folder = Folder::new("outputs");
    for command in ["export json", "export offsets LUID.LowPart", "export c 6.1-x64", "atlas", "open LUID"] {
        folder.says(&format!("{command} -o -"), 2, &["`-` does not mean standard output here; give a path"]);
    }
    assert!(!folder.0.join("-").exists());
}

/// Every command that names a build prints its release, update and KB number, also with a user's specs.
#[test]
fn builds_are_named_by_release_and_update() {
    let folder = Folder::new("updates");
    folder.write("own/DEVICE.toml", "[struct]\nname = \"DEVICE\"\n[[member]]\nname = \"Id\"\ntype = \"ULONG\"\n");
    folder.write("own-facts/updates.txt", "KB7 10.0.19045.3570\n");
    folder.write("wrong-facts/updates.txt", "KB7 10.0.19045.3570\nKB8\n");
    for name in ["own-facts", "wrong-facts"] {
        let table = "etw-layouts-symbols 1\nproducer a test\nkernel 10.0.19041.264 x64 -\nstruct DEVICE 0x4\n 0x0 Id u4\n";
        folder.write(&format!("{name}/device.facts"), table);
    }
    let name = "Windows 10 22H2 (19045.3570, KB5031356): 10.0.19045.3570-x64";
    let json = ["\"release\": \"Windows 10 22H2\"", "\"windows_build\": \"10.0.19045.3570\"", "\"KB5031356\""];
    let commands: [(&str, i32, &[&str]); 20] = [
        ("show LUID --build 10.0.19045.3570", 0, &[&format!("aligned to 4, in {name}")]),
        ("show LUID --build 10.0.19041.3570", 0, &[" in Windows 10 version 2004 to 22H2 (19041.3570, KB5031356): "]),
        ("show LUID --build 10.0.19045.3571", 0, &[" in Windows 10 22H2 (19045.3571): "]),
        ("show LUID --build 10.0.65000.1", 0, &[" in 10.0."]),
        ("list LUID --build 10.0.19045.3570", 0, &[&format!("In {name}")]),
        ("export c 10.0.19045.3570-x64 --only LUID", 0, &[&format!("/* {name}")]),
        ("export isf 10.0.19045.3570-x64 --only LUID", 0, &[&format!("etw-layouts: {name}")]),
        ("show LUID --build 10.0.19045.3570 --format json", 0, &json),
        ("list LUID --build 10.0.19045.3570 --format json", 0, &json),
        ("map LUID --build 10.0.19045.3570 --format json", 0, &json),
        ("list --targets KB5009557", 0, &["\n10.0.17763.2452-x64 "]),
        ("list --updates KB5009543", 0, &["2022-01\n", "  10.0.20348.469   KB5009555  Windows Server 2022\n"]),
        ("list --updates silos", 0, &["\n  not 10.0.22000\n"]),
        ("list --updates KB5009543 --format json", 0, &["\"name\": \"2022-01\"", "\"KB5009555\"", "\"architectures\": null"]),
        ("list --updates KB1", 2, &["no update matches `KB1`"]),
        ("list --updates --build 6.1", 2, &["cannot be used with"]),
        ("show DEVICE --build 10.0.19045.3570 --specs own", 0, &["in Windows 10 22H2 (19045.3570, KB5031356): "]),
        ("show DEVICE --build 10.0.19045.3570 --specs own --facts own-facts", 0, &["(19045.3570, KB7)"]),
        (
            "show DEVICE --build 6.1 --specs own",
            0,
            &["at this target: stated by the specs; no symbols", "Member: stated by the specs.\n"],
        ),
        ("show DEVICE --specs own --facts wrong-facts", 2, &["wrong-facts/updates.txt:2: `KB8` has no builds; write `KB5031356"]),
    ];
    for (arguments, status, parts) in commands {
        folder.says(arguments, status, parts);
    }
}

#[test]
fn specs_and_facts_are_part_of_the_program() {
    let folder = Folder::new("empty");
    folder.says("verify", 0, &[" 0 differences"]);
    folder.says("show WMI_BUFFER_HEADER --build 6.1 --arch x64", 0, &["0x48 bytes", "BufferSize"]);
    folder.says("diff 6.1.7601-x64 6.1.7601.24000-x64 --only WMI_LOGGER_CONTEXT", 1, &["DisallowedGuids"]);
    folder.says("export c 1709-x86", 0, &["WMI_LOGGER_CONTEXT"]);
    folder.says("export c 1709-x86 --only LUID -o new", 0, &["wrote 1709-x86.h"]);
    folder.says("export c 1709-x86 --only LUID -o new", 0, &["wrote 1709-x86.h"]);
    folder.says("export c 1709-x86 --only GUID -o new", 2, &["1709-x86.h: already exists: refusing to overwrite"]);
    assert_eq!(fs::read_dir(folder.0.join("new")).expect("the folder").count(), 1);
    fs::remove_dir_all(folder.0.join("new")).expect("the folder");
    folder.write("kernel.facts", "");
    folder.says("import kernel.facts", 2, &["cannot change the built-in specs", "--specs", "--facts"]);
    assert_eq!(fs::read_dir(&folder.0).expect("the folder").count(), 1, "nothing is written");
}

/// What the program stores of its specs and facts is what their texts say. Other texts are read themselves: an edit before it is generated, and
/// the specs of a user. Only the program's own texts are not read, so damage of what it stores is an error.
#[test]
fn stored_specs_and_facts_are_those_of_the_texts() {
    let stored = built_in();
    let texts = Project { stored: Stored::default(), ..built_in() };
    let [layouts, of_texts] = [&stored, &texts].map(|project| project.shared_layouts().expect("layouts"));
    let remedy = "run `cargo xtask generate`";
    assert!(format!("{layouts:?}") == format!("{of_texts:?}"), "stored layouts differ from those of the specs; {remedy}");
    let [builds, of_facts] = [&stored, &texts].map(|project| project.registry(&layouts.spec.axis).expect("builds"));
    assert!(builds == of_facts, "stored builds differ from those of the facts; {remedy}");

    let half = |bytes: &'static [u8]| &bytes[..bytes.len() / 2];
    let damaged = Stored { specs: half(stored.stored.specs), facts: half(stored.stored.facts), read: None };
    let damaged = Project { stored: damaged, ..built_in() };
    let errors = [damaged.layouts().err(), damaged.registry(&layouts.spec.axis).err()];
    let errors = errors.map(|error| error.expect("damaged bytes").to_string());
    assert!(errors.iter().all(|error| error.starts_with("damaged program: ")), "{errors:?}");

    let edit = |files: &[(&'static str, &'static str)], file: &str, old: &str, new: &str| {
        let mut files = files.to_vec();
        let edited = files.iter_mut().find(|(path, _)| *path == file).expect("a file");
        assert!(edited.1.contains(old));
        edited.1 = edited.1.replacen(old, new, 1).leak();
        Files::Embedded(files.leak())
    };
    let (path, name) = ("specs/etw/PERIODIC_CAPTURE_STATE_GUIDS.toml", "PERIODIC_CAPTURE_STATE_GUIDS");
    let specs = edit(etw_layouts_specs::FILES, path, "\"ProviderCount\"", "\"ProviderTotal\"");
    let facts =
        edit(etw_layouts_facts::FILES, "facts/10.0.19041.329-x64.facts", "kernel 10.0.19041.329 ", "kernel 10.0.19041.328 ");
    let edited = Project { specs, facts, ..built_in() };
    assert!(format!("{:?}", edited.shared_layouts().expect("layouts").spec.definitions[name]).contains("ProviderTotal"));
    assert_ne!(edited.registry(&layouts.spec.axis).expect("builds"), builds);

    let folder = Folder::new("edited");
    etw_layouts_specs::FILES
        .iter()
        .for_each(|(path, text)| folder.write(path, &text.replace("\"ProviderCount\"", "\"ProviderTotal\"")));
    let show = format!("show {name}");
    folder.says(&show, 0, &["ProviderCount"]);
    folder.says(&format!("{show} --specs specs"), 0, &["ProviderTotal"]);
}

/// Options are offered only for commands on which they have an effect.
#[test]
fn options_are_offered_where_they_work() {
    let folder = Folder::new("offered");
    for command in ["etl", "etl info", "etl events", "dump", "dump info", "dump save"] {
        let (code, said) = folder.etw(&format!("{command} --help"));
        assert!(code == Some(0) && !said.contains("--specs") && !said.contains("--facts"), "{command}: {said}");
        assert_eq!(said.contains("csv:"), command == "etl events", "{command}: {said}");
    }
    folder.says("list --help", 0, &["--specs", "--facts"]);
    folder.says("etl info --specs own a.etl", 2, &["remove --specs"]);
    folder.says("--specs own dump info a.dmp", 2, &["remove --specs"]);
    // A folder, a file with the extension of the format, and a single file for several targets.
    folder.says("export c 1709-x64 --only LUID -o luid.h", 0, &["wrote luid.h"]);
    folder.says("export c 1709-x64 --only LUID -o luid", 0, &["wrote 1709-x64.h to luid"]);
    let [file, other] = ["luid.h", "luid/1709-x64.h"].map(|path| fs::read_to_string(folder.0.join(path)).expect("a header"));
    assert_eq!(file, other);
    folder.says("export c 1709-x64 1709-x86 --only LUID -o two.h", 2, &["two.h: cannot write 2 files to one file"]);
    assert!(!folder.0.join("two.h").exists());
    folder.says("export offsets LUID -o luid.csv", 0, &["wrote luid.csv"]);
}

#[test]
fn specs_of_users_are_completed_and_verified_against_their_facts() {
    let folder = Folder::new("own");
    let queue = "[struct]\nname = \"DEVICE_QUEUE\"\n\n[[member]]\nname = \"Timer\"\ntype = \"KTIMER\"\n";
    folder.write("own/DEVICE_QUEUE.toml", queue);
    folder.write("own/Cargo.toml", "[package]\nname = \"own\"\n");
    folder.says("show DEVICE_QUEUE --specs own --build 2004 --arch x64", 0, &["0x40 bytes", "KTIMER"]);
    folder.says("verify --specs own", 2, &["no facts", "--symbols", "--facts"]);
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../facts/10.0.19041.329-x64.facts");
    let text = fs::read_to_string(facts).expect("a shipped table");
    folder.write("facts/10.0.19041.329-x64.facts", &text);
    folder.says("verify --verbose --specs own --facts facts", 0, &["not in the table: DEVICE_QUEUE", " 0 differences"]);
    folder.says("verify --specs own --symbols facts", 0, &[" 0 differences"]);
    folder.says("import facts --specs own", 2, &["--facts"]);
    // A facts folder that is missing, unreadable or without facts is an error, not an empty set of facts.
    folder.write("other/notes.txt", "");
    for (facts, said) in
        [("facs", "facs: "), ("other", "other: contains no"), ("own/DEVICE_QUEUE.toml/facts", "own/DEVICE_QUEUE.toml/facts: ")]
    {
        folder.says(&format!("show DEVICE_QUEUE --specs own --facts {facts}"), 2, &[said]);
        folder.says(&format!("list --specs own --facts {facts}"), 2, &[said]);
        if facts != "other" {
            folder.says(
                &format!("import facts --dry-run --specs own --facts {facts}"),
                2,
                &[&format!("{facts}: no such folder")],
            );
        }
    }
    let row = "[[release]]\nlabels = [\"next\"]\nrevisions = [{ build = \"10.0.60000\", module = \"next\" }]\n";
    folder.write("own/windows.toml", &format!("extends = \"windows\"\n\n{row}"));
    folder.write("own/scalars.toml", "[scalar]\nDISTANCE = { size = 8, c = \"unsigned long long\" }\n");
    let later = "\n[[member]]\nname = \"Way\"\ntype = \"DISTANCE\"\nin = \"10.0.50000..\"\n\n[[member]]\nname = \"Id\"\ntype = \"SIZE_T\"\n";
    folder.write("own/DEVICE_QUEUE.toml", &format!("{queue}{later}"));
    folder.says("show DEVICE_QUEUE --specs own --build next --arch x64", 0, &["0x50 bytes", "DISTANCE", "SIZE_T"]);
    folder.says("show DEVICE_QUEUE --specs own --build 2004 --arch x64", 0, &["0x48 bytes"]);
    folder.says("fmt --specs absent-folder", 2, &["absent-folder: no such file or folder of specs"]);
    folder.says("show KTIMER --specs own --build next --arch x64", 0, &["inferred", "no symbols of this build were examined"]);
    folder.says("verify --specs own --facts facts", 0, &[" 0 differences"]);
    folder.says("import facts --specs own --facts facts", 0, &["already imported", "nothing to import"]);
    let (producer, types) = (&text[..text.find("kernel ").expect("a kernel")], &text[text.find("struct ").expect("a type")..]);
    folder.write("new.facts", &format!("{producer}kernel 10.0.70000.1 x64 -\n{types}"));
    folder.says("import new.facts --specs own --facts facts", 2, &["unknown build 10.0.70000.1-x64", "--new-build"]);
    folder.says(
        "import new.facts --new-build --specs own --facts facts",
        2,
        &["own/windows.toml extends the built-in version axis"],
    );
    folder.write("own/windows.toml", &format!("extends = \"windows\"\n\n{}", row.replace("\"next\"]\nr", "\"1511\"]\nr")));
    folder.says("list --specs own", 2, &["own/windows.toml:5:14", "10.0.60000", "`1511` are not adjacent"]);
    fs::remove_file(folder.0.join("own/windows.toml")).expect("a temporary file");
    folder.write("own/DEVICE_QUEUE.toml", &queue.replace("KTIMER", "KTIMMER"));
    folder.says("verify --specs own --symbols facts", 2, &["own/DEVICE_QUEUE.toml:6", "KTIMMER"]);
}

#[test]
fn specs_are_formatted() {
    let folder = Folder::new("fmt");
    let device =
        "# A device.\n[struct]\nname=\"DEVICE\"\n\n[[member]] # Its number.\ntype='ULONG'\nname = \"Id\"\noffset.x64=0\n";
    let form = "# A device.\n[struct]\nname   = \"DEVICE\"\nmembers = [\n  # Its number.\n  { name = \"Id\", type = \"ULONG\", offset = { x64 = 0 } },\n]\n";
    folder.write("own/DEVICE.toml", device);
    // Old keys are an error, and are converted.
    let axis = "extends=\"windows\"\n[[version]]\nlabel =  \"next\"\nkernels=[{build=\"10.0.60000\",module=\"next\"}]\n";
    folder.write("own/windows.toml", axis);
    let converted = "extends = \"windows\"\n\n[[release]]\nlabels    = [\"next\"]\nrevisions = [\n  { build = \"10.0.60000\", module = \"next\" },\n]\n";
    folder.says("list --specs own", 2, &["error: old key `version`\n --> own/windows.toml:2:3", "run `etw fmt`"]);
    // Other files are not formatted.
    let others = [
        ("own/scalars.toml", "[scalar]\nDISTANCE={size=8,c=\"unsigned long long\"}\n"),
        ("own/globals.toml", "[global.DeviceList]\ntype =  \"DEVICE *\"\n"),
    ];
    others.iter().for_each(|(path, text)| folder.write(path, text));
    let text = |path: &str| fs::read_to_string(folder.0.join(path)).expect("a spec");

    let diff = [
        "--- a/own/DEVICE.toml",
        "-[[member]] # Its number.",
        "+members = [",
        "-[[version]]",
        "+[[release]]",
        "2 spec files are not formatted; run this command without --check",
    ];
    folder.says("fmt --specs own --check", 1, &diff);
    assert_eq!(text("own/DEVICE.toml"), device, "--check writes nothing");
    folder.says("fmt --specs own", 0, &["own/DEVICE.toml\nown/windows.toml\n2 spec files formatted\n"]);
    assert_eq!((text("own/DEVICE.toml").as_str(), text("own/windows.toml").as_str()), (form, converted));
    others.iter().for_each(|(path, before)| assert_eq!(text(path), *before));
    for arguments in ["fmt --specs own --check", "fmt --specs own"] {
        folder.says(arguments, 0, &["all spec files are formatted"]);
    }

    // An error in a spec is reported first, also if it is in another file.
    folder.write("own/DEVICE.toml", device);
    folder.write("own/QUEUE.toml", "[struct]\nname = \"QUEUE\"\nmembers = [{ name = \"First\", type = \"DEVICES\" }]\n");
    for arguments in ["fmt --specs own --check", "fmt --specs own"] {
        folder.says(arguments, 2, &["own/QUEUE.toml:3", "DEVICES"]);
    }
    assert_eq!(text("own/DEVICE.toml"), device);
    folder.says("fmt", 2, &["the built-in specs are part of the program", "--specs"]);
    folder.says("fmt --check --specs nowhere", 2, &["nowhere"]);
    folder.says("fmt --specs own --facts facts", 2, &["--facts has no effect on `etw fmt`"]);
}

/// Builds can be named by what the output prints, and suggestions can be followed.
#[test]
fn names_of_builds_can_be_typed() {
    let folder = Folder::new("typed");
    for (arguments, status, part) in [
        ("list --targets 10.0.22621.382-x64", 0, " 11-22H2 "),
        ("show LUID --build 11-22H2", 0, ": 10.0.22621.382-x64, the first build of 11-22H2-x64"),
        ("show LUID --build 20H2", 0, " in Windows 10 20H2 "),
        ("show LUID --build 22H2", 2, "write `10-22H2` or `11-22H2`"),
        ("show LUID --build 22H3", 2, "did you mean `10-22H2` or `11-22H2`?"),
        ("show LUID --build 5031356", 2, "did you mean the update `KB5031356`?"),
        ("show LUID --build 1709-x64", 2, "write --build 1709 --arch x64"),
        ("show LUID --build 2020-02", 2, "applies to several builds; write one of them, such as 10.0.17763.1075"),
        ("show LUID --build KB1", 2, "unknown build `KB1`; write a label"),
        ("show LUID --build 1.5", 2, "unknown build `1.5`; write a label"),
        ("show ETW_GUID_ENTRY --history", 0, "  1809 from 17763.1075 (KB4537818) "),
        ("show ETW_GUID_ENTRY --history", 0, "  1903 before 18362.693 (KB4535996) "),
        ("list --build 6.1 --arch x86", 0, "Layouts of this build: 181 documented, 60 verified (converted symbols).\n"),
        ("show --build 6.1 --arch x86", 0, ": 181 documented, 60 verified (converted symbols).\n"),
        ("import kernel.facts --specs nowhere --facts .", 2, "nowhere: no such file or folder of specs"),
        ("fmt --help", 0, "Usage: etw fmt --specs <DIR> [--check]"),
    ] {
        folder.says(arguments, status, &[part]);
    }
}
