//! The generated crate as its users see it.

use etw_layouts::bytemuck::{self, Zeroable};
use etw_layouts::runtime::meta::{Build, Standing};
use etw_layouts::{Arch, constants, structures, win7, win10_2004, winxp_sp3};

#[test]
fn bit_fields_and_unions_share_their_bytes() {
    let mut header: win10_2004::x64::WMI_BUFFER_HEADER = Zeroable::zeroed();
    header.set_Frequency(10_000_000);
    header.set_ClockType(1);
    let unit = u64::from_le_bytes(bytemuck::bytes_of(&header)[0x20..0x28].try_into().expect("8 bytes"));
    assert_eq!(unit, 10_000_000 << 3 | 1);
    assert_eq!(header.NextBuffer().0, unit);
    header.set_ClockType(u64::MAX);
    assert_eq!((header.ClockType(), header.Frequency()), (7, 10_000_000));
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
fn a_layout_is_chosen_by_build() {
    let context = |build: Build, arch| structures::WMI_LOGGER_CONTEXT.select(build, arch).expect("a known build");
    let known = context(Build::new(10, 0, 19041, 1415), Arch::X64);
    assert_eq!((known.layout.size, known.standing), (0x550, Standing::Verified));
    let between = context(Build::new(6, 1, 7601, 17514), Arch::X64);
    assert_eq!(between.layout.size, 0x330);
    assert!(matches!(between.standing, Standing::Between { same: false, .. }), "{:?}", between.standing);
    assert_eq!(context(Build::new(10, 0, 65535, 1), Arch::X64).standing, Standing::Newer);
    assert_eq!(context(Build::new(10, 0, 19045, 329), Arch::X64).standing, Standing::Verified);
    assert_eq!(context(Build::new(5, 0, 2195, 0), Arch::X86).standing, Standing::Unverified);
    assert!(structures::WMI_LOGGER_CONTEXT.select(Build::new(4, 0, 1381, 0), Arch::X86).is_none());
    // Kernels that are known not to have a structure take none from others.
    assert!(structures::WMI_CLIENT_CONTEXT.select(Build::new(10, 0, 19041, 0), Arch::X64).is_none());
    assert!(structures::DISALLOWED_GUIDS.select(Build::new(6, 2, 9200, 0), Arch::X64).is_none());
    let last = structures::DISALLOWED_GUIDS.select(Build::new(6, 1, 7601, 30000), Arch::X64).expect("a known build");
    assert!(matches!(last.standing, Standing::Between { same: false, .. }), "{:?}", last.standing);
}

#[test]
fn targets_name_the_same_layouts_as_the_metadata() {
    let sizes = [
        (size_of::<winxp_sp3::x86::WMI_LOGGER_CONTEXT>(), Build::new(5, 1, 2600, 5512), Arch::X86),
        (size_of::<win7::x64::WMI_LOGGER_CONTEXT>(), Build::new(6, 1, 7600, 0), Arch::X64),
        (size_of::<win10_2004::x86::WMI_LOGGER_CONTEXT>(), Build::new(10, 0, 19041, 0), Arch::X86),
    ];
    for (size, build, arch) in sizes {
        let selection = structures::WMI_LOGGER_CONTEXT.select(build, arch).expect("a known build");
        assert_eq!(size, selection.layout.size, "{build} {arch:?}");
    }
    for structure in structures::ALL {
        for entry in structure.entries {
            for member in entry.layout.members {
                assert!(member.offset + member.size <= entry.layout.size, "{}.{}", structure.name, member.name);
            }
        }
    }
}
