//! Compilers accept the headers as C and C++, and agree with their assertions.

use super::{PLAIN, fed, layouts, project, sample};
use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::compile;
use etw_layouts_codegen::emit::c::{self, Style};
use etw_layouts_codegen::layouts::{Field, Form, Layouts, Type};
use etw_layouts_codegen::spec::{Body, ValuesKind};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use test_support::folder::Folder;
use test_support::installed::{self, Program};

const ASSERTED: &str = "-DETW_LAYOUTS_ASSERTIONS=1";

#[test]
fn headers_compile_as_c_and_cpp() {
    let Some(program) = installed::program("clang") else { return };
    let clang =
        |layouts: &Layouts, target: TargetId, language: &str, text: &str| clang(&program, layouts, target, language, text);
    let layouts = layouts();
    sample(&layouts).into_par_iter().for_each(|target| {
        let of = |only, style| c::header(&layouts, target, only, style);
        for (header, language) in [(of(None, Style::default()), "c++"), (of(None, PLAIN), "c++"), (of(None, PLAIN), "c")] {
            assert_eq!(clang(&layouts, target, language, &header), "");
        }
        let (asserted, count) = constants(&layouts, target);
        assert!(count > 300, "{count} constants");
        assert_eq!(clang(&layouts, target, "c", &(of(None, Style::default()) + &asserted)), "");
        // Headers with other names, of another kernel, or the same header again, do not conflict.
        let axis = &layouts.spec.axis;
        let other = axis.along(axis.targets[target].arch).map(|(_, other)| other).find(|other| *other != target);
        let several = [
            of(None, Style::default()),
            of(None, Style { prefix: "A_", ..Style::default() }),
            of(Some("LARGE_INTEGER"), Style { prefix: "B_", plain: true, notes: None }),
            of(None, Style::default()),
            c::header(&layouts, other.expect("another kernel"), None, Style { prefix: "C_", plain: true, notes: None }),
        ];
        for language in ["c", "c++"] {
            assert_eq!(clang(&layouts, target, language, &several.concat()), "");
        }
    });
    // On a target where `long` has 8 bytes.
    let target = layouts.spec.axis.find("10.0.22000.434-x64").expect("a target").target;
    let plain = c::header(&layouts, target, None, PLAIN);
    assert_eq!(checked(&program, &["-target", "x86_64-unknown-linux-gnu", ASSERTED, "-x", "c"].map(str::to_owned), &plain), "");
    let names = layouts.by_target[TargetId::FIRST].keys().collect::<Vec<_>>();
    names.into_par_iter().for_each(|name| {
        assert_eq!(
            clang(&layouts, TargetId::FIRST, "c", &c::header(&layouts, TargetId::FIRST, Some(name), Style::default())),
            ""
        );
    });
    for style in [Style::default(), PLAIN] {
        let header =
            c::header(&layouts, TargetId::FIRST, None, style).replacen("LoggerStatus) == 0x3c", "LoggerStatus) == 0x40", 1);
        assert!(clang(&layouts, TargetId::FIRST, "c++", &header).contains("LoggerStatus"), "clang accepts a wrong offset");
    }
}

/// With a prefix, the headers can be included before or after windows.h and Microsoft's ETW headers.
#[test]
fn headers_with_a_prefix_work_with_windows_h() {
    let folder = Folder::new("windows");
    let installed = Path::new("/usr/share/mingw-w64/include");
    if !installed.join("windows.h").exists() {
        return installed::absent("mingw-w64");
    }
    let Some(program) = installed::program("clang") else { return };
    const WINDOWS: [&str; 4] = ["windows.h", "evntrace.h", "evntcons.h", "evntprov.h"];
    let layouts = layouts();
    let axis = &layouts.spec.axis;
    let sample = sample(&layouts).into_iter().filter(|&target| axis.targets[target].arch != Arch::Arm64);
    let cases = sample.flat_map(|target| [false, true].map(|plain| (target, plain))).collect::<Vec<_>>();
    cases.into_par_iter().for_each(|(target, plain)| {
        let name = format!("{}-{plain}.h", axis.target_name(target));
        let style = Style { prefix: "KERNEL_", plain, notes: None };
        fs::write(folder.0.join(&name), c::header(&layouts, target, None, style)).expect("a temporary file");
        let machine = if axis.targets[target].arch == Arch::X86 { "i686-w64-mingw32" } else { "x86_64-w64-mingw32" };
        for (language, standard) in [("c", "-std=c11"), ("c++", "-std=c++14")] {
            for headers in [[&WINDOWS[..], &[&name]].concat(), [&[name.as_str()], &WINDOWS[..]].concat()] {
                let text: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
                let own = format!("-I{}", folder.0.display());
                let arguments =
                    ["-target", machine, "-isystem", &installed.display().to_string(), &own, ASSERTED, standard, "-x", language]
                        .map(str::to_owned);
                assert_eq!(checked(&program, &arguments, &text), "", "{headers:?} as {language}");
            }
        }
    });
}

