//! Builds and values as text, and types by hand in a crate that forbids unsafe code.

#![forbid(unsafe_code)]
#![allow(non_snake_case)]

use etw_layouts_runtime::bytemuck::{self, Zeroable};
use etw_layouts_runtime::{Arch, Build, Bytes, Described, View, layout, tokens, values};

values! {
    /// What a request may do.
    pub flags ACCESS: u16 = "ACCESS" {
        ACCESS_READ = 0x1, "May read.";
        ACCESS_WRITE = 0x2, "May write.";
        ACCESS_ALL = 0x3, "May do both.";
    }
}

values! {
    /// Another set, of the same numbers.
    pub flags RIGHT: u16 = "RIGHT" { RIGHT_READ = 0x1, "May read."; }
}

values! {
    /// How a request ended.
    pub value STATUS: i8 = "STATUS" {
        STATUS_FAILED = -1, "It failed.";
        STATUS_DONE = 0, "It is done.";
    }
}

tokens! {
    REQUEST {
        Access ACCESS, "all versions";
        Status STATUS, "all versions";
        Text TEXT, "all versions";
        Length LENGTH, "all versions";
        r#type TYPE, "all versions";
    }
}

layout! {
    /// With an array and padding of lengths that are no power of two.
    pub struct Request: REQUEST, 0x200, 4 {
        0x00 Access: ACCESS = "USHORT", "What it may do.";
        0x02 Status: STATUS = "CHAR", "How it ended.";
        0x03 Text: [i8; 129] = "CHAR [129]", "What it is.";
        0x84 bits84: u32, "Bit fields." {
            0x84 [0 to 6] Length set_Length: u32 = "ULONG", "Characters of the text.";
            0x84 [7] r#type set_type: i32 = "LONG", "What sort it is.";
        }
        0x88 u88: Request_u88, "Unnamed.";
        0x8C _padding8C: [u8; 372], "Padding.";
    }
}

layout! {
    /// The unnamed union at 0x88.
    pub union Request_u88: 0x4, 4 {
        0x00 whole: u32 = "ULONG", "All.";
        0x00 half: Bytes<u16, 4> = "USHORT", "Half.";
    }
}

#[test]
fn a_type_by_hand() {
    let mut request = Request::zeroed();
    request.Access = ACCESS(0x11);
    request.Status = STATUS::STATUS_FAILED;
    request.Text[128] = -1;
    request.set_Length(129);
    request.set_type(-1);
    assert_eq!((request.bits84, request.Length(), request.r#type()), (0x81, 1, -1));
    assert_eq!(bytemuck::bytes_of(&request)[0x83], 0xFF);

    let view = View::new(Request::LAYOUT, bytemuck::bytes_of(&request)).unwrap();
    assert_eq!((view.unsigned(REQUEST::LENGTH), view.signed(REQUEST::TYPE)), (Some(1), Some(-1)));
    assert_eq!(view.get(REQUEST::TEXT).unwrap().elements().last().unwrap().signed(), -1);
    assert_eq!(view.member("type").unwrap().signed(), -1);
    let text = format!("{view:?}");
    assert!(text.starts_with("REQUEST { Access: ACCESS_READ | 0x10, Status: STATUS_FAILED, Text: [0, "), "{text}");
    assert_eq!(text, format!("{request:?}"));
}

#[test]
fn flags_and_values_at_run_time() {
    let mut request = Request::zeroed();
    (request.Access, request.Status) = (ACCESS(0x13), STATUS(-1));
    let view = View::new(Request::LAYOUT, bytemuck::bytes_of(&request)).unwrap();
    let access = view.get(REQUEST::ACCESS).unwrap().choice();
    assert!(access.contains(ACCESS::ACCESS_WRITE) && access.is("ACCESS_ALL") && !access.is("ACCESS_NONE"));
    assert!(!access.contains(ACCESS(0x20)) && !access.contains(RIGHT::RIGHT_READ));
    assert!(access.names().eq(["ACCESS_READ", "ACCESS_WRITE", "ACCESS_ALL"]));
    let status = view.get(REQUEST::STATUS).unwrap().choice();
    assert!(status.contains(STATUS::STATUS_FAILED) && status.is("STATUS_FAILED") && !status.contains(STATUS::STATUS_DONE));
}

#[test]
fn builds_and_architectures_as_text() {
    assert_eq!("10.0.19041.1415".parse(), Ok(Build::new(10, 0, 19041, 1415)));
    assert_eq!("6.1.7601".parse(), Ok(Build::new(6, 1, 7601, 0)));
    for wrong in ["", "10", "10.0", "10.0.1.2.3", "10.0.+1", "10.0. 1", "10.0.19041.", "10.0.99999999999", "1709"] {
        let error = wrong.parse::<Build>().unwrap_err();
        assert_eq!(error.to_string(), "no build: write three numbers or four, such as `10.0.19041.1415`", "{wrong}");
    }
    assert_eq!(["x86", "x64", "arm64"].map(str::parse), Arch::ALL.map(Ok));
    assert_eq!("arm".parse::<Arch>().unwrap_err().to_string(), "no architecture: write `x86`, `x64` or `arm64`");
    assert_eq!((Build::new(10, 0, 19041, 0).to_string(), Arch::X64.to_string()), ("10.0.19041.0".into(), "x64".into()));
}
