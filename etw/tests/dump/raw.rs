//! Memory images without the headers of a dump: the kernel is found, and what is read from it equals that of a crash dump of the same memory.
//! With ETW_LAYOUTS_IMAGES, writes the images and dumps to that folder, for the tests of the Volatility plugins.

use crate::{Folder, json};
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::{Arch, Build, LAYOUTS};
use etw_layouts_cli::api;
use etw_layouts_dump::{Error, IdentitySource, MemoryDump, Source};
use etw_layouts_symbols as symbols;
use serde_json::{Value, json as value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{env, fs, io};
use test_support::kernels::module;
use test_support::kernels::plan::Plan;
use test_support::memory_dumps::{Paging, System};
use test_support::pe;

/// Versions and formats of page tables. Addresses of variables are known only for x64; for others, the symbols of the kernel are given. Symbol tables of x86
/// have no PDB, so its build is given too.
const BUILDS: [([u32; 3], Arch, Paging); 8] = [
    ([6, 1, 7601], Arch::X86, Paging::Two),
    ([10, 0, 10240], Arch::X86, Paging::Pae),
    ([10, 0, 17763], Arch::X64, Paging::Four),
    ([10, 0, 14393], Arch::X64, Paging::Four),
    ([10, 0, 19041], Arch::X64, Paging::Four),
    ([10, 0, 22000], Arch::X64, Paging::Five),
    ([10, 0, 17134], Arch::Arm64, Paging::Arm),
    ([10, 0, 22000], Arch::Arm64, Paging::Arm),
];

/// Number of changed memories of each format.
const ROUNDS: u32 = 150;

/// Physical memory as pages by address.
struct Pages(BTreeMap<u64, Vec<u8>>);

impl Source for Pages {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let at = offset + done as u64;
            let Some(page) = self.0.get(&(at / 0x1000 * 0x1000)) else { break };
            let rest = &page[(at % 0x1000) as usize..];
            let length = rest.len().min(out.len() - done);
            out[done..done + length].copy_from_slice(&rest[..length]);
            done += length;
        }
        Ok(done)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.keys().next_back().map_or(0, |last| last + 0x1000))
    }
}

/// A system of an examined build.
struct Made {
    plan: Plan,
    system: System,
    build: Build,
    /// The symbols of its kernel, as an ISF table, if the facts do not have its variables.
    symbols: Option<Value>,
}

fn made(number: [u32; 3], arch: Arch, paging: Paging) -> Made {
    let seen = LAYOUTS.examined().find(|seen| {
        let is_known = match arch {
            Arch::X86 => true,
            Arch::X64 => seen.pdb.is_some() && seen.globals().count() > 3,
            Arch::Arm64 => seen.image.is_some(),
        };
        seen.build.number == number && seen.arch == arch && is_known
    });
    let seen = seen.unwrap_or_else(|| panic!("{number:?} {arch}: not examined"));
    let mut plan = Plan::of(seen.build, arch);
    let mut globals = std::mem::take(&mut plan.kit.globals);
    let has_facts = arch == Arch::X64;
    let base = module(arch).0;
    let places: BTreeMap<_, _> = match arch {
        // Up to 6.1, lists refer to variables, so they stay where they are, after the image.
        Arch::X86 => globals.iter().map(|(name, at)| (*name, at - base)).collect(),
        Arch::X64 => seen.globals().collect(),
        Arch::Arm64 => globals.iter().zip(1..).map(|((name, _), index)| (*name, 0x4000 * index)).collect(),
    };
    globals.retain(|(name, _)| places.contains_key(name));
    let (machine, name) = match arch {
        Arch::X86 => (0x014C, "ntkrpamp.pdb"),
        Arch::X64 => (0x8664, "ntkrnlmp.pdb"),
        Arch::Arm64 => (0xAA64, "ntkrnlmp.pdb"),
    };
    let (guid, age) = seen.pdb.map_or((symbols::Uuid::from_u128(7), 2), |pdb| (pdb.guid, pdb.age));
    let pdb = symbols::Pdb { name: name.into(), guid, age };
    let file = pe::Image { machine, version: None, codeview: Some(pe::rsds(&pdb, "")) }.bytes();
    let end = if arch == Arch::X86 { 0x4000 } else { places.values().max().map_or(0, |last| last + 0x8000) / 0x1000 * 0x1000 };
    let mut image = vec![0; end as usize];
    image[..0x400].copy_from_slice(&file[..0x400]);
    image[0x1000..0x1400].copy_from_slice(&file[0x400..]);
    let own = seen.image.filter(|_| !has_facts).map_or((0, end as u32), |image| (image.time_stamp, image.size));
    image[0x48..][..4].copy_from_slice(&own.0.to_le_bytes());
    image[0x58 + 56..][..4].copy_from_slice(&own.1.to_le_bytes());
    let system =
        crate::full::with_variables(&mut plan, if arch == Arch::X86 { &[] } else { &globals }, image, |name| places[name]);
    let system = System { paging, ..system }.with_modules_in_image(0x2000);
    let table = || {
        let addresses: BTreeMap<_, _> = places.iter().map(|(name, at)| (*name, value!({ "address": at }))).collect();
        let guid = guid.simple().to_string().to_uppercase();
        value!({
            "metadata": { "format": "6.1.0", "producer": { "name": "test", "version": "1" },
                "windows": { "pdb": { "GUID": guid, "age": age, "database": name, "machine_type": machine } } },
            "base_types": {}, "user_types": {}, "enums": {}, "symbols": addresses,
        })
    };
    Made { plan, system, build: seen.build, symbols: (!has_facts).then(table) }
}