/// GCC accepts members that are named like their type as C++; most kernels have some. It has no target with Microsoft's ABI, so
/// assertions are disabled.
#[test]
fn headers_compile_with_gcc() {
    let Some(gcc) = Gcc::find() else { return };
    let layouts = layouts();
    let styles = [Style::default(), PLAIN, Style { prefix: "A_", ..Style::default() }];
    sample(&layouts).into_par_iter().for_each(|target| {
        for style in styles {
            assert_eq!(gcc.messages(&c::header(&layouts, target, None, style)), "");
        }
    });
    let mut sources = project().sources().expect("the specs");
    sources.add("SAME_NAMES.toml", SAME_NAMES);
    let layouts = compile(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let headers =
        ["", "L"].map(|prefix| c::header(&layouts, TargetId::FIRST, Some("SAME_NAMES"), Style { prefix, ..Style::default() }));
    headers.iter().for_each(|header| assert_eq!(gcc.messages(header), ""));
    let Some(program) = installed::program("clang") else { return };
    for (header, language) in headers.iter().flat_map(|header| [(header, "c++"), (header, "c")]) {
        assert_eq!(clang(&program, &layouts, TargetId::FIRST, language, header), "");
    }
}

/// Names that are words of C or C++, or names of compilers or `<stddef.h>`, are changed, and a comment has the original. This
/// also applies to a constant that two enumerations have.
#[test]
fn headers_compile_with_any_names() {
    let (Some(program), Some(gcc)) = (installed::program("clang"), Gcc::find()) else { return };
    let types = ["int", "int_", "long", "class", "auto", "template", "size_t", "wchar_t", "NULL", "ANYSIZE_ARRAY", "std", "unix"];
    let members = ["class", "class_", "new", "and", "int", "static_assert", "NULL", "ANYSIZE_ARRAY", "linux", "Own"];
    let members: String = members.map(|name| format!("\n[[member]]\nname = \"{name}\"\ntype = \"ULONG\"\n")).concat();
    let mut holder = "[struct]\nname = \"HOLDER\"\n".to_owned();
    let mut sources = project().sources().expect("the specs");
    for name in types {
        sources.add(format!("{name}.toml"), format!("[struct]\nname = \"{name}\"\n{members}"));
        holder += &format!(
            "\n[[member]]\nname = \"Of_{name}\"\ntype = \"{name}\"\n\n[[member]]\nname = \"To_{name}\"\ntype = \"{name} *\"\n"
        );
    }
    for (name, value) in [("ONE", 1), ("OTHER", 2), ("default", 3)] {
        let constants = format!("{{ name = \"Same\", value = {value} }}, {{ name = \"delete\", value = 4 }}");
        sources.add(format!("{name}_.toml"), format!("[enum]\nname = \"{name}\"\ntype = \"LONG\"\nconstants = [{constants}]\n"));
        holder += &format!("\n[[member]]\nname = \"Is_{name}\"\ntype = \"{name}\"\n");
    }
    sources.add("HOLDER.toml", holder);
    let layouts = compile(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let target = layouts.spec.axis.find("10.0.22000.434-x64").expect("a target").target;
    for style in [Style::default(), PLAIN, Style { prefix: "L", ..Style::default() }, Style { prefix: "d", ..Style::default() }] {
        let header = c::header(&layouts, target, Some("HOLDER"), style);
        let said = ["c++", "c"].map(|language| clang(&program, &layouts, target, language, &header)).concat();
        assert_eq!(said + &gcc.messages(&header), "");
        assert!(header.contains(" class__; /* class */\n"), "{header}");
        let (prefix, other) = (style.prefix, format!("{0}OTHER_Same = 2, /* {0}Same */\n", style.prefix));
        assert!(header.contains(&format!("{prefix}Same = 1,\n")) && header.contains(&other), "{header}");
    }
}

/// A member named like a type, for each kind of type; one more with the prefix `L`.
const SAME_NAMES: &str = r#"
[struct]
name = "SAME_NAMES"

[[member]]
name = "LUID"
type = "LUID volatile"

[[member]]
name = "ULONG"
type = "ULONG"

[[member]]
name = "POOL_TYPE"
type = "POOL_TYPE *"

[[member]]
name = "SIZE_T"
type = "SIZE_T (*) (ULONG, BOOLEAN)"

[[member]]
name = "ETHREAD"
type = "ETHREAD * [2]"

[[member]]
struct = [{ name = "Inner", type = "LIST_ENTRY" }, { name = "LLIST_ENTRY", type = "BOOLEAN" }]

[[member]]
name = "BOOLEAN"
type = "LIST_ENTRY"

[[member]]
name = "LIST_ENTRY"
type = "BOOLEAN"
"#;

/// The messages of clang for a text.
fn clang(program: &Program, layouts: &Layouts, target: TargetId, language: &str, text: &str) -> String {
    let triple = match layouts.spec.axis.targets[target].arch {
        Arch::X86 => "i686-pc-windows-msvc",
        Arch::X64 => "x86_64-pc-windows-msvc",
        Arch::Arm64 => "aarch64-pc-windows-msvc",
    };
    let strict = if language == "c" { "-std=c11" } else { "-std=c++14" };
    checked(program, &["-target", triple, ASSERTED, strict, "-x", language].map(str::to_owned), text)
}

/// Assertions for the flags and constants of a target, and their number.
fn constants(layouts: &Layouts, target: TargetId) -> (String, usize) {
    fn names<'a>(fields: &'a [Field], all: &mut BTreeSet<&'a str>) {
        for field in fields {
            all.extend(field.name.as_deref());
            if let Type::Inline(inner) = &field.ty {
                names(&inner.fields, all);
            }
        }
    }
    let mut members = BTreeSet::new();
    for layout in &layouts.layouts {
        if let Form::Aggregate(aggregate) = &layout.form {
            names(&aggregate.fields, &mut members);
        }
    }
    let mut text = String::new();
    let mut known = BTreeSet::new();
    for definition in layouts.spec.definitions.values() {
        let Body::Values(values) = &definition.body else { continue };
        for constant in values.constants.iter().filter(|_| values.kind != ValuesKind::Enum && definition.scope.contains(target)) {
            let name = constant.name.value.as_str();
            let value = constant.value.get(target).filter(|_| constant.scope.contains(target));
            if let Some(value) = value.filter(|_| known.insert(name)) {
                // If a member has the name of a macro, the macro's name begins with its set.
                let set = &definition.name.value;
                let name = if members.contains(name) { format!("{set}_{name}") } else { name.to_owned() };
                text += &format!("_Static_assert({name} == {:#x}, \"{name}\");\n", value.value & i64::from(u32::MAX));
            }
        }
    }
    (text, known.len())
}

/// The messages of clang for a text with these arguments; warnings are errors.
fn checked(program: &Program, arguments: &[String], text: &str) -> String {
    let mut command = program.command();
    command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]).args(arguments).arg("-");
    let output = fed(&mut command, text).expect("clang runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// GCC for C++ and for C.
struct Gcc([Program; 2]);

impl Gcc {
    fn find() -> Option<Self> {
        Some(Self([installed::program("g++")?, installed::program("gcc")?]))
    }

    /// The messages for a header, as C++ and as C.
    fn messages(&self, header: &str) -> String {
        let said = |(program, options): (&Program, [&str; 2])| {
            let mut command = program.command();
            command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DETW_LAYOUTS_ASSERTIONS=0", "-x"]);
            let output = fed(command.args(options).arg("-"), header).expect("GCC runs");
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        self.0.iter().zip([["c++", "-std=c++14"], ["c", "-std=c11"]]).map(said).collect()
    }
}
