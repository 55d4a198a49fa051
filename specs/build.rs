//! Lists the specs that the crate has as text.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut names = Vec::new();
    find(&root, "", &mut names)?;
    names.sort();
    let rows = names.iter().map(|name| format!("    ({:?}, include_str!({:?})),\n", format!("specs/{name}"), root.join(name)));
    let table = format!("pub static TABLE: [(&str, &str); {}] = [\n{}];\n", names.len(), rows.collect::<String>());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("files.rs"), table)
}

/// The specs of a folder and its subfolders, without the manifest of the crate.
fn find(folder: &Path, within: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => find(&entry.path(), &format!("{name}/"), names)?,
            false if name.ends_with(".toml") && name != "Cargo.toml" => names.push(name),
            false => {}
        }
    }
    Ok(())
}
