//! Dumps of memory, with the kernel's image and its program database made of our own header: all of it comes out through the command.

use crate::{Folder, etw, json};
use etw_layouts_memory::GLOBALS;
use etw_layouts_symbols as symbols;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use test_support::clang;
use test_support::kernels::{module, plan::Plan};
use test_support::memory_dumps::{Paging, System};

const BUILD: &str = "10.0.19041.264";

/// A system whose kernel is a real image, with its variables where the PDB beside it says that they are.
fn system(folder: &Path, linker: &[String]) -> (Plan, System) {
    let (build, arch) = (BUILD.parse().unwrap(), etw_layouts_etl::wire::Arch::X64);
    let mut plan = Plan::of(build, arch);
    let globals = std::mem::take(&mut plan.kit.globals);
    let header = etw(&["export", "c", &format!("{BUILD}-x64")]);
    let mut text = String::from_utf8(header.stdout).unwrap();
    let silo = plan.kit.layout("ESERVERSILO_GLOBALS").unwrap().size;
    let mut sizes = Vec::new();
    for (name, _) in &globals {
        let (declaration, size) = match *name {
            "PspHostSiloGlobals" => ("ESERVERSILO_GLOBALS PspHostSiloGlobals;".to_owned(), silo),
            "EtwpDebuggerData" => ("unsigned char EtwpDebuggerData[24];".to_owned(), 24),
            "EtwPerfFreq" | "EtwpBootTime" => (format!("long long {name};"), 8),
            name => (format!("unsigned {name};"), 4),
        };
        text += &format!("__declspec(dllexport) {declaration}\n");
        sizes.push(size);
    }
    let (image, pdb) = clang::link(&text, clang::X64, linker, &folder.join("ntkrnlmp"), &[]);
    let mut image = clang::mapped(&fs::read(image).unwrap());
    let places = symbols::globals(&fs::read(pdb).unwrap(), GLOBALS.iter().copied()).unwrap();
    let base = module(arch).0;
    let mut debugger_data = 0;
    for ((name, at), size) in globals.iter().zip(sizes) {
        let (from, to) = ((at - plan.kit.image.base) as usize, places[*name] as usize);
        // What was there is no longer where no symbol leads.
        let value = plan.kit.image.bytes[from..from + size].to_vec();
        plan.kit.image.bytes[from..from + size].fill(0xEE);
        image[to..to + size].copy_from_slice(&value);
        if *name == "EtwpDebuggerData" {
            debugger_data = base + to as u64;
        }
    }
    let system = System {
        build,
        arch,
        paging: Paging::Four,
        pieces: vec![(plan.kit.image.base, plan.kit.image.bytes.clone()), (base, image)],
        modules: vec![("ntoskrnl.exe", base, module(arch).1)],
        debugger_data,
        missing: BTreeSet::new(),
    };
    (plan, system)
}

