//! Users generate layouts from their own specs, in a build script or with a macro. The result equals the specs and the output of
//! `generate`.

use etw_layouts::LAYOUTS;
use etw_layouts_codegen::emit::packed::listing;
use etw_layouts_codegen::layouts::{Form, Info};
use etw_layouts_codegen::spec::Body;
use etw_layouts_codegen::{Builder, Sources, compile_with};
use std::fs;
use std::mem::{align_of, offset_of, size_of};
use std::path::Path;
use test_macro::targets::{v7, v8};

#[test]
fn a_macro_generates_the_layouts_of_own_specs() {
    assert_eq!(size_of::<v7::x64::DRIVER_EXTENSION>(), 0x20);
    assert_eq!(size_of::<v8::x86::DRIVER_EXTENSION>(), 0x20);
    assert_eq!(align_of::<v8::x86::DRIVER_EXTENSION>(), 8);
    assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Next), 0x10);
    assert_eq!(offset_of!(v8::x86::DRIVER_EXTENSION, Limit), 0x18);
    let mut extension: v8::x64::DRIVER_EXTENSION = etw_layouts::bytemuck::Zeroable::zeroed();
    extension.set_Removed(1);
    assert_eq!((extension.Flags(), extension.Started()), (2, 0));
}

/// Types of Windows are embedded without a spec of the user. A definition of the user takes precedence.
mod embeds {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "DEVICE_QUEUE"
            size = { x86 = 0x50, x64 = 0x78 }

            [[member]]
            name = "Entries"
            type = "LIST_ENTRY [2]"

            [[member]]
            name = "Name"
            type = "UNICODE_STRING"

            [[member]]
            name   = "Clock"
            type   = "ULONG"
            values = "EVENT_TRACE_CLOCK"

            [[member]]
            name = "Timer"
            type = "KTIMER"
        "#,
        spec = r#"
            [struct]
            name = "UNICODE_STRING"
            size = 0x10

            [[member]]
            name = "Characters"
            type = "WCHAR [8]"
        "#,
        targets = ["6.1-x86", "2004-x64"],
    }
}

#[test]
fn own_types_take_precedence_over_types_of_windows() {
    use embeds::targets::{win7::x86 as old, win10_2004::x64 as new};
    use etw_layouts::{win7, win10_2004};
    assert_eq!(offset_of!(new::DEVICE_QUEUE, Name), 2 * size_of::<win10_2004::x64::LIST_ENTRY>());
    assert_eq!(offset_of!(new::DEVICE_QUEUE, Clock), offset_of!(new::DEVICE_QUEUE, Name) + 16);
    assert_eq!(size_of::<new::KTIMER>(), size_of::<win10_2004::x64::KTIMER>());
    assert_eq!(size_of::<old::KTIMER>(), size_of::<win7::x86::KTIMER>());
    assert_eq!(size_of::<old::DEVICE_QUEUE>(), 2 * 8 + 16 + 8 + size_of::<old::KTIMER>());
    let queue: new::DEVICE_QUEUE = etw_layouts::bytemuck::Zeroable::zeroed();
    assert_eq!(format!("{:?}", queue.Clock), format!("{:?}", etw_layouts::constants::EVENT_TRACE_CLOCK(0)));
    // Types that nothing embeds are left out.
    let names: Vec<_> = embeds::structures::LAYOUTS.structures().map(|structure| structure.name).collect();
    assert_eq!(names, ["DEVICE_QUEUE", "DISPATCHER_HEADER", "KTIMER", "LIST_ENTRY", "ULARGE_INTEGER", "UNICODE_STRING"]);
}

