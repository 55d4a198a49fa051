//! Images with seeded corruptions: a walk ends within its limits, for any contents of memory.

use etw_layouts::members::{UNICODE_STRING, WMI_LOGGER_CONTEXT};
use etw_layouts_dump::{BufferSelection, DumpSession};
use etw_layouts_etl::Trace;
use etw_layouts_memory::{Address, FindingKind, Kernel, Limits, Memory, ReadError, Walk};
use fastrand::Rng;
use std::cell::Cell;
use std::io::Cursor;
use std::time::{Duration, Instant};
use test_support::kernels::plan::Plan;
use test_support::kernels::{Image, PAGE};

const CORRUPTIONS: usize = 10_000;

/// Maximum number of bytes that a walk reads from an image of a few hundred kilobytes.
const MOST: u64 = 64 << 20;

/// Counts the requested bytes.
struct Counted<'a> {
    image: &'a Image,
    requested: Cell<u64>,
}

impl Memory for Counted<'_> {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        self.requested.set(self.requested.get() + out.len() as u64);
        self.image.read(address, out)
    }
}

#[test]
fn any_corruption() {
    let mut plans: Vec<Plan> = Plan::targets().map(|(build, arch)| Plan::of(build, arch)).collect();
    // Every second kernel that compresses has compressed buffers.
    let compressing = plans.iter_mut().filter(|plan| plan.kit.build.number >= [10, 0, 14393]);
    compressing.enumerate().filter(|(index, _)| index % 2 == 0).for_each(|(index, plan)| plan.compress(1, index % 4 == 0));
    let mut random = Rng::with_seed(0xE7_13);
    let (mut findings, mut saved, mut most, mut longest) = (0, 0, 0, Duration::ZERO);
    for round in 0..CORRUPTIONS {
        let plan = &plans[round % plans.len()];
        let mut image = plan.kit.image.clone();
        for _ in 0..random.usize(1..12) {
            corrupt(&mut image, plan.kit.pointer_size(), &mut random);
        }
        let (memory, start) = (Counted { image: &image, requested: Cell::new(0) }, Instant::now());
        let (found, files) = walk(&memory, &plan.kit.kernel());
        (findings, saved) = (findings + found, saved + files);
        (most, longest) = (most.max(memory.requested.get()), longest.max(start.elapsed()));
        assert!(memory.requested.get() < MOST, "round {round}: {} bytes", memory.requested.get());
    }
    println!("{CORRUPTIONS} corruptions, {findings} findings, {saved} files; at the most {most} bytes read, {longest:?}");
    assert!(findings > CORRUPTIONS / 2 && saved > CORRUPTIONS);
}

/// Walks all structures. Returns the numbers of findings and of saved files.
fn walk(memory: &impl Memory, kernel: &Kernel) -> (usize, usize) {
    let mut walk = Walk::new(memory, kernel);
    let census = walk.census();
    walk.silos(&census.providers);
    for registration in census.providers.iter().flat_map(|provider| &provider.registrations) {
        walk.traits(registration);
    }
    let mut saved = 0;
    for session in &census.sessions {
        let mut file = Cursor::new(Vec::new());
        if DumpSession::read(&mut walk, session, BufferSelection::All).save(&mut file).is_ok() {
            let trace = Trace::from_bytes(file.get_ref()).expect("what was saved");
            trace.events().for_each(drop);
            saved += 1;
        }
    }
    assert!(walk.findings().iter().all(|finding| !finding.to_string().is_empty()));
    (walk.findings().len(), saved)
}

fn corrupt(image: &mut Image, pointer: usize, random: &mut Rng) {
    let words = image.bytes.len() / pointer;
    // Changes of zeros rarely have an effect, so other words are preferred.
    let at =
        (0..20).map(|_| random.usize(..words) * pointer).find(|at| image.bytes[*at..*at + pointer].iter().any(|byte| *byte != 0));
    let at = at.unwrap_or(0);
    let (base, length) = (image.base, image.bytes.len());
    let place = &mut image.bytes[at..at + pointer];
    match random.u8(..8) {
        0 => place.fill(0),
        1 => place.fill(0xFF),
        2 => place[random.usize(..pointer)] ^= 1 << random.u8(..8),
        3 => place[0] = random.u8(..),
        // A pointer to another place in the image, aligned or not.
        4 | 5 => place.copy_from_slice(&(base + random.u64(..length as u64 / 8) * 8).to_le_bytes()[..pointer]),
        6 => place.copy_from_slice(&(base + random.u64(..length as u64)).to_le_bytes()[..pointer]),
        _ => drop(image.missing.insert((base + at as u64) / PAGE)),
    }
}

