//! A class of events, from its spec to the generated schemas and types: `events/Sample.toml` and the output for it. `BLESS=1`
//! rewrites the expected output.

use etw_layouts_codegen::emit::rust::{Options, emit};
use etw_layouts_codegen::{Sources, formatted, read, resolve};
use std::fs;
use std::path::Path;

const SAMPLE: &str = include_str!("events/Sample.toml");
const AXIS: &str = include_str!("../../tests/macro/specs/windows.toml");
const SCALARS: &str = include_str!("../../tests/macro/specs/scalars.toml");
const KIND: &str = "[flags]\nname = \"KIND\"\ntype = \"ULONG\"\nconstants = [\n  { name = \"A\", value = 1 },\n  \
                    { name = \"B\", value = 2 },\n  { name = \"BOTH\", value = 3 },\n]\n";

fn sources(class: &str) -> Sources {
    let mut sources = Sources::default();
    for (path, text) in [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("KIND.toml", KIND), ("Sample.toml", class)] {
        sources.add(path, text);
    }
    sources
}

#[test]
fn a_class_becomes_schemas_and_types() {
    let layouts = resolve(read(sources(SAMPLE)).expect("a spec")).expect("layouts");
    let options = Options { payload: Some("payload".into()), ..Options::default() };
    let files = emit(&layouts, &options);
    let text: String = ["events/sample.rs", "events/typed/sample.rs", "events/index.rs", "events/maps.rs"]
        .map(|path| files[path].clone())
        .concat();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events/sample.golden");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &text).expect("the golden file can be written");
    }
    assert_eq!(text, fs::read_to_string(golden).unwrap_or_default());
}

