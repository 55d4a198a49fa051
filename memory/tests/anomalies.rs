//! Each kind of anomaly is added to the memory of every kernel that can have it, and must be reported.

use etw_layouts::Arch;
use etw_layouts_memory::{Address, Finding, FindingKind, MemberLocation, Uuid, Walk, Weight};
use std::collections::BTreeMap;
use test_support::kernels::plan::{Plan, Provider};
use test_support::kernels::{Kit, PAGE};

const LOGGER: &str = "WMI_LOGGER_CONTEXT";
const ENTRY: &str = "ETW_GUID_ENTRY";
const REGISTRATION: &str = "ETW_REG_ENTRY";

/// Adds an anomaly; `false` if this kernel cannot have it.
type Plant = fn(&mut Plan) -> bool;

/// The anomaly, the name of its finding, the minimum number of kernels that can have it, and the function that adds it.
const PLANTS: &[(&str, &str, usize, Plant)] = &[
    ("a clock routine outside all modules", "clock", 59, clock),
    ("an address instead of a clock number", "clock-number", 32, clock_number),
    ("a callback outside all modules", "callback", 83, callback),
    ("a buffer callback of a session outside all modules", "callback", 21, buffer_callback),
    ("a provider enabled for a session that does not exist", "no-session", 83, no_session),
    ("a registration unlinked from its provider", "not-in-provider", 67, not_in_provider),
    ("a registration unlinked from its group", "not-in-group", 67, not_in_group),
    ("a registration that points to another provider", "provider", 83, other_provider),
    ("a registration enabled by an unused slot", "mask", 83, mask),
    ("a registration enabled by an unused slot of its group", "mask", 67, group_mask),
    ("a provider with enabled slots, and a summary that states disabled", "disabled", 83, disabled),
    ("a registration of the kernel unlinked from all lists", "unlinked", 83, unlinked_everywhere),
    ("a provider with a registration of the kernel, unlinked from its list", "unlinked", 83, unlinked_provider),
    ("a provider in the wrong bucket", "bucket", 73, bucket),
    ("a session in the wrong slot", "number", 92, number),
    ("a buffer of another session", "owner", 92, buffer_owner),
    ("a consumer of another session", "owner", 77, consumer_owner),
    ("a list with a loop", "loop", 92, circle),
    ("an entry with a wrong back link", "back-link", 77, back_link),
    ("an entry unlinked in one direction", "hidden", 77, hidden),
    ("an entry unlinked in both directions, but still counted", "count", 77, unlinked),
    ("a list with an invalid pointer", "pointer", 92, nowhere),
    ("a name longer than its capacity", "text", 92, text),
    ("a member at another offset than the kernel states", "layout-mismatch", 60, published_offset),
    ("a buffer on a missing page", "pointer", 92, missing),
];

#[test]
fn each_is_reported() {
    let mut planted: BTreeMap<&str, usize> = BTreeMap::new();
    for (what, word, kernels, plant) in PLANTS {
        for (build, arch) in Plan::targets() {
            let mut plan = Plan::of(build, arch);
            if !plant(&mut plan) {
                continue;
            }
            let findings = findings(&plan);
            let reported = findings.iter().any(|finding| finding.kind.name() == *word);
            assert!(reported, "{what} in {build} {arch}: {findings:#?}");
            // The anomaly causes only a few further findings.
            assert!(findings.len() <= 8, "{what} in {build} {arch}: {findings:#?}");
            assert!(findings.iter().all(|finding| finding.to_string().len() > 20));
            *planted.entry(what).or_default() += 1;
        }
        let count = planted.get(what).copied().unwrap_or(0);
        println!("{what}: {count} kernels");
        assert!(count >= *kernels, "{what}: {count} kernels");
    }
}

/// If no list of providers is found, as in Windows 7 with the wrong variable, no provider is reported as unlinked.
#[test]
fn unlinked_requires_a_list() {
    let (build, arch) = Plan::targets().into_iter().find(|(build, _)| build.number == [6, 1, 7600]).expect("Windows 7");
    let mut plan = Plan::of(build, arch);
    assert!(plan.kit.globals.iter().any(|(name, _)| name.ends_with("RegHandle")));
    let lists = plan.kit.globals.iter_mut().find(|(name, _)| *name == "EtwpGuidListHead").expect("two lists");
    lists.0 = "EtwpGuidHashTable";
    let words: Vec<_> = findings(&plan).iter().map(|finding| finding.kind.name()).collect();
    assert!(words.contains(&"no-layout") && !words.contains(&"unlinked"), "{words:?}");
}

fn findings(plan: &Plan) -> Vec<Finding> {
    let kernel = plan.kit.kernel();
    let mut walk = Walk::new(&plan.kit.image, &kernel);
    for session in walk.census().sessions {
        walk.buffers(&session);
    }
    walk.into_findings()
}

/// An address outside all modules.
fn outside(arch: Arch) -> u64 {
    if arch == Arch::X86 { 0x8FFF_0010 } else { 0xFFFF_F900_0000_0010 }
}

