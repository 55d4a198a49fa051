//! Tables that are labelled as another kernel.

use crate::contract::{Folder, etw, root, table_of};
use serde_json::Value;

/// A shipped table, labelled as another kernel.
fn relabelled(kernel: &str, label: &str) -> String {
    let table = table_of(kernel);
    let types = table.find("\nstruct ").expect("a type");
    let head: Vec<_> = table[..types].lines().filter(|line| !line.starts_with("kernel ") && !line.starts_with(' ')).collect();
    format!("{}\nkernel {label} -{}", head.join("\n"), &table[types..])
}

/// A table, its label, and the target with its layouts if the label must be wrong.
const CASES: [(&str, &str, Option<&str>); 12] = [
    // Symbols of the labelled kernel were read, or of updates before and after it.
    ("10.0.17763.379 x64", "10.0.19041.329 x64", Some("10.0.17763.107-x64")),
    ("10.0.19041.3324 x64", "10.0.17763.379 x64", Some("10.0.19041.3324-x64")),
    ("10.0.19041.3324 x64", "10.0.19045.2130 x64", Some("10.0.19041.3324-x64")),
    ("6.3.9600.16384 x86", "6.2.9200.16384 x86", Some("6.3.9600.16384-x86")),
    ("10.0.17134.1 x86", "10.0.17134.1 x64", Some("10.0.17134.1-x86")),
    // Only converted tables of the updates before and after it were read.
    ("10.0.17134.1 x86", "10.0.19041.600 x86", Some("10.0.17134.1-x86")),
    // These kernels were not examined, and may have the layouts of a neighbour.
    ("10.0.19041.3324 x64", "10.0.26100.65000 x64", None),
    ("10.0.22000.348 x64", "10.0.21996.1 x64", None),
    ("6.1.7601.24540 x64", "6.1.7601.24300 x64", None),
    ("10.0.19041.264 x64", "10.0.18300.1 x64", None),
    // The label is right.
    ("10.0.19041.1415 x64", "10.0.19045.1415 x64", None),
    ("10.0.19041.3324 x64", "10.0.19041.3400 x64", None),
];

