//! Declared members in made memory of three architectures, with offsets written by hand, and in a newer table of layouts.

#![forbid(unsafe_code)]

use etw_layouts_macros::Relocated;
use etw_layouts_runtime::packed::{Layouts, Shape, Wanted};
use etw_layouts_runtime::relocated::{
    ListError, ListHead, MemorySlice, PlanProblem, Pointer, Presence, ReadProblem, Relocated, Signed, TextError, UnicodeString,
    Unsigned,
};
use etw_layouts_runtime::{Arch, Build, Uuid, View};

/// The layouts that the declarations are compiled with.
mod old {
    etw_layouts_macros::layouts! {
        spec = r#"
            [enum]
            name = "KIND"
            type = "UCHAR"
            constants = [{ name = "KIND_FILE", value = 1 }, { name = "KIND_MEMORY", value = 2 }]
        "#,
        spec = r#"
            [struct]
            name = "POINT"
            size = 0x08
            members = [{ name = "X", type = "LONG" }, { name = "Y", type = "LONG" }]
        "#,
        spec = r#"
            [struct]
            name = "ITEM"
            size = { x86 = 0x0C, x64 = 0x18 }
            members = [{ name = "Number", type = "ULONG" }, { name = "Links", type = "LIST_ENTRY" }]
        "#,
        spec = r#"
            [struct]
            name = "SESSION"
            size = { x86 = 0x60, x64 = { "..6.3" = 0x78, "10.0.." = 0x80 } }
            members = [
              { name = "Id",     type = "ULONG" },
              { name = "Kind",   type = "KIND" },
              { union = [
                { name = "Flags", type = "ULONG" },
                { struct = [
                  { name = "Persistent", type = "ULONG", bits = 1 },
                  { name = "Level",      type = "ULONG", bits = 3 },
                  { name = "Delta",      type = "LONG",  bits = 4 },
                ] },
              ] },
              { name = "Size",   type = "SIZE_T" },
              { name = "Time",   type = "LARGE_INTEGER" },
              { name = "Owner",  type = "GUID" },
              { name = "Name",   type = "UNICODE_STRING" },
              { name = "Counts", type = "USHORT [3]" },
              { name = "Points", type = "POINT [2]" },
              { name = "Center", type = "POINT" },
              { name = "Next",   type = "SESSION *" },
              { name = "Items",  type = "LIST_ENTRY" },
              { name = "Extra",  type = "ULONG", in = "10.0.." },
            ]
        "#,
    }
}

/// A member is inserted first, and the others are in another order.
mod newer {
    etw_layouts_macros::layouts! {
        spec = r#"
            [enum]
            name = "KIND"
            type = "UCHAR"
            constants = [{ name = "KIND_FILE", value = 1 }, { name = "KIND_MEMORY", value = 2 }]
        "#,
        spec = r#"
            [struct]
            name = "POINT"
            size = 0x0C
            members = [{ name = "Z", type = "LONG" }, { name = "Y", type = "LONG" }, { name = "X", type = "LONG" }]
        "#,
        spec = r#"
            [struct]
            name = "SESSION"
            size = { x86 = 0x70, x64 = 0x90 }
            members = [
              { name = "Added",  type = "ULONGLONG" },
              { name = "Items",  type = "LIST_ENTRY" },
              { name = "Next",   type = "SESSION *" },
              { name = "Center", type = "POINT" },
              { name = "Points", type = "POINT [2]" },
              { name = "Counts", type = "USHORT [3]" },
              { name = "Name",   type = "UNICODE_STRING" },
              { name = "Owner",  type = "GUID" },
              { name = "Time",   type = "LARGE_INTEGER" },
              { name = "Size",   type = "SIZE_T" },
              { union = [
                { name = "Flags", type = "ULONG" },
                { struct = [
                  { name = "Delta",      type = "LONG",  bits = 4 },
                  { name = "Level",      type = "ULONG", bits = 3 },
                  { name = "Persistent", type = "ULONG", bits = 1 },
                ] },
              ] },
              { name = "Kind",   type = "KIND" },
              { name = "Id",     type = "ULONG" },
            ]
        "#,
    }
}

