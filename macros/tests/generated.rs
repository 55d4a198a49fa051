//! Types that `layouts!` generates from specs with difficult accessors, names and lengths. Their compilation is a part of the test.

#![forbid(unsafe_code)]

use etw_layouts_runtime::bytemuck::{self, Zeroable};
use etw_layouts_runtime::packed::{Layouts, Structure};
use etw_layouts_runtime::{Arch, Build, View};

/// The generated types of these specs.
mod device {
    etw_layouts_macros::layouts! {
        spec = r#"
            [enum]
            name = "KIND"
            type = "UCHAR"
            constants = [{ name = "KIND_NONE", value = 0 }, { name = "KIND_LAST", value = 3 }]
        "#,
        spec = r#"
            [struct]
            name = "STATE"
            size = 0x01

            [[member]]
            name = "Low"
            type = "KIND"
            bits = 2

            [[member]]
            name = "High"
            type = "KIND"
            bits = 6
        "#,
        spec = r#"
            [struct]
            name = "FLAGGED"
            size = 0x18

            [[member]]
            union = [
              { name = "Flags", type = "ULONG" },
              { name = "set_Flags", type = "ULONG" },
              { struct = [
                { name = "type", type = "ULONG", bits = 4 },
                { name = "self", type = "ULONG", bits = 4 },
                { name = "self_", type = "ULONG", bits = 8 },
                { name = "set_type", type = "ULONG", bits = 16 },
              ] },
            ]

            [[member]]
            name = "u00"
            type = "UCHAR"

            [[member]]
            name = "bits08"
            type = "ULONGLONG"

            [[member]]
            name = "Bit"
            type = "ULONG"
            bits = 1
        "#,
        spec = r#"
            [struct]
            name = "LONG_ARRAYS"
            size = 0x200
            align = 512

            [[member]]
            name = "First"
            type = "CHAR [129]"

            [[member]]
            name = "Second"
            type = "USHORT [33]"
        "#,
        targets = ["2004-x64"],
    }
}

/// Names that could collide: `REQ` since 1.1 and `REQ_1` since 1; and the constant `A` since 1.1 with `A_1_1`.
mod twins {
    etw_layouts_macros::layouts! {
        spec = r#"
            architectures = ["x64"]

            [[release]]
            labels = ["1"]
            name = "The first"
            revisions = [{ build = "1.0.0", module = "v1" }]

            [[release]]
            labels = ["1.1"]
            name = "The second"
            revisions = [{ build = "1.1.0", module = "v1_1" }]
        "#,
        spec = r#"
            [scalar]
            VOID = { size = 0, c = "void" }
            ULONG = { size = 4, c = "unsigned long" }
            ULONGLONG = { size = 8, c = "unsigned long long" }
        "#,
        spec = r#"
            [struct]
            name = "REQ"
            size = { "1" = 0x04, "1.1.." = 0x08 }

            [[member]]
            name = "First"
            type = "ULONG"

            [[member]]
            name = "Second"
            type = "ULONG"
            in = "1.1.."
        "#,
        spec = r#"
            [struct]
            name = "REQ_1"
            size = 0x08

            [[member]]
            name = "First"
            type = "FLAGS_63"
        "#,
        spec = r#"
            [enum]
            name = "FLAGS_63"
            type = "ULONGLONG"
            constants = [{ name = "LAST", value = 0x8000000000000000 }, { name = "NEXT", value = 2, in = "1.1.." }]
        "#,
        spec = r#"
            [flags]
            name = "BITS"
            type = "ULONGLONG"
            constants = [
              { name = "HIGHEST", value = 0x8000000000000000 },
              { name = "A", value = { "..1" = 1, "1.1.." = 2 } },
              { name = "A_1_1", value = 4 },
            ]
        "#,
    }
}

/// Similar names do not collide. Flags can have bit 63.
#[test]
fn similar_names() {
    use twins::constants::BITS;
    assert_eq!((BITS::HIGHEST.0, BITS::A_1_1.0), (1 << 63, 4));
    assert_eq!(format!("{:?}", BITS(1 << 63 | 4)), "HIGHEST | A_1_1");
    assert_eq!(size_of::<twins::targets::v1_1::x64::REQ>(), 8);
    assert_eq!(size_of::<twins::targets::v1::x64::REQ_1>(), 8);
}

/// A value of one version equals the same value of another.
#[test]
fn values_of_two_versions_are_equal() {
    let bytes = (1_u64 << 63).to_le_bytes();
    let of = |build| {
        let layout = twins::structures::REQ_1.select(build, Arch::X64).unwrap().layout;
        View::new(layout, &bytes).unwrap().get(twins::members::REQ_1::FIRST).unwrap().choice()
    };
    let [old, new] = [Build::new(1, 0, 0, 0), Build::new(1, 1, 0, 0)].map(of);
    assert_eq!((old, old.name()), (new, Some("LAST")));
}

