//! Memory dumps with an image and a program database of a generated header: the commands print the complete contents.

use crate::{Folder, etw, json};
use etw_layouts_etl::Uuid;
use etw_layouts_etl::wire::Arch;
use etw_layouts_symbols as symbols;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use test_support::clang;
use test_support::kernels::{module, plan::Plan};
use test_support::memory_dumps::{Paging, System};
use test_support::pe;

const BUILD: &str = "10.0.19041.264";

/// A kernel with an examined PDB, and the facts with the addresses of its variables.
const KNOWN: &str = "10.0.19041.1415";
const FACTS: &str = "10.0.19041.1415-x64.facts";

/// A system with a real image as its kernel. Its variables are at the addresses in the PDB of the image.
fn system(folder: &Path, linker: &clang::Linker) -> (Plan, System) {
    let (build, arch) = (BUILD.parse().unwrap(), etw_layouts_etl::wire::Arch::X64);
    let mut plan = Plan::of(build, arch);
    let globals = std::mem::take(&mut plan.kit.globals);
    let header = etw(&["export", "c", &format!("{BUILD}-x64")]);
    let mut text = String::from_utf8(header.stdout).unwrap();
    for (name, _) in &globals {
        let declaration = match *name {
            "PspHostSiloGlobals" => "ESERVERSILO_GLOBALS PspHostSiloGlobals;".to_owned(),
            "EtwpDebuggerData" => "unsigned char EtwpDebuggerData[24];".to_owned(),
            name if is_long(name) => format!("long long {name};"),
            name => format!("unsigned {name};"),
        };
        text += &format!("__declspec(dllexport) {declaration}\n");
    }
    let (image, pdb) = clang::link(&text, clang::X64, linker, &folder.join("ntkrnlmp"), &[]);
    let image = clang::mapped(&fs::read(image).unwrap());
    let places = symbols::globals(&fs::read(pdb).unwrap(), etw_layouts_memory::globals()).unwrap();
    let system = with_variables(&mut plan, &globals, image, |name| places[name]);
    (plan, system)
}

/// Whether a variable has 8 bytes: times, frequencies and handles of registrations.
pub fn is_long(name: &str) -> bool {
    ["EtwPerfFreq", "EtwpBootTime"].contains(&name) || name.ends_with("RegHandle")
}

