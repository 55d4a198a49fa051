//! Invalid spec texts cause neither panics nor hangs.

use etw_layouts_codegen::emit::rust::{Options, emit_inline};
use etw_layouts_codegen::{Sources, compile};
use oorandom::Rand32;
use tests::project;

#[test]
fn damaged_specs_are_errors_at_worst() {
    let layouts = project().layouts().expect("the specs resolve");
    let files = layouts.spec.sources.files();
    let axis: Vec<_> = files.iter().filter(|f| !f.path.contains("/etw/") && !f.path.contains("/constants/")).collect();
    let mut random = Rand32::new(7);
    for round in 0..400 {
        // Damage one file, and include only the files that it needs, to save time.
        let victim = random.rand_range(0..files.len() as u32) as usize;
        let mut sources = Sources::default();
        for file in &axis {
            if file.path != files[victim].path {
                sources.add(file.path.clone(), file.text.clone());
            }
        }
        let mut bytes = files[victim].text.clone().into_bytes();
        for _ in 0..random.rand_range(1..6) {
            damage(&mut bytes, &mut random);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        sources.add(format!("round {round}"), text);
        if let Err(errors) = compile(sources) {
            assert!(!errors.render(false).is_empty());
        }
    }
}

/// Windows line endings change nothing.
#[test]
fn line_endings_do_not_matter() {
    let project = project().layouts().expect("the specs resolve");
    let generated = |end: &str| {
        let mut sources = Sources::default();
        for file in project.spec.sources.files() {
            sources.add(file.path.clone(), file.text.replace('\n', end));
        }
        compile(sources).ok().and_then(|layouts| emit_inline(&layouts, &Options::default()).ok()).unwrap_or_default()
    };
    let (unix, windows) = (generated("\n"), generated("\r\n"));
    assert!(!unix.is_empty() && !windows.contains('\r') && unix == windows);
}

/// Texts that were slow or crashed in the past.
#[test]
fn hostile_specs_are_errors_at_worst() {
    const AXIS: &str = include_str!("../macro/specs/windows.toml");
    const SCALARS: &str = include_str!("../macro/specs/scalars.toml");
    let chain: String = (0..5000).map(|i| format!("{{ struct = [{{ name = \"A{i}\", type = \"ULONG\" }}] }},\n")).collect();
    let cases = [
        "a=\n".repeat(50_000),
        "[enum]\nname = \"E\"\ntype = \"ULONGLONG\"\nconstants = [{ name = \"A\", value = -1 }, { name = \"B\", value = 0x7fffffffffffffff }]".into(),
        format!("[union]\nname = \"MANY\"\n[[member]]\nunion = [\n{chain}]\n"),
        "[struct]\nname = \"S\"\n[[member]]\nname = \"A\"\ntype = {}\n".into(),
        "[struct]\nname = \"match\"\n[[member]]\nname = \"A\"\ntype = \"ULONG []\"\n".into(),
        "[struct]\nname = \"S\"\n[[member]]\nname = \"A\"\ntype = \"ULONG [4194304]\"\n[[member]]\nname = \"B\"\ntype = \"ULONG\"\nbits = 3\n".into(),
        "[[[[[[[[".repeat(2000),
        "\r\n\u{feff}é = \"\u{1F600}\"".into(),
        String::new(),
    ];
    let start = std::time::Instant::now();
    for (index, text) in cases.into_iter().enumerate() {
        let mut sources = Sources::default();
        sources.add("windows.toml", AXIS);
        sources.add("scalars.toml", SCALARS);
        sources.add(format!("case {index}"), text);
        if let Err(errors) = compile(sources) {
            assert!(!errors.render(false).is_empty());
        }
    }
    // Embedding so deep that recursion would overflow the stack.
    let mut sources = Sources::default();
    sources.add("windows.toml", AXIS);
    sources.add("scalars.toml", SCALARS);
    for i in 0..3000 {
        let ty = if i == 2999 { "ULONG".to_owned() } else { format!("S{}", i + 1) };
        sources.add(format!("S{i}.toml"), format!("[struct]\nname = \"S{i}\"\n[[member]]\nname = \"A\"\ntype = \"{ty}\"\n"));
    }
    assert!(compile(sources).is_err());
    assert!(compile(Sources::default()).is_err());
    assert_eq!(of_unions(13), Ok(()));
    assert_eq!(of_unions(42), Err(vec!["U14.toml:7:8".to_owned()]));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Unions that each embed the previous one twice, so that the number of members doubles. Returns the positions of the errors.
fn of_unions(count: usize) -> Result<(), Vec<String>> {
    let mut sources = Sources::default();
    sources.add("windows.toml", include_str!("../macro/specs/windows.toml"));
    sources.add("scalars.toml", include_str!("../macro/specs/scalars.toml"));
    for i in 0..=count {
        let ty = i.checked_sub(1).map_or("ULONG".to_owned(), |before| format!("U{before}"));
        let member = |name| format!("[[member]]\nname = \"{name}\"\ntype = \"{ty}\"\n");
        let kind = if i == count { "struct" } else { "union" };
        let name = if i == count { "S".to_owned() } else { format!("U{i}") };
        sources.add(format!("{name}.toml"), format!("[{kind}]\nname = \"{name}\"\n{}{}", member("A"), member("B")));
    }
    compile(sources).map(|_| ()).map_err(|errors| errors.list().iter().map(|error| errors.place(error)).collect())
}

fn damage(bytes: &mut Vec<u8>, random: &mut Rand32) {
    const TOKENS: [&str; 16] = [
        "\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        ",",
        "..",
        "0x",
        "\n",
        "[[member]]\n",
        "union = [",
        "9999999999999999999",
        "-1",
        "é",
        "VOID",
    ];
    if bytes.is_empty() {
        return;
    }
    let at = random.rand_range(0..bytes.len() as u32) as usize;
    let end = (at + random.rand_range(1..24) as usize).min(bytes.len());
    match random.rand_range(0..4) {
        0 => drop(bytes.drain(at..end)),
        1 => {
            let token = TOKENS[random.rand_range(0..16) as usize];
            drop(bytes.splice(at..at, token.bytes()));
        }
        2 => {
            let copy = bytes[at..end].to_vec();
            let to = random.rand_range(0..bytes.len() as u32) as usize;
            drop(bytes.splice(to..to, copy));
        }
        _ => bytes[at] = random.rand_range(32..127) as u8,
    }
}