/// A user's axis with the kernels of Windows uses the types of Windows. With another axis this is an error, which names the spec
/// to copy.
#[test]
fn an_own_axis_with_the_kernels_of_windows_has_their_types() {
    let device = "[struct]\nname = \"DEVICE\"\n\n[[member]]\nname = \"Timer\"\ntype = \"KTIMER\"\n";
    let row = "\n[[release]]\nlabels = [\"later\"]\nrevisions = [{ build = \"99.0.1\", module = \"later\" }]\n";
    let windows = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/windows.toml")).expect("the axis");
    let builder = |axis: &str| Builder::default().text("windows.toml", axis).text("DEVICE.toml", device);
    builder(&format!("{windows}{row}")).generate().unwrap_or_else(|error| panic!("{error}"));
    let error = builder(&format!("architectures = [\"x64\"]\n{row}")).generate().expect_err("no KTIMER").to_string();
    assert!(error.contains("DEVICE.toml:6:8") && error.contains("copy specs/nt/KTIMER.toml of etw-layouts"), "{error}");
}

/// An axis that extends the axis of Windows: an update of an existing build, and a release after all others.
const EXTENDED: &str = r#"
    extends = "windows"
    architectures = ["x64"]

    [[release]]
    labels    = ["2004"]
    revisions = [{ build = "10.0.19041.60000", module = "update" }]

    [[release]]
    labels    = ["next"]
    name      = "A Windows that nobody has seen"
    revisions = [{ build = "10.0.60000", module = "next" }, { build = "10.0.60000.7", module = "next_7" }]
"#;

mod extended {
    etw_layouts_macros::layouts! {
        spec = r#"
            extends = "windows"
            architectures = ["x64"]

            [[release]]
            labels    = ["next"]
            name      = "A Windows that nobody has seen"
            revisions = [{ build = "10.0.60000", module = "next" }, { build = "10.0.60000.7", module = "next_7" }]
        "#,
        spec = r#"
            [scalar]
            DISTANCE = { size = 8, signed = true, c = "long long" }

            [typedef]
            MOMENT = "LARGE_INTEGER"
        "#,
        spec = r#"
            [struct]
            name = "DEVICE"
            size = { x64 = { "..10.0.49999" = 0x40, "10.0.50000..10.0.60000.0" = 0x48, "10.0.60000.7.." = 0x50 } }

            [[member]]
            name = "Timer"
            type = "KTIMER"

            [[member]]
            name = "Since"
            type = "MOMENT"
            in   = "10.0.50000.."

            [[member]]
            name = "HANDLE"
            type = "DISTANCE"
            in   = "10.0.60000.7.."

            [[member]]
            name   = "Owner"
            type   = "HANDLE"
            in     = "..5.0"
        "#,
        targets = ["2004-x64", "next-x64", "10.0.60000.7-x64"],
    }
}

/// The types of Windows stay available: their open ranges include the new kernels, and their facts are reported as inferred
/// there.
#[test]
fn an_axis_can_extend_that_of_windows() {
    use extended::targets::{next, next_7, win10_2004};
    let sizes = [size_of::<win10_2004::x64::DEVICE>(), size_of::<next::x64::DEVICE>(), size_of::<next_7::x64::DEVICE>()];
    assert_eq!(sizes, [0x40, 0x48, 0x50]);
    assert_eq!(offset_of!(next_7::x64::DEVICE, HANDLE), 0x48);
    assert_eq!(size_of::<next::x64::KTIMER>(), size_of::<win10_2004::x64::KTIMER>());

    let timer = "[struct]\nname = \"DEVICE\"\n\n[[member]]\nname = \"Timer\"\ntype = \"KTIMER\"\n";
    let builder = Builder::default().text("windows.toml", EXTENDED).text("DEVICE.toml", timer).target("next-x64");
    let generated = builder.generate().unwrap_or_else(|error| panic!("{error}"));
    assert!(generated.text.contains("pub mod next") && generated.notes.iter().all(|note| note.name.is_empty()));
    let mut sources = Sources::default();
    sources.add("windows.toml", EXTENDED);
    sources.add("DEVICE.toml", timer);
    let layouts = compile_with(sources, etw_layouts_specs::FILES).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let axis = &layouts.spec.axis;
    let known = |build: &str| {
        let target = axis.find(build).expect("a target").target;
        let Some(Form::Aggregate(timer)) = layouts.get(target, "KTIMER").map(|layout| &layout.form) else { panic!("no KTIMER") };
        let definition = &layouts.spec.definitions["KTIMER"];
        let Body::Aggregate(aggregate) = &definition.body else { panic!("KTIMER is no structure") };
        let member =
            aggregate.members.iter().find(|member| member.name.as_ref().map(|name| &name.value) == timer.fields[0].name.as_ref());
        Info::of(&layouts.spec, definition, member.expect("the first member"), target).known()
    };
    assert_eq!(known("10.0.19041.60000-x64"), "inferred");
    assert_eq!(known("next-x64"), "inferred");
    assert_eq!(known("2004-x64"), "from symbols");
    assert_eq!(axis.describe(&axis.scope("10.0.59999..").expect("a range")), "next..");
    assert!(axis.find("next-x86").is_err(), "x86 is not among the file's architectures");
    assert!(axis.documented.intersection(&axis.scope("next..").expect("a range")).is_empty());
}

