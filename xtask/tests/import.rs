//! Runs `import` on a project without structures.

use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Project;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use test_support::clang;
use test_support::folder::Folder;
use test_support::linking::{linked, version_resource};
use test_support::specs::without_structures;

/// Runs `import` on a project without structures, then `verify`.
#[test]
fn the_command_fills_an_empty_project() {
    let Some(linker) = clang::linker() else { return };
    let layouts = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Folder::new("import-command");
    let at = |name: &str| axis.find(name).expect("a target").target;
    let [x64, newer, x86] = [at("6.1-x64"), at("1709-x64"), at("2004-x86")];
    let resource = temporary.0.join("version.res");
    fs::write(&resource, version_resource(axis.revision_of(x86).build)).expect("a temporary file");
    for target in [x64, x86] {
        let stem = temporary.0.join(axis.target_name(target));
        linked(&layouts, target, &linker, &stem, std::slice::from_ref(&resource));
    }
    let file = |target, extension: &str| temporary.0.join(format!("{}.{extension}", axis.target_name(target)));

    let copy = temporary.0.join("pdb");
    project_without_structures(&layouts, &copy);
    let pdb = file(x64, "pdb").display().to_string();
    let arguments = ["import", &pdb, "--build", "6.1.7600.16385", "--arch", "x64"];
    let dry = succeeds(&copy, &[&arguments[..], &["--dry-run"]].concat());
    assert!(dry.contains("+name   = \"WMI_LOGGER_CONTEXT\"") && !copy.join("specs/etw").exists(), "{dry}");
    // An import that cannot be written completely changes nothing: here a file occupies the path of a folder.
    let [windows, in_the_way] = ["specs/windows.toml", "generated/src/layouts"].map(|path| copy.join(path));
    let rows = fs::read(&windows).expect("an axis");
    fs::write(&in_the_way, "").expect("a temporary file");
    let refused = run(&copy, &arguments);
    assert_eq!((refused.status.code(), fs::read(&windows).expect("an axis")), (Some(2), rows));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was changed"));
    fs::remove_file(&in_the_way).expect("the file can be removed");
    let said = succeeds(&copy, &arguments);
    assert!(said.contains("specs/etw/WMI_LOGGER_CONTEXT.toml:"), "open questions are listed: {said}");
    verifies(&copy);
    assert!(succeeds(&copy, &arguments).contains("nothing to import"), "once more changes nothing");
    // Different symbols under the same build indicate a wrong build.
    linked(&layouts, newer, &linker, &temporary.0.join(axis.target_name(newer)), &[]);
    let pdb = file(newer, "pdb").display().to_string();
    let other = run(&copy, &["import", &pdb, "--build", "6.1.7600.16385", "--arch", "x64"]);
    let message = String::from_utf8_lossy(&other.stderr);
    assert!(other.status.code() == Some(2) && message.contains("contradicts earlier symbols of 6.1.7600.16385-x64"), "{message}");

    // The image provides the identity, and its symbols come from a server.
    let copy = temporary.0.join("image");
    project_without_structures(&layouts, &copy);
    let server = serve(fs::read(file(x86, "pdb")).expect("a program database"));
    let image = file(x86, "dll").display().to_string();
    let path = format!("srv*{}*http://{server}/symbols", temporary.0.join("cache").display());
    succeeds(&copy, &["import", "--image", &image, "--symbol-path", &path]);
    verifies(&copy);
    let facts: Vec<_> =
        fs::read_dir(copy.join("facts")).expect("a folder").map(|entry| entry.expect("a file").file_name()).collect();
    assert!(facts.iter().any(|name| name.to_string_lossy().starts_with("10.0.19041.264-x86")), "{facts:?}");
    let nowhere = run(&copy, &["import", "--image", &image, "--symbol-path", &format!("srv*http://{server}/nowhere")]);
    let message = String::from_utf8_lossy(&nowhere.stderr);
    assert!(nowhere.status.code() == Some(2) && message.contains("404"), "{message}");
}

