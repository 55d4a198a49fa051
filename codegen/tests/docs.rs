//! The text of a spec never becomes a doc test: rustdoc finds no fenced, indented or multi-line code in it.

use etw_layouts_codegen::emit::rust::{Options, emit};
use etw_layouts_codegen::{Sources, read, resolve};

const AXIS: &str = include_str!("../../tests/macro/specs/windows.toml");
const SCALARS: &str = include_str!("../../tests/macro/specs/scalars.toml");
const DOC: &str = "```\npanic!();\n```\n~~~rust\n- ```\n>     quoted\n\n    indented();\n-     item\nkept `a[0]` and ``twice`` of `one\n1. \\`a`";

#[test]
fn text_is_no_test() {
    let expected = [
        r"/// \`\`\`",
        "/// panic!();",
        r"/// \`\`\`",
        r"/// \~\~\~rust",
        r"/// - \`\`\`",
        r"/// \> quoted",
        "///",
        "/// indented();",
        "/// - item",
        r"/// kept `a[0]` and \`\`twice\`\` of \`one",
        r"/// 1. \\`a`",
    ];
    let spec = format!("[struct]\nname = \"SAMPLE\"\ndoc = '''\n{DOC}'''\nmembers = [{{ name = \"A\", type = \"ULONG\" }}]\n");
    let mut sources = Sources::default();
    for (path, text) in [("windows.toml", AXIS), ("scalars.toml", SCALARS), ("SAMPLE.toml", &spec)] {
        sources.add(path, text);
    }
    let layouts = resolve(read(sources).expect("a spec")).expect("layouts");
    let files = emit(&layouts, &Options::default());
    let expected = expected.map(|line| format!("{line}\n")).concat();
    let found: Vec<_> = files.iter().filter(|(_, text)| text.contains(&expected)).map(|(path, _)| path).collect();
    assert!(!found.is_empty(), "{files:#?}");
}
