//! Structures of a driver: one generated from a spec, one written by hand and checked. Both are read from bytes.
//!
//! `cargo run -p etw-layouts-macros --example driver`

use etw_layouts_macros::{layout, layouts};
use etw_layouts_runtime::{Arch, Build, View, bytemuck};
use std::mem::offset_of;

/// The spec has the C declaration and its versions; stated sizes and offsets are checked.
mod device {
    super::layouts! {
        spec = r#"
            [struct]
            name = "DEVICE_RECORD"
            size = { "6.1..6.3" = 0x10, "10.0.." = 0x18 }
            doc  = "State of a device, written by the driver."
            members = [
              { name = "Magic", type = "ULONG" },
              { union = [
                { name = "Flags", type = "ULONG" },
                { struct = [
                  { name = "Started", type = "ULONG", bits = 1 },
                  { name = "Removed", type = "ULONG", bits = 1 },
                ] },
              ] },
              { name = "Requests", type = "ULONGLONG", in = "10.0.." },
              { name = "Time",     type = "ULONGLONG", offset = { "6.1..6.3" = 0x08, "10.0.." = 0x10 } },
            ]
        "#,
    }
}

/// Header of each record, written by hand; every number is checked at compile time.
#[layout(size = 0x08, align = 4)]
#[repr(C)]
struct RecordHeader {
    #[offset(0x00)]
    length: u32,
    #[offset(0x04)]
    version: u16,
    #[offset(0x06)]
    reserved: [u8; 2],
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record: Vec<u8> = [0x20, 0, 0, 0, 1, 0, 0, 0].into_iter().chain(1..=0x18).collect();
    let length = offset_of!(RecordHeader, length);
    println!("{} bytes", u32::from_le_bytes(record[length..length + 4].try_into()?));
    let body = &record[size_of::<RecordHeader>()..];

    // The version is known at compile time: a type.
    let device: device::targets::win10_2004::x64::DEVICE_RECORD = bytemuck::pod_read_unaligned(&body[..0x18]);
    println!("{device:#x?}, started: {}", device.Started());

    // The version is known at run time: a layout, selected by build.
    let build = Build::new(6, 1, 7601, 24545);
    let chosen = device::structures::DEVICE_RECORD.select(build, Arch::X64)?;
    let view = View::new(chosen.layout, body)?;
    println!("{:#x?}", view);
    println!("requests: {:?}", view.get(device::members::DEVICE_RECORD::REQUESTS));
    Ok(())
}
