//! Each TOML file in spec-errors/ is an invalid spec. The text file with the same name has its error messages. `BLESS=1` updates
//! them.

use etw_layouts_codegen::{Sources, compile};
use std::fs;
use std::path::Path;

/// A small axis for all specs.
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

/// Tokens number the members of a structure over all its versions, more than one version can have.
#[test]
fn a_structure_can_have_too_many_members_in_all_versions() {
    let versions = ["7 x86", "7 x64", "8 x86", "8 x64"];
    let compiled = |members: [usize; 4]| {
        let mut text = "[struct]\nname = \"LARGE\"\nmembers = [\n".to_owned();
        for (version, count) in versions.iter().zip(members) {
            let members = (0..count).map(|n| format!("{{ name = \"M{n}_{}\", type = \"ULONG\" }}, ", version.replace(' ', "_")));
            text += &format!("  {{ in = \"{version}\", members = [{}] }},\n", members.collect::<String>());
        }
        let mut sources = Sources::default();
        let files = [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("LARGE.toml", &(text + "]\n"))];
        files.into_iter().for_each(|(name, text)| sources.add(name, text));
        compile(sources).map(|_| ()).map_err(|errors| errors.messages())
    };
    assert_eq!(compiled([1 << 14, 1 << 14, 1 << 14, (1 << 14) - 1]), Ok(()));
    let errors = compiled([1 << 14; 4]).expect_err("65,536 members");
    assert!(errors.len() == 1 && errors[0].contains("structure has 65536 members in all its versions"), "{errors:?}");
}

/// An error in a file is not repeated for files that embed its type.
#[test]
fn errors_stay_in_their_file() {
    let member = "name = \"A\"\ntype = \"ULONG\"\n";
    for (struct_, text) in [
        ("[struct]", "\n[[member]\n"),
        ("[struct]", "since = \"6.1..\"\n\n[[member]]\n"),
        ("[struct", "\n[[member]]\nname = \"B\"\ntype = \"ULONG\"\n\n[[member]]\n"),
    ] {
        let text = &format!("{struct_}\nname = \"INNER\"\n{text}{member}");
        let holder = "[struct]\nname = \"OUTER\"\n\n[[member]]\nname = \"Inner\"\ntype = \"INNER\"\n";
        let mut sources = Sources::default();
        let files = [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("INNER.toml", text), ("OUTER.toml", holder)];
        files.into_iter().for_each(|(name, text)| sources.add(name, text));
        let errors = compile(sources).expect_err("INNER is invalid");
        assert_eq!(errors.list().len(), 1, "{errors}");
    }
}

/// Errors of the axis are reported alone, because they make every range of every other file invalid.
#[test]
fn errors_of_the_axis_are_reported_alone() {
    let standard = tests::project().sources().expect("the specs");
    let standard: Vec<_> = standard.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    for (from, to, count) in [
        ("[[release]]", "[[release", 1),
        ("labels    = [\"6.1\"]", "lables    = [\"6.1\"]", 2),
        ("\"5.0.2195\"", "\"5.0.219x\"", 1),
        ("[[update]]", "[[update", 1),
    ] {
        let mut sources = Sources::default();
        for (path, text) in &standard {
            let is_axis = path.ends_with("windows.toml");
            assert!(!is_axis || text.contains(from), "{from}");
            sources.add(path.clone(), if is_axis { text.replacen(from, to, 1) } else { text.clone() });
        }
        let errors = compile(sources).expect_err(to);
        assert_eq!(errors.list().len(), count, "{errors}");
    }
}

/// Flags and constants are macros: a member cannot have such a type, nor point to one.
#[test]
fn macros_are_not_types() {
    for (ty, count) in [("SET", 1), ("SET *", 1), ("SET [2]", 1), ("VOID (*) (SET)", 1), ("ULONG", 0)] {
        for kind in ["flags", "constants"] {
            let set = format!("[{kind}]\nname = \"SET\"\ntype = \"ULONG\"\nconstants = [{{ name = \"A\", value = 1 }}]\n");
            let holder = format!("[struct]\nname = \"HOLDER\"\n\n[[member]]\nname = \"Held\"\ntype = \"{ty}\"\n");
            let mut sources = Sources::default();
            let files = [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("SET.toml", &set), ("HOLDER.toml", &holder)];
            files.into_iter().for_each(|(name, text)| sources.add(name, text));
            let errors = compile(sources).err().map(|errors| errors.messages()).unwrap_or_default();
            assert_eq!(errors.len(), count, "{ty}: {errors:?}");
            let remedy = "write an integer type and the name of the set: `type = \"ULONG\"`, `values = \"SET\"`";
            assert!(errors.iter().all(|error| error.contains("HOLDER.toml:6") && error.contains(remedy)), "{errors:?}");
        }
    }
}

/// The error of a missing folder of specs names the folder that its path starts from.
#[test]
fn a_missing_folder_is_named() {
    let error = etw_layouts_codegen::Builder::new("no/specs").generate().expect_err("the folder does not exist").to_string();
    assert!(error.starts_with("no/specs: no such file or folder of specs; paths of specs start from /"), "{error}");
}

/// Bytes that are not UTF-8 are reported with their line. Links that form a cycle are followed once.
#[test]
fn files_that_are_not_text() {
    let folder = std::env::temp_dir().join(format!("etw-layouts-not-text-{}", std::process::id()));
    fs::create_dir_all(folder.join("below")).expect("a temporary folder");
    fs::write(folder.join("below/a.toml"), b"[struct]\nname = \"caf\xe9\"\n").expect("a temporary file");
    #[cfg(unix)]
    for (to, link) in [(".", "one"), (".", "two"), ("..", "below/up")] {
        std::os::unix::fs::symlink(to, folder.join(link)).expect("a link");
    }
    let loaded = Sources::load(&folder).map(|_| ());
    fs::write(folder.join("below/a.toml"), "").expect("a temporary file");
    let files = Sources::load(&folder).expect("text").files().len();
    fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    let error = loaded.expect_err("it is not UTF-8").to_string();
    assert!(error.ends_with("a.toml:2: byte 0xe9 is not UTF-8; save the file as UTF-8"), "{error}");
    assert_eq!(files, 1);
}