/// What a command prints about memory by its address: without the kind of the dump, and places in its file.
fn compared(info: &Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| name != "offset");
                members.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let names = ["architecture", "build_number", "kernel", "modules", "sessions", "providers", "consumers", "diagnostics"];
    let mut kept: Value = names.iter().map(|name| ((*name).to_owned(), info[*name].clone())).collect();
    strip(&mut kept);
    kept
}

/// What the command prints about memory without headers.
fn info_of(memory: Pages, ranges: &[(u64, u64)], words: &[&str]) -> Value {
    let args: Vec<_> = words[1..].iter().chain(&["--format", "json"]).map(OsString::from).collect();
    let printed = Printed::default();
    let notes = api::memory(&args, memory, ranges, Box::new(printed.clone())).expect("an answer");
    assert!(notes.lines().all(|line| line.contains("\"note\"")), "{notes}");
    serde_json::from_slice(&printed.0.lock().expect("bytes")).expect("JSON")
}

#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("bytes").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn memory_images() {
    let folder = Folder::new("raw");
    let kept = env::var_os("ETW_LAYOUTS_IMAGES").map(PathBuf::from);
    let mut list = String::new();
    for (number, arch, paging) in BUILDS {
        let Made { plan, system, build, symbols } = made(number, arch, paging);
        let pages = system.pages();
        let ranges: Vec<_> = pages.iter().map(|(address, _)| (*address, 0x1000)).collect();
        let memory = || Pages(pages.iter().cloned().collect());
        let dump = MemoryDump::from_memory(memory(), &ranges, Some(build)).expect("a kernel");
        assert_eq!((dump.header().arch, dump.header().build.number), (arch, build.number), "{build} {arch}");
        assert_eq!(dump.diagnostics(), [], "{build} {arch}");
        assert_eq!(dump.modules().iter().map(|module| &*module.name).collect::<Vec<_>>(), ["ntoskrnl.exe"]);
        // An unknown kernel is refused, and not read with layouts of another.
        if arch == Arch::X86 {
            let error = MemoryDump::from_memory(memory(), &ranges, None).err().expect("an unknown kernel");
            assert!(matches!(error, Error::UnknownKernel(_)), "{error}");
        } else {
            let by = if arch == Arch::X64 { IdentitySource::Pdb } else { IdentitySource::Image };
            assert_eq!((dump.identity().by, dump.identity().build), (by, build));
        }
        // The same memory as a crash dump.
        let path = folder.file("memory.dmp", system.dump(DUMP_TYPE::DUMP_TYPE_FULL));
        let name = format!("{build}-{arch}");
        let mut words = vec!["dump".to_owned(), "info".to_owned(), path, "--build".to_owned(), build.to_string()];
        if let Some(table) = &symbols {
            let place = kept.as_deref().unwrap_or(&folder.0).join(format!("{name}.symbols.json"));
            fs::write(&place, table.to_string()).expect("symbols");
            words.extend(["--symbols".to_owned(), place.display().to_string()]);
        }
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let (status, infos) = json(&words);
        let sessions =
            infos[0]["sessions"].as_array().map(|all| all.iter().map(|one| one["session"].as_str().unwrap()).collect());
        let planned: Vec<_> = plan.sessions.iter().map(|session| session.name).collect();
        assert_eq!((status, sessions), (Some(0), Some(planned)), "{name}: {}", infos[0]["diagnostics"]);
        let answer = compared(&infos[0]);
        assert_eq!(answer, compared(&info_of(memory(), &ranges, &words)), "{name}");
        // Without symbols, a search finds the state of ETW where it refers back to its variable.
        if symbols.is_some() && build.number >= [10, 0, 15063] {
            let found = info_of(memory(), &ranges, &["dump", "info", "--details", "memory"]);
            let names = |info: &Value| -> Vec<_> {
                info["sessions"].as_array().unwrap().iter().map(|one| one["session"].clone()).collect()
            };
            assert_eq!((&found["kernel"]["symbols_source"], names(&found)), (&value!("search"), names(&answer)), "{name}");
            assert_eq!(found["providers"], answer["providers"], "{name}");
            // Without the reference back, the variable is not found.
            let host = dump.find_host(build).expect("memory").expect("the variable");
            let back = (dump.image().expect("an image").base.0 + host).to_le_bytes();
            let other = pages.iter().map(|(address, page)| {
                let words =
                    page.chunks_exact(8).flat_map(|word| if word == back { [0; 8] } else { word.try_into().expect("a word") });
                (*address, words.collect())
            });
            let other = MemoryDump::from_memory(Pages(other.collect()), &ranges, Some(build)).expect("a kernel");
            assert_eq!(other.find_host(build), Ok(None), "{name}");
        }
        if let Some(kept) = &kept {
            let mut file = fs::File::create(kept.join(format!("{name}.raw"))).expect("an image");
            for (address, bytes) in &pages {
                file.seek(SeekFrom::Start(*address)).and_then(|_| file.write_all(bytes)).expect("a page");
            }
            fs::write(kept.join(format!("{name}.json")), answer.to_string()).expect("the answer");
            list += &format!("{name} {build} {}\n", symbols.is_some());
        }
    }
    if let Some(kept) = &kept {
        fs::write(kept.join("list.txt"), list).expect("the list");
    }
}

