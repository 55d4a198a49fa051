//! Contradictory facts: two members at the same bytes, and a wrong size.

mod device {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "DEVICE_HEADER"
            size = 0x10

            [[member]]
            name = "Magic"
            type = "ULONG"
            offset = 0x00

            [[member]]
            name = "Length"
            type = "ULONG"
            offset = 0x02
        "#,
    }
}

mod torn {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "TORN_HEADER"

            [[member]]
            name = "Magic
            type = "ULONG"
        "#,
        targets = ["2004-x64"],
    }
}

// Uses of the names cause no further errors.
use device::constants;
use device::structures::DEVICE_HEADER as Described;
use device::targets::win10_2004::x64::DEVICE_HEADER;

const _: () = assert!(size_of::<device::targets::win7_sp1::x86::DEVICE_HEADER>() == 0x10);
const _: usize = std::mem::offset_of!(torn::targets::win10_2004::x64::TORN_HEADER, Magic);

fn length(header: &DEVICE_HEADER) -> u32 {
    println!("{:?} {:?}", Described, device::members::DEVICE_HEADER::LENGTH.of(header));
    header.Length + torn::targets::win10_2004::x64::TORN_HEADER::default().Magic
}

fn main() {
    use constants::*;
    length(&DEVICE_HEADER { Magic: 1, ..Default::default() });
    let DEVICE_HEADER { Length, .. } = *etw_layouts_runtime::bytemuck::from_bytes(&[0; 16]);
}
