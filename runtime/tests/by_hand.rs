//! Builds and values as text, and handwritten types in a crate that forbids unsafe code, beside the same types from specs.

#![forbid(unsafe_code)]
#![allow(non_snake_case)]

use etw_layouts_runtime::bytemuck::{self, Zeroable};
use etw_layouts_runtime::packed::Member;
use etw_layouts_runtime::{
    Arch, Build, Bytes, Error, ErrorKind, LayoutOf, Ptr32, Ptr64, View, ViewMut, bytes, check, layout, plain, values,
};

/// The same structures from specs, with tokens and a table of their layouts.
mod device {
    etw_layouts_macros::layouts! {
        spec = r#"
            [flags]
            name = "ACCESS"
            type = "USHORT"
            constants = [
              { name = "ACCESS_READ", value = 0x1 },
              { name = "ACCESS_WRITE", value = 0x2 },
              { name = "ACCESS_ALL", value = 0x3 },
            ]
        "#,
        spec = r#"
            [enum]
            name = "STATUS"
            type = "CHAR"
            constants = [
              { name = "STATUS_FAILED", value = -1 },
              { name = "STATUS_DONE", value = 0 },
              { name = "STATUS_PENDING", value = 1 },
            ]
        "#,
        spec = r#"
            [struct]
            name = "PART"
            size = 0x4
            members = [{ name = "Low", type = "USHORT" }, { name = "Code", type = "SHORT" }]
        "#,
        spec = r#"
            [struct]
            name = "REQUEST"
            size = { x64 = 0xA0 }
            align = 8
            members = [
              { name = "Access", type = "USHORT", values = "ACCESS" },
              { name = "Status", type = "STATUS" },
              { name = "Text",   type = "CHAR [129]" },
              { name = "Length", type = "ULONG", bits = 7 },
              { name = "type",   type = "LONG", bits = 1 },
              { name = "Mode",   type = "ULONG", bits = 3, values = "ACCESS" },
              { name = "pad",    type = "ULONG", bits = 5 },
              { name = "Score",  type = "LONG", bits = 16 },
              { union = [{ name = "Total", type = "ULONG" }, { struct = [{ name = "Half", type = "USHORT" }, { name = "High", type = "USHORT" }] }] },
              { name = "self",   type = "ULONG" },
              { name = "Next",   type = "REQUEST *" },
              { name = "Part",   type = "PART" },
            ]
        "#,
        targets = ["2004-x64"],
    }
}

use device::members::{PART, REQUEST};

/// The layout from the specs.
fn layout_of_request() -> LayoutOf<'static, REQUEST::Type> {
    device::structures::REQUEST.select(Build::new(10, 0, 19041, 264), Arch::X64).unwrap().layout
}

values! {
    /// Permitted access of a request.
    pub flags ACCESS: u16 = "ACCESS" {
        ACCESS_READ = 0x1, "May read.";
        ACCESS_WRITE = 0x2, "May write.";
        ACCESS_ALL = 0x3, "May read and write.";
    }
}

values! {
    /// Other flags with the same numbers.
    pub flags RIGHT: u16 = "RIGHT" { RIGHT_READ = 0x1, "May read."; }
}

values! {
    /// Status of a request.
    pub value STATUS: i8 = "STATUS" {
        STATUS_FAILED = -1, "The request failed.";
        STATUS_DONE = 0, "The request is complete.";
        STATUS_PENDING = 1, "The request is in progress.";
    }
}

values! {
    /// Values without 0.
    pub value KIND: u8 = "KIND" { KIND_ONE = 1, "The only value."; }
}

layout! {
    /// A structure within another.
    pub struct Part: PART, 0x4, 2 {
        0x00 Low: u16 = "USHORT", "The first half.";
        0x02 Code: i16 = "SHORT", "The second half.";
    }
}

