//! The standard format keeps the words of the author.

use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::{Sources, converted, formatted, read};

/// Each is in the standard format, although a range, a number, a type or a group could be written in another way.
#[test]
fn words_stay() {
    let file = |keys: &str, members: &str| format!("[struct]\nname   = \"S\"\n{keys}members = [\n{members}]\n");
    for text in [
        file("in     = \"..6.3\"\n", "  { name = \"A\", type = \"ULONG\" },\n"),
        file("size   = 0x0e\n", "  { name = \"A\", type = \"ULONG\", offset = 4 },\n"),
        file("size   = { \"6.1.., 5.0..6.0\" = 0xAb, 1607 = 1_0 }\n", "  { name = \"A\", type = \"ULONG*\", offset = { x64 = 0b1, x86 = 0x00F } },\n"),
        file("", "  { name = \"A\", type = \"ULONG\", in = \"6.1..\" },\n  { name = \"B\", type = \"ULONG\", in = \"6.1..\" },\n  { name = \"C\", type = \"ULONG\", in = \"6.1..\" },\n"),
        file("", "  { in = \"6.1..\", members = [\n    { name = \"A\", type = \"ULONG\" },\n  ] },\n"),
        "[flags]\nname   = \"F\"\ntype   = \"ULONG\"\nconstants = [\n  { name = \"A\", value = 0x0e },\n]\n".into(),
        "architectures = [\"x64\"]\n\n[[release]]\nlabels    = [\"7\"]\nname      = \"Seven\"\narchitectures = [\"x64\"]\nrevisions = [\n  { build = \"1.0.7.0\", module = \"v7\" },\n]\n".into(),
    ] {
        assert_eq!(formatted(&text).as_ref(), Some(&text));
    }
}

/// The notation changes: the order of keys, the place of members, dotted keys, quotes, spaces, line ends.
#[test]
fn notation_changes() {
    let text = "[struct]\r\nname = \"S\"\r\n[[member]]\r\ntype = 'ULONG'\r\nname=\"A\"\r\n# Why.\r\noffset.x86 = 0x0e\r\noffset.x64 = 0x1\r\n";
    let wanted = "[struct]\nname   = \"S\"\nmembers = [\n  # Why.\n  { name = \"A\", type = \"ULONG\", offset = { x86 = 0x0e, x64 = 0x1 } },\n]\n";
    assert_eq!(formatted(text).as_deref(), Some(wanted));
    assert_eq!(formatted(wanted).as_deref(), Some(wanted));
    for other in ["[scalar]\nULONG = { size = 4 }\n", "[global.A]\ndoc=\"A\"\n"] {
        assert_eq!(formatted(other), None);
    }
}

/// Keys of an earlier form of the language are converted, and errors about them name the command.
#[test]
fn old_keys_are_converted() {
    let (old, new) = (include_str!("old_axis.toml"), include_str!("new_axis.toml"));
    let text = converted(old).expect("an equivalent").expect("old keys");
    assert_eq!(text.lines().count(), old.lines().count(), "each line keeps its number");
    assert_eq!(formatted(&text).as_deref(), Some(new));
    assert_eq!(converted(new), Ok(None));
    let erratum = |key: &str| {
        format!("[struct]\nname = \"S\"\nerrata = [{{ what = \"size\", document = 1, actual = 2, {key} = \"abi\" }}]\n")
    };
    assert_eq!(converted(&erratum("witness")), Ok(Some(erratum("evidence"))));
    let error = converted(&old.replace(", same = [\"1.0.9.3\"]", "")).expect_err("a group without an equivalent");
    assert!(error.contains("cannot convert group `9`"), "{error}");

    let axis = |text: &str| {
        let mut sources = Sources::default();
        sources.add("windows.toml", text);
        read(sources).map(|spec| spec.axis)
    };
    let errors = axis(old).expect_err("old keys").render(false);
    for (key, place) in
        [("follows", "2:1"), ("documents", "3:1"), ("version", "5:3"), ("group", "19:3"), ("kernels", "32:1"), ("same", "39:1")]
    {
        let message = format!("error: old key `{key}`\n");
        assert!(errors.contains(&message) && errors.contains(&format!("windows.toml:{place}\n")), "{key}: {errors}");
    }
    assert!(errors.contains("run `etw fmt`") && !errors.contains("missing key"), "{errors}");
    let axis = axis(new).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let target = |build: &str| axis.find_build(build, Arch::X64).map(|asked| axis.target_name(asked.target));
    assert_eq!(target("9"), Ok("1.0.8.1-x64".to_owned()));
    assert_eq!(axis.scope("7-or-8").map(|targets| targets.len()), Ok(8));
}