/// Members with other types, one in each structure.
mod retyped {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "POINT"
            size = 0x08
            members = [{ name = "X", type = "LONG" }, { name = "Y", type = "ULONG" }]
        "#,
        spec = r#"
            [struct]
            name = "SESSION"
            size = 0x28
            members = [
              { name = "Id",     type = "ULONGLONG" },
              { name = "Counts", type = "USHORT [4]" },
              { name = "Center", type = "POINT" },
              { name = "Next",   type = "POINT *", offset = { x64 = 0x18 } },
              { name = "Name",   type = "POINT" },
            ]
        "#,
        targets = ["2004-x64"],
    }
}

use old::members::{ITEM, SESSION};
use old::targets::win10_2004::x64::KIND;

#[derive(Debug, Default, PartialEq, Relocated)]
#[relocated(old::POINT)]
struct Point {
    #[relocated("X")]
    x: i32,
    #[relocated("Y")]
    y: i32,
}

#[derive(Debug, PartialEq, Relocated)]
#[relocated(old::ITEM)]
struct Item {
    #[relocated("Number")]
    number: u32,
}

#[allow(non_snake_case)]
#[derive(Debug, Relocated)]
#[relocated(old::SESSION)]
struct Session {
    Id: u32,
    Kind: KIND,
    Flags: Unsigned,
    #[relocated("Flags.Persistent")]
    persistent: Option<bool>,
    #[relocated("Level")]
    level: u8,
    #[relocated("Flags.Delta")]
    delta: Signed,
    Size: Unsigned,
    Time: i64,
    Owner: Uuid,
    Name: UnicodeString,
    Counts: [u16; 3],
    Points: [Point; 2],
    Center: Point,
    #[relocated("Center.Y")]
    center_y: i32,
    Next: Pointer<Session>,
    Items: ListHead<Item>,
    Extra: Presence<u32>,
}

const OLD: Build = Build::new(6, 1, 7601, 17514);
const NEW: Build = Build::new(10, 0, 19041, 264);
const OWNER: Uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF);

/// Memory of one kernel: a session at the base, its texts and items after it.
struct Image {
    base: u64,
    pointer: usize,
    bytes: Vec<u8>,
}

impl Image {
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn address(&mut self, offset: usize, address: u64) {
        let pointer = self.pointer;
        self.put(offset, &address.to_le_bytes()[..pointer]);
    }

    fn memory(&self) -> MemorySlice<'_> {
        MemorySlice { address: self.base, bytes: &self.bytes }
    }
}

/// Offsets by hand: Id, Kind, Flags, Size, Time, Owner, Name, Counts, Points, Center, Next, Items, Extra; those of a point.
type Offsets = ([usize; 13], [usize; 2]);

const X86: Offsets = ([0x00, 0x04, 0x08, 0x0C, 0x10, 0x18, 0x28, 0x30, 0x38, 0x48, 0x50, 0x54, 0x5C], [0, 4]);
const X64: Offsets = ([0x00, 0x04, 0x08, 0x10, 0x18, 0x20, 0x30, 0x40, 0x48, 0x58, 0x60, 0x68, 0x78], [0, 4]);
const NEWER_X86: Offsets = ([0x6C, 0x68, 0x64, 0x60, 0x58, 0x48, 0x40, 0x38, 0x20, 0x14, 0x10, 0x08, 0], [8, 4]);
const NEWER_X64: Offsets = ([0x88, 0x84, 0x80, 0x78, 0x70, 0x60, 0x50, 0x44, 0x2C, 0x20, 0x18, 0x08, 0], [8, 4]);

