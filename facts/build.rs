//! Lists the facts that the crate has as text.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut names = Vec::new();
    for entry in fs::read_dir(&root)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name.ends_with(".facts"));
    write(&root, names, "files.rs")?;
    let mut tables = Vec::new();
    for entry in fs::read_dir(root.join("events"))? {
        tables.push(format!("events/{}", entry?.file_name().to_string_lossy()));
    }
    tables.retain(|name| name.ends_with(".tsv"));
    write(&root, tables, "events.rs")
}

fn write(root: &Path, mut names: Vec<String>, file: &str) -> io::Result<()> {
    names.sort();
    let rows = names.iter().map(|name| format!("    ({:?}, include_str!({:?})),\n", format!("facts/{name}"), root.join(name)));
    let table = format!("pub static TABLE: [(&str, &str); {}] = [\n{}];\n", names.len(), rows.collect::<String>());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join(file), table)
}