#[test]
fn a_wrongly_labelled_table_is_reported() {
    let folder = Folder::new();
    for (kernel, label, of) in CASES {
        let table = folder.file("table.facts", &relabelled(kernel, label));
        let verified = etw(&["verify", "--symbols", &table]);
        let text = String::from_utf8_lossy(&verified.stdout);
        let output = etw(&["verify", "--symbols", &table, "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let imported = etw(&["import", "--dry-run", &table]);
        let message = String::from_utf8_lossy(&imported.stderr);
        let summary = &document["summary"];
        let (facts_of, wrongly) = (&document["tables"][0]["facts_of"], &summary["mislabelled"]);
        let asked = label.replace(' ', "-");
        match of {
            Some(of) => {
                let sentence = format!("table.facts: stated build {asked}, but has the layouts of {of}");
                assert!(text.contains(&sentence) && text.contains("; 0 differences"), "{sentence}\n{text}");
                assert_eq!((facts_of, wrongly), (&Value::from(vec![of]), &1.into()), "{label}");
                assert_eq!((verified.status.code(), output.status.code()), (Some(1), Some(1)), "{label}");
                // The table verifies nothing and is not counted. Its differences are printed with --verbose.
                let counts = ["tables", "kernels", "verified", "differences"].map(|count| summary[count].as_u64());
                assert_eq!(counts, [Some(0); 4], "{label}");
                assert!(output.stdout.len() > 1000 && document["tables"][0]["structures"].to_string().contains("offset"));
                assert!(imported.status.code() == Some(2) && message.contains(&sentence), "{message}");
                assert!(message.contains("nothing was written; correct the build"), "{message}");
            }
            None => {
                assert!(!text.contains(": stated build"), "{text}");
                assert_eq!((facts_of, wrongly), (&Value::Array(Vec::new()), &0.into()), "{label}");
                assert!(!message.contains(", but has the layouts of "), "{message}");
            }
        }
    }
}

/// The stated build was not examined, but the facts fit another build better. It is refused until it is confirmed.
#[test]
fn a_doubtful_build_needs_confirmation() {
    let folder = Folder::new();
    for (kernel, label, doubt) in [
        (
            "10.0.18362.720 x64",
            "10.0.18326.1",
            Some("unknown build 10.0.18326.1-x64, and the facts equal those of 10.0.18362.720-x64"),
        ),
        (
            "10.0.17763.379 x64",
            "10.0.26100.65000",
            Some("stated build 10.0.26100.65000-x64, but the facts equal those of 10.0.17763.379-x64"),
        ),
        // The build before it has the same facts.
        ("10.0.18362.720 x64", "10.0.18362.840", None),
        ("10.0.19041.1826 x64", "10.0.19045.3000", None),
    ] {
        let table = folder.file("table.facts", &relabelled(kernel, &format!("{label} x64")));
        let said = |arguments: &[&str]| {
            let output = etw(&[&["import", "--dry-run", &table], arguments].concat());
            let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            (output.status.code(), out, error)
        };
        let (status, out, error) = said(&[]);
        let Some(doubt) = doubt else {
            assert!(status == Some(0) && !out.contains("note:"), "{label}: {out}{error}");
            continue;
        };
        assert!(status == Some(2) && error.contains(&format!("table.facts: {doubt}; nothing was written; ")), "{label}: {error}");
        assert!(error.contains("or confirm with --new-build that it is new"), "{error}");
        let (status, out, error) = said(&["--new-build"]);
        assert!(
            status == Some(0) && out.starts_with(&format!("note: {doubt}; imported, as confirmed with --new-build")),
            "{label}: {out}{error}"
        );
    }
}

/// A table that has the layouts of no known target differs, but is not reported as mislabelled.
#[test]
fn a_table_of_no_known_kernel_is_not_mislabelled() {
    let folder = Folder::new();
    let table = relabelled("10.0.17763.379 x64", "10.0.19041.329 x64");
    let table = folder.file("table.facts", &table.replacen("struct WMI_BUFFER_HEADER 0x", "struct WMI_BUFFER_HEADER 0x1", 1));
    let output = etw(&["verify", "--symbols", &table]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && !text.contains(": stated build") && !text.contains(" 0 differences"), "{text}");
}

/// Windows 10 22H2 has the kernels of 2004. An error names the requested build.
#[test]
fn a_refusal_names_the_build_as_written() {
    let folder = Folder::new();
    let table = |name: &str, label: &str, [old, new]: [&str; 2]| {
        let table = relabelled("10.0.19041.329 x64", label);
        assert!(table.contains(old), "{old}");
        folder.file(name, &table.replacen(old, new, 1))
    };
    let size = ["struct WMI_BUFFER_HEADER 0x", "struct WMI_BUFFER_HEADER 0x1"];
    let known = table("known.facts", "10.0.19045.329 x64", size);
    let member = table("member.facts", "10.0.19045.4000 x64", [" 0x0 BufferSize u4", " 0x0 Buffer+Size u4"]);
    let one = table("one.facts", "10.0.19045.4000 x64", size);
    let other = table("other.facts", "10.0.19045.4000 x64", ["struct LUID 0x", "struct LUID 0x1"]);
    for (tables, refusal) in [
        (vec![&known], "known.facts: contradicts earlier symbols of 10.0.19045.329-x64"),
        (vec![&member], "member.facts, 10.0.19045.4000-x64: TRACE_LOGFILE_HEADER: `Buffer+Size` is not a valid name"),
        (
            vec![&one, &other],
            "other.facts contain different symbols of 10.0.19045.4000-x64: LUID size: 0x8 and 0x18; import only one",
        ),
    ] {
        let tables = tables.into_iter().map(String::as_str);
        let imported = etw(&["import", "--dry-run"].into_iter().chain(tables).collect::<Vec<_>>());
        let message = String::from_utf8_lossy(&imported.stderr);
        assert!(imported.status.code() == Some(2) && message.contains(refusal), "{refusal}\n{message}");
    }
}

/// A PDB belongs to one kernel. It is refused under any other build, examined or not, with any layouts.
#[test]
fn a_known_pdb_is_refused_for_another_kernel() {
    let folder = Folder::new();
    let shipped = table_of("10.0.22000.348 x64");
    let line = shipped.lines().find(|line| line.starts_with("kernel 10.0.22000.348 ")).expect("a kernel");
    let types = &shipped[shipped.find("\nstruct ").expect("a type")..];
    let head = shipped.lines().take_while(|line| !line.starts_with("kernel ")).collect::<Vec<_>>().join("\n");
    let labelled =
        |label: &str| folder.file("table.facts", &format!("{head}\n{}{types}", line.replace("10.0.22000.348 x64", label)));
    for label in ["10.0.30000.1 x64", "10.0.22000.349 x64", "10.0.22621.348 x64", "10.0.22000.348 arm64"] {
        let table = labelled(label);
        let imported = etw(&["import", "--dry-run", &table]);
        let message = String::from_utf8_lossy(&imported.stderr);
        let sentence =
            format!("stated build {}, but its PDB belongs to 10.0.22000.348-x64 in the facts", label.replace(' ', "-"));
        assert!(
            imported.status.code() == Some(2) && message.contains(&format!("{sentence}; nothing was written; correct the build")),
            "{message}"
        );
        let verified = etw(&["verify", "--symbols", &table]);
        let text = String::from_utf8_lossy(&verified.stdout);
        // This also holds if the specs have nothing to compare for the architecture or build.
        assert!(verified.status.code() == Some(1) && text.contains(&sentence), "{label}: {text}");
        let output = etw(&["verify", "--symbols", &table, "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (&document["tables"][0]["pdb_of"], &document["summary"]["verified"]),
            (&"10.0.22000.348-x64".into(), &0.into())
        );
    }
    // Later changes to a PDB increase its age. It still belongs to the same kernel.
    let older = labelled("10.0.30000.1 x64");
    let text = std::fs::read_to_string(older).expect("a table").replacen("06EC06 1\n", "06EC06 2\n", 1);
    let imported = etw(&["import", "--dry-run", &folder.file("age.facts", &text)]);
    let message = String::from_utf8_lossy(&imported.stderr);
    assert!(
        imported.status.code() == Some(2) && message.contains("its PDB belongs to 10.0.22000.348-x64 in the facts"),
        "{message}"
    );
    // Two tables of one PDB at once contradict each other.
    let two = format!(
        "{head}\n{}\n{}{types}",
        line.replace("10.0.22000.348", "10.0.30000.1"),
        line.replace("10.0.22000.348", "10.0.30001.1")
    );
    let two = folder.file("two.facts", &two.replace(line.split(' ').nth(4).expect("a GUID"), &"7".repeat(32)));
    let imported = etw(&["import", "--dry-run", &two]);
    let message = String::from_utf8_lossy(&imported.stderr);
    assert!(imported.status.code() == Some(2) && message.contains("stated build 10.0.30000.1-x64, but"), "{message}");
    let known = etw(&["import", "--dry-run", &labelled("10.0.22000.348 x64")]);
    assert!(String::from_utf8_lossy(&known.stdout).contains("already imported"), "{known:?}");
}

/// A symbol file belongs to one kernel. Labels and builds without a revision name several kernels, so they are refused.
#[test]
fn a_build_that_names_several_kernels_is_refused() {
    let folder = Folder::new();
    let table = folder.file("table.json", "{}");
    for (build, is_one) in [
        ("10.0.26100", false),
        ("10.0.22000", false),
        ("10.0.99999", false),
        ("23H2", false),
        ("1607", false),
        ("5.1.2600", false),
        ("5.1.2600-sp3", true),
        ("10.0.22000.1", true),
    ] {
        let imported = etw(&["import", "--dry-run", &table, "--build", build, "--arch", "x86"]);
        let message = String::from_utf8_lossy(&imported.stderr);
        let refusal = format!("build {build} does not select a single build; add the revision, as in 10.0.26100.3915");
        assert_eq!((imported.status.code(), message.contains(&refusal)), (Some(2), !is_one), "{message}");
    }
}

/// A table in which no type can be defined by a spec is not imported: the kernel would have no layouts.
#[test]
fn a_table_without_importable_types_is_refused() {
    let (folder, specs, facts) = (Folder::new(), Folder::named("bare-specs"), Folder::named("bare-facts"));
    for name in ["windows.toml", "scalars.toml"] {
        specs.file(name, &std::fs::read_to_string(root().join("specs").join(name)).expect("a spec"));
    }
    let names = ["X<int>", "a$b"].map(|name| format!("struct {name} 0x4\n 0x0 A u4\n"));
    let table = format!("etw-layouts-symbols 1\nproducer a test\nkernel 10.0.22000.1 x64 -\n{}", names.concat());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_etw"));
    command.arg("import").arg(folder.file("odd.facts", &table)).arg("--specs").arg(&specs.0).arg("--facts").arg(&facts.0);
    let output = command.output().expect("etw runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && message.contains("odd.facts: contains no type that a spec can define"),
        "{message}"
    );
    let written = std::fs::read_dir(&facts.0).expect("a folder").filter_map(Result::ok);
    assert!(!written.into_iter().any(|file| file.path().extension().is_some_and(|end| end == "facts")));
}

/// With a misspelt member, all tables differ, and each is compared with all targets to find its kernel. This must stay fast.
#[test]
fn a_misspelt_member_is_found_quickly() {
    let (specs, facts) = (Folder::named("misspelt"), root().join("facts"));
    let sources = etw_layouts_codegen::Sources::load(&root().join("specs")).expect("the specs");
    for file in sources.files() {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let (right, wrong) = (["\"LoggerName\",", "type = \"UNICODE"], "\"LogerName\",");
        let line = |line: &str| match right.iter().all(|part| line.contains(part)) {
            true => line.replace(right[0], wrong),
            false => line.to_owned(),
        };
        specs.file(name, &file.text.lines().map(|text| line(text) + "\n").collect::<String>());
    }
    let verify = |specs: &std::path::Path| {
        let start = std::time::Instant::now();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_etw"));
        let output = command.arg("verify").arg("--facts").arg(&facts).arg("--specs").arg(specs).output().expect("etw runs");
        (start.elapsed(), output)
    };
    let (wrong, output) = verify(&specs.0);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && text.contains("LogerName: not in the symbols, which have LoggerName"), "{text}");
    let (plain, _) = verify(&root().join("specs"));
    assert!(wrong < plain * 8, "{wrong:?}, and without the mistake {plain:?}");
}
