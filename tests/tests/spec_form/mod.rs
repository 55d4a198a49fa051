//! Spec files have a standard form. The shipped specs have it, and formatting brings any other file to it without changing
//! words.

mod by_hand;
mod facts;

use by_hand::Hand;
use etw_layouts_codegen::emit::rust::{Options, emit_inline};
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::{Sources, read, resolve};
use etw_layouts_project::format;
use etw_layouts_project::import::Texts;
use std::collections::BTreeMap;
use tests::project;

/// The same check as `cargo xtask fmt --check`.
#[test]
fn shipped_specs_are_in_their_form() {
    let spec = shipped();
    let changed = formatted(&spec.sources).expect("no comment would be lost");
    let paths: Vec<_> = changed.keys().collect();
    assert!(paths.is_empty(), "run `cargo xtask fmt`: {paths:?}");
    let spaces = spec.sources.files().iter().filter(|file| file.text.lines().any(|line| line.ends_with(' ')));
    let spaces: Vec<_> = spaces.map(|file| &file.path).collect();
    assert!(spaces.is_empty(), "spaces at ends of lines: {spaces:?}");
}

/// Another label of two releases could shorten ranges, but the words of ranges are those of their author.
#[test]
fn a_new_label_changes_no_file() {
    let labelled = |text: &str| {
        let text = text.replacen("[\"1607\", \"server-2016\"]", "[\"1607\", \"server-2016\", \"early-10\"]", 1);
        text.replacen("[\"1703\"]", "[\"1703\", \"early-10\"]", 1)
    };
    let texts: Texts = shipped().sources.files().iter().map(|file| (file.path.clone(), labelled(&file.text))).collect();
    assert_eq!(texts.values().map(|text| text.matches("early-10").count()).sum::<usize>(), 2);
    assert_eq!(formatted(&spec_of(&texts).sources), Ok(BTreeMap::new()));
}

/// Keys in another order, members in tables, odd spacing: formatting restores the shipped file byte for byte. Comments
/// are not tested here, nor are blank lines between constants.
#[test]
fn facts_have_one_form() {
    let spec = shipped();
    let mut compared = 0;
    for seed in 0..4 {
        let written = rewritten(&spec, seed, false);
        let texts = formatted_texts(&written);
        for file in spec.sources.files().iter().filter(|file| !file.text.contains('#') && !file.text.contains("\n\n")) {
            compared += 1;
            assert_eq!(texts[&file.path], file.text, "{} of seed {seed}", file.path);
        }
    }
    assert!(compared > 400, "{compared} files");
}

/// Comments are added wherever TOML permits them. Each comment is kept once, facts and layouts stay equal, and formatting again
/// changes nothing.
#[test]
fn formatting_keeps_facts_and_comments() {
    let spec = shipped();
    let facts = facts::of(&spec);
    let generated = generated(&spec);
    for seed in 0..6 {
        let written = rewritten(&spec, seed, true);
        let texts = formatted_texts(&written);
        for file in written.sources.files() {
            let mut before: Vec<_> = comments(&file.text).collect();
            let mut after: Vec<_> = comments(&texts[&file.path]).collect();
            before.sort_unstable();
            after.sort_unstable();
            assert_eq!(before, after, "{} of seed {seed}", file.path);
        }
        let again = spec_of(&texts);
        let differs = facts.iter().zip(facts::of(&again)).find(|(old, new)| *old != new);
        assert!(differs.is_none(), "seed {seed}: {differs:#?}");
        let changed = formatted(&again.sources).expect("no comment would be lost");
        assert!(changed.is_empty(), "formatted twice, with seed {seed}: {:?}", changed.first_key_value());
        if seed == 0 {
            assert!(self::generated(&again) == generated, "the layouts differ");
        }
    }
}

/// If the form has no place for a comment, formatting fails with an error that shows the comment.
#[test]
fn no_comment_is_dropped() {
    let axis = "architectures = [\"x64\"]\n\n[[release]]\nlabels = [\"7\"]\nrevisions = [\n  { build = \"1.0.7\", module = \"v7\" },\n]\n";
    let scalars = include_str!("../../macro/specs/scalars.toml");
    for at in 0..=axis.lines().count() {
        let mut lines: Vec<_> = axis.lines().collect();
        lines.insert(at, "# A comment.");
        let text = lines.join("\n") + "\n";
        let spec = spec_of(&[("windows.toml".into(), text.clone()), ("scalars.toml".into(), scalars.into())].into());
        match formatted(&spec.sources) {
            Ok(changed) => {
                let text = changed.get("windows.toml").unwrap_or(&text);
                assert_eq!(comments(text).collect::<Vec<_>>(), ["# A comment."], "line {at}: {text}");
            }
            Err(error) => assert!(error.contains("windows.toml: formatting would remove the comment `# A comment.`"), "{error}"),
        }
    }
}

fn formatted(sources: &Sources) -> Result<Texts, String> {
    format::formatted_texts(sources, sources)
}

fn shipped() -> Spec {
    read(project().sources().expect("the specs")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn spec_of(texts: &BTreeMap<String, String>) -> Spec {
    let mut sources = Sources::default();
    texts.iter().for_each(|(path, text)| sources.add(path.clone(), text.clone()));
    read(sources).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The specs in the style of another author.
fn rewritten(spec: &Spec, seed: u64, with_comments: bool) -> Spec {
    let mut hand = Hand::new(seed, with_comments);
    let files = spec.sources.files().iter();
    spec_of(&files.map(|file| (file.path.clone(), hand.written(&file.path, &file.text))).collect())
}

/// The text of every file, formatted if it has a form.
fn formatted_texts(spec: &Spec) -> BTreeMap<String, String> {
    let changed = formatted(&spec.sources).unwrap_or_else(|error| panic!("{error}"));
    let mut texts: BTreeMap<_, _> = spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    texts.extend(changed);
    texts
}

fn generated(spec: &Spec) -> String {
    let layouts = resolve(spec.clone()).unwrap_or_else(|errors| panic!("{errors}"));
    emit_inline(&layouts, &Options::default()).expect("a table of the layouts")
}

fn comments(text: &str) -> impl Iterator<Item = &str> {
    etw_layouts_codegen::syntax::comments(text).into_iter().map(|(_, line)| line).filter(|line| !line.is_empty())
}
