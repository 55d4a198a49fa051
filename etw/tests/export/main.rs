//! Exports, read with their intended tools. `ETW_LAYOUTS_ALL` tests all targets instead of a sample. `ETW_LAYOUTS_PYTHON`
//! is the Python interpreter instead of `python3`.

use etw_layouts_cli::map;
use etw_layouts_codegen::axis::{Arch, Axis, TargetId};
use etw_layouts_codegen::emit::c::Style;
use etw_layouts_codegen::emit::{Notes, c, cstruct, isf};
use etw_layouts_codegen::layouts::{Form, Layout, Layouts};
use etw_layouts_codegen::spec::{Body, ValuesKind};
use etw_layouts_project::Choice;
use etw_layouts_project::map::Map;
use etw_layouts_project::{Project, verify};
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{Rules, Symbols, Wanted, compare};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use test_support::folder::Folder;
use test_support::installed;

mod btf;
mod headers;

const PLAIN: Style = Style { prefix: "", plain: true, notes: None };

/// Graphviz can draw the exported graph, and the SVG picture is valid XML. Both have a box for each structure, and all links.
#[test]
fn maps_are_drawn() {
    let layouts = layouts();
    let axis = &layouts.spec.axis;
    let registry = project().registry(axis).expect("the facts can be read");
    for target in sample(&layouts) {
        let choice = Choice::of(&layouts, &registry, axis.newest(target), None);
        let map = Map::of(&layouts, target, None);
        let links = || map.structures.iter().flat_map(|structure| &structure.links);
        let boxes: BTreeSet<_> =
            map.structures.iter().map(|structure| &structure.name).chain(links().map(|link| &link.to)).collect();
        if let Some(drawn) = piped("dot", &["-Tsvg"], &map::dot(&map, axis, &choice)) {
            assert_eq!(drawn.matches("class=\"node\"").count(), boxes.len());
            assert_eq!(drawn.matches("class=\"edge\"").count(), links().count());
        }
        let script = "import sys, xml.etree.ElementTree as tree
for text in tree.parse(sys.stdin).getroot().itertext(): print(text)";
        if let Some(read) = piped("python3", &["-c", script], &map::svg(&map, axis, &choice)) {
            let lines: Vec<_> = read.lines().collect();
            for name in boxes {
                assert!(lines.contains(&name.as_str()), "{name} has no box");
            }
            for structure in &map.structures {
                for link in &structure.links {
                    let link = format!("{}.{} +{:#x} {} {}", structure.name, link.member, link.offset, link.way.word(), link.to);
                    assert!(lines.contains(&link.as_str()), "{link}");
                }
            }
        }
    }
}

#[test]
fn plain_headers_are_read_by_pycparser() {
    python("c", "h", |layouts, target| c::header(layouts, target, None, PLAIN));
}

#[test]
fn tables_are_read_by_volatility() {
    let folder = written("isf", "json", |layouts, target| isf::table(layouts, target, None, None, "a test"));
    // Kernels with the same layouts have the addresses of their own PDBs, as in the facts.
    let layouts = layouts();
    let (mut tables, mut kernels) = (BTreeSet::new(), 0);
    for facts in ["10.0.19041.985-x64.facts", "6.1.7601.24540-x64.facts"] {
        let text = fs::read_to_string(root().join("facts").join(facts)).expect("facts");
        for kernel in text[..text.find("\nstruct ").expect("types")].split("\nkernel ").skip(1) {
            kernels += 1;
            let (line, places) = kernel.split_once('\n').expect("addresses");
            let [build, arch, name, guid, age] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let target = format!("{build}-{arch}");
            let asked =
                if tables.len() % 2 == 0 { vec![target.clone()] } else { vec!["--pdb".to_owned(), format!("{guid}-{age}")] };
            assert!(etw(&[&["export", "isf", "-o", folder.0.to_str().unwrap()], &strs(&asked)[..]].concat()).status.success());
            let places = places.lines().map(|line| line.trim().split_once(' ').expect("a place"));
            let mut expected = format!("{name} {guid} {age}\n");
            places.for_each(|(at, name)| writeln!(expected, "{name} {at}").unwrap());
            fs::write(folder.0.join(format!("{target}.symbols")), expected).expect("a temporary file");
            let target_index = layouts.spec.axis.find(&target).expect("a target").target;
            fs::write(folder.0.join(format!("{target}.expected")), self::expected(&layouts, target_index)).expect("a file");
            tables.insert(fs::read_to_string(folder.0.join(format!("{target}.json"))).expect("a table"));
        }
    }
    assert_eq!(tables.len(), kernels);
    read("isf", &folder);
}

