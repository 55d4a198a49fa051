//! A program that was compiled before a build was imported reads memory of that build with a newer table of layouts.
//!
//! The build script makes the layouts that the program is compiled with, from specs without Windows 11 26H1. The memory has the offsets
//! that the symbols of 26H1 state.

use etw_layouts::LAYOUTS;
use etw_layouts_macros::Relocated;
use etw_layouts_runtime::packed::Layouts;
use etw_layouts_runtime::relocated::{MemorySlice, PlanProblem, Pointer, Relocated, Unsigned};
use etw_layouts_runtime::{Arch, Build, Uuid};
use std::fs;
use test_build_script::before_26h1::members::{ETW_GUID_ENTRY as ENTRY, ETW_REG_ENTRY as REGISTRATION};
use test_build_script::before_26h1::structures::LAYOUTS as OLD;

const NEW: Build = Build::new(10, 0, 28000, 1);

#[allow(non_snake_case)]
#[derive(Debug, PartialEq, Relocated)]
#[relocated(test_build_script::before_26h1::TRACE_ENABLE_INFO)]
struct Enable {
    IsEnabled: u32,
    LoggerId: u16,
    MatchAnyKeyword: u64,
}

#[allow(non_snake_case)]
#[derive(Debug, Relocated)]
#[relocated(test_build_script::before_26h1::ETW_GUID_ENTRY)]
struct Entry {
    Guid: Uuid,
    ProviderEnableInfo: Enable,
    SiloState: Pointer,
    HostEntry: Option<Pointer<Entry>>,
}

#[allow(non_snake_case)]
#[derive(Debug, Relocated)]
#[relocated(test_build_script::before_26h1::ETW_REG_ENTRY)]
struct Registration {
    GuidEntry: Pointer<Entry>,
    #[relocated("DbgKernelRegistration")]
    is_of_kernel: bool,
    EnableMask: Unsigned,
    GroupEnableMask: Unsigned,
    Traits: Pointer,
}

/// What 26H1 has with another type.
#[derive(Debug, Relocated)]
#[relocated(test_build_script::before_26h1::ETW_REG_ENTRY)]
struct Mask {
    #[relocated("EnableMask")]
    _mask: u8,
}