/// A session whose flags are Persistent, Level 5 and Delta -3, with two items.
fn image(arch: Arch, offsets: Offsets, flags: u32) -> Image {
    let ([id, kind, flags_at, size, time, owner, name, counts, points, center, next, items, extra], [x, y]) = offsets;
    let (base, pointer) = if arch == Arch::X86 { (0x8010_0000, 4) } else { (0xFFFF_9000_0000_0000, 8) };
    let mut image = Image { base, pointer, bytes: vec![0xEE; 0x200] };
    let point = if offsets == X86 || offsets == X64 { 8 } else { 12 };
    let item_size = 3 * pointer;
    image.put(extra, &9_u32.to_le_bytes());
    image.put(id, &7_u32.to_le_bytes());
    image.put(kind, &[2]);
    image.put(flags_at, &flags.to_le_bytes());
    image.address(size, 0x1234);
    image.put(time, &(-5_i64).to_le_bytes());
    image.put(owner, &OWNER.to_bytes_le());
    image.put(name, &[6, 0, 8, 0]);
    image.address(name + pointer, base + 0x100);
    image.put(counts, &[1, 0, 2, 0, 3, 0]);
    for (at, value) in [(points, 10_i32), (points + point, 20), (center, -30)] {
        image.put(at + x, &value.to_le_bytes());
        image.put(at + y, &(value + 1).to_le_bytes());
    }
    image.address(next, base);
    // The head, and the links of two items at 0x140 and after it.
    let links = [base + items as u64, base + 0x140 + pointer as u64, base + (0x140 + item_size + pointer) as u64];
    for (index, link) in links.into_iter().enumerate() {
        image.address((link - base) as usize, links[(index + 1) % 3]);
        image.address((link - base) as usize + pointer, links[(index + 2) % 3]);
    }
    image.put(0x100, b"C\0K\0L\0");
    image.put(0x140, &100_u32.to_le_bytes());
    image.put(0x140 + item_size, &101_u32.to_le_bytes());
    image
}

fn check(layouts: Layouts, build: Build, arch: Arch, image: &Image, extra: Presence<u32>) {
    let what = format!("{build} {arch}");
    let memory = image.memory();
    let plan = Session::plan(&layouts, build, arch).unwrap_or_else(|error| panic!("{what}: {error}"));
    let session = plan.read(&memory, image.base).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!((session.Id, session.Kind), (7, KIND::KIND_MEMORY), "{what}");
    assert_eq!((session.persistent, session.level, session.delta), (Some(true), 5, Signed(-3)), "{what}");
    assert_eq!((session.Size, session.Time, session.Owner), (Unsigned(0x1234), -5, OWNER), "{what}");
    assert_eq!(session.Counts, [1, 2, 3], "{what}");
    assert_eq!(session.Points, [Point { x: 10, y: 11 }, Point { x: 20, y: 21 }], "{what}");
    assert_eq!((&session.Center, session.center_y), (&Point { x: -30, y: -29 }, -29), "{what}");
    assert_eq!(session.Extra, extra, "{what}");
    assert_eq!(plan.exists(SESSION::EXTRA), extra != Presence::Absent, "{what}");
    let next = session.Next.follow(&plan, &memory).expect("memory").expect("a session");
    assert_eq!((session.Next.address, next.Id), (image.base, 7), "{what}");

    let mut buffer = [0; 3];
    assert_eq!(session.Name.text(&memory, &mut buffer), Ok(&"CKL".encode_utf16().collect::<Vec<_>>()[..]), "{what}");
    assert_eq!(session.Name.text(&memory, &mut buffer[..2]), Err(TextError::Buffer { units: 3 }), "{what}");

    let bytes = &image.bytes[..plan.layout().size];
    let view = View::new(plan.layout(), bytes).expect("enough bytes");
    let same = [
        (SESSION::ID, u64::from(session.Id)),
        (SESSION::KIND, session.Kind.0.into()),
        (SESSION::FLAGS, session.Flags.0),
        (SESSION::LEVEL, session.level.into()),
        (SESSION::SIZE, session.Size.0),
        (SESSION::NEXT, session.Next.address),
    ];
    for (token, value) in same {
        assert_eq!(view.unsigned(token), Some(value), "{what}: {token:?}");
        let place = plan.layout().find(token).map(|member| (member.offset, member.size));
        assert_eq!(plan.offset(token).zip(plan.size(token)), place, "{what}: {token:?}");
    }
    assert_eq!(view.signed(SESSION::DELTA), Some(session.delta.0), "{what}");
}