/// The limits of entries, bytes and findings bound a walk through endless lists.
#[test]
fn limits() {
    /// Memory in which every pointer refers to a higher address.
    struct Endless;
    impl Memory for Endless {
        fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
            for (index, byte) in out.iter_mut().enumerate() {
                let at = address.0.wrapping_add(index as u64);
                *byte = (at & !7).wrapping_add(0x1000).to_le_bytes()[(at % 8) as usize];
            }
            Ok(out.len())
        }
    }
    for (build, arch) in Plan::targets() {
        let names = ["WmipLoggerContext", "EtwpGuidHashTable", "EtwpGuidListHead", "PspHostSiloGlobals", "EtwpHostSiloState"];
        let kernel = Kernel::new(build, arch);
        let kernel = names.into_iter().fold(kernel, |kernel, name| kernel.with_global(name, Address(0x8650_0000)));
        let limits = Limits { entries: 100, bytes: 1 << 20, findings: 1000, ..Limits::default() };
        let mut walk = Walk::new(&Endless, &kernel).with_limits(limits);
        for session in walk.census().sessions {
            walk.buffers(&session);
        }
        assert!(walk.findings().len() <= 1000, "{build} {arch}");
    }
}

/// If one of the two pages of a structure is missing, the members on the other page are read.
#[test]
fn half_a_session() {
    let mut halves = 0;
    for (build, arch) in Plan::targets() {
        let mut plan = Plan::of(build, arch);
        let layout = plan.kit.layout("WMI_LOGGER_CONTEXT").expect("every kernel has sessions");
        // Moves the structure, so that its first half is at the end of a page.
        let (old, start) = (plan.sessions[1].at, plan.kit.room(2 * PAGE as usize + layout.size, PAGE as usize));
        let at = start + PAGE - layout.size as u64 / 2 / 16 * 16;
        let from = (old - plan.kit.image.base) as usize;
        let bytes = plan.kit.image.bytes[from..from + layout.size].to_vec();
        plan.kit.write(at, &bytes);
        plan.kit.image.missing.insert(start / PAGE + 1);
        let kernel = plan.kit.kernel();
        let mut walk = Walk::new(&plan.kit.image, &kernel);
        let session = walk.session(5, Address(at)).expect("its first half");
        assert!(!session.context.is_whole());
        let (whole, missing) = (session.context.members().count(), session.context.missing().count());
        assert_eq!(whole + missing, layout.members().count());
        let present = (start + PAGE - at) as usize;
        let before = layout.members().filter(|member| member.offset + member.size <= present).map(|member| member.name);
        assert!(session.context.members().map(|(member, _)| member.name).eq(before), "{build} {arch}");
        let unreadable = FindingKind::Unreadable { requested: layout.size as u64, read: present as u64 };
        assert!(walk.findings().iter().any(|finding| finding.kind == unreadable), "{build} {arch}");
        assert!(walk.session(5, Address(start + PAGE)).is_none());
        let name = layout.member("LoggerName").expect("every kernel has its name");
        let is_there = at + (name.offset + name.size) as u64 <= start + PAGE;
        assert_eq!(session.name.as_deref(), is_there.then_some("Ωmega"), "{build} {arch}");
        // With only the second page, its members are read. A nested structure across the page boundary is read in part.
        plan.kit.image.missing = [start / PAGE].into();
        let mut walk = Walk::new(&plan.kit.image, &kernel);
        let session = walk.session(5, Address(at)).expect("its second half");
        let behind = layout.members().filter(|member| member.offset >= present).map(|member| member.name);
        assert!(session.context.members().map(|(member, _)| member.name).eq(behind), "{build} {arch}");
        let at = start + PAGE - (name.offset as u64) - 4;
        plan.kit.write(at, &bytes);
        for (missing, has) in [(start / PAGE + 1, [true, false]), (start / PAGE, [false, true])] {
            plan.kit.image.missing = [missing].into();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            let context = walk.session(5, Address(at)).expect("a half").context;
            let text = context.inner(WMI_LOGGER_CONTEXT::LOGGER_NAME).expect("its name");
            let members = [UNICODE_STRING::LENGTH, UNICODE_STRING::BUFFER].map(|token| text.unsigned(token).is_some());
            assert_eq!(members, has, "{build} {arch}");
        }
        halves += 1;
    }
    assert_eq!(halves, Plan::targets().count());
}