#[test]
fn a_program_compiled_before_26h1_reads_26h1_with_the_newer_table() {
    // The bytes of a file that `etw export layouts` writes.
    let table = Layouts::from_bytes(LAYOUTS.bytes()).expect("a table");
    let entry = Entry::plan(&table, NEW, Arch::X64).unwrap_or_else(|error| panic!("{error}"));
    let registration = Registration::plan(&table, NEW, Arch::X64).unwrap_or_else(|error| panic!("{error}"));
    assert!(entry.confidence().is_sure() && registration.confidence().is_sure(), "{}", entry.confidence());

    const BASE: u64 = 0xFFFF_9000_0000_0000;
    const REGISTERED: usize = 0x400;
    let facts = fs::read_to_string(tests::root().join("facts/10.0.28000.1-x64-converted.facts")).expect("the facts of 26H1");
    let mut bytes = vec![0xEE; 0x800];
    let mut put = |start: usize, structure: &str, member: &str, value: &[u8]| {
        let at = start + offset(&facts, structure, member);
        bytes[at..at + value.len()].copy_from_slice(value);
    };
    let guid = Uuid::from_u128(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF);
    let enable = offset(&facts, "ETW_GUID_ENTRY", "ProviderEnableInfo");
    put(0, "ETW_GUID_ENTRY", "Guid", &guid.to_bytes_le());
    put(0, "ETW_GUID_ENTRY", "SiloState", &0x1234_u64.to_le_bytes());
    put(0, "ETW_GUID_ENTRY", "HostEntry", &BASE.to_le_bytes());
    put(enable, "TRACE_ENABLE_INFO", "IsEnabled", &1_u32.to_le_bytes());
    put(enable, "TRACE_ENABLE_INFO", "LoggerId", &7_u16.to_le_bytes());
    put(enable, "TRACE_ENABLE_INFO", "MatchAnyKeyword", &9_u64.to_le_bytes());
    put(REGISTERED, "ETW_REG_ENTRY", "GuidEntry", &BASE.to_le_bytes());
    put(REGISTERED, "ETW_REG_ENTRY", "Flags", &1_u16.to_le_bytes());
    put(REGISTERED, "ETW_REG_ENTRY", "EnableMask", &0x8001_u16.to_le_bytes());
    put(REGISTERED, "ETW_REG_ENTRY", "GroupEnableMask", &0x4002_u16.to_le_bytes());
    put(REGISTERED, "ETW_REG_ENTRY", "Traits", &0x5678_u64.to_le_bytes());
    let memory = MemorySlice { address: BASE, bytes: &bytes };

    let read = registration.read(&memory, BASE + REGISTERED as u64).expect("memory");
    assert_eq!((read.is_of_kernel, read.EnableMask, read.GroupEnableMask), (true, Unsigned(0x8001), Unsigned(0x4002)));
    assert_eq!(read.Traits.address, 0x5678);
    let read = read.GuidEntry.follow(&entry, &memory).expect("memory").expect("an entry");
    assert_eq!((read.Guid, read.SiloState.address), (guid, 0x1234));
    assert_eq!(read.ProviderEnableInfo, Enable { IsEnabled: 1, LoggerId: 7, MatchAnyKeyword: 9 });
    assert_eq!(read.HostEntry.map(|host| host.address), Some(BASE));

    // Another type is reported, not read as the old one.
    let error = Mask::plan(&table, NEW, Arch::X64).expect_err("two bytes since 26H1");
    assert!(matches!(error.problem, PlanProblem::Type { .. }) && error.member == "EnableMask", "{error}");
    // With its own table, the program has the older offsets, and is not sure of them.
    let old = Entry::plan(&OLD, NEW, Arch::X64).expect("the build before it");
    assert!(!old.confidence().is_sure() && old.offset(ENTRY::SILO_STATE) != entry.offset(ENTRY::SILO_STATE));
    assert!(Mask::plan(&OLD, NEW, Arch::X64).is_ok());
}

/// The older builds have the same members in both tables.
#[test]
fn a_newer_table_has_the_older_builds() {
    let mut compared = 0;
    for (kernel, arch) in OLD.revisions().flat_map(|kernel| kernel.architectures().map(move |arch| (kernel, arch))) {
        let plans = [OLD, LAYOUTS].map(|table| {
            let entry = Entry::plan(&table, kernel.build, arch).ok();
            let registration = Registration::plan(&table, kernel.build, arch).ok();
            let entry =
                entry.map(|it| (it.offset(ENTRY::GUID), [ENTRY::SILO_STATE, ENTRY::HOST_ENTRY].map(|token| it.offset(token))));
            let tokens = [REGISTRATION::GUID_ENTRY, REGISTRATION::ENABLE_MASK, REGISTRATION::GROUP_ENABLE_MASK];
            (entry, registration.map(|plan| tokens.map(|token| plan.offset(token))))
        });
        assert_eq!(plans[0], plans[1], "{} {arch}", kernel.build);
        compared += usize::from(plans[0].0.is_some() && plans[0].1.is_some());
    }
    assert!(compared > 10, "{compared} builds");
}

/// The offset of a member in bytes, as the symbols of a facts file state it.
fn offset(facts: &str, structure: &str, member: &str) -> usize {
    let mut lines = facts.lines().skip_while(|line| !line.starts_with(&format!("struct {structure} ")));
    let members = lines.by_ref().skip(1).take_while(|line| line.starts_with(' '));
    let found = members.filter_map(|line| line.strip_prefix(" 0x")?.split_once(' ')).find_map(|(offset, rest)| {
        (rest.split(' ').next() == Some(member)).then(|| usize::from_str_radix(offset, 16).expect("a hexadecimal number"))
    });
    found.unwrap_or_else(|| panic!("no {structure}.{member} in the facts"))
}