/// A range may end at a build without a kernel. An end that the axis cannot order is an error.
#[test]
fn ranges_can_end_at_builds_without_a_kernel() {
    let member = |range: &str| {
        let ranged = format!("[[member]]\nname = \"A\"\ntype = \"ULONG\"\nin = \"{range}\"\n");
        format!("[struct]\nname = \"DEVICE\"\n\n{ranged}\n[[member]]\nname = \"B\"\ntype = \"ULONG\"\n")
    };
    let of = |range: &str| {
        let mut sources = Sources::default();
        sources.add("windows.toml", EXTENDED);
        sources.add("DEVICE.toml", member(range));
        let layouts = compile_with(sources, etw_layouts_specs::FILES).map_err(|errors| errors.messages().join("\n"))?;
        let Body::Aggregate(aggregate) = &layouts.spec.definitions["DEVICE"].body else { panic!("no structure") };
        Ok::<_, String>(layouts.spec.axis.describe(&aggregate.members[0].scope))
    };
    // An end between two kernels selects the same targets as an end at the nearest kernel in the range.
    let same = [
        ("10.0.10500..10.0.11000", "1511"),
        ("10.0.10500.7..10.0.11000.7", "1511"),
        ("..6.2.9000", "..6.1"),
        ("10.0.50000..", "next.."),
        ("10.0.60000.0..", "next.."),
        ("10.0.19043..10.0.19500", "2004"),
        ("..10.0.70000", "5.0.."),
    ];
    for (one, other) in same {
        assert_eq!(of(one), of(other), "{one}");
        assert!(of(one).is_ok(), "{one}");
    }
    let refused = [
        ("10.0.70000..", "`10.0.70000` is newer than the version axis; its newest build is 10.0.60000.7"),
        ("..4.0.1381", "no build of the version axis is in `..4.0.1381`"),
        ("10.0.10500..10.0.10501", "no build of the version axis is in `10.0.10500..10.0.10501`"),
        ("10.0.50000", "build `10.0.50000` is not on the version axis"),
        ("60000..", "did you mean `10.0.60000`? Otherwise, add the build to windows.toml"),
        ("..19045.3570", "did you mean `10.0.19045.3570`?"),
        ("6.3.19045..", "did you mean `10.0.19045`?"),
        ("6.1 x46", "did you mean `x86`?"),
        ("10.0.60000.8..", "build `10.0.60000.8` is not on the version axis; the previous build is 10.0.60000.7"),
    ];
    for (range, message) in refused {
        let said = of(range).expect_err(range);
        assert!(said.contains(message) && said.contains("DEVICE.toml:7:6") && said.contains("windows.toml"), "{range}: {said}");
        assert!(!said.contains("extends"), "{range}: {said}");
    }
}

