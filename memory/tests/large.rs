//! A walk through a very large number of registrations.

use etw_layouts::Arch;
use etw_layouts_memory::Walk;
use std::time::{Duration, Instant};
use test_support::kernels::plan::Plan;

const ENTRY: &str = "ETW_GUID_ENTRY";
const REGISTRATION: &str = "ETW_REG_ENTRY";

/// The duration of a census of `count` registrations, all of one provider and one group.
fn census_of(count: usize) -> Duration {
    let mut plan = Plan::of("10.0.19041.1415".parse().expect("a build"), Arch::X64);
    let kit = &mut plan.kit;
    let (provider, group) = (plan.providers[4].at, plan.providers.last().expect("a group").at);
    let size = kit.layout(REGISTRATION).expect("a layout").size;
    let first = kit.room(count * size, 16);
    let offset = |member| kit.place(REGISTRATION, 0, member).expect("a member");
    let [own, in_group, list, group_list] = ["GuidEntry", "GroupEntry", "RegList", "GroupRegList"].map(offset);
    let made: Vec<u64> = (0..count).map(|index| first + (index * size) as u64).collect();
    for at in &made {
        kit.pointer(at + own, provider);
        kit.pointer(at + in_group, group);
    }
    for (of, link) in [(provider, list), (group, group_list)] {
        let head = kit.place(ENTRY, of, "RegListHead").expect("a list");
        let links: Vec<u64> = made.iter().map(|at| at + link).collect();
        kit.double(head, &links);
    }
    let kernel = kit.kernel();
    let start = Instant::now();
    let mut walk = Walk::new(&kit.image, &kernel);
    let census = walk.census();
    let took = start.elapsed();
    let counts: Vec<usize> = census.providers.iter().map(|provider| provider.registrations.len()).collect();
    assert_eq!(counts.iter().filter(|found| **found == count).count(), 2, "{counts:?}");
    took
}

/// Eight times as many registrations take about eight times as long; comparing every pair would take 64 times as long. The larger number
/// is half of the number of list entries that a walk reads.
#[test]
fn census() {
    census_of(8);
    let [few, many] = [1 << 12, 1 << 15].map(|count| (0..3).map(|_| census_of(count)).min().expect("three"));
    println!("{few:?}, and of eight times as many registrations {many:?}");
    assert!(many < few * 28, "{few:?} {many:?}");
}
