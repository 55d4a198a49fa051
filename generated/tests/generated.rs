//! The generated crate as its users see it.

use etw_layouts::bytemuck::{self, Zeroable};
use etw_layouts::runtime::meta::{Absent, Build, Confidence, Image, InferredFrom, SymbolSource};
use etw_layouts::runtime::packed::{ExaminedBuild, Layouts};
use etw_layouts::{Arch, LAYOUTS, constants, structures, win7, win10_2004, winxp_sp3};

#[test]
fn bit_fields_and_unions_share_their_bytes() {
    let mut header: win10_2004::x64::WMI_BUFFER_HEADER = Zeroable::zeroed();
    header.set_Frequency(10_000_000);
    header.set_ClockType(constants::EVENT_TRACE_CLOCK(1));
    let unit = u64::from_le_bytes(bytemuck::bytes_of(&header)[0x20..0x28].try_into().expect("8 bytes"));
    assert_eq!(unit, 10_000_000 << 3 | 1);
    assert_eq!(header.NextBuffer().0, unit);
    header.set_ClockType(constants::EVENT_TRACE_CLOCK(u32::MAX));
    assert_eq!((header.ClockType().0, header.Frequency()), (7, 10_000_000));
    header.set_ClockType(constants::EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_SYSTEMTIME);
    assert!(format!("{header:?}").contains("ClockType: EVENT_TRACE_CLOCK_SYSTEMTIME"), "{header:?}");
    assert_ne!(header, Default::default());
}

#[test]
fn debug_prints_every_member_and_unknown_values() {
    let mut header: win10_2004::x86::WMI_BUFFER_HEADER = Zeroable::zeroed();
    header.BufferFlag = constants::ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX | constants::ETW_BUFFER_FLAG(0x4000);
    header.State.0 = 0x63;
    let text = format!("{header:?}");
    assert!(text.starts_with("WMI_BUFFER_HEADER { BufferSize: 0,"), "{text}");
    assert!(text.contains("State: ETW_BUFFER_STATE(0x63)"), "{text}");
    assert!(text.contains("BufferFlag: ETW_BUFFER_FLAG_PROC_INDEX | 0x4000"), "{text}");
    let mut packet: win10_2004::x64::WMI_TRACE_PACKET = Zeroable::zeroed();
    packet.set_HookId(constants::HOOK_ID(0xF00D));
    assert!(format!("{packet:?}").contains("HookId: HOOK_ID(0xf00d)"), "{packet:?}");
}

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn a_layout_is_chosen_by_build() {
    let context = |build: Build, arch| structures::WMI_LOGGER_CONTEXT.select(build, arch).expect("a known build");
    let known = context(Build::new(10, 0, 19041, 1415), Arch::X64);
    assert_eq!((known.layout.size, known.confidence), (0x550, Confidence::Verified(SymbolSource::Pdb)));
    let between = context(Build::new(6, 1, 7601, 20000), Arch::X64);
    assert_eq!((between.layout.size, between.candidates().nth(1).flatten().map(|other| other.size)), (0x330, Some(0x340)));
    assert!(matches!(between.confidence, Confidence::Uncertain { .. }), "{:?}", between.confidence);
    let newest = context(Build::new(10, 0, 65535, 1), Arch::X64).confidence;
    assert!(matches!(newest, Confidence::Inferred(InferredFrom::Newest { .. })), "{newest:?}");
    // A build that is another's kernel has its own first revision: what was seen below that is not seen of it.
    assert_eq!(context(Build::new(10, 0, 19045, 2130), Arch::X64).confidence, Confidence::Verified(SymbolSource::Pdb));
    let between = |confidence| matches!(confidence, Confidence::Inferred(InferredFrom::Between { .. }));
    assert!(between(context(Build::new(10, 0, 19045, 2006), Arch::X64).confidence));
    // Without a revision it has the layout of its first, as `etw show --build 10.0.19045` says, and not of the first of 10.0.19041.
    let [first, without] = [2130, 0].map(|revision| context(Build::new(10, 0, 19045, revision), Arch::X64));
    assert_eq!((first.layout.size, without.layout.size, without.revision.build), (0x530, 0x530, first.revision.build));
    assert!(between(without.confidence), "{:?}", without.confidence);
    assert_eq!(context(Build::new(5, 0, 2195, 0), Arch::X86).confidence, Confidence::Documented { unverifiable: false });
    // A build that nobody has seen lies between the first releases of its neighbours.
    let preview = context(Build::new(10, 0, 18277, 1000), Arch::X64);
    let [older, newer] = preview.confidence.neighbours().map(|build| build.map(|build| build.number));
    assert_eq!((older, newer), (Some([10, 0, 17763]), Some([10, 0, 18362])), "{:?}", preview.confidence);
    let absent = |build, arch| structures::WMI_LOGGER_CONTEXT.select(build, arch).expect_err("no such build");
    assert!(matches!(absent(Build::new(4, 0, 1381, 0), Arch::X86), Absent::Older { .. }));
    // Kernels that are known not to have a structure take none from others.
    assert!(structures::WMI_CLIENT_CONTEXT.select(Build::new(10, 0, 19041, 264), Arch::X64).is_err());
    assert!(structures::DISALLOWED_GUIDS.select(Build::new(6, 2, 9200, 16384), Arch::X64).is_err());
    let last = structures::DISALLOWED_GUIDS.select(Build::new(6, 1, 7601, 30000), Arch::X64).expect("a known build");
    assert_eq!(last.confidence.neighbours()[0], Some(Build::new(6, 1, 7601, 24540)), "{:?}", last.confidence);
}

/// The built-in table is opened without the check that a file gets.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn the_table_is_valid() {
    assert!(Layouts::from_bytes(LAYOUTS.bytes()).is_ok());
}

/// The look-ups are binary searches: what they search is in order.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn every_kernel_is_found_by_what_tells_it() {
    let id = |seen: ExaminedBuild| (seen.build, seen.arch);
    assert!(LAYOUTS.examined().map(id).is_sorted());
    for seen in LAYOUTS.examined() {
        let same = |found: Option<ExaminedBuild>| found.map(id) == Some(id(seen));
        assert!(seen.pdb.is_none_or(|pdb| same(LAYOUTS.by_pdb(pdb))), "{:?}", id(seen));
        assert!(seen.image.is_none_or(|image| same(LAYOUTS.by_image(image))), "{:?}", id(seen));
        let other = seen.image.map(|image| Image { size: image.size ^ 1, ..image });
        assert!(other.is_none_or(|image| LAYOUTS.by_image(image).is_none()), "{:?}", id(seen));
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn targets_name_the_same_layouts_as_the_metadata() {
    let sizes = [
        (size_of::<winxp_sp3::x86::WMI_LOGGER_CONTEXT>(), Build::new(5, 1, 2600, 5512), Arch::X86),
        (size_of::<win7::x64::WMI_LOGGER_CONTEXT>(), Build::new(6, 1, 7600, 16385), Arch::X64),
        (size_of::<win10_2004::x86::WMI_LOGGER_CONTEXT>(), Build::new(10, 0, 19041, 264), Arch::X86),
    ];
    for (size, build, arch) in sizes {
        let selection = structures::WMI_LOGGER_CONTEXT.select(build, arch).expect("a known build");
        assert_eq!(size, selection.layout.size, "{build} {arch:?}");
    }
    for structure in LAYOUTS.structures() {
        for layout in structure.layouts() {
            for member in layout.members() {
                assert!(member.offset + member.size <= layout.size, "{}.{}", structure.name, member.name);
            }
        }
    }
}
