//! The standard format keeps the words of the author.

use etw_layouts_codegen::formatted;

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
