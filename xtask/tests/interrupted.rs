//! Every command of the workspace completes the changes of a killed import: specs, pages and the generated crate.

use std::path::PathBuf;
use std::process::{Command, id};
use std::{env, fs};

#[test]
fn any_command_completes_an_import() {
    let root: PathBuf = env::temp_dir().join(format!("etw-layouts-interrupted-{}", id()));
    let files = ["specs/windows.toml", "docs/STATUS.md", "generated/src/axis.rs"].map(|path| (path, root.join(path)));
    let mut journal = "etw-layouts import 1\n".to_owned();
    for (number, (path, file)) in files.iter().enumerate() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a temporary folder");
        // The first file was replaced before the import was interrupted.
        fs::write(file, if number == 0 { "new\n" } else { "old\n" }).expect("a temporary file");
        journal += &format!("4 4 {path}\nold\nnew\n");
    }
    fs::write(root.join("specs/.journal"), journal + "complete\n").expect("a journal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.arg("list").env("CARGO_MANIFEST_DIR", root.join("xtask")).output().expect("it starts");
    let texts = files.map(|(_, file)| fs::read_to_string(file).expect("a file"));
    fs::remove_dir_all(&root).expect("the temporary folder can be removed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`import` was interrupted, and is now completed: 3 files"), "{said}");
    assert_eq!(texts, ["new\n"; 3]);
}
