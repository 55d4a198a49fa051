//! Memory images without the headers of a dump: the kernel is found, and what is read from it equals that of a crash dump of the same memory.
//! With ETW_LAYOUTS_IMAGES, writes the images and dumps to that folder, for the tests of the Volatility plugins.

use crate::{Folder, json};
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::{Arch, Build, LAYOUTS};
use etw_layouts_dump::{Error, IdentitySource, MemoryDump, Source};
use etw_layouts_memory::Walk;
use etw_layouts_symbols as symbols;
use serde_json::{Value, json as value};
use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::{env, fs, io};
use test_support::kernels::plan::Plan;
use test_support::memory_dumps::{Paging, System};
use test_support::pe;

/// Versions and formats of page tables. Symbol tables of x86 have no PDB, so its build must be given.
const BUILDS: [([u32; 3], Arch, Paging); 8] = [
    ([6, 1, 7601], Arch::X86, Paging::Two),
    ([10, 0, 10240], Arch::X86, Paging::Pae),
    ([10, 0, 10240], Arch::X64, Paging::Four),
    ([10, 0, 14393], Arch::X64, Paging::Four),
    ([10, 0, 19041], Arch::X64, Paging::Four),
    ([10, 0, 22000], Arch::X64, Paging::Five),
    ([10, 0, 17134], Arch::Arm64, Paging::Arm),
    ([10, 0, 22000], Arch::Arm64, Paging::Arm),
];

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
fn system(number: [u32; 3], arch: Arch, paging: Paging) -> (Plan, System, Build) {
    let is_it = |seen: &etw_layouts::runtime::packed::ExaminedBuild<'_>| {
        let has_symbols = seen.pdb.is_some() || LAYOUTS.by_build(seen.build, arch, None).is_some();
        seen.build.number == number && seen.arch == arch && seen.globals().count() > 3 && has_symbols
    };
    let seen = LAYOUTS.examined().find(is_it).expect("an examined build");
    let places: BTreeMap<_, _> = seen.globals().collect();
    let mut plan = Plan::of(seen.build, arch);
    let globals: Vec<_> =
        std::mem::take(&mut plan.kit.globals).into_iter().filter(|(name, _)| places.contains_key(name)).collect();
    let (machine, other) = match arch {
        Arch::X86 => (0x014C, "ntkrpamp.pdb"),
        Arch::X64 => (0x8664, "ntkrnlmp.pdb"),
        Arch::Arm64 => (0xAA64, "ntkrnlmp.pdb"),
    };
    let pdb = seen.pdb.map_or(symbols::Pdb { name: other.into(), guid: symbols::Uuid::from_u128(7), age: 2 }, |pdb| {
        symbols::Pdb { name: other.into(), guid: pdb.guid, age: pdb.age }
    });
    let file = pe::Image { machine, version: None, codeview: Some(pe::rsds(&pdb, "")) }.bytes();
    let end = places.values().max().map_or(0, |last| last + 0x8000) / 0x1000 * 0x1000;
    let mut image = vec![0; end as usize];
    image[..0x400].copy_from_slice(&file[..0x400]);
    image[0x1000..0x1400].copy_from_slice(&file[0x400..]);
    image[0x58 + 56..][..4].copy_from_slice(&(end as u32).to_le_bytes());
    let system = crate::full::with_variables(&mut plan, &globals, image, |name| places[name]);
    let system = System { paging, ..system }.with_modules_in_image(0x2000);
    (plan, system, seen.build)
}

/// What the command prints about a dump, without what only a dump states, and without places in the file.
fn without_places(mut info: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !["offset", "buffer_offset"].contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut info);
    value!({ "sessions": info["sessions"], "providers": info["providers"], "consumers": info["consumers"], "kernel": info["kernel"],
        "modules": info["modules"], "diagnostics": info["diagnostics"], "build": info["build_number"] })
}

#[test]
fn memory_images() {
    let folder = Folder::new("raw");
    let kept = env::var_os("ETW_LAYOUTS_IMAGES").map(PathBuf::from);
    let mut list = String::new();
    for (number, arch, paging) in BUILDS {
        let (plan, system, build) = system(number, arch, paging);
        let pages = system.pages();
        let ranges: Vec<_> = pages.iter().map(|(address, _)| (*address, 0x1000)).collect();
        let memory = || Pages(pages.iter().cloned().collect());
        let dump = MemoryDump::from_memory(memory(), &ranges, Some(build)).expect("a kernel");
        assert_eq!((dump.header().arch, dump.header().build.number), (arch, build.number), "{build} {arch}");
        assert_eq!(dump.diagnostics(), [], "{build} {arch}");
        assert_eq!(dump.modules().iter().map(|module| &*module.name).collect::<Vec<_>>(), ["ntoskrnl.exe"]);
        let kernel = dump.kernel(build);
        let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
        let names: Vec<_> = walk.sessions().into_iter().map(|session| session.name.unwrap_or_default()).collect();
        assert_eq!(names, plan.sessions.iter().map(|session| session.name).collect::<Vec<_>>(), "{build} {arch}");
        // An unknown kernel is refused, and not read with layouts of another.
        if arch == Arch::X86 {
            let error = MemoryDump::from_memory(memory(), &ranges, None).err().expect("an unknown kernel");
            assert!(matches!(error, Error::UnknownKernel(_)), "{error}");
        } else {
            assert_eq!(dump.identity().by, IdentitySource::Pdb);
        }
        // The same memory as a crash dump.
        let path = folder.file("memory.dmp", system.dump(DUMP_TYPE::DUMP_TYPE_FULL));
        let text = format!("{build}");
        let (status, infos) = json(&["dump", "info", "--build", &text, &path]);
        assert_eq!(infos[0]["sessions"].as_array().map(Vec::len), Some(plan.sessions.len()), "{build} {arch}: {status:?}");
        if let Some(kept) = &kept {
            let name = format!("{build}-{arch}");
            let mut file = fs::File::create(kept.join(format!("{name}.raw"))).expect("an image");
            for (address, bytes) in &pages {
                file.seek(SeekFrom::Start(*address)).and_then(|_| file.write_all(bytes)).expect("a page");
            }
            fs::write(kept.join(format!("{name}.json")), without_places(infos[0].clone()).to_string()).expect("the answer");
            list += &format!("{name} {build} {arch} {:?}\n", plan.providers.len());
        }
    }
    if let Some(kept) = &kept {
        fs::write(kept.join("list.txt"), list).expect("the list");
    }
    let mut pages = BTreeMap::new();
    pages.insert(0x1000, vec![0xFF; 0x1000]);
    let nothing = MemoryDump::from_memory(Pages(pages), &[(0x1000, 0x1000)], None).err().expect("no kernel");
    assert_eq!(nothing, Error::NoKernel);
}