layout! {
    /// A structure with an array and padding. The length of the array is not a power of two.
    pub struct Request: REQUEST, 0xA0, 8 {
        0x00 Access: ACCESS = "USHORT", "Permitted access.";
        0x02 Status: STATUS = "CHAR", "Status of the request.";
        0x03 Text: [i8; 129] = "CHAR [129]", "Description of the request.";
        0x84 bits84: u32, "Bit fields." {
            0x84 [0 to 6] Length set_Length: u32 = "ULONG", "Number of characters of the text.";
            0x84 [7] r#type set_type: i32 = "LONG", "Type of the request.";
            0x84 [8 to 10 in u32] Mode set_Mode: ACCESS = "ULONG", "Requested access.";
            0x84 [11 to 15] pad set_pad: u32 = "ULONG", "Unused.";
            0x84 [16 to 31] Score set_Score: i32 = "LONG", "Urgency of the request.";
        }
        0x88 u88: Request_u88, "Unnamed." {
            0x88 Total set_Total: u32 = "ULONG", "All.";
            0x88 Half set_Half: u16 = "USHORT", "The lower half.";
            0x8A High set_High: u16 = "USHORT", "The upper half.";
        }
        0x8C self_: u32 = "ULONG", "Number of the request.";
        0x90 Next: Ptr64 = "REQUEST *", "The next request.";
        0x98 Part: Part = "PART", "A part.";
        0x9C _padding9C: [u8; 4], "Padding.";
    }
}

layout! {
    /// The unnamed union at 0x88.
    pub union Request_u88: 0x4, 4 {
        0x00 whole: u32 = "ULONG", "All.";
        0x00 half: Bytes<u16, 4> = "USHORT", "Half.";
    }
}

/// Names that the macros use themselves, and a type of a module with such a name.
mod names_of_the_caller {
    use super::*;

    const MEMBERS: usize = 1;
    const PLACES: usize = 2;
    const LAYOUT: usize = 3;

    mod of {
        pub type Word = u16;
    }

    layout! {
        /// Arrays with these lengths.
        pub struct Named: NAMED, 0x8, 2 {
            0x00 One: [u8; MEMBERS] = "UCHAR [1]", "";
            0x01 Two: [u8; PLACES] = "UCHAR [2]", "";
            0x03 Three: [u8; LAYOUT] = "UCHAR [3]", "";
            0x06 Last: of::Word = "USHORT", "";
        }
    }