/// A field that a new version appends gets a getter, and one that a new version lacks is optional from then on.
#[test]
fn a_new_field_gets_a_getter() {
    let new = SAMPLE.replace(
        "  { name = \"Short\",",
        "  { name = \"New\", type = \"GUID\", version = \"1\", doc = \"It.\" },\n  { name = \"Short\",",
    );
    let new = new.replace("types   = { Tick = 3 }\nversion = \"0\"", "types   = { Tick = 3 }\nversion = \"0..1\"");
    let new = new.replace("\"Address\", type = \"Pointer\"", "\"Address\", type = \"Pointer\", version = \"0\"");
    let layouts = resolve(read(sources(&new)).expect("a spec")).expect("layouts");
    let options = Options { payload: Some("payload".into()), ..Options::default() };
    let text = &emit(&layouts, &options)["events/typed/sample.rs"];
    for line in [
        "new: Option<Uuid> = \"New\", \"It. In version 1.\";",
        "address: Option<u64> = \"Address\", \"Where. In version 0.\";",
        "short: u16 = \"Short\", \"A number.\";",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

/// The sample is in canonical form. Other spacing and another order of keys give the same text; a comment at the end is kept.
#[test]
fn a_class_has_a_canonical_form() {
    let hand = SAMPLE.replace("name = \"Size\", type = \"UInt8\"", "type = \"UInt8\",   name = \"Size\"");
    for text in [SAMPLE, &hand, &hand.replace('\n', "\r\n")] {
        assert_eq!(formatted(text).as_deref(), Some(SAMPLE));
    }
    let last = format!("{SAMPLE}\n# Last.\n");
    assert_eq!(formatted(&last), Some(last));
}

const PROVIDERS: &str = r#"[[provider]]
name   = "Sample-Manifest"
guid   = "{22222222-2222-3333-4444-555555555555}"
source = ["manifests"]
doc    = "A provider of a test."
events = [
  { ids = [1], version = "0", by = { thread = "Tid" } },
  { ids = [1, 2], version = "1..", by = { thread = "ThreadId" }, about = { process = "Pid" } },
]
"#;

#[test]
fn providers_state_who() {
    let with = |text: &str| {
        let mut sources = sources(SAMPLE);
        sources.add("providers.toml", text);
        read(sources)
    };
    let layouts = resolve(with(PROVIDERS).expect("a spec")).expect("layouts");
    let options = Options { payload: Some("payload".into()), ..Options::default() };
    let index = &emit(&layouts, &options)["events/index.rs"];
    let (_, table) = index.split_once("static PROVIDERS: &[(u128, u16, u8, Who)] = &[\n").expect("a table");
    let new = "Who::new(Party::NONE.thread(\"ThreadId\", None), Party::NONE.process(\"Pid\", None))";
    let guid = "0x22222222222233334444555555555555";
    let old = "Who::new(Party::NONE.thread(\"Tid\", None), Party::NONE)";
    assert_eq!(table, format!("    ({guid}, 1, 0, {old}),\n    ({guid}, 1, 1, {new}),\n    ({guid}, 2, 1, {new}),\n];\n"));
    assert_eq!(formatted(PROVIDERS).as_deref(), Some(PROVIDERS));
    let twice = format!("{PROVIDERS}\n{PROVIDERS}");
    for (text, title) in [
        (PROVIDERS.replace("version = \"0\", ", ""), "event 1 is stated twice"),
        (PROVIDERS.replace("[1, 2]", "[1, 70000]"), "event ID 70000 is larger than 65535"),
        (PROVIDERS.replace(", by = { thread = \"Tid\" }", ""), "events state neither who did them nor whom they are about"),
        (PROVIDERS.replace("ids = [1],", "id = [1],"), "unknown key `id`"),
        (twice, "duplicate provider `Sample-Manifest`"),
    ] {
        let errors = with(&text).expect_err(title);
        let first = errors.list().first().expect("an error");
        assert_eq!(first.title, title);
        assert!(errors.place(first).starts_with("providers.toml:") && !first.help.is_empty());
    }
}

/// Each change makes the class invalid, with an error of this title.
#[test]
fn errors_of_classes() {
    for (from, to, title) in [
        ("type = \"UInt16\", doc = \"Number", "type = \"UInt17\", doc = \"Number", "unknown type `UInt17`"),
        ("out = \"NTSTATUS\"", "out = \"NTSTATU\"", "unknown output type `NTSTATU`"),
        ("out = \"NTSTATUS\"", "out = \"Port\"", "values of type `UInt32` cannot be shown as `Port`"),
        ("values = \"KIND\"", "values = \"KINDS\"", "unknown enumeration `KINDS`"),
        ("count = \"Count\"", "count = \"Counts\"", "no field `Counts` before `Parts` in version 1"),
        ("count = \"Count\"", "count = \"Key\"", "no field `Key` before `Parts` in version 1"),
        ("count = \"Count\"", "count = \"*\"", "values of type `Struct` differ in size"),
        ("length = \"Size\"", "length = \"Kind\"", "no field `Kind` before `Data` in version 1"),
        ("version = \"2..\"", "version = \"4..\"", "versions `4..` are not within those of the event, 1..3"),
        ("version  = \"1..3\"", "version  = \"1..\"", "versions of an event are open"),
        ("version  = \"1..3\"", "version  = \"3..1\"", "invalid range of versions `3..1`"),
        ("version = \"0\"", "version = \"300\"", "invalid range of versions `300`"),
        ("Tick = 3", "Tick = 300", "event type 300 is larger than 255"),
        ("Tick = 3", "Tick = 3, Tack = 3", "duplicate event type `Tack`"),
        ("{ Tick = 3 }\nversion = \"0\"", "{ Tick = 1 }\nversion = \"3\"", "version 3 of event type 1 is stated twice"),
        ("\"2..3\" }", "\"2..4\" }", "versions `2..4` are not within those of the event, 1..3"),
        ("versions = { End-Up", "versions = { EndUp", "unknown event type `EndUp`"),
        ("name = \"Status\"", "name = \"Key\"", "duplicate field `Key`"),
        ("name = \"Comment\", type", "naem = \"Comment\", type", "unknown key `naem`"),
        ("optional = true", "optional = false", "expected `true`"),
        ("count = 4, pointer = 8", "pointer = 8", "padding has no `count`"),
        ("pointer = 8", "pointer = 5", "no pointer has 5 bytes"),
        ("length = \"Size\"", "length = 70000", "number is larger than 65535"),
        ("type = \"UInt64\", out = \"ETWTIME\"", "type = \"Binary\"", "`Time` has no length, but is not the last field"),
        ("count = 4, pointer = 8", "count = 65535, length = 9", "type `UInt8` has no length of its own"),
        ("guid   = \"{11111111-2222-3333-4444-555555555555}\"", "group  = \"G\"", "unknown group `G`"),
        ("guid   = \"{11111111-2222-3333-4444-555555555555}\"\n", "", "class has no group"),
        ("source = [\"mof\", \"phnt\"]\n", "", "missing key `source`"),
        ("{ process = \"Status\" }", "{ process = \"Statis\" }", "unknown field `Statis`"),
        ("{ process = \"Status\" }", "{ process = \"Count\" }", "field `Count` is not an identifier"),
        ("{ process = \"Status\" }", "{ proces = \"Status\" }", "unknown key `proces`"),
        ("{ process = \"Status\" }", "{}", "`by` names no field"),
    ] {
        assert!(SAMPLE.contains(from), "{from}");
        let errors = read(sources(&SAMPLE.replacen(from, to, 1))).expect_err(title);
        let titles: Vec<_> = errors.list().iter().map(|error| error.title.as_str()).collect();
        assert!(titles.contains(&title) && titles.len() <= 2, "{to}: {titles:?}");
        assert!(errors.list().iter().all(|error| errors.place(error).starts_with("Sample.toml:") && !error.help.is_empty()));
    }
}
