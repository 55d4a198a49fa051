//! Each file in spec-errors/ is a spec that is wrong, and beside it stands what is said of it. `BLESS=1` rewrites the answers.

use etw_layouts_codegen::{Sources, compile};
use std::fs;
use std::path::Path;

/// A small axis for all of them.
const AXIS: &str = include_str!("../macro/specs/windows.toml");
const SCALARS: &str = include_str!("../macro/specs/scalars.toml");

#[test]
fn errors_show_place_and_remedy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec-errors");
    let mut files: Vec<_> = fs::read_dir(&folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 20, "{} files", files.len());
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = Sources::default();
        sources.add("windows.toml", AXIS);
        sources.add("scalars.toml", SCALARS);
        sources.add(name.clone(), fs::read_to_string(&path).expect("a spec"));
        let errors = compile(sources).expect_err(&name).render(false) + "\n";
        let answer = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&answer, &errors).expect("the answer can be written");
        }
        assert_eq!(errors, fs::read_to_string(&answer).unwrap_or_default(), "{name}");
    }
}