/// Sessions, buffers, events, providers and consumers of dumps of memory of each kind that Windows 10 and its debuggers write.
#[test]
fn all_of_it_comes_out() {
    let Some(linker) = clang::linker() else { return };
    let folder = Folder::new("full");
    let (plan, mut system) = system(&folder.0, &linker);
    let symbols = folder.0.to_str().unwrap();
    let known = ["--symbol-path", symbols, "--build", BUILD];
    let with = |words: &[&str]| json(&[words, &known].concat());
    for kind in [1, 5, 6, 8, 9, 10] {
        let path = folder.file(&format!("kind-{kind}.dmp"), system.dump(etw_layouts::constants::DUMP_TYPE(kind)));
        let (status, infos) = with(&["dump", "info", &path]);
        let info = &infos[0];
        assert_eq!((status, &info["findings"]), (Some(0), &Value::Array(vec![])), "{kind}");
        assert_eq!((info["kind"].as_u64(), info["kernel"]["pdb"].as_str()), (Some(kind.into()), Some("ntkrnlmp.pdb")));
        assert_eq!((info["kernel"]["build"].as_str(), info["kernel"]["build_by"].as_str()), (Some(BUILD), Some("option")));
        assert_eq!(info["kernel"]["globals"].as_object().map(|globals| globals.len()), Some(6));
        assert!(info["witness"].as_array().unwrap().iter().all(|stated| stated["stated"] == stated["layout"]));
        let list = |key: &str| info[key].as_array().unwrap();
        let said: Vec<_> =
            list("sessions").iter().map(|one| (one["name"].as_str().unwrap(), one["buffers"].as_u64().unwrap())).collect();
        let planned: Vec<_> = plan.sessions.iter().map(|one| (one.name, one.buffers.len() as u64)).collect();
        assert_eq!(said, planned);
        let said: BTreeSet<_> = list("providers").iter().map(|one| one["address"].as_str().unwrap().to_owned()).collect();
        assert_eq!(said, plan.providers.iter().map(|one| format!("{:#x}", one.at)).collect());
        let registered = |one: &Value| one["registrations"].as_array().unwrap().len();
        let planned = plan.providers.iter().map(|one| one.registrations.len()).sum::<usize>();
        let groups: usize = list("providers").iter().filter(|one| one["kind"] == "Group").map(registered).sum();
        assert_eq!(list("providers").iter().map(registered).sum::<usize>() - groups, planned);
        assert_eq!(list("consumers").len(), plan.sessions.iter().map(|one| one.consumers.len()).sum::<usize>());

        let of_all: usize = plan.sessions.iter().flat_map(|one| &one.buffers).map(|buffer| buffer.events.len()).sum();
        let (status, events) = with(&["dump", "events", "--free", &path]);
        assert_eq!((status, events.len()), (Some(0), of_all));
        assert!(events.iter().map(|event| event["time"].as_i64().unwrap()).is_sorted());
        let saved = folder.0.join(format!("saved-{kind}"));
        let (status, lines) = with(&["dump", "save", "--free", "-o", saved.to_str().unwrap(), &path]);
        assert_eq!((status, lines.len()), (Some(0), 3));
        assert_eq!(lines.iter().map(|line| line["events"].as_u64().unwrap() as usize).sum::<usize>(), of_all);
        assert_eq!(etw(&["etl", "check", saved.to_str().unwrap()]).status.code(), Some(0));
        // Text says the same; more on demand.
        let text = |more: &[&str]| etw(&[&["dump", "info", &path], more, &known].concat()).stdout;
        assert!(text(&["--details"]).len() > 2 * text(&[]).len());
    }

    // Without symbols the sessions are found, and it is said what is missing; symbols of another kernel are refused.
    let path = folder.file("kind-1.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let output = etw(&["dump", "sessions", &path]);
    let (said, aside) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), said.lines().count()), (Some(0), 3));
    assert!(said.contains("without times") && aside.contains("--build") && aside.contains("--symbols"), "{said}{aside}");
    // An event without a time is at none.
    let (_, events) = json(&["dump", "events", &path]);
    assert!(!events.is_empty() && events.iter().all(|event| event["time"].is_null()));
    assert_eq!(json(&["dump", "events", "--from", "-1000000", &path]), (Some(0), vec![]));
    let record = system.pieces[1].1.windows(4).position(|window| window == b"RSDS").unwrap();
    system.pieces[1].1[record + 4] ^= 1;
    let path = folder.file("other.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let pdb = folder.0.join("ntkrnlmp.pdb");
    let output = etw(&["dump", "sessions", "--symbols", pdb.to_str().unwrap(), &path]);
    let aside = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(aside.contains("symbols of another kernel"), "{aside}");
    // A name that is no file's is none.
    let image = &mut system.pieces[1].1;
    let name = image[record..].windows(12).position(|window| window == b"ntkrnlmp.pdb").unwrap();
    image[record + name..][..3].copy_from_slice(b"..\0");
    let path = folder.file("path.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let (_, infos) = json(&["dump", "info", &path]);
    assert!(infos[0]["kernel"]["pdb"].is_null() && infos[0]["kernel"]["time_stamp"].is_u64());
    let output = etw(&["dump", "sessions", "--symbol-path", symbols, &path]);
    assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("which PDB the kernel has"));
}
