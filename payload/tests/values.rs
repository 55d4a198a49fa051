//! Access to values, and their display.

use etw_layouts_payload::{Count, Data, Field, InType, Map, OutType, PointerSize, Reason, Schema, Uuid};

const STATE: Map<'_> = Map::enumeration("STATE", &[(0, "Ready"), (5, "Waiting")]);
const FLAGS: Map<'_> = Map::flags("FLAGS", &[(3, "BOTH"), (1, "FIRST"), (2, "SECOND"), (8, "LAST")]);
const STATUS: Map<'_> = Map::enumeration("STATUS", &[(0xC000_0005, "STATUS_ACCESS_VIOLATION")]);

/// Names of values, by their maps.
#[test]
fn named() {
    let state = Field::new("f", InType::UINT8).map(&STATE);
    let flags = Field::new("f", InType::UINT32).map(&FLAGS);
    let status = Field::new("f", InType::UINT32).out(OutType::NTSTATUS).map(&STATUS);
    for (field, payload, text) in [
        (state, &[5][..], "Waiting"),
        (state, &[6], "6"),
        (Field::new("f", InType::INT32).map(&STATE), &[0xFF, 0xFF, 0xFF, 0xFF], "-1"),
        (flags, &[0, 0, 0, 0], "0"),
        (flags, &[3, 0, 0, 0], "BOTH"),
        (flags, &[0xB, 0, 0, 0], "BOTH|LAST"),
        (flags, &[0x1A, 0, 0, 0], "SECOND|LAST|0x10"),
        (flags, &[0x10, 0, 0, 0], "0x10"),
        (status, &[5, 0, 0, 0xC0], "0xc0000005 STATUS_ACCESS_VIOLATION"),
        (status, &[6, 0, 0, 0xC0], "0xc0000006"),
    ] {
        let fields = [field];
        let schema = Schema::specified("Class", "Event", 0, &fields);
        assert_eq!(schema.decode(payload, PointerSize::Bits32).get("f").unwrap().to_string(), text, "{payload:?}");
    }
}

/// Finds values by name and by position, one or all of them.
#[test]
fn found() {
    let table = [
        Field::new("Depth", InType::UINT8).size(),
        Field::new("Stack", InType::POINTER).count(Count::Field(0)),
        Field::new("Name", InType::ANSISTRING),
    ];
    let schema = Schema::specified("StackWalk", "Stack", 2, &table);
    let fields = schema.decode(&[2, 1, 0, 0, 0, 2, 0, 0, 0, b'x', 0], PointerSize::Bits32);
    let stack: Vec<_> = fields.all("Stack").map(|value| value.data()).collect();
    assert_eq!(stack, [Data::Hexadecimal(1), Data::Hexadecimal(2)]);
    assert_eq!(fields.get("Name").unwrap().text().unwrap(), *"x");
    assert_eq!(fields.at(2).unwrap().number(), Some(2));
    assert!(fields.get("Other").is_none() && fields.at(4).is_none());
    assert_eq!(schema.to_string(), "StackWalk/Stack");
}

/// With more counts than are kept, a reference to the oldest one is an error.
#[test]
fn forgotten() {
    let mut table = vec![Field::new("count", InType::UINT8).size(); 17];
    table.push(Field::new("array", InType::UINT8).count(Count::Field(1)));
    table.push(Field::new("array", InType::UINT8).count(Count::Field(0)));
    let schema = Schema::specified("Class", "Event", 0, &table);
    let fields = schema.decode(&[1; 19], PointerSize::Bits32);
    assert_eq!(fields.check().unwrap_err().reason, Reason::Reference(0));
    assert_eq!(fields.iter().count(), 18);
}

/// A GUID in memory and as text.
#[test]
fn guid() {
    let guid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    let bytes = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
    assert_eq!((guid.to_bytes_le(), Uuid::from_bytes_le(bytes)), (bytes, guid));
}
