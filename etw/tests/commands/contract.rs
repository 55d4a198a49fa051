//! The interface of `etw verify` for scripts: exit status, JSON, and how the kernel of a file is identified.

use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BUILD: &str = "10.0.19041.264";

/// Runs a command on the specs of the workspace.
pub fn etw(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
    command.args(arguments).args(["--specs", "specs", "--facts", "facts"]);
    command.current_dir(root()).stdin(Stdio::null()).output().expect("etw runs")
}

/// The exit status and the JSON document of a verification.
fn verify(arguments: &[&str]) -> (i32, Value) {
    let output = etw(&[&["verify", "--format", "json"], arguments].concat());
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let status = output.status.code().unwrap_or(-1);
    assert_eq!(document.is_null(), status == 2, "{}", String::from_utf8_lossy(&output.stderr));
    (status, document)
}

pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn exit_status_and_json_of_verify() {
    let folder = Folder::new();
    let (status, document) = verify(&[]);
    assert_eq!(status, 0);
    assert_eq!(
        keys(&document),
        ["errata", "events", "images", "rules", "skipped_files", "summary", "tables", "unverified_claims"]
    );
    let counts = ["differences", "errata", "images", "kernels", "mislabelled", "not_verified", "reasons"];
    assert_eq!(keys(&document["summary"]), [&counts[..], &["skipped_images", "tables", "unverifiable", "verified"]].concat());
    assert_eq!(document["summary"]["differences"], 0);
    // These numbers are in README.
    let [tables, kernels, facts] =
        ["tables", "kernels", "verified"].map(|count| document["summary"][count].as_u64().unwrap_or(0));
    let sentence = format!("{tables} symbol tables of {kernels} builds verify {},{:03} facts", facts / 1000, facts % 1000);
    let readme = fs::read_to_string(root().join("README.md")).expect("README");
    assert!(readme.contains(&sentence), "{sentence}");
    let table = &document["tables"][0];
    let expected = [
        "alternative_targets",
        "arch",
        "build",
        "changed_by",
        "confidence",
        "evidence",
        "facts_of",
        "nearest_newer",
        "nearest_older",
        "note",
        "pdb_of",
        "reason",
        "source",
    ];
    assert_eq!(keys(table), [&expected[..], &["structures", "target", "variables"]].concat());
    assert_eq!(keys(&table["structures"][0]), ["differences", "equal", "name", "status"]);
    let of_image = [
        "alternative_targets",
        "arch",
        "build",
        "changed_by",
        "confidence",
        "evidence",
        "file",
        "nearest_newer",
        "nearest_older",
        "reason",
        "size",
        "source",
    ];
    let mut images = document["images"].as_array().expect("a list").iter();
    let image = images.find(|image| !image["file"].is_null()).expect("an image with a known file");
    assert_eq!(keys(image), [&of_image[..], &["structures", "target", "time_stamp", "variables"]].concat());
    assert_eq!(image["confidence"], "partly verified (image)");

    let edited = shipped().replacen("struct WMI_BUFFER_HEADER 0x", "struct WMI_BUFFER_HEADER 0x1", 1);
    let (status, document) = verify(&["--symbols", &folder.file("edited.facts", &edited), "--only", "WMI_BUFFER_HEADER"]);
    let kernels = edited.matches("\nkernel ").count();
    assert_eq!((status, &document["summary"]["tables"]), (1, &Value::from(kernels)));
    let difference = &document["tables"][0]["structures"][0]["differences"][0];
    assert_eq!(keys(difference), ["kind", "member", "place", "spec", "symbols"]);
    assert_eq!((&difference["member"], &difference["kind"]), (&"".into(), &"size".into()));

    let foreign = "etw-layouts-symbols 1\nproducer a test\nkernel 10.0.19041.1415 x64 -\nstruct FOREIGN 0x10\n";
    for (name, content) in [("truncated.facts", "etw-layouts-symbols 1\nprod"), ("foreign.facts", foreign)] {
        let path = folder.file(name, content);
        let output = etw(&["verify", "--symbols", &path]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(name), "{message}");
    }
}