/// A system with the variables of its kernel at these offsets of the image.
pub fn with_variables(
    plan: &mut Plan,
    globals: &[(&'static str, u64)],
    mut image: Vec<u8>,
    place: impl Fn(&str) -> u64,
) -> System {
    let base = module(plan.kit.arch).0;
    let mut debugger_data = 0;
    for (name, at) in globals {
        let size = match *name {
            "PspHostSiloGlobals" => plan.kit.layout("ESERVERSILO_GLOBALS").unwrap().size,
            "EtwpDebuggerData" => 24,
            name if is_long(name) => 8,
            _ => 4,
        };
        let (from, to) = ((at - plan.kit.image.base) as usize, place(name) as usize);
        // Move the value into the image, and overwrite the original.
        let value = plan.kit.image.bytes[from..from + size].to_vec();
        plan.kit.image.bytes[from..from + size].fill(0xEE);
        image[to..to + size].copy_from_slice(&value);
        // The state of ETW refers back to the variable.
        if let Some(member) = plan.kit.place("ESERVERSILO_GLOBALS", 0, "EtwSiloState").filter(|_| *name == "PspHostSiloGlobals") {
            let (state, _) = value[member as usize..].split_first_chunk().expect("an address");
            plan.kit.set("ETW_SILODRIVERSTATE", u64::from_le_bytes(*state), "SiloGlobals", base + to as u64);
        }
        if *name == "EtwpDebuggerData" {
            debugger_data = base + to as u64;
        }
    }
    System {
        build: plan.kit.build,
        arch: plan.kit.arch,
        paging: Paging::Four,
        pieces: vec![(plan.kit.image.base, plan.kit.image.bytes.clone()), (base, image)],
        modules: vec![("ntoskrnl.exe", base, module(plan.kit.arch).1)],
        debugger_data,
        missing: BTreeSet::new(),
        head: None,
    }
}

/// Sessions, buffers, events, providers and consumers, in memory dumps of each kind that Windows 10 and its debuggers write.
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
        assert_eq!((status, &info["diagnostics"]), (Some(0), &Value::Array(vec![])), "{kind}");
        assert_eq!((info["kind"].as_u64(), info["kernel"]["pdb"].as_str()), (Some(kind.into()), Some("ntkrnlmp.pdb")));
        assert_eq!((info["kernel"]["build"].as_str(), info["kernel"]["build_source"].as_str()), (Some(BUILD), Some("option")));
        assert_eq!(info["kernel"]["globals"].as_object().map(|globals| globals.len()), Some(8));
        assert!(info["layout_check"].as_array().unwrap().iter().all(|stated| stated["stated"] == stated["layout"]));
        let list = |key: &str| info[key].as_array().unwrap();
        let said: Vec<_> =
            list("sessions").iter().map(|one| (one["session"].as_str().unwrap(), one["buffers"].as_u64().unwrap())).collect();
        let planned: Vec<_> = plan.sessions.iter().map(|one| (one.name, one.buffers.len() as u64)).collect();
        assert_eq!(said, planned);
        let said: BTreeSet<_> = list("providers").iter().map(|one| one["address"].as_str().unwrap().to_owned()).collect();
        assert_eq!(said, plan.providers.iter().map(|one| format!("{:#x}", one.at)).collect());
        let registered = |one: &Value| one["registrations"].as_array().unwrap().len();
        let planned = plan.providers.iter().map(|one| one.registrations.len()).sum::<usize>();
        let groups: usize = list("providers").iter().filter(|one| one["kind"] == "Group").map(registered).sum();
        assert_eq!(list("providers").iter().map(registered).sum::<usize>() - groups, planned);
        let of = |one: &Value| one["registrations"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
        let said: BTreeSet<_> =
            list("providers").iter().flat_map(of).filter_map(|name| Some(name.as_str()?.to_owned())).collect();
        let planned =
            plan.providers.iter().flat_map(|one| &one.registrations).filter_map(|one| Some(one.traits.as_ref()?.0.clone()));
        assert_eq!(said, planned.collect());
        assert_eq!(list("consumers").len(), plan.sessions.iter().map(|one| one.consumers.len()).sum::<usize>());
        // The same things have the same keys here and in the JSON of events.
        let keys: BTreeSet<_> =
            list("consumers").iter().flat_map(|consumer| consumer.as_object().unwrap().keys().cloned()).collect();
        assert_eq!(Vec::from_iter(keys), ["address", "buffers_lost", "logger_id", "process", "process_address"]);

        let of_all: usize = plan.sessions.iter().flat_map(|one| &one.buffers).map(|buffer| buffer.events.len()).sum();
        let (status, events) = with(&["dump", "events", "--free", &path]);
        assert_eq!((status, events.len()), (Some(0), of_all));
        assert!(events.iter().map(|event| event["time"].as_i64().unwrap()).is_sorted());
        let saved = folder.0.join(format!("saved-{kind}"));
        let (status, lines) = with(&["dump", "save", "--free", "-o", saved.to_str().unwrap(), &path]);
        assert_eq!((status, lines.len()), (Some(0), 3));
        assert_eq!(lines.iter().map(|line| line["events"].as_u64().unwrap() as usize).sum::<usize>(), of_all);
        assert_eq!(etw(&["etl", "check", saved.to_str().unwrap()]).status.code(), Some(0));
        // The text has the same contents; --details prints more.
        let text = |more: &[&str]| etw(&[&["dump", "info", &path], more, &known].concat()).stdout;
        assert!(text(&["--details"]).len() > 2 * text(&[]).len());
    }

    // Without symbols, sessions are found, and the missing data is reported. Symbols of another kernel are refused.
    let path = folder.file("kind-1.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let output = etw(&["dump", "sessions", &path]);
    let (said, aside) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), said.lines().count()), (Some(0), 3));
    assert!(said.contains("no times: ") && aside.contains("--build") && aside.contains("--symbols"), "{said}{aside}");
    // Events without a time match no time range.
    let (_, events) = json(&["dump", "events", &path]);
    assert!(!events.is_empty() && events.iter().all(|event| event["time"].is_null()));
    assert_eq!(json(&["dump", "events", "--from", "-1000000", &path]), (Some(0), vec![]));
    let aside = String::from_utf8(etw(&["dump", "events", "--from", "-1000000", &path]).stderr).unwrap();
    assert!(aside.contains(&format!("{} events without time: --from and --to leave them out", events.len())), "{aside}");
    let record = system.pieces[1].1.windows(4).position(|window| window == b"RSDS").unwrap();
    system.pieces[1].1[record + 4] ^= 1;
    let path = folder.file("other.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let pdb = folder.0.join("ntkrnlmp.pdb");
    let output = etw(&["dump", "sessions", "--symbols", pdb.to_str().unwrap(), &path]);
    let aside = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(aside.contains("symbols of another build: PDB GUID is "), "{aside}");
    // A name that cannot be a file name is ignored.
    let image = &mut system.pieces[1].1;
    let name = image[record..].windows(12).position(|window| window == b"ntkrnlmp.pdb").unwrap();
    image[record + name..][..3].copy_from_slice(b"..\0");
    let path = folder.file("path.dmp", system.dump(etw_layouts::constants::DUMP_TYPE(1)));
    let (_, infos) = json(&["dump", "info", &path]);
    assert!(infos[0]["kernel"]["pdb"].is_null() && infos[0]["kernel"]["time_stamp"].is_u64());
    let output = etw(&["dump", "sessions", "--symbol-path", symbols, &path]);
    assert!(
        output.status.code() == Some(2)
            && String::from_utf8_lossy(&output.stderr).contains("the dump does not name the kernel's PDB")
    );
}