/// Addresses of one PDB are not exported for another kernel. A label or a build that was not examined gets no addresses.
#[test]
fn addresses_are_those_of_the_selected_kernel() {
    let table = |asked: &str| {
        let output = etw(&["export", "isf", asked]);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect(asked)
    };
    for (asked, why) in [
        ("2004-x64", "name a build with its revision"),
        ("10.0.19041-x64", "name a build with its revision"),
        ("10.0.19041.1000-x64", "unknown"),
        ("10.0.19041.985-arm64", "unknown"),
        // 19045 starts at a later revision.
        ("10.0.19045.1415-x64", "unknown"),
    ] {
        let table = table(asked);
        let said = table["metadata"]["producer"]["name"].as_str().expect("a name");
        assert!(said.contains("no symbols: ") && said.contains(why), "{said}");
        assert!(table["metadata"]["windows"].is_null() && table["symbols"].as_object().is_some_and(|all| all.is_empty()));
    }
    let table = table("10.0.19044.1415-x64");
    assert!(table["symbols"]["EtwpDebuggerData"]["address"].is_u64() && table["metadata"]["windows"]["pdb"]["GUID"].is_string());
    // With --only, no variable of another type is exported.
    let silo = etw(&["export", "isf", "10.0.19041.1415-x64", "--only", "LARGE_INTEGER"]);
    let silo: serde_json::Value = serde_json::from_slice(&silo.stdout).expect("JSON");
    let names: Vec<_> = silo["symbols"].as_object().expect("symbols").keys().map(String::as_str).collect();
    assert_eq!(names, ["EtwPerfFreq", "EtwpBootTime"]);
    // All output has the same GUID spelling; input accepts any.
    let offsets = |format: &str| String::from_utf8(etw(&["export", "offsets", "LUID", "--format", format]).stdout).expect("text");
    let csv = offsets("csv");
    let cells: Vec<_> =
        csv.lines().find(|line| line.starts_with("10.0.19041.1415,x64,")).expect("the kernel").split(',').collect();
    let (guid, age) = (cells[3], cells[4]);
    let is_plain =
        |guid: &str| guid.len() == 36 && guid.split('-').all(|part| part.bytes().all(|b| b"0123456789abcdef".contains(&b)));
    assert!(is_plain(guid) && offsets("json").contains(&format!("\"guid\": \"{guid}\"")), "{guid}");
    let bare = guid.replace('-', "").to_uppercase();
    for spelling in [guid.to_owned(), format!("{{{}}}", guid.to_uppercase()), bare.clone()] {
        let output = etw(&["export", "isf", "--pdb", &format!("{spelling}-{age}"), "--only", "LUID"]);
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("\"GUID\": \"{bare}\"")), "{spelling}");
    }
    let groups = etw(&["show", "EVENT_TRACE_GROUP", "--build", "2004", "--arch", "x64", "--format", "json"]);
    let groups: serde_json::Value = serde_json::from_slice(&groups.stdout).expect("JSON");
    let guids: Vec<_> =
        groups["constants"].as_array().expect("constants").iter().filter_map(|group| group["guid"].as_str()).collect();
    assert!(guids.iter().all(|guid| is_plain(guid)) && guids.contains(&"3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), "{guids:?}");
    for (pdb, why) in [("1", "32 hexadecimal digits"), ("00000000000000000000000000000001-1", "no examined build has this PDB")] {
        let output = etw(&["export", "isf", "--pdb", pdb]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why));
    }
}

