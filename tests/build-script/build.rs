use etw_layouts_codegen::{Builder, Sources};
use std::path::{Path, PathBuf};
use std::{env, fs};

const SPECS: &str = "../../specs";

fn main() {
    Builder::new(SPECS).build();
    let sources = Sources::load(Path::new(SPECS)).expect("the specs");
    let files = sources.files().iter();
    let builder = files.fold(Builder::default(), |builder, file| builder.text(file.path.clone(), before_26h1(&file.text)));
    let builder = builder.structure("ETW_GUID_ENTRY").structure("ETW_REG_ENTRY").target("24H2-x64");
    let generated = builder.generate().unwrap_or_else(|error| panic!("{error}"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("before_26h1.rs"), generated.text).expect("a file of the build");
}

/// The text of a spec before Windows 11 26H1 was imported: ranges up to 24H2 are open, and what begins with 26H1 does not exist.
fn before_26h1(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line == "[[release]]" {
            let release: Vec<_> = std::iter::once(line).chain(lines.by_ref().take_while(|line| !line.is_empty())).collect();
            if !release.contains(&"labels    = [\"26H1\"]") {
                out += &release.join("\n");
                out += "\n\n";
            }
        } else if line.trim_start().starts_with("{ in = \"26H1..\"") {
            lines.find(|line| *line == format!("{indent}] }},"));
        } else if !line.contains("in = \"26H1..\"") && !line.starts_with("unverifiable = { \"26H1..\"") {
            out += &open(line);
            out += "\n";
        }
    }
    out
}

/// A line without its values since 26H1.
fn open(line: &str) -> String {
    let Some((before, since)) = line.split_once(", \"26H1..\" = \"") else { return line.replace(", 26H1..", "") };
    let (_, after) = since.split_once('"').expect("the end of a text");
    format!("{}\"{after}", before.replace("..24H2\"", "..\"").trim_end_matches('"'))
}