/// If a newer kernel has another type in a member's place, tokens are added. The existing tokens keep their types.
#[test]
fn tokens_keep_their_types() {
    let tokens = |link: &str, count: &str| {
        let member = |name: &str, old: &str, new: &str| {
            format!("\n[[member]]\nname = \"{name}\"\ntype = {{ \"..25H2\" = \"{old}\", \"26H1..\" = \"{new}\" }}\n")
        };
        let members = member("Link", "LIST_ENTRY", link) + &member("Count", "ULONG", count);
        let device = format!("[struct]\nname = \"DEVICE\"\n{members}");
        let builder = Builder::default().text("DEVICE.toml", device).structure("DEVICE");
        let text = builder.generate().unwrap_or_else(|error| panic!("{error}")).text;
        let tokens = text.split("    DEVICE {\n").nth(1).and_then(|rest| rest.split("    }\n").next()).expect("tokens of DEVICE");
        // Remove the ranges.
        tokens.lines().map(|line| line.trim().split('"').step_by(2).collect::<String>()).collect::<Vec<_>>()
    };
    assert_eq!(tokens("LIST_ENTRY", "ULONG"), ["Link LINK: LIST_ENTRY, ;", "Count COUNT, ;"]);
    for (link, count) in [("ULONG_PTR", "PVOID"), ("SINGLE_LIST_ENTRY", "LONG"), ("UCHAR [4]", "LIST_ENTRY")] {
        assert_eq!(tokens(link, count), ["Link LINK: LIST_ENTRY,  or LINK_VALUE, ;", "Count COUNT, ;"], "{link}, {count}");
    }
}

/// Valid specs that are probably incomplete or misspelt get notes with place and remedy. Similar names of other types get none.
#[test]
fn notes_on_own_specs() {
    let size = "size = { x86 = 0x08, x64 = 0x10 }\n";
    for (key, types, notes) in [
        (size, ["ULONG", "PVOID"], vec![]),
        ("", ["ULONG", "ULONG"], vec!["DEVICE.toml:2:8: `DEVICE` has no `size`, so", "add `size = 0x8`"]),
        ("", ["ULONG", "PVOID"], vec!["add `size = { x86 = 0x8, x64 = 0x10 }`"]),
        ("", ["ULONG\", in = \"10.0..", "ULONG"], vec!["add `size = { \"5.0..6.3\" = 0x4, \"10.0..\" = 0x8 }`"]),
        (
            size,
            ["LIST_ENTRYY *", "PVOID"],
            vec!["DEVICE.toml:5:24: unknown type `LIST_ENTRYY` behind a pointer; did you mean `LIST_ENTRY`?"],
        ),
        (size, ["PVOID", "DEVCIE *"], vec!["did you mean `DEVICE`?"]),
        (size, ["VOID (*) (UNICODE_STRNG *)", "PVOID"], vec!["did you mean `UNICODE_STRING`?"]),
        (size, ["EPROCESS *", "LIST_ENTRY16 *"], vec![]),
        (size, ["DEVICE *", "DRIVER_OBJECT **"], vec![]),
    ] {
        let members: String =
            ["A", "B"].iter().zip(types).map(|(name, ty)| format!("  {{ name = \"{name}\", type = \"{ty}\" }},\n")).collect();
        let text = format!("[struct]\nname = \"DEVICE\"\n{key}members = [\n{members}]\n");
        let generated = Builder::default().text("DEVICE.toml", &text).generate().unwrap_or_else(|error| panic!("{error}"));
        let found: Vec<_> = generated.notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(found.len(), usize::from(!notes.is_empty()), "{text}: {found:?}");
        assert!(notes.iter().all(|note| found[0].contains(note)), "{text}: {found:?}");
    }
}

/// Authors of drivers have no published references: neither generated code nor messages mention errata.
#[test]
fn no_word_of_errata() {
    assert!(!test_build_script::TEXT.to_lowercase().contains("errat"));
    for (key, member) in [("size = 3", ""), ("", ", offset = 7"), ("sizes = { }", ""), ("", ", unheard = 1"), ("", ", mask = 1")]
    {
        let text = format!("[struct]\nname = \"DEVICE\"\n{key}\nmembers = [{{ name = \"A\", type = \"ULONG\"{member} }}]\n");
        let error = Builder::default().text("DEVICE.toml", &text).generate().expect_err(&text).to_string();
        assert!(!error.contains("errat") && !error.contains("published"), "{error}");
    }
}