fn etw(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_etw")).args(arguments).output().expect("etw runs")
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Each type of a file states its confidence, and the head has the number of verified types. Both agree with `show`.
#[test]
fn types_state_their_confidence() {
    let layouts = layouts();
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    for name in ["10.0.19041.1526-x64", "10.0.17763.1-arm64", "6.1.7601.17514-x86"] {
        let asked = layouts.spec.axis.find(name).expect("a target");
        let all = etw_layouts_codegen::emit::types(&layouts, asked.target, None);
        let of = |structure: &str| Choice::of(&layouts, &registry, asked.clone(), Some(structure)).confidence;
        let (sure, not): (Vec<&Layout>, Vec<&Layout>) = all.iter().copied().partition(|layout| of(&layout.name).is_verified());
        assert!(!not.is_empty(), "{name}");
        let count = format!("symbols of this build verify {} of {} types", sure.len(), all.len());
        for format in ["c", "cstruct"] {
            let text = String::from_utf8(etw(&["export", format, name]).stdout).expect("text");
            assert!(text.lines().next().is_some_and(|head| head.contains(&count)), "{format} {name}");
            for layout in &all {
                let own = format!("/* {}: {}", layout.name, of(&layout.name));
                assert!(text.lines().any(|line| line.starts_with(&own)), "{format} {name} {own}");
            }
        }
        let table: serde_json::Value = serde_json::from_slice(&etw(&["export", "isf", name]).stdout).expect("JSON");
        let note = table["metadata"]["producer"]["name"].as_str().expect("a note");
        assert!(note.contains(&count) && note.len() < 500, "{note}");
        let words = not.iter().map(|layout| of(&layout.name).word()).collect::<BTreeSet<_>>();
        for word in words {
            let counted = not.iter().filter(|layout| of(&layout.name).word() == word).count();
            assert!(note.contains(&format!(", {counted} {word}")), "{note}");
        }
    }
}

#[test]
fn definitions_are_read_by_cstruct() {
    let folder = written("cstruct", "h", |layouts, target| cstruct::definitions(layouts, target, None, &Notes::new()));
    let layouts = layouts();
    for target in sample(&layouts) {
        let path = folder.0.join(format!("{}.constants", layouts.spec.axis.target_name(target)));
        fs::write(path, constants(&layouts, target)).expect("a temporary file");
    }
    read("cstruct", &folder);
}

/// A line for each constant in the order of the specs: its enumeration or `#define`, name and value.
fn constants(layouts: &Layouts, target: TargetId) -> String {
    let mut out = String::new();
    for (name, definition) in &layouts.spec.definitions {
        let Body::Values(values) = &definition.body else { continue };
        let Some(Form::Enumeration(held)) = layouts.get(target, name).map(|layout| &layout.form) else { continue };
        let set = if values.kind == ValuesKind::Enum { name } else { "#define" };
        for constant in values.constants.iter().filter(|constant| constant.scope.contains(target)) {
            let value = i128::from(constant.value.get(target).expect("a value").value);
            let value = if held.signed { value } else { value.rem_euclid(1 << (held.size * 8)) };
            writeln!(out, "{set} {} {value}", constant.name.value).unwrap();
        }
    }
    out
}

/// The library's reader of tables shares no code with the writer. It reads all types and bits back.
#[test]
fn tables_equal_the_layouts_when_read_back() {
    let layouts = layouts();
    let mut facts = 0;
    for target in sample(&layouts) {
        let names: Vec<_> = verify::names(&layouts, None).expect("all names");
        let names: Vec<_> = names.into_iter().filter(|name| layouts.get(target, name).is_some()).collect();
        let text = isf::table(&layouts, target, None, None, "a \"test\"");
        let Ok(Symbols::Table(table)) = etw_layouts_symbols::read(text.as_bytes(), &names.iter().copied().collect::<Wanted>())
        else {
            panic!("no types")
        };
        for report in compare(&verify::ours::types(&layouts, target, &names), &table.types, Rules::Faithful) {
            assert_eq!(report.status, Status::Equal, "{}: {:?}", report.name, report.differences.first());
            facts += report.equal;
        }
    }
    assert!(facts > 10_000, "{facts}");
}

/// The exported table is that of the crate, and a file with other content is kept.
#[test]
fn the_table_is_that_of_the_crate() {
    let folder = Folder::new("layouts");
    let path = folder.0.join("layouts.bin");
    let name = path.to_str().expect("a path in Unicode");
    for _ in 0..2 {
        let output = etw(&["export", "layouts", "-o", name]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(fs::read(&path).expect("a file") == etw_layouts::LAYOUTS.bytes());
    }
    fs::write(&path, "other").expect("a temporary file");
    assert_eq!(etw(&["export", "layouts", "-o", name]).status.code(), Some(2));
    assert_eq!(fs::read(&path).expect("a file"), b"other");
}

#[test]
fn the_atlas_conforms_to_its_schema() {
    let layouts = layouts();
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let statements = project().statements().expect("the facts of events can be read");
    let folder = Folder::new("schema");
    let document = serde_json::to_string(&etw_layouts_cli::export::document(&layouts, &registry, &statements)).expect("JSON");
    fs::write(folder.0.join("atlas.json"), document).expect("a temporary file");
    fs::copy(root().join("docs/atlas.schema.json"), folder.0.join("atlas.schema")).expect("the schema");
    read("schema", &folder);
}

/// Each examined build has a row with the values that `show` prints for that build.
#[test]
fn offsets_cover_every_examined_build() {
    let layouts = layouts();
    let axis = &layouts.spec.axis;
    let registry = project().registry(axis).expect("the facts can be read");
    let asked = [
        "EtwpDebuggerData",
        "ETW_GUID_ENTRY.Guid",
        "_LARGE_INTEGER.u.HighPart",
        "WMI_LOGGER_CONTEXT.Persistent",
        "WMI_LOGGER_CONTEXT",
    ];
    let table = etw_layouts_project::offsets::of(&layouts, &registry, &asked.map(str::to_owned), None).expect("members");
    for seen in &registry.builds {
        assert!(table.builds.iter().any(|row| (row.build, row.arch) == (seen.build, seen.arch)), "{seen:?}");
    }
    let csv: String = etw_layouts_cli::export::csv(&table).collect();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), table.builds.len() + 1);
    let header = "ETW_GUID_ENTRY.Guid,LARGE_INTEGER.u.HighPart,WMI_LOGGER_CONTEXT.Persistent,sizeof(WMI_LOGGER_CONTEXT),EtwpDebuggerData,\
                  EtwpDebuggerData evidence,ETW_GUID_ENTRY confidence,LARGE_INTEGER confidence,WMI_LOGGER_CONTEXT confidence";
    assert!(lines[0].ends_with(header), "{}", lines[0]);
    let row = lines.iter().find(|line| line.starts_with("10.0.19041.1415,x64,")).expect("a kernel");
    let facts = fs::read_to_string(root().join("facts/10.0.19041.1415-x64.facts")).expect("facts");
    let at = facts.lines().find_map(|line| line.trim().strip_suffix(" EtwpDebuggerData")).expect("an address");
    let listed: serde_json::Value =
        serde_json::from_slice(&etw(&["list", "--globals", "--format", "json"]).stdout).expect("JSON");
    let listed: Vec<_> = listed["globals"].as_array().expect("a list").iter().map(|global| &global["name"]).collect();
    assert!(listed.iter().copied().eq(layouts.spec.globals.keys()), "{listed:?}");
    let typo = String::from_utf8(etw(&["export", "offsets", "EtwpDebugerData"]).stderr).expect("text");
    assert!(typo.contains("did you mean `EtwpDebuggerData`?"), "{typo}");
    assert!(row.ends_with(&format!(",0x28,0x4,0x340:0-0,0x550,{at},PDB,verified (PDB),verified (PDB),verified (PDB)")), "{row}");
    let unknown = lines.iter().find(|line| line.starts_with("10.0.19041.264,x86,")).expect("a kernel");
    assert!(unknown.contains(",,unknown,verified (converted symbols)"), "{unknown}");
    let document = serde_json::to_value(etw_layouts_cli::export::table(&layouts.spec.axis, &table)).expect("JSON");
    assert_eq!(document["builds"].as_array().map(Vec::len), Some(table.builds.len()));
    // No symbols of ARM64 kernels were read. The offsets are inferred from x64, and the document says so.
    let kernels = document["builds"].as_array().expect("a list").iter().filter(|kernel| kernel["arch"] == "arm64");
    let known = kernels.flat_map(|kernel| kernel["members"].as_array().expect("a list")).map(|member| &member["evidence"]);
    let known: Vec<_> = known.filter_map(serde_json::Value::as_str).filter(|known| !known.starts_with("verified")).collect();
    assert!(known.len() > 100 && known.iter().all(|known| known.contains("inferred from x64")), "{known:?}");
    let wrong = etw_layouts_project::offsets::of(&layouts, &registry, &["LUID.LowPrt".to_owned()], None);
    assert!(wrong.is_err_and(|error| error.to_string().contains("did you mean `LowPart`?")));
}

