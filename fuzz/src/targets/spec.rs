//! Spec texts: read, resolved, emitted.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::emit::{c, rust};
use etw_layouts_codegen::{Sources, compile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Prefix of a line with the name of the following file; without any, the input is a single file.
const FILE: &str = "#file ";

/// A small version axis and scalars, for inputs without them.
pub(crate) const BASE: [(&str, &str); 2] = [
    ("windows.toml", include_str!("../../../tests/macro/specs/windows.toml")),
    ("scalars.toml", include_str!("../../../tests/macro/specs/scalars.toml")),
];

/// Either all errors are reported with positions, or the emitted code is valid Rust.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match compile(sources(text)) {
        Err(errors) => {
            assert!(!errors.list().is_empty() && !errors.render(false).is_empty());
            assert!(errors.list().iter().all(|error| errors.place(error).contains(':')));
        }
        Ok(layouts) => {
            let Ok(text) = rust::emit_inline(&layouts, &rust::Options::default()) else { return };
            if let Err(error) = syn::parse_file(&text) {
                panic!("the emitted code is not valid Rust: {error}\n{text}");
            }
            let targets = layouts.spec.axis.targets.len();
            for target in (0..targets).filter(|&target| target == 0 || target + 1 == targets).map(TargetId::from) {
                assert!(c::header(&layouts, target, None, c::Style::default()).contains("ANYSIZE_ARRAY"));
            }
        }
    }
}

/// The files of a text, with missing base files added.
pub(crate) fn sources(text: &str) -> Sources {
    let files = split(text);
    let mut sources = Sources::default();
    for (path, text) in BASE.iter().filter(|(path, _)| files.iter().all(|(own, _)| own != path)) {
        sources.add(*path, *text);
    }
    for (path, text) in files {
        sources.add(path, text);
    }
    sources
}

fn split(text: &str) -> Vec<(&str, &str)> {
    let mut files = Vec::new();
    for part in text.split_inclusive('\n') {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        match part.strip_prefix(FILE) {
            Some(name) => files.push((name.trim_end(), start + part.len()..start + part.len())),
            None if files.is_empty() => files.push(("input.toml", start..start + part.len())),
            None => files.last_mut().expect("a file").1.end = start + part.len(),
        }
    }
    files.into_iter().map(|(name, range)| (name, &text[range])).collect()
}

/// Specs with one error each, the specs of the macro tests, and the shipped specs with the specs that they refer to.
pub fn seeds() -> Vec<Vec<u8>> {
    let read = |folder: &str| {
        let sources = Sources::load(&crate::project().root.join(folder)).expect("a folder of the project");
        let name = |path: &str| Path::new(path).file_name().expect("a file").to_string_lossy().into_owned();
        sources.files().iter().map(|file| (name(&file.path), file.text.clone())).collect::<BTreeMap<_, _>>()
    };
    let whole = |files: &BTreeMap<String, String>, names: &BTreeSet<String>| {
        let parts = names.iter().map(|name| format!("{FILE}{name}\n{}", files[name]));
        parts.collect::<String>().into_bytes()
    };
    let mut seeds: Vec<Vec<u8>> = read("tests/spec-errors").into_values().map(String::into_bytes).collect();
    let own = read("tests/macro/specs");
    seeds.push(whole(&own, &own.keys().cloned().collect()));
    let shipped = read("specs");
    seeds.extend(shipped.keys().map(|name| whole(&shipped, &with_types(&shipped, name))));
    // Longer seeds slow the fuzzer down.
    seeds.retain(|seed| seed.len() < 9_000);
    seeds
}

/// A file, the files of the types and values that it refers to, and the axis, all by name.
pub(crate) fn with_types(files: &BTreeMap<String, String>, name: &str) -> BTreeSet<String> {
    let mut names: BTreeSet<_> = BASE.iter().map(|(name, _)| (*name).to_owned()).chain([name.to_owned()]).collect();
    while let Some(new) = names.iter().flat_map(|name| named(&files[name])).find(|n| files.contains_key(n) && !names.contains(n))
    {
        names.insert(new);
    }
    names
}

/// The files referred to by `type =` and `values =` in a text.
fn named(text: &str) -> impl Iterator<Item = String> {
    let keys = ["type", "values"];
    let quoted: Vec<_> = text.split('"').collect();
    let named = quoted.windows(2).step_by(2).map(|pair| (pair[0].trim_end_matches([' ', '=']), pair[1]));
    let named = named.filter(|(before, _)| keys.iter().any(|key| before.ends_with(key)));
    named.flat_map(|(_, ty)| ty.split(' ')).map(|word| format!("{word}.toml")).collect::<Vec<_>>().into_iter()
}