/// The facts of a kernel's PDB.
struct Facts {
    pdb: symbols::Pdb,
    places: Vec<(u64, String)>,
}

fn facts() -> Facts {
    let facts = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../facts").join(FACTS)).unwrap();
    let (line, places) = facts.split_once("\nkernel ").unwrap().1.split_once('\n').unwrap();
    let [_, _, name, guid, age] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let places = places.lines().map_while(|line| line.strip_prefix(" 0x")?.split_once(' '));
    let places = places.map(|(at, name)| (u64::from_str_radix(at, 16).unwrap(), name.to_owned())).collect();
    let guid = Uuid::parse_str(guid).unwrap();
    Facts { pdb: symbols::Pdb { name: name.to_owned(), guid, age: age.parse().unwrap() }, places }
}

const BITMAP: etw_layouts::constants::DUMP_TYPE = etw_layouts::constants::DUMP_TYPE::DUMP_TYPE_BITMAP_KERNEL;

/// A system with a kernel whose PDB has this GUID, with its variables at the addresses in the facts. `change` can change its
/// memory.
fn known_system(guid: Uuid, change: impl FnOnce(&mut Plan)) -> (Plan, System) {
    let Facts { pdb, places } = facts();
    let mut plan = Plan::of(KNOWN.parse().unwrap(), etw_layouts_etl::wire::Arch::X64);
    change(&mut plan);
    let globals = std::mem::take(&mut plan.kit.globals);
    let pdb = symbols::Pdb { guid, ..pdb };
    let file = pe::Image { version: None, codeview: Some(pe::rsds(&pdb, "")), ..pe::Image::x64() }.bytes();
    let mut image = vec![0; 0xE0_0000];
    image[..0x400].copy_from_slice(&file[..0x400]);
    image[0x1000..0x1400].copy_from_slice(&file[0x400..]);
    let place = |wanted: &str| places.iter().find(|(_, name)| name == wanted).unwrap().0;
    let system = with_variables(&mut plan, &globals, image, place);
    (plan, system)
}

/// A dump of kernel memory with compressed buffers of a session.
pub fn compressed_dump() -> Vec<u8> {
    known_system(facts().pdb.guid, |plan| plan.compress(1, true)).1.dump(BITMAP)
}