/// A structure of the specs of Windows, with the table that is made from the same specs and from facts, and without.
mod chosen {
    etw_layouts_macros::layouts!(
        "../specs",
        table = "../generated/src/layouts.bin",
        structures = ["ETW_REG_ENTRY"],
        targets = ["2004-x64"]
    );
}
mod without_table {
    etw_layouts_macros::layouts!("../specs", structures = ["ETW_REG_ENTRY"], targets = ["2004-x64"]);
}

/// A chosen structure has the confidence of the table. Without a table no layout counts as verified.
#[test]
fn confidence_of_chosen_structures() {
    let table = Layouts::from_bytes(include_bytes!("../../generated/src/layouts.bin")).unwrap();
    // Examined builds, and updates after them that may be unknown.
    let builds = table.examined().map(|seen| (seen.build, seen.arch));
    let builds = builds.flat_map(|(build, arch)| [(build, arch), (Build { revision: build.revision + 1, ..build }, arch)]);
    let builds: Vec<_> = builds.collect();
    let words = |structure: Structure| -> Vec<_> {
        let word =
            |&(build, arch): &(Build, Arch)| structure.select(build, arch).map_or("absent", |chosen| chosen.confidence.word());
        builds.iter().map(word).collect()
    };
    let expected = words(table.structure("ETW_REG_ENTRY").unwrap());
    assert!(expected.contains(&"verified (PDB)") && expected.contains(&"uncertain"));
    assert!(words(chosen::structures::ETW_REG_ENTRY.any()) == expected, "other confidence than in the table");
    let own = words(without_table::structures::ETW_REG_ENTRY.any());
    assert!(own.iter().all(|word| ["absent", "documented", "inferred", "uncertain"].contains(word)));
    assert_eq!(size_of::<chosen::targets::win10_2004::x64::ETW_REG_ENTRY>(), 0x70);
}

use device::targets::win10_2004::x64::{FLAGGED, KIND, LONG_ARRAYS, STATE};

const BUILD: Build = Build::new(10, 0, 19041, 264);

/// A bit field has the sign of its type, in the accessor and in the view.
#[test]
fn bits_of_an_unsigned_enumeration() {
    let mut state = STATE::zeroed();
    state.set_Low(KIND(3));
    state.set_High(KIND(0x3F));
    assert_eq!(bytemuck::bytes_of(&state), [0xFF]);
    assert_eq!((state.Low(), state.High()), (KIND::KIND_LAST, KIND(0x3F)));
    let view = View::new(device::structures::STATE.select(BUILD, Arch::X64).unwrap().layout, bytemuck::bytes_of(&state)).unwrap();
    let low = view.get(device::members::STATE::LOW).unwrap().choice();
    assert_eq!((low.value, low.name()), (3, Some("KIND_LAST")));
}

/// Members can have the names of accessors, fields and Rust keywords.
#[test]
fn names_of_accessors_and_keywords() {
    let mut flagged = FLAGGED::zeroed();
    flagged.set_Flags_(0x1234_5678);
    assert_eq!((flagged.Flags(), flagged.set_Flags()), (0x1234_5678, 0x1234_5678));
    flagged.set_set_Flags(0x4321);
    assert_eq!((flagged.r#type(), flagged.self_(), flagged.self__(), flagged.set_type()), (1, 2, 0x43, 0));
    let layout = device::structures::FLAGGED.select(BUILD, Arch::X64).unwrap().layout;
    let names = layout.members().map(|member| member.name).collect::<Vec<_>>();
    assert_eq!(names, ["Flags", "set_Flags", "type", "self", "self_", "set_type", "u00", "bits08", "Bit"]);
    assert!(layout.members().all(|member| layout.member(member.name).is_some()));
}

/// Arrays and padding of any length.
#[test]
fn long_arrays() {
    assert_eq!(size_of::<LONG_ARRAYS>(), 512);
    let mut arrays = LONG_ARRAYS::zeroed();
    (arrays.First[128], arrays.Second[32]) = (-1, 7);
    let view =
        View::new(device::structures::LONG_ARRAYS.select(BUILD, Arch::X64).unwrap().layout, bytemuck::bytes_of(&arrays)).unwrap();
    let last = |name| view.member(name).unwrap().elements().last().unwrap();
    assert_eq!((last("First").signed(), last("Second").unsigned()), (-1, 7));
}
