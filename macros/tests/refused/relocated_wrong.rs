//! Declared members that no build has, or that have another type in every build.

use etw_layouts_macros::Relocated;
use etw_layouts_runtime::relocated::{Pointer, UnicodeString};

mod device {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "REQUEST"
            size = { x64 = 0x28 }
            members = [
              { name = "Length", type = "ULONG", bits = 12 },
              { name = "Status", type = "LONG" },
              { name = "Next",   type = "REQUEST *" },
              { name = "Name",   type = "UNICODE_STRING" },
              { name = "Part",   type = "PART", in = "10.0.." },
              { name = "Part",   type = "ULONGLONG", in = "..6.3" },
            ]
        "#,
        spec = r#"
            [struct]
            name = "PART"
            size = 0x8
            members = [{ name = "Codes", type = "USHORT [4]" }]
        "#,
        targets = ["2004-x64", "6.1-x64"],
    }
}

#[derive(Relocated)]
#[relocated(device::REQUEST)]
struct Misspelt {
    #[relocated("Lenght")]
    length: u16,
    #[relocated("Part.Code")]
    code: Option<u64>,
    #[relocated("Owner")]
    owner: Option<u64>,
    status: i32,
}

#[derive(Relocated)]
#[relocated(device::REQUEST)]
struct Impossible {
    #[relocated("Length")]
    length: u8,
    #[relocated("Status")]
    status: u32,
    #[relocated("Next")]
    next: u64,
    #[relocated("Next")]
    part: Pointer<Part>,
    #[relocated("Name")]
    name: u64,
    #[relocated("Part")]
    text: UnicodeString,
    #[relocated("Part")]
    old: u64,
}

#[derive(Relocated)]
#[relocated(device::PART)]
struct Part {
    #[relocated("Codes")]
    codes: [u16; 3],
}

#[derive(Relocated)]
#[relocated(device::REQEST)]
struct NoStructure {
    #[relocated("Length")]
    length: u16,
}

fn main() {}