    #[test]
    fn are_visible_in_types_of_members() {
        let named: Named = bytemuck::pod_read_unaligned(&[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(format!("{named:?}"), "NAMED { One: [1], Two: [2, 3], Three: [4, 5, 6], Last: 2055 }");
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

    let view = View::new(layout_of_request(), bytemuck::bytes_of(&request)).unwrap();
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
    let first = request;
    let view = View::new(layout_of_request(), bytemuck::bytes_of(&first)).unwrap();
    let access = view.get(REQUEST::ACCESS).unwrap().choice();
    assert!(access.contains(ACCESS::ACCESS_WRITE) && access.is("ACCESS_ALL") && !access.is("ACCESS_NONE"));
    assert!(!access.contains(ACCESS(0x20)) && !access.contains(RIGHT::RIGHT_READ));
    assert!(access.names().eq(["ACCESS_READ", "ACCESS_WRITE", "ACCESS_ALL"]));
    let status = view.get(REQUEST::STATUS).unwrap().choice();
    assert!(status.contains(STATUS::STATUS_FAILED) && status.is("STATUS_FAILED") && !status.contains(STATUS::STATUS_DONE));
    assert!(!status.is("STATUS_PENDING"), "values are not bits");
    assert_eq!((access.name(), status.name()), (Some("ACCESS_READ"), Some("STATUS_FAILED")));
    assert_eq!(format!("{access:?} {status:?}"), "ACCESS_READ | ACCESS_WRITE | 0x10 STATUS_FAILED");
    request.set_Mode(ACCESS(3));
    request.Access = ACCESS(3);
    request.self_ = 3;
    let view = View::new(layout_of_request(), bytemuck::bytes_of(&request)).unwrap();
    let [access, mode] = [REQUEST::ACCESS, REQUEST::MODE].map(|token| view.get(token).unwrap().choice());
    let number = view.get(REQUEST::SELF).unwrap().choice();
    assert!(access == mode && access != status && number.value == 3 && number != access && number.name().is_none());
}

/// A value that is set by accessor, token or bytes is read by each of the others, and no other member changes.
#[test]
fn each_member_has_its_own_bits() {
    let mut request = Request::zeroed();
    (request.self_, request.Next) = (7, Ptr64(0xFFFF_8000_0000_0001));
    request.set_Length(0x7F);
    request.set_Mode(ACCESS(5));
    request.set_Score(-2);
    assert_eq!(request.bits84, 0xFFFE_057F);
    assert_eq!((request.Length(), request.r#type(), request.Mode().0, request.Score()), (0x7F, 0, 5, -2));
    request.set_Mode(ACCESS(0xA));
    request.set_Total(0x1234_5678);
    request.set_High(0xABCD);
    assert_eq!((request.Mode().0, request.Score(), request.Total(), request.High()), (2, -2, 0xABCD_5678, 0xABCD));
    assert_eq!(bytemuck::bytes_of(&request)[0x88..0x8C], [0x78, 0x56, 0xCD, 0xAB]);

    let mut view = ViewMut::new(layout_of_request(), bytemuck::bytes_of_mut(&mut request)).unwrap();
    view.set(REQUEST::SCORE, -0x8000).unwrap();
    view.set(REQUEST::MODE, 7).unwrap();
    view.set(REQUEST::TYPE, -1).unwrap();
    view.set(REQUEST::LENGTH, 2).unwrap();
    view.set(REQUEST::STATUS, -1).unwrap();
    view.set(REQUEST::ACCESS, 0xFFFF).unwrap();
    view.set(REQUEST::HIGH, 0x4321).unwrap();
    view.set(REQUEST::NEXT, u64::MAX).unwrap();
    let wide = |member: &str| {
        let Member { offset, size, .. } = layout_of_request().member(member).unwrap();
        Err(Error { offset, size, reason: ErrorKind::Wide })
    };
    assert_eq!(view.set(REQUEST::SCORE, 0x8000), wide("Score"));
    assert_eq!(view.set(REQUEST::MODE, 8), wide("Mode"));
    assert_eq!(view.set(REQUEST::STATUS, 0x100), wide("Status"));
    assert_eq!(view.set(REQUEST::STATUS, -0x81), wide("Status"));
    assert_eq!(view.set(REQUEST::SCORE, -0x8001), wide("Score"));
    assert_eq!(view.set(REQUEST::LENGTH, -1), wide("Length"));
    assert_eq!(view.set(REQUEST::TEXT, 0).unwrap_err().reason, ErrorKind::NoNumber);
    let text = format!("{view:?}");
    assert_eq!((request.Score(), request.Mode().0, request.r#type(), request.Length()), (-0x8000, 7, -1, 2));
    assert_eq!((request.Status.0, request.Access.0, request.Total(), request.Next.0), (-1, 0xFFFF, 0x4321_5678, u64::MAX));
    assert_eq!((request.self_, request.Text), (7, [0; 129]));
    assert_eq!(text, format!("{request:?}"));
    assert!(text.contains("Mode: ACCESS_READ | ACCESS_WRITE | 0x4,") && text.contains("self: 7,"), "{text}");

    (request.Access, request.Part) = (ACCESS(0x1234), Part { Low: 0x10, Code: 0x20 });
    let view = View::new(layout_of_request(), bytemuck::bytes_of(&request)).unwrap();
    assert_eq!((view.unsigned(REQUEST::NEXT), view.unsigned(REQUEST::SELF)), (Some(u64::MAX), Some(7)));
    assert_eq!((view.get(REQUEST::ACCESS).unwrap().choice().value, view.signed(REQUEST::SCORE)), (0x1234, Some(-0x8000)));
    assert_eq!((REQUEST::SELF.name(), REQUEST::TYPE.name(), PART::CODE.name()), ("self", "type", "Code"));
    let part = view.get(REQUEST::PART).unwrap();
    assert_eq!((part.unsigned(PART::LOW), part.signed(PART::CODE)), (Some(0x10), Some(0x20)));
    assert!(part.of::<REQUEST::Type>().is_none());
    assert_eq!(view.member("Part").unwrap().view().unwrap().bytes(), [0x10, 0, 0x20, 0]);
    assert!(view.member("self").unwrap().view().is_none());
}

#[test]
fn values_as_text() {
    let shown: &[(&dyn std::fmt::Debug, &str)] = &[
        (&STATUS(-1), "STATUS_FAILED"),
        (&STATUS(-5), "STATUS(-5)"),
        (&KIND(0), "KIND(0x0)"),
        (&STATUS(0x12), "STATUS(0x12)"),
        (&ACCESS(0), "0x0"),
        (&ACCESS(3), "ACCESS_READ | ACCESS_WRITE"),
        (&ACCESS(0x42), "ACCESS_WRITE | 0x40"),
        (&Ptr32(0xAB), "0x000000ab"),
        (&Ptr64(0xAB), "0x00000000000000ab"),
        (&Bytes::<u16, 4>::new(300), "300"),
        (&Build::new(10, 0, 1, 0), "10.0.1.0"),
    ];
    for (value, text) in shown {
        assert_eq!(&format!("{value:?}"), text);
    }
    assert_eq!([0, 5].map(|revision| format!("{:#}", Build::new(6, 1, 7600, revision))), ["6.1.7600", "6.1.7600.5"]);
    assert_eq!(Arch::ALL.map(Arch::pointer_size), [4, 8, 8]);
    let error = |reason| Error { offset: 2, size: 4, reason }.to_string();
    assert_eq!(error(ErrorKind::Absent), "0x4 bytes at 0x2: the layout has no such member");
    assert_eq!(error(ErrorKind::Wide), "0x4 bytes at 0x2: the value does not fit into the member");

    let names = ["self_", "self__", "crate_", "r#type", "other_", "self", "_"].map(plain);
    assert_eq!(names, ["self", "self_", "crate", "type", "other_", "self", "_"]);

    let mut memory = [0_u8; 6];
    bytes::store(&mut memory, 1, &0x0102_0304_u32).unwrap();
    assert_eq!(memory, [0, 4, 3, 2, 1, 0]);
    assert_eq!(bytes::store(&mut memory, 3, &0_u32).unwrap_err().to_string(), "0x4 bytes at 0x3: only 0x3 bytes left");
}

/// Messages of the compiler for a type that differs from the stated numbers.
#[test]
fn wrong_places() {
    /// Actual and stated value.
    type Pair = (usize, usize);
    /// Kind and name, sizes, alignments, offsets of two members of four bytes, and the start of the message.
    type Case<'a> = (&'a str, &'a str, Pair, Pair, [Pair; 2], &'a str);
    fn plain(kind: &str, name: &str, sizes: Pair, aligns: Pair, [first, second]: [Pair; 2]) {
        let fields = [check::Field::of::<u32>("first", first.0, first.1), check::Field::of::<u32>("second", second.0, second.1)];
        check::plain(kind, name, sizes, aligns, &fields);
    }
    let (two, four, eight) = ((2, 2), (4, 4), (8, 8));
    let long = "T".repeat(600);
    #[rustfmt::skip]
    let cases: [Case<'_>; 11] = [
        ("struct", "T", eight, four, [(0, 0), (4, 2)], "`T.second` at 0x2 overlaps `first`, which ends at 0x4: correct"),
        ("struct", "T", eight, four, [(0, 0), (4, 6)], "`T.second` is at 0x4 on this host, not at 0x6: correct"),
        ("struct", "T", (12, 12), four, [(0, 0), (8, 4)], "`T.second` is at 0x8 on this host, not at 0x4: correct"),
        ("struct", "T", (12, 12), four, [(0, 0), eight], "`T.second` begins or ends at 0x8, the other members at 0x4"),
        ("struct", "T", eight, four, [(0, 2), four], "`T.first` is at 0x0 on this host, not at 0x2: correct"),
        ("struct", "T", eight, (4, 8), [(0, 0), four], "`T` is aligned to 0x4 on this host, not to 0x8: correct"),
        ("struct", "T", (12, 12), four, [(0, 0), four], "`T` has 0xc bytes, its members 0x8: declare"),
        ("struct", "T", (16, 8), four, [(0, 0), four], "`T` has 0x10 bytes on this host, not 0x8: correct"),
        ("union", "T", eight, four, [(0, 0), (0, 0)], "`T.first` begins or ends at 0x4, the other members at 0x8"),
        ("union", "T", four, four, [(0, 0), two], "`T.second` begins or ends at 0x2, the other members at 0x0"),
        ("struct", &long, (8, 4), four, [(0, 0), four], "`TTTT"),
    ];
    for (kind, name, sizes, aligns, places, text) in cases {
        let name = name.to_owned();
        let panic = std::panic::catch_unwind(|| plain(kind, &name, sizes, aligns, places)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.starts_with(text) && message.len() <= 512, "{message}");
    }
    plain("struct", "T", eight, four, [(0, 0), four]);
    plain("union", "T", four, four, [(0, 0), (0, 0)]);
}

#[test]
fn builds_and_architectures_as_text() {
    assert_eq!("10.0.19041.1415".parse(), Ok(Build::new(10, 0, 19041, 1415)));
    assert_eq!("6.1.7601".parse(), Ok(Build::new(6, 1, 7601, 0)));
    for (text, build) in [("19045.3570", [10, 0, 19045, 3570]), ("10240", [10, 0, 10240, 0]), ("7601.24000", [6, 1, 7601, 24000])]
    {
        let [major, minor, number, revision] = build;
        assert_eq!(text.parse(), Ok(Build::new(major, minor, number, revision)), "{text}");
    }
    // Previews have builds between those of releases. Other systems have versions of their own.
    for right in ["6.4.9841", "6.3.9431", "10.0.9888", "1.0.7", "20.0.19045"] {
        assert_eq!(right.parse::<Build>().map(|build| format!("{build:#}")).as_deref(), Ok(right));
    }
    for (wrong, message) in [
        ("6.3.19045.3570", "no build 19045 in 6.3; write 10.0.19045.3570"),
        ("10.0.7601", "no build 7601 in 10.0; write 6.1.7601"),
        ("6.1.6002.18005", "no build 6002 in 6.1; write 6.0.6002.18005"),
    ] {
        let error = wrong.parse::<Build>().unwrap_err();
        assert_eq!(error.to_string(), message);
        let meant = error.meant().unwrap();
        assert_eq!(format!("{meant:#}").parse(), Ok(meant));
    }
    for wrong in [
        "",
        "10",
        "10.0",
        "6.1",
        "10.0.1.2.3",
        "10.0.+1",
        "10.0. 1",
        "10.0.19041.",
        "10.0.99999999999",
        "1709",
        "9300",
        "5031356",
    ] {
        let error = wrong.parse::<Build>().unwrap_err();
        assert_eq!(error.to_string(), "invalid build; write it as `10.0.19041.1415`, or as `19041.1415`", "{wrong}");
    }
    assert_eq!(["x86", "x64", "arm64"].map(str::parse), Arch::ALL.map(Ok));
    assert_eq!("arm".parse::<Arch>().unwrap_err().to_string(), "invalid architecture; write `x86`, `x64` or `arm64`");
    assert_eq!((Build::new(10, 0, 19041, 0).to_string(), Arch::X64.to_string()), ("10.0.19041.0".into(), "x64".into()));
}