/// A user's scalars are added to those of the SDK. A scalar with the same name replaces that of the SDK.
#[test]
fn own_scalars_complete_those_of_the_sdk() {
    let own = "[scalar]\nDISTANCE = { size = 8, signed = true, c = \"long long\" }\nINT8 = { size = 1, c = \"unsigned char\" }\n\n\
               [typedef]\nBOOL = \"UCHAR\"\n";
    let word = "[struct]\nname = \"WORD\"\n\n[[member]]\nname = \"Halves\"\ntype = \"UCHAR [2]\"\n";
    let types = ["DISTANCE", "INT8", "BOOL", "WORD", "SIZE_T", "UINT64", "KIRQL", "KPRIORITY"];
    let members: String = types.iter().map(|ty| format!("\n[[member]]\nname = \"Of{ty}\"\ntype = \"{ty}\"\n")).collect();
    let device = format!("[struct]\nname = \"DEVICE\"\nsize = {{ x86 = 0x20, x64 = 0x28 }}\n{members}");
    let builder = Builder::default().text("own.toml", own).text("WORD.toml", word).text("DEVICE.toml", device);
    builder.generate().unwrap_or_else(|error| panic!("{error}"));
}

/// Compares all structures at all targets as text and as compiled. A build script has no data about examined builds.
#[test]
fn a_build_script_generates_the_committed_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated/src");
    let mut committed = String::new();
    for module in ["constants", "layouts", "members", "structures", "targets"] {
        committed +=
            "#[allow(non_snake_case, non_camel_case_types, non_upper_case_globals, unused, clippy::all, clippy::pedantic)]\n";
        // Users name types by the modules of builds.
        let visibility = if module == "layouts" { "" } else { "pub " };
        nest(&root, &format!("{visibility}mod {module}"), &mut committed);
    }
    // The committed crate has the table as a file.
    let table = |line: &str| line.split_once("Layouts::trusted(").map_or(line, |(before, _)| before).to_owned() + "\n";
    let [text, committed] = [test_build_script::TEXT, &committed].map(|text| text.lines().map(table).collect::<String>());
    // Only the committed crate has features; they group its types.
    let [(text, targets), (committed, theirs)] =
        [&text, &committed].map(|text| text.split_once("pub mod targets {\n").expect("a module of targets"));
    for (number, (ours, theirs)) in text.lines().zip(committed.lines()).enumerate() {
        assert_eq!(ours.trim_start(), theirs.trim_start(), "line {}", number + 1);
    }
    assert_eq!(text.lines().count(), committed.lines().count());
    let theirs = theirs.replace("#[cfg(any($(feature = $feature),*))] ", "");
    let theirs: String = theirs.split('"').step_by(2).collect();
    assert_eq!(names(targets), names(&theirs));
    let listed = |layouts| listing(layouts, "").split_once("# Examined builds").expect("the examined builds").0.to_owned();
    assert_eq!(listed(&test_build_script::structures::LAYOUTS), listed(&LAYOUTS));
}

/// The names in each module of targets, sorted.
fn names(targets: &str) -> Vec<Vec<&str>> {
    let modules = targets.split("mod ").map(|module| {
        let words = module.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
        let mut names: Vec<_> = words.filter(|word| !matches!(*word, "" | "pub" | "use" | "super" | "layouts" | "as")).collect();
        names.sort_unstable();
        names
    });
    modules.collect()
}

/// Replaces module declarations by the committed files.
fn nest(folder: &Path, declaration: &str, out: &mut String) {
    let name = declaration.rsplit(' ').next().unwrap_or_default();
    let (file, within) = (folder.join(format!("{name}.rs")), folder.join(name));
    let text = fs::read_to_string(&file).or_else(|_| fs::read_to_string(within.join("mod.rs"))).expect(declaration);
    *out += &format!("{declaration} {{\n");
    for line in text.replace("by `cargo xtask generate` ", "").lines() {
        let condition = line.trim_start().starts_with("#[cfg(").then(|| line.find(")] ")).flatten();
        let line = condition.map_or(line, |at| &line[at + 3..]);
        match line.strip_suffix(';').filter(|line| line.starts_with("mod ") || line.starts_with("pub mod ")) {
            Some(declaration) => nest(&within, declaration, out),
            None => *out += &format!("{line}\n"),
        }
    }
    *out += "}\n";
}
