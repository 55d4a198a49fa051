//! After a killed import, commands of the workspace that read refuse, and the next one that writes completes the import: specs, pages and the
//! generated crate.

use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::{env, fs};

#[test]
fn a_command_that_writes_completes_an_import() {
    let root: PathBuf = env::temp_dir().join(format!("etw-layouts-interrupted-{}", id()));
    let (windows, page, code) = ("specs/windows.toml", "docs/STATUS.md", "generated/src/axis.rs");
    let axis = "architectures = [\"x64\"]\n\n[[release]]\nlabels = [\"one\"]\nrevisions = [{ build = \"10.0.1.1\", module = \"one\" }]\n";
    let write = |path: &str, text: &str| {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a temporary folder");
        fs::write(file, text).expect("a temporary file");
    };
    // The first file was replaced before the import was interrupted, the second was not. The third is new.
    write(windows, axis);
    write(page, "old");
    write(&format!("{page}.etw-new"), "new");
    write(&format!("{code}.etw-new"), "new");
    let age = fs::metadata(root.join(page)).and_then(|stat| stat.modified()).expect("a time");
    let age = age.duration_since(std::time::UNIX_EPOCH).expect("a time after 1970").as_nanos();
    let entry =
        |folder: &str, path: &str, old: &str| format!(r#"{{"folder":"{folder}","path":"{path}","old":{old},"removed":false}}"#);
    let entries =
        [entry("specs", "windows.toml", "0"), entry("generated", page, &age.to_string()), entry("generated", code, "null")];
    write("specs/.change", &format!(r#"{{"command":"import","entries":[{}]}}"#, entries.join(",")));
    let run = |command: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xtask")).arg(command).env("CARGO_MANIFEST_DIR", root.join("xtask")).output();
        String::from_utf8_lossy(&output.expect("it starts").stderr).into_owned()
    };
    let refused = run("list");
    assert!(
        refused.contains("specs: a command that changes these files was interrupted") && refused.contains("`cargo xtask fmt`"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(root.join(page)).expect("a file"), "old");
    let said = run("fmt");
    assert!(said.contains("`import` was interrupted, and is now completed: 3 files"), "{said}");
    let texts = [page, code].map(|path| fs::read_to_string(root.join(path)).expect("a file"));
    let rest = [page, code].map(|path| Path::new(&format!("{}.etw-new", root.join(path).display())).exists());
    fs::remove_dir_all(&root).expect("the temporary folder can be removed");
    assert_eq!((texts, rest), (["new"; 2].map(str::to_owned), [false; 2]));
}