/// Memory without a kernel; and searches that end at a limit, which proves nothing.
#[test]
fn no_kernel_is_found() {
    let nothing = |page: Vec<u8>, ranges: &[(u64, u64)]| {
        MemoryDump::from_memory(Pages(BTreeMap::from([(0x1000, page)])), ranges, None).err().expect("no kernel")
    };
    assert_eq!(nothing(vec![0; 0x1000], &[(0x1000, 0x1000), (0x8000, 0x10_0000)]), Error::NoKernel);
    // A range that is larger than any memory.
    assert_eq!(nothing(vec![0; 0x1000], &[(0x1000, 0x1000), (0, u64::MAX)]), Error::SearchLimit("missing pages"));
    // A page whose entries all refer to the page itself, so that it is a table of each format and maps everything.
    let page = 0x1003_u64.to_le_bytes().repeat(512);
    assert_eq!(nothing(page, &[(0, u64::MAX)]), Error::SearchLimit("page tables"));
}

/// Pages that look like tables of PAE do not hide a kernel of x64, and missing pages do not hide the pages after them.
#[test]
fn what_comes_before_the_kernel_does_not_hide_it() {
    let Made { system, build, .. } = made([10, 0, 19041], Arch::X64, Paging::Four);
    let mut memory: BTreeMap<_, _> = system.pages().into_iter().collect();
    let (first, last) = (*memory.keys().next().expect("a page"), *memory.keys().next_back().expect("a page"));
    for page in (0x1000..0x2_9000).step_by(0x1000) {
        let mut content = vec![0; 0x1000];
        content[..32].copy_from_slice(&(page | 3_u64).to_le_bytes().repeat(4));
        memory.insert(page, content);
    }
    assert!(first > 0x10_0000, "{first:#x}");
    let find = |memory| MemoryDump::from_memory(Pages(memory), &[(0, last + 0x1000)], None).expect("a kernel").identity().build;
    assert_eq!(find(memory.clone()), build);
    // The only table that refers to itself, as the first page after a large gap.
    let mut table = std::mem::replace(memory.get_mut(&first).expect("the table"), vec![0; 0x1000]);
    let start = *memory.keys().zip(memory.keys().skip(1)).find(|(page, next)| **next - **page > 0x200_0000).expect("a gap").1;
    table[0x1ED * 8..][..8].copy_from_slice(&((start - 0x1000) | 0x63).to_le_bytes());
    memory.insert(start - 0x1000, table);
    assert_eq!(find(memory), build);
}

/// Seeded changes of memory of each format cause no panic and no hang.
#[test]
fn any_change_of_memory() {
    let formats = [
        ([10, 0, 10240], Arch::X86, Paging::Pae),
        ([10, 0, 19041], Arch::X64, Paging::Four),
        ([10, 0, 17134], Arch::Arm64, Paging::Arm),
    ];
    let mut random = 1_u64;
    let mut number = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random.rotate_left(29)
    };
    let mut lost = 0;
    for (version, arch, paging) in formats {
        let Made { system, build, .. } = made(version, arch, paging);
        let (pages, mut found) = (system.pages(), 0);
        for round in 0..ROUNDS {
            let mut changed = pages.clone();
            for _ in 0..1 + number() % 8 {
                let mut page = |pages: u64| (number() % pages) as usize;
                // Page tables come first.
                let (from, to, at) = (page(pages.len() as u64), page(16), page(0x200) * 8);
                let value = match page(4) {
                    0 => number(),
                    1 => changed[from].0 | (number() % 0x1000),
                    2 => u64::from_le_bytes(changed[from].1[at..at + 8].try_into().expect("eight bytes")),
                    _ => u64::from_le_bytes(changed[to].1[at..at + 8].try_into().expect("eight bytes")) ^ 1 << (number() % 64),
                };
                changed[to].1[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            let mut ranges: Vec<_> = changed.iter().map(|(address, _)| (*address, 0x1000)).collect();
            // A range of any size, and pages that are missing.
            if round % 8 == 0 {
                ranges.push((number() >> (number() % 64), number() >> (number() % 64)));
                changed.truncate(changed.len() - (number() % changed.len() as u64) as usize);
            }
            let memory = Pages(changed.into_iter().collect());
            let dump = MemoryDump::from_memory(memory, &ranges, Some(build));
            found += u32::from(dump.is_ok_and(|dump| dump.find_host(build).is_ok()));
        }
        assert!(found > 0, "{arch}");
        lost += ROUNDS - found;
    }
    assert!(lost > 0);
}