/// Several paths after one flag mean the same as one flag for each path, for files and folders.
#[test]
fn symbols_can_follow_one_flag_or_several() {
    let [one, other] = ["one", "other"].map(Folder::named);
    let paths = [one.file("a.facts", &shipped()), other.0.display().to_string()];
    other.file("b.facts", &shipped());
    let sources = |arguments: &[&str]| {
        let (status, document) = verify(arguments);
        let tables = document["tables"].as_array().expect("tables").iter();
        (status, tables.map(|table| table["source"].clone()).collect::<Vec<_>>())
    };
    let [a, b] = paths.each_ref().map(String::as_str);
    let (status, found) = sources(&["--symbols", a, b, "--only", "LUID"]);
    assert_eq!((status, found.len()), (0, 2 * shipped().matches("\nkernel ").count()));
    assert_eq!((status, found), sources(&["--symbols", a, "--only", "LUID", "--symbols", b]));
}

/// `builds.tsv`, the file name, or `--build` and `--arch` identify the same kernel for the same file.
#[test]
fn a_kernel_can_be_identified_in_three_ways() {
    let content = r#"{"metadata": {"format": "6.2.0", "producer": {"name": "a test", "version": "1"}},
        "base_types": {"unsigned long": {"kind": "int", "size": 4, "signed": false, "endian": "little"}},
        "user_types": {"_LARGE_INTEGER": {"kind": "union", "size": 8, "fields": {}}}, "enums": {}, "symbols": {}}"#;
    let folder = Folder::new();
    let kernel = |arguments: &[&str]| {
        let (status, document) = verify(&[arguments, &["--only", "LARGE_INTEGER"]].concat());
        let table = &document["tables"][0];
        assert_eq!((status, &table["note"]), (1, &Value::Null), "{arguments:?}");
        format!("{}-{}", table["build"].as_str().unwrap_or_default(), table["arch"].as_str().unwrap_or_default())
    };
    let expected = format!("{BUILD}-x64");
    assert_eq!(kernel(&["--symbols", &folder.file(&format!("{expected}.json"), content)]), expected);
    let path = folder.file("kernel.json", content);
    assert_eq!(verify(&["--symbols", &path]).0, 2);
    assert_eq!(kernel(&["--symbols", &path, "--build", BUILD, "--arch", "x64"]), expected);
    folder.file("builds.tsv", &format!("file\tbuild\tarch\nkernel.json\t{BUILD}\tx64\n"));
    assert_eq!(kernel(&["--symbols", &path]), expected);
}

/// The specs contain all changes that the shipped images show.
#[test]
fn shipped_images_are_already_imported() {
    for arch in ["x64", "arm64"] {
        let output = etw(&["import", &format!("facts/10.0.17763.1075-{arch}-images.facts")]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), &*text), (Some(0), "0 images are not in the facts yet\nnothing to import\n"));
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A shipped table with several kernels.
pub fn shipped() -> String {
    table_of("10.0.19041.985 x64")
}

/// The text of the shipped table of a kernel. A converted table is returned only if there is no other.
pub fn table_of(kernel: &str) -> String {
    let files = fs::read_dir(root().join("facts")).expect("the facts").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "facts")).collect();
    files.sort_by_key(|path| (path.to_string_lossy().contains("-converted"), path.clone()));
    let texts = files.iter().map(|path| fs::read_to_string(path).expect("a shipped table"));
    let of_kernel = |text: &String| text.contains(&format!("\nkernel {kernel} ")) && text.contains("\nstruct ");
    texts.into_iter().find(of_kernel).unwrap_or_else(|| panic!("a table of {kernel}"))
}

/// A temporary folder. It is removed with its contents, also when the test fails.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        Self::named("")
    }

    /// A named folder, for tests that need several.
    pub fn named(name: &str) -> Self {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default().replace("::", "-");
        let path = env::temp_dir().join(format!("etw-layouts-{test}{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn file(&self, name: &str, content: &str) -> String {
        let path = Path::new(&self.0).join(name);
        fs::write(&path, content).expect("a temporary file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