/// A kernel that is identified only by its header. A build that shares another build's kernel starts at its own first revision.
/// Layouts of ARM64 are reported as inferred from x64.
#[test]
fn a_header_is_enough() {
    let folder = Folder::new("header");
    for (arch, paging, size) in [(Arch::X64, Paging::Four, 0x530), (Arch::Arm64, Paging::Arm, 0x530)] {
        let mut plan = Plan::of("10.0.19041.2130".parse().unwrap(), arch);
        assert_eq!(plan.kit.layout("WMI_LOGGER_CONTEXT").unwrap().size, size);
        let globals = std::mem::take(&mut plan.kit.globals);
        let places: BTreeMap<_, _> = globals.iter().zip(1..).map(|((name, _), place)| (*name, place * 0x100)).collect();
        let system = with_variables(&mut plan, &globals, vec![0; 0x2000], |name| places[name]);
        let system = System { build: "10.0.19045.0".parse().unwrap(), paging, ..system };
        let path = folder.file("header.dmp", system.dump(BITMAP));
        let (_, infos) = json(&["dump", "info", &path]);
        let kernel = &infos[0]["kernel"];
        assert_eq!((kernel["build"].as_str(), kernel["build_source"].as_str()), (Some("10.0.19045"), Some("header")));
        let layouts = kernel["layouts"].as_array().unwrap();
        let known = |name| layouts.iter().find(|one| one["structure"] == name).unwrap()["evidence"].as_str().unwrap();
        let is_inferred = known("WMI_LOGGER_CONTEXT").contains("inferred from x64");
        assert_eq!(is_inferred, arch == Arch::Arm64, "{}", known("WMI_LOGGER_CONTEXT"));
        if arch == Arch::X64 {
            let names: Vec<_> =
                infos[0]["sessions"].as_array().unwrap().iter().map(|one| one["session"].as_str().unwrap()).collect();
            assert_eq!(names, plan.sessions.iter().map(|one| one.name).collect::<Vec<_>>());
        }
        let text = String::from_utf8(etw(&["dump", "info", &path]).stdout).unwrap();
        assert!(text.contains("  build          10.0.19045, from the dump header"), "{text}");
    }
}

/// If the flags of a registration are on a missing page, its owner is not reported as a process.
#[test]
fn an_unknown_owner_is_not_called_a_process() {
    const REGISTRATION: &str = "ETW_REG_ENTRY";
    let mut moved = 0;
    let (plan, mut system) = known_system(facts().pdb.guid, |plan| {
        // Move it so that its flags begin a page.
        let (layout, old) = (plan.kit.layout(REGISTRATION).unwrap(), plan.providers[1].registrations[0].at);
        let room = plan.kit.room(0x2000, 0x1000);
        moved = room + 0x1000 - layout.member("Flags").unwrap().offset as u64 / 8 * 8;
        let from = (old - plan.kit.image.base) as usize;
        let bytes = plan.kit.image.bytes[from..from + layout.size].to_vec();
        plan.kit.write(moved, &bytes);
        let head = plan.kit.place("ETW_GUID_ENTRY", plan.providers[1].at, "RegListHead").unwrap();
        let link = plan.kit.place(REGISTRATION, moved, "RegList").unwrap();
        plan.kit.double(head, &[link]);
    });
    let layout = plan.kit.layout(REGISTRATION).unwrap();
    system.missing.insert((moved + layout.size as u64) / 0x1000);
    let folder = Folder::new("owner");
    let path = folder.file("owner.dmp", system.dump(BITMAP));
    let Ok(process) = plan.providers[1].registrations[0].owner else { panic!("a process") };
    let (_, infos) = json(&["dump", "info", &path]);
    let all = infos[0]["providers"].as_array().unwrap().iter().flat_map(|one| one["registrations"].as_array().unwrap());
    let of: Vec<&Value> = all.filter(|one| one["address"] == format!("{moved:#x}")).collect();
    assert_eq!(of.len(), 1);
    assert_eq!((&of[0]["process"], &of[0]["owner"]), (&Value::Null, &Value::from(format!("{process:#x}"))));
    let output = etw(&["dump", "info", "--details", &path]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains(&format!("registered at {moved:#x}"))).unwrap();
    assert!(line.contains(&format!("by {process:#x}, a process or a callback")) && !line.contains("by the process"), "{line}");
}