/// A row has the values that each column has alone, also for all members of all structures together, with --build and in a file.
#[test]
fn offsets_of_all_members_are_those_of_each() {
    let folder = Folder::new("offsets");
    let layouts = layouts();
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let known: Vec<String> = verify::names(&layouts, None).expect("all names").into_iter().map(str::to_owned).collect();
    let all = etw_layouts_project::offsets::of(&layouts, &registry, &known, Some("2004")).expect("structures");
    let values = |row: &etw_layouts_project::offsets::Row, index: usize| (row.cells[index], row.choices[index].confidence);
    let rows: Vec<_> = all.rows().collect();
    assert!(rows.len() > 50 && rows.iter().all(|row| row.seen.build.number == [10, 0, 19041]), "{}", rows.len());
    for (index, name) in known.iter().enumerate().step_by(40) {
        let one =
            etw_layouts_project::offsets::of(&layouts, &registry, std::slice::from_ref(name), Some("2004")).expect("a structure");
        for (own, row) in one.rows().zip(&rows) {
            assert_eq!(values(&own, 0), values(row, index), "{name} {}", row.seen.build);
            let asked = layouts.spec.axis.select(row.seen.build, row.seen.arch).expect("a build");
            assert_eq!(own.choices[0].confidence, Choice::of(&layouts, &registry, asked, Some(name)).confidence, "{name}");
        }
    }
    let path = folder.0.join("one.csv").display().to_string();
    let written = etw(&["export", "offsets", "LUID", "--build", "10.0.19041.1415", "-o", &path]);
    assert_eq!(String::from_utf8_lossy(&written.stdout), format!("wrote {path}\n"));
    let text = fs::read_to_string(&path).expect("a file");
    assert!(
        text.lines().skip(1).all(|line| line.starts_with("10.0.19041.1415,")) && text.contains("\n10.0.19041.1415,x64,"),
        "{text}"
    );
    for (build, message) in [
        ("10.0.19041.1416", "no examined build matches `10.0.19041.1416`"),
        ("22H2", "ambiguous release `22H2`; write `10-22H2` or `11-22H2`"),
    ] {
        let wrong = etw(&["export", "offsets", "LUID", "--build", build]);
        let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
        assert!(wrong.status.code() == Some(2) && said.contains(message), "{said}");
    }
}