fn clock(plan: &mut Plan) -> bool {
    let (is_pointer, outside) = (plan.kit.build.number < [10, 0, 19041], outside(plan.kit.arch));
    is_pointer && plan.kit.set(LOGGER, plan.sessions[0].at, "GetCpuClock", outside)
}

fn clock_number(plan: &mut Plan) -> bool {
    let (is_number, outside) = (plan.kit.build.number >= [10, 0, 19041], outside(plan.kit.arch));
    is_number && plan.kit.set(LOGGER, plan.sessions[0].at, "GetCpuClock", outside)
}

fn buffer_callback(plan: &mut Plan) -> bool {
    let outside = outside(plan.kit.arch);
    plan.kit.set(LOGGER, plan.sessions[0].at, "BufferCallback", outside)
}

/// A provider with registrations of processes and of the kernel, one of them in a group.
fn grouped(plan: &Plan) -> Option<&Provider> {
    plan.providers.get(3)
}

fn callback(plan: &mut Plan) -> bool {
    let outside = outside(plan.kit.arch);
    let Some(at) = grouped(plan).and_then(|one| one.registrations.iter().find(|one| one.owner.is_err())).map(|one| one.at) else {
        return false;
    };
    plan.kit.set(REGISTRATION, at, "Callback", outside)
}

fn no_session(plan: &mut Plan) -> bool {
    let Some(at) = plan.providers.first().map(|one| one.at) else { return false };
    let slots = plan.kit.place(ENTRY, at, "EnableInfo").unwrap();
    plan.kit.set("TRACE_ENABLE_INFO", slots, "LoggerId", 9)
}

/// Removes an entry from a doubly linked list.
fn unlink(kit: &mut Kit, at: u64) {
    let size = kit.pointer_size() as u64;
    let (next, back) = (kit.read_pointer(at), kit.read_pointer(at + size));
    kit.pointer(back, next);
    kit.pointer(next + size, back);
}

fn unlink_registration(plan: &mut Plan, list: &str) -> bool {
    let Some(at) = grouped(plan).and_then(|one| one.registrations.iter().find(|one| one.group.is_some())).map(|one| one.at)
    else {
        return false;
    };
    let link = plan.kit.place(REGISTRATION, at, list).unwrap();
    unlink(&mut plan.kit, link);
    true
}

fn not_in_provider(plan: &mut Plan) -> bool {
    unlink_registration(plan, "RegList")
}

fn not_in_group(plan: &mut Plan) -> bool {
    unlink_registration(plan, "GroupRegList")
}

fn other_provider(plan: &mut Plan) -> bool {
    let (Some(at), Some(other)) = (grouped(plan).map(|one| one.registrations[1].at), plan.providers.first()) else {
        return false;
    };
    plan.kit.set(REGISTRATION, at, "GuidEntry", other.at)
}

fn mask(plan: &mut Plan) -> bool {
    let Some(at) = grouped(plan).map(|one| one.registrations[1].at) else { return false };
    plan.kit.set(REGISTRATION, at, "EnableMask", 0x10)
}

fn group_mask(plan: &mut Plan) -> bool {
    let Some(at) = grouped(plan).map(|one| one.registrations[1].at) else { return false };
    plan.kit.set(REGISTRATION, at, "GroupEnableMask", 0x10)
}

fn disabled(plan: &mut Plan) -> bool {
    let Some(at) = plan.providers.first().map(|one| one.at) else { return false };
    plan.kit.set(ENTRY, at, "ProviderEnableInfo.IsEnabled", 0)
}

/// The provider and the registration that `EtwThreatIntProvRegHandle` refers to: the first one of the kernel. It is in no group.
fn kernel_registration(plan: &Plan) -> Option<(&Provider, u64)> {
    plan.providers.iter().find_map(|one| Some((one, one.registrations.iter().find(|one| one.owner.is_err())?.at)))
}

fn unlinked_everywhere(plan: &mut Plan) -> bool {
    let Some(link) = kernel_registration(plan).and_then(|(_, at)| plan.kit.place(REGISTRATION, at, "RegList")) else {
        return false;
    };
    unlink(&mut plan.kit, link);
    true
}

fn unlinked_provider(plan: &mut Plan) -> bool {
    let Some(link) = kernel_registration(plan).and_then(|(one, _)| plan.kit.place(ENTRY, one.at, "GuidList")) else {
        return false;
    };
    unlink(&mut plan.kit, link);
    true
}

fn bucket(plan: &mut Plan) -> bool {
    let has = plan.kit.layout("ETW_HASH_BUCKET").is_some();
    let Some(at) = plan.providers.first().filter(|_| has).and_then(|one| plan.kit.place(ENTRY, one.at, "Guid")) else {
        return false;
    };
    plan.kit.word(at, 1, 0x3D);
    true
}

fn number(plan: &mut Plan) -> bool {
    plan.kit.set(LOGGER, plan.sessions[1].at, "LoggerId", 6)
}

fn buffer_owner(plan: &mut Plan) -> bool {
    plan.kit.set("WMI_BUFFER_HEADER", plan.sessions[1].buffers[0].at, "ClientContext.LoggerId", 6)
}

