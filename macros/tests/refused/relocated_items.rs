//! Items that cannot declare members.

use etw_layouts_macros::Relocated;

#[derive(Relocated)]
struct NoAttribute {
    length: u16,
}

#[derive(Relocated)]
#[relocated("REQUEST")]
struct Quoted {
    length: u16,
}

#[derive(Relocated)]
#[relocated(device::PART, runtime = etw_layouts_runtime)]
struct Argument {
    length: u16,
}

#[derive(Relocated)]
#[relocated(device::PART)]
struct Generic<T> {
    length: T,
}

#[derive(Relocated)]
#[relocated(device::PART)]
struct Unnamed(u16);

#[derive(Relocated)]
#[relocated(device::PART)]
struct Nothing {}

#[derive(Relocated)]
#[relocated(device::PART)]
enum NoStruct {}

#[derive(Relocated)]
#[relocated(device::PART)]
struct EmptyName {
    #[relocated("Codes.")]
    codes: [u16; 4],
}

fn main() {}