/// The headers of both formats have names of their own, so that one folder can have both.
#[test]
fn one_folder_has_all_formats() {
    let folder = Folder::new("formats");
    let path = folder.0.display().to_string();
    for format in ["c", "cstruct", "isf", "dot", "svg"] {
        let output = etw(&["export", format, "1709-x64", "--only", "ETW_HASH_BUCKET", "-o", &path]);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Anyone can make a PDB with any name. Names are escaped so that a spreadsheet runs no formula.
#[test]
fn offsets_contain_no_formulas() {
    let layouts = layouts();
    let mut registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let names = ["=cmd|'/c calc'!A1.pdb", "+1.pdb", "-1,2.pdb", "@a.pdb"];
    for (pdb, name) in registry.builds.iter_mut().filter_map(|seen| seen.pdb.as_mut()).zip(names) {
        name.clone_into(&mut pdb.name);
    }
    let table = etw_layouts_project::offsets::of(&layouts, &registry, &["LUID.LowPart".to_owned()], None).expect("a member");
    let csv: String = etw_layouts_cli::export::csv(&table).collect();
    for name in names {
        assert!(
            csv.contains(&format!("'{name}")) && !csv.contains(&format!(",{name}")) && !csv.contains(&format!("\"{name}")),
            "{name}"
        );
    }
}

/// Writes a file for each target, and reads them with a Python package.
fn python(format: &str, extension: &str, text: impl Fn(&Layouts, TargetId) -> String) {
    read(format, &written(format, extension, text));
}

/// Writes a file and its expected contents for each target.
fn written(format: &str, extension: &str, text: impl Fn(&Layouts, TargetId) -> String) -> Folder {
    let layouts = layouts();
    let folder = Folder::new(format);
    for target in sample(&layouts) {
        let path = |extension| folder.0.join(format!("{}.{extension}", layouts.spec.axis.target_name(target)));
        fs::write(path(extension), text(&layouts, target)).expect("a temporary file");
        fs::write(path("expected"), expected(&layouts, target)).expect("a temporary file");
    }
    folder
}

/// A line for each structure, and a line for each member.
fn expected(layouts: &Layouts, target: TargetId) -> String {
    let mut out = String::new();
    for (name, &id) in &layouts.by_target[target] {
        let Form::Aggregate(aggregate) = &layouts.layouts[id].form else { continue };
        writeln!(out, "{name} {}", aggregate.extent.size).unwrap();
        for member in aggregate.flat() {
            let bits = member.field.bits.map(|bits| format!(" {} {}", bits.position, bits.width)).unwrap_or_default();
            writeln!(out, "  {} {}{bits}", member.name, member.offset).unwrap();
        }
    }
    out
}

fn read(format: &str, folder: &Folder) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/export/read_by_python.py");
    let package = match format {
        "isf" => "jsonschema, volatility3",
        "cstruct" => "dissect.cstruct",
        "c" => "pycparser",
        _ => "jsonschema",
    };
    let Some(python) = installed::python(package) else { return };
    // The headers are preprocessed.
    if format == "c" && installed::program("clang").is_none() {
        return;
    }
    let output = python.command().arg(script).arg(format).arg(&folder.0).output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// The oldest target, one in the middle, and the newest, of each architecture.
fn sample(layouts: &Layouts) -> Vec<TargetId> {
    let axis: &Axis = &layouts.spec.axis;
    if installed::all() {
        return axis.targets.ids().collect();
    }
    let newest = Arch::ALL.into_iter().filter_map(|arch| axis.along(arch).last());
    let mut list: Vec<_> = newest.map(|(_, target)| target).chain([0, axis.targets.len() / 3].map(TargetId::from)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The output of a program for a text; none if the program is not installed.
fn piped(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let installed = installed::program(program)?;
    let output = fed(installed.command().args(arguments), text).expect("the program runs");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command that reads a text, and that may write before it has read everything.
fn fed(command: &mut Command, text: &str) -> std::io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().expect("a thread")?;
    Ok(output)
}

fn layouts() -> Layouts {
    project().layouts().expect("the specs resolve")
}

fn project() -> Project {
    Project::at(root())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
