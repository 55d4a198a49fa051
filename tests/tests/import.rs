//! Imports from nothing: what clang and a linker make of our own headers, into specs that hold no structure.

use crate::image::{Temporary, version_resource};
use crate::pdb_from_header::linked;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::import::{self, Input, Texts};
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::verify;
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{Rules, Wanted, compare};
use serde_json::Value;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::clang;
use tests::{project, root};

/// Each header comes back as the layouts that it was emitted from.
#[test]
fn headers_come_back_as_specs() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Temporary::new("import");
    let files = layouts.spec.sources.files().iter().filter(|file| !is_definition(&file.path));
    let texts: Texts = files.map(|file| (file.path.clone(), file.text.clone())).collect();
    let newest = axis.targets.len() - 1;
    let asked = ["5.1-x86", "5.2-x64", "6.1-x86", "6.1-x64", "1709-x86", "2004-x86"];
    let targets = asked.iter().map(|name| axis.find(name).expect("a target").target).chain([newest]);
    let mut facts = 0;
    for target in targets {
        let name = axis.target_name(target);
        let held = held(&layouts, target);
        let stem = temporary.0.join(&name);
        linked(&layouts, target, &held, &linker, &stem, &[]);
        let at = axis.targets[target];
        let build = axis.kernels[at.kernel].build;
        let stated = Stated { build: Some(build.to_string()), arch: Some(at.arch) };
        let pdb = stem.with_file_name(format!("{name}.pdb"));
        let new = tables::read(&SymbolFile::on_disk(pdb.clone()), axis, &Wanted::All, &stated)
            .unwrap_or_else(|error| panic!("{error}"));
        let input = Input { texts: &texts, known: &[], new: &new, added: &[], folder: "specs" };
        let plan = import::checked(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [theirs, ours] = [&layouts, &plan.layouts].map(|of| verify::ours::types(of, target, &held));
        assert!(ours.keys().eq(theirs.keys()), "{name}: other types");
        for report in compare(&theirs, &ours, Rules::Faithful) {
            let differences: Vec<_> = report.differences.iter().map(ToString::to_string).collect();
            assert_eq!(report.status, Status::Equal, "{name} {}: {differences:#?}", report.name);
            facts += report.equal;
        }
    }
    assert!(facts > 5000, "only {facts} facts came back");
}

/// As a user would: a project without structures, one command, and `verify` is content.
#[test]
fn the_command_fills_an_empty_project() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Temporary::new("import-command");
    let at = |name: &str| axis.find(name).expect("a target").target;
    let [x64, newer, x86] = [at("6.1-x64"), at("1709-x64"), at("2004-x86")];
    let resource = temporary.0.join("version.res");
    fs::write(&resource, version_resource(axis.kernels[axis.targets[x86].kernel].build)).expect("a temporary file");
    for target in [x64, x86] {
        let stem = temporary.0.join(axis.target_name(target));
        linked(&layouts, target, &held(&layouts, target), &linker, &stem, std::slice::from_ref(&resource));
    }
    let file = |target, extension: &str| temporary.0.join(format!("{}.{extension}", axis.target_name(target)));

    let copy = temporary.0.join("pdb");
    project_without_structures(&layouts, &copy);
    let pdb = file(x64, "pdb").display().to_string();
    let arguments = ["import", &pdb, "--build", "6.1.7600", "--arch", "x64"];
    let dry = succeeds(&copy, &[&arguments[..], &["--dry-run"]].concat());
    assert!(dry.contains("+name   = \"WMI_LOGGER_CONTEXT\"") && !copy.join("specs/etw").exists(), "{dry}");
    // What cannot be written in whole is not begun: here a file is where a folder must be.
    let [windows, in_the_way] = ["specs/windows.toml", "generated/src/layouts"].map(|path| copy.join(path));
    let rows = fs::read(&windows).expect("an axis");
    fs::write(&in_the_way, "").expect("a temporary file");
    let refused = run(&copy, &arguments);
    assert_eq!((refused.status.code(), fs::read(&windows).expect("an axis")), (Some(2), rows));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was changed"));
    fs::remove_file(&in_the_way).expect("the file can be removed");
    let said = succeeds(&copy, &arguments);
    assert!(said.contains("specs/etw/WMI_LOGGER_CONTEXT.toml:"), "what is left open is listed: {said}");
    verifies(&copy);
    assert!(succeeds(&copy, &arguments).contains("nothing to import"), "once more changes nothing");
    // Other symbols under the same build are a slip of whoever typed it.
    linked(&layouts, newer, &held(&layouts, newer), &linker, &temporary.0.join(axis.target_name(newer)), &[]);
    let pdb = file(newer, "pdb").display().to_string();
    let other = run(&copy, &["import", &pdb, "--build", "6.1.7600", "--arch", "x64"]);
    let message = String::from_utf8_lossy(&other.stderr);
    assert!(
        other.status.code() == Some(2) && message.contains("the specs have 6.1.7600.16385-x64 from other symbols"),
        "{message}"
    );

    // The image tells the rest, and its symbols come from a server.
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

fn held(layouts: &Layouts, target: usize) -> Vec<&str> {
    let names = verify::names(layouts, None).expect("all names");
    names.into_iter().filter(|name| layouts.get(target, name).is_some()).collect()
}

fn is_definition(path: &str) -> bool {
    ["dump/", "etw/", "nt/"].iter().any(|folder| path.starts_with(&format!("{}/{folder}", "specs")))
}

/// What a project needs, and no structure in it.
fn project_without_structures(layouts: &Layouts, folder: &Path) {
    for path in ["facts", "generated/src"] {
        fs::create_dir_all(folder.join(path)).expect("a temporary folder");
    }
    for file in layouts.spec.sources.files().iter().filter(|file| !is_definition(&file.path)) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, &file.text).expect("a temporary file");
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

/// Runs the command as `cargo xtask` in that project would.
fn run(project: &Path, arguments: &[&str]) -> Output {
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", "xtask", "--message-format", "json"]).current_dir(root());
    let messages = String::from_utf8(build.output().expect("cargo runs").stdout).expect("text");
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    let mut command = Command::new(executables.next_back().expect("an executable"));
    command.args(arguments).env("CARGO_MANIFEST_DIR", project.join("xtask")).current_dir(project);
    command.output().expect("the command runs")
}

/// A symbol server with one file, whatever its key; the address.
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