#[test]
fn members_of_three_architectures() {
    // Persistent, Level 5, Delta -3 of 4 bits.
    let flags = 1 | 5 << 1 | 0xD << 4;
    for (arch, offsets) in [(Arch::X86, X86), (Arch::X64, X64), (Arch::Arm64, X64)] {
        check(old::structures::LAYOUTS, NEW, arch, &image(arch, offsets, flags), Presence::Value(9));
        if arch != Arch::Arm64 {
            check(old::structures::LAYOUTS, OLD, arch, &image(arch, offsets, flags), Presence::Absent);
        }
    }
}

/// The declarations were compiled with the old table.
#[test]
fn a_newer_table_with_moved_members() {
    let flags = 0xD | 5 << 4 | 1 << 7;
    // Opened as a file is.
    let layouts = Layouts::from_bytes(newer::structures::LAYOUTS.bytes()).expect("a table");
    for (arch, offsets) in [(Arch::X86, NEWER_X86), (Arch::X64, NEWER_X64), (Arch::Arm64, NEWER_X64)] {
        check(layouts, NEW, arch, &image(arch, offsets, flags), Presence::Absent);
    }
}

/// What a newer table has with another type is an error that names the member and both types.
#[test]
fn a_newer_table_with_other_types() {
    macro_rules! wrong {
        ($($member:literal $ty:ty => $message:literal)+) => { $({
            #[derive(Debug, Relocated)]
            #[relocated(crate::old::SESSION)]
            struct One {
                #[relocated($member)]
                _it: $ty,
            }
            let error = One::plan(&retyped::structures::LAYOUTS, NEW, Arch::X64).expect_err($member);
            assert!(error.to_string().starts_with($message), "{error}");
        })+ };
    }
    wrong! {
        "Id" u32 => "SESSION.Id has another type in this build: expected an unsigned integer of 4 bytes, found an unsigned integer of 8 bytes"
        "Id" Option<u32> => "SESSION.Id has another type in this build"
        "Counts" [u16; 3] => "SESSION.Counts has another type in this build: expected an array of 3, each an unsigned integer of 2 bytes, found an array of 4"
        "Center" Point => "POINT.Y has another type in this build: expected a signed integer of 4 bytes, found an unsigned integer of 4 bytes"
        "Next" Pointer<Session> => "SESSION.Next has another type in this build: expected a pointer to SESSION, found a pointer to another structure"
        "Name" UnicodeString => "SESSION.Name has another type in this build: expected the structure UNICODE_STRING, found a structure of 8 bytes"
        "Kind" KIND => "no member SESSION.Kind in this build; declare it as `Option`"
    }
    let error = Item::plan(&newer::structures::LAYOUTS, NEW, Arch::X64).expect_err("no such structure");
    assert!(matches!(error.problem, PlanProblem::Structure) && error.to_string().starts_with("no structure ITEM"), "{error}");
    let error = Item::plan(&old::structures::LAYOUTS, Build::new(4, 0, 1381, 0), Arch::X64).expect_err("no such build");
    assert!(matches!(error.problem, PlanProblem::Build(_)), "{error}");
    let expected = PlanProblem::Type {
        wanted: Wanted::Integer { size: 4, signed: true },
        found: Some(Shape::Integer { size: 4, bits: None, signed: false }),
    };
    assert_eq!(Point::plan(&retyped::structures::LAYOUTS, NEW, Arch::X64).map_err(|error| error.problem).err(), Some(expected));
}