/// Types that no spec can define are listed with the reason, as are the types that embed them. All others are imported.
#[test]
fn types_that_no_spec_can_define_are_left_out() {
    let layouts = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).layouts().expect("the specs resolve");
    let temporary = Folder::new("import-left-out");
    project_without_structures(&layouts, &temporary.0);
    let cases = [
        ("Bad", " 0x0 a+b u4", "`Bad`: `a+b` is not a valid name"),
        ("FOO", " 0x0 M u4", ""),
        ("Foo", " 0x0 M u4", "`Foo` and `FOO` differ only in case, and would have the same file name"),
        ("OTHER", " 0x0 M *.Foo", ""),
        ("PARENT", " 0x0 M .USER", "`PARENT` embeds `USER`, which is left out"),
        ("POINTER", " 0x0 M *.ULONG", "`POINTER` has a pointer to `ULONG`, which is left out"),
        ("ULONG", " 0x0 M u4", "`ULONG` is the name of a scalar type"),
        ("USER", " 0x0 M 2[.ULONG]", "`USER` embeds `ULONG`, which is left out"),
        ("X<int>", " 0x0 M u4", "`X<int>` is not a valid name"),
        ("super", " 0x0 M u4", "`super` is a reserved name of generated code"),
    ];
    let types: String = cases.iter().map(|(name, member, _)| format!("struct {name} 0x8\n{member}\n")).collect();
    let table = temporary.0.join("odd.facts");
    fs::write(&table, format!("etw-layouts-symbols 1\nproducer test\nkernel 10.0.22000.1 x64 -\n{types}")).expect("a table");
    let table = table.display().to_string();
    let said = succeeds(&temporary.0, &["import", &table]);
    let (left_out, imported): (Vec<_>, Vec<_>) = cases.iter().partition(|(_, _, reason)| !reason.is_empty());
    assert!(said.starts_with(&format!("{} types are left out:\n", left_out.len())), "{said}");
    for (name, _, reason) in left_out {
        assert!(said.lines().any(|line| line.starts_with(&format!("  {reason}"))), "{name}: {said}");
    }
    let list: Value = serde_json::from_str(&succeeds(&temporary.0, &["list", "--format", "json"])).expect("JSON");
    let structures = list["structures"].as_array().expect("a list").iter().filter(|one| one["kind"] == "struct");
    let structures: Vec<_> = structures.filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(structures, imported.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    succeeds(&temporary.0, &["verify"]);
    assert!(succeeds(&temporary.0, &["import", &table]).contains("nothing to import"), "once more changes nothing");
}

/// A project without structures.
fn project_without_structures(layouts: &Layouts, folder: &Path) {
    for path in ["docs", "facts", "generated/src"] {
        fs::create_dir_all(folder.join(path)).expect("a temporary folder");
    }
    for path in ["docs/TRUST.md", "generated/Cargo.toml"] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path), folder.join(path)).expect(path);
    }
    for (path, text) in without_structures(layouts) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }
}

fn verifies(project: &Path) {
    let report: Value = serde_json::from_str(&succeeds(project, &["verify", "--format", "json"])).expect("JSON");
    let facts = report["summary"]["verified"].as_u64();
    assert!(report["summary"]["differences"] == 0 && facts > Some(1000), "{}", report["summary"]);
}

fn succeeds(project: &Path, arguments: &[&str]) -> String {
    let output = run(project, arguments);
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{arguments:?}: {err}{out}");
    out
}

/// Runs a command as `cargo xtask` would in that project.
fn run(project: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments).env("CARGO_MANIFEST_DIR", project.join("xtask")).current_dir(project);
    command.output().expect("the command runs")
}

/// Starts a symbol server that serves one file for every key. Returns its address.
fn serve(file: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
                request.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
            let found = line.starts_with("GET /symbols/") && line.contains(".pdb HTTP");
            let (status, body) = if found { ("200 OK", &file[..]) } else { ("404 Not Found", &[][..]) };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    address
}