/// A kernel with an examined PDB needs no symbol file: the facts have the addresses of its variables, so times and providers are
/// known.
#[test]
fn a_known_kernel_needs_no_symbols() {
    let Facts { pdb, places } = facts();
    let (name, guid, age) = (&pdb.name, pdb.guid, pdb.age);
    let of_pdb = |guid: Uuid| {
        let (plan, system) = known_system(guid, |_| {});
        (plan, system.dump(BITMAP))
    };
    let folder = Folder::new("known");
    let (plan, bytes) = of_pdb(guid);
    let path = folder.file("known.dmp", bytes);
    let (status, infos) = json(&["dump", "info", &path]);
    let (info, kernel) = (&infos[0], &infos[0]["kernel"]);
    assert_eq!((status, &info["diagnostics"]), (Some(0), &Value::Array(vec![])));
    assert_eq!((kernel["build"].as_str(), kernel["build_source"].as_str()), (Some(KNOWN), Some("pdb")));
    assert_eq!((kernel["symbols_source"].as_str(), kernel["symbols"].is_null()), (Some("facts"), true));
    assert_eq!(kernel["globals"].as_object().unwrap().len(), places.len());
    let list = |key: &str| info[key].as_array().unwrap();
    let of =
        |addresses: &[Value]| addresses.iter().map(|one| one["address"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(of(list("providers")), plan.providers.iter().map(|one| format!("{:#x}", one.at)).collect());
    assert_eq!(list("sessions").len(), plan.sessions.len());
    assert!(list("sessions").iter().all(|one| one["has_clock_rate"] == true && one["symbols_source"] == "facts"));
    let of_all: usize = plan.sessions.iter().flat_map(|one| &one.buffers).map(|buffer| buffer.events.len()).sum();
    let (status, events) = json(&["dump", "events", "--free", &path]);
    assert_eq!((status, events.len()), (Some(0), of_all));
    assert!(events.iter().map(|event| event["time"].as_i64().unwrap()).is_sorted());
    let said = |words: &[&str]| {
        let output = etw(&[&["dump"], words, &[&path]].concat());
        assert_eq!(output.status.code(), Some(0));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let known = format!("built in: {} global variables of PDB {}, age {age}", places.len(), guid);
    assert!(said(&["info"]).0.contains(&known) && said(&["sessions"]).1.contains(&known), "{}", said(&["info"]).0);
    // If the symbol path has no PDB, a note reports it, and the known addresses are still used.
    let (text, _) = said(&["info", "--symbol-path", folder.0.to_str().unwrap()]);
    assert!(text.contains(&known) && text.contains(name), "{text}");

    // A table without a PDB may be of another kernel. It does not replace known addresses.
    let mut table: Value = serde_json::from_slice(&etw(&["export", "isf", "2004-x64"]).stdout).unwrap();
    table["symbols"]["EtwPerfFreq"]["address"] = 1.into();
    let table = folder.file("nameless.json", table.to_string());
    let (_, infos) = json(&["dump", "info", "--symbols", &table, &path]);
    assert_eq!(infos[0]["kernel"]["globals"], kernel["globals"]);
    assert!(infos[0]["kernel"]["symbols_note"].as_str().unwrap().contains("may be from another build"));

    // The facts do not apply to another PDB, even if the layouts are equal.
    let path = folder.file("other.dmp", of_pdb(Uuid::from_u128(guid.as_u128() ^ 1)).1);
    let (_, infos) = json(&["dump", "info", "--build", KNOWN, &path]);
    let kernel = &infos[0]["kernel"];
    assert_eq!((kernel["symbols_source"].as_str(), kernel["globals"].as_object().unwrap().len()), (Some("none"), 1));
    assert_eq!(json(&["dump", "info", "--symbol-path", folder.0.to_str().unwrap(), &path]).0, Some(2));
}