/// Memory that ends after each byte of a session.
#[test]
fn missing_memory() {
    #[derive(Debug, Relocated)]
    #[relocated(old::SESSION)]
    struct Parts {
        #[relocated("Id")]
        id: u32,
        #[relocated("Owner")]
        owner: Option<Uuid>,
        #[relocated("Center")]
        center: Presence<Point>,
        #[relocated("Extra")]
        extra: Presence<u32>,
    }
    let image = image(Arch::X64, X64, 0);
    let plan = Parts::plan(&old::structures::LAYOUTS, NEW, Arch::X64).expect("all are there");
    let before = Parts::plan(&old::structures::LAYOUTS, OLD, Arch::X64).expect("one is optional");
    for end in 0..=0x80 {
        let memory = MemorySlice { address: image.base, bytes: &image.bytes[..end] };
        let parts = match plan.read(&memory, image.base) {
            Ok(parts) => parts,
            Err(error) => {
                assert_eq!((error.member, error.address, error.problem), ("Id", image.base, ReadProblem::Missing(end)));
                assert!(end < 4 && error.to_string().contains("SESSION.Id, 4 bytes at 0xffff900000000000"), "{error}");
                continue;
            }
        };
        assert_eq!((parts.id, parts.owner), (7, (end >= 0x30).then_some(OWNER)), "{end:#x}");
        let center = if end >= 0x60 { Presence::Value(Point { x: -30, y: -29 }) } else { Presence::Missing };
        assert_eq!(
            (parts.center, parts.extra),
            (center, if end >= 0x7C { Presence::Value(9) } else { Presence::Missing }),
            "{end:#x}"
        );
        assert_eq!(before.read(&memory, image.base).map(|parts| parts.extra).ok(), Some(Presence::Absent));
    }
    // A source that fails is an error of optional members, too.
    let failing = |address: u64, out: &mut [u8]| if address == image.base { Ok(out.len()) } else { Err("bad sector") };
    let error = plan.read(&failing, image.base).expect_err("the source fails");
    assert_eq!((error.member, error.problem), ("Owner", ReadProblem::Source("bad sector")));
    // Beyond the last address.
    assert!(plan.read(&image.memory(), u64::MAX - 2).is_err());
}

/// Lists that end, that return to an item, whose memory is missing, and that are longer than allowed.
#[test]
fn lists() {
    let plan = Session::plan(&old::structures::LAYOUTS, NEW, Arch::X64).expect("a plan");
    let items = Item::plan(&old::structures::LAYOUTS, NEW, Arch::X64).expect("a plan");
    let read = |image: &Image, limit: usize| {
        let memory = image.memory();
        let session = plan.read(&memory, image.base).expect("memory");
        let entries: Vec<_> = session.Items.entries(&items, ITEM::LINKS, &memory, limit).collect();
        entries
    };
    let mut image = image(Arch::X64, X64, 0);
    let item = |index: u64| image.base + 0x140 + 0x18 * index;
    let (first, second) = (item(0), item(1));
    let both = [Ok((first, Item { number: 100 })), Ok((second, Item { number: 101 }))];
    assert_eq!(read(&image, 2), both);
    assert_eq!(read(&image, 1), [Ok((first, Item { number: 100 })), Err(ListError::Limit(1))]);
    // The second returns to itself, to the first, and to an address without memory.
    let link = (second + 8 - image.base) as usize;
    image.address(link, second + 8);
    assert_eq!(read(&image, 1_000).last(), Some(&Err(ListError::Cycle(second + 8))));
    image.address(link, first + 8);
    let entries = read(&image, 1_000);
    assert!(entries.len() < 6 && entries.last() == Some(&Err(ListError::Cycle(first + 8))), "{entries:?}");
    image.address(link, 0x1000);
    let entries = read(&image, 1_000);
    assert!(matches!(&entries[..], [Ok(_), Ok(_), Err(ListError::Link(error))] if error.address == 0x1000), "{entries:?}");
    image.address(link, 4);
    assert_eq!(read(&image, 1_000)[2..], [Err(ListError::Address(4))]);
    // An empty one.
    let head = image.base + 0x68;
    image.address(0x68, head);
    assert_eq!(read(&image, 0), []);
    // A structure without memory does not end the list if its link has some.
    let source = |address: u64, out: &mut [u8]| -> Result<usize, std::convert::Infallible> {
        let next = if address == head { first + 8 } else { head };
        match out.len() == 8 {
            true => out.copy_from_slice(&next.to_le_bytes()),
            false => return Ok(0),
        }
        Ok(8)
    };
    #[derive(Relocated)]
    #[relocated(old::SESSION)]
    struct List {
        #[relocated("Items")]
        items: ListHead<Item>,
    }
    let list = List::plan(&old::structures::LAYOUTS, NEW, Arch::X64).expect("a plan").read(&source, image.base).expect("memory");
    let entries: Vec<_> = list.items.entries(&items, ITEM::LINKS, &source, 9).collect();
    assert!(matches!(&entries[..], [Err(ListError::Entry(error))] if error.member == "Number"), "{entries:?}");
}