fn consumer_owner(plan: &mut Plan) -> bool {
    let Some((at, _)) = plan.sessions[1].consumers.first().copied() else { return false };
    plan.kit.set("ETW_REALTIME_CONSUMER", at, "LoggerId", 6)
}

/// The links of a session's buffers, and whether the list is doubly linked.
fn links(plan: &Plan) -> (Vec<u64>, bool) {
    let kit = &plan.kit;
    let links = plan.sessions[1].buffers.iter().map(|buffer| kit.place("WMI_BUFFER_HEADER", buffer.at, "GlobalEntry").unwrap());
    (links.collect(), kit.kind("WMI_BUFFER_HEADER", "GlobalEntry") == Some("LIST_ENTRY"))
}

fn circle(plan: &mut Plan) -> bool {
    let (links, _) = links(plan);
    plan.kit.pointer(links[2], links[1]);
    true
}

fn back_link(plan: &mut Plan) -> bool {
    let (links, both) = links(plan);
    let size = plan.kit.pointer_size() as u64;
    plan.kit.pointer(links[1] + size * u64::from(both), if both { links[2] } else { 0 });
    both
}

fn hidden(plan: &mut Plan) -> bool {
    let (links, both) = links(plan);
    let head = plan.kit.place(LOGGER, plan.sessions[1].at, "GlobalList").unwrap();
    // Forward links skip the last entry.
    plan.kit.pointer(links[1], head);
    both
}

fn unlinked(plan: &mut Plan) -> bool {
    let (links, both) = links(plan);
    if both {
        unlink(&mut plan.kit, links[1]);
    }
    both
}

fn nowhere(plan: &mut Plan) -> bool {
    let (links, _) = links(plan);
    let outside = outside(plan.kit.arch);
    plan.kit.pointer(links[1], outside);
    true
}

fn text(plan: &mut Plan) -> bool {
    plan.kit.set(LOGGER, plan.sessions[1].at, "LoggerName.MaximumLength", 4)
}

fn published_offset(plan: &mut Plan) -> bool {
    let known = plan.kit.arch != Arch::X86 && plan.kit.build.number >= [6, 1, 0];
    let at = plan.kit.globals.iter().find(|(name, _)| *name == "EtwpDebuggerData").unwrap().1;
    plan.kit.word(at + 3, 1, 0x10);
    known
}

fn missing(plan: &mut Plan) -> bool {
    let page = plan.sessions[1].buffers[2].at / PAGE;
    plan.kit.image.missing.insert(page)
}

/// Suspected tampering has more weight than inconsistent memory.
#[test]
fn weights() {
    let null = Address::NULL;
    let cases = [
        (FindingKind::NoLayout, Weight::Gap),
        (FindingKind::NoGlobal("EtwpDebuggerData"), Weight::Gap),
        (FindingKind::Unreadable { requested: 8, read: 4 }, Weight::Damage),
        (FindingKind::Count { stated: 2, found: 1 }, Weight::Damage),
        (FindingKind::Limit(7), Weight::Damage),
        (FindingKind::Text { length: 9, capacity: 8 }, Weight::Damage),
        (FindingKind::Offset(7), Weight::Damage),
        (FindingKind::Compressed("a fault".into()), Weight::Damage),
        (FindingKind::Disabled { slot: 1 }, Weight::Hint),
        (FindingKind::Mask { slot: 1 }, Weight::Hint),
        (FindingKind::Bucket { expected: 0, found: 1 }, Weight::Hint),
        (FindingKind::ClockNumber(0x10_0000), Weight::Hint),
        (FindingKind::Clock(null), Weight::Anomaly),
        (FindingKind::Hidden(null), Weight::Anomaly),
        (FindingKind::Owner { session: 1, stated: 2 }, Weight::Anomaly),
    ];
    for (kind, weight) in cases {
        let place = MemberLocation { structure: "LIST_ENTRY", address: Address(0x8610_0000), member: "Flink" };
        let finding = Finding { place, kind };
        assert_eq!((finding.weight(), finding.kind.weight()), (weight, weight), "{finding}");
        assert!(finding.kind.to_string().len() > 20, "{finding}");
        assert_eq!(finding.to_string(), format!("LIST_ENTRY.Flink at {}: {}", Address(0x8610_0000), finding.kind));
    }
    let place = MemberLocation { structure: "LIST_ENTRY", address: null, member: "" };
    assert_eq!(place.to_string(), "LIST_ENTRY");
    assert_eq!(MemberLocation { address: Address(0x1234), ..place }.to_string(), "LIST_ENTRY at 0x1234");
    let guid = Uuid::from_bytes_le(*b"\x10\xB7\x88\x2B\x93\x1C\x7C\x4F\xB0\x6C\x65\x5E\xCC\x50\xDE\xCC");
    assert_eq!(guid.to_string(), "2b88b710-1c93-4f7c-b06c-655ecc50decc");
    assert!(Weight::Gap < Weight::Damage && Weight::Damage < Weight::Hint && Weight::Hint < Weight::Anomaly);
}
