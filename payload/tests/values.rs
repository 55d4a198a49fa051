//! Access to values, and their display.

use etw_layouts_payload::{
    Count, Cursor, Data, FaultKind, Field, InType, Length, Map, OutType, Part, PointerSize, Schema, Step, Uuid, is_hidden,
};
use regex::Regex;

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

/// With more counts than are kept, a reference to the oldest one is an error, which states the limit.
#[test]
fn forgotten() {
    let mut table = vec![Field::new("count", InType::UINT8).size(); 17];
    table.push(Field::new("array", InType::UINT8).count(Count::Field(1)));
    table.push(Field::new("array", InType::UINT8).count(Count::Field(0)));
    let schema = Schema::specified("Class", "Event", 0, &table);
    let fields = schema.decode(&[1; 19], PointerSize::Bits32);
    assert_eq!(fields.check().unwrap_err().reason, FaultKind::Sizes(0));
    assert_eq!(fields.iter().count(), 18);
    table[17] = Field::new("array", InType::UINT8).count(Count::Field(17));
    let schema = Schema::specified("Class", "Event", 0, &table);
    assert_eq!(schema.decode(&[1; 19], PointerSize::Bits32).check().unwrap_err().reason, FaultKind::Reference(17));
}

/// Texts with parts that are no characters, texts with zeros inside, and strings that the payload leaves out or does not terminate; and socket addresses. A second
/// field of the same kind shows that only the last string can be left out.
#[test]
fn unusual() {
    let wide = |name| Field::new(name, InType::UNICODESTRING);
    let bytes = |name| Field::new(name, InType::ANSISTRING);
    let sized = |in_type| Field::new("s", in_type).length(Length::Constant(4));
    let utf8 = bytes("s").out(OutType::UTF8);
    let socket = |length| Field::new("s", InType::BINARY).out(OutType::SOCKETADDRESS).length(Length::Constant(length));
    let inet = [&[2, 0, 1, 0xBB, 1, 2, 3, 4][..], &[7; 120]].concat();
    let inet6 = [&[23, 0, 1, 0xBB, 9, 9, 9, 9][..], &[0; 15], &[1, 5, 0, 0, 0], &[7; 100]].concat();
    /// Fields, a payload, the texts of its values, and the fault.
    type Case<'a> = (&'a [Field<'a>], &'a [u8], &'a [&'a str], Option<FaultKind>);
    let cases: &[Case<'_>] = &[
        (&[wide("s")], b"a\0\0\xD8b\0\0\0", &["a\\u{d800}b"], None),
        (&[sized(InType::UNICODESTRING)], b"a\0\0\0b\0\0\0", &["a\0b"], None),
        (&[sized(InType::UNICODESTRING)], b"\0\0\0\0\0\0\0\0", &[""], None),
        (&[sized(InType::ANSISTRING)], b"a\0b\0", &["a\0b"], None),
        (&[Field::new("s", InType::MANIFEST_COUNTEDSTRING)], b"\x03\0a\0b", &["a\\x62"], None),
        (&[utf8], b"a\xFF\xC3\xA9\0", &["a\\xff\u{e9}"], None),
        (&[utf8], b"0x41\0", &["0x41"], None),
        (&[wide("s")], b"", &[""], None),
        (&[wide("s")], b"a\0", &["a"], None),
        (&[wide("s")], b"a\0\0", &["a"], Some(FaultKind::Rest)),
        (&[bytes("s")], b"", &[""], None),
        (&[bytes("s")], b"ab", &["ab"], None),
        (&[wide("s"), wide("t")], b"a\0", &["a", ""], None),
        (&[wide("s"), wide("t")], b"", &[], Some(FaultKind::Payload)),
        (&[wide("s"), bytes("t")], b"a\0\0", &[], Some(FaultKind::Payload)),
        (&[socket(16)], &inet[..16], &["1.2.3.4:443"], None),
        (&[socket(128)], &inet, &["1.2.3.4:443"], None),
        (&[socket(28)], &inet6[..28], &["[::1%5]:443"], None),
        (&[socket(128)], &inet6, &["[::1%5]:443"], None),
        (&[socket(8)], &[1, 0, 0, 0, 0, 0, 0, 0], &["0x0100000000000000"], None),
    ];
    for (table, payload, texts, reason) in cases {
        let fields = Schema::specified("Class", "Event", 0, table).decode(payload, PointerSize::Bits64);
        let mut slots = Schema::specified("Class", "Event", 0, table).fields.slots(PointerSize::Bits64);
        let mut cursor = Cursor::new(payload, PointerSize::Bits64);
        let compiled: Vec<_> = slots
            .by_ref()
            .map_while(|(_, slot)| match cursor.next(&slot)? {
                Part::Value(bytes) => Some(slot.value(bytes).to_string()),
                _ => None,
            })
            .collect();
        let values: Vec<_> = fields.iter().map(|value| value.to_string()).collect();
        let steps = fields.steps().map_while(Result::ok);
        let steps: Vec<_> =
            steps.filter_map(|step| if let Step::Value(value) = step { Some(value.to_string()) } else { None }).collect();
        assert_eq!((&values, &steps, &compiled), (&steps, &compiled, &values), "{payload:?}");
        assert_eq!(
            (&values[..], fields.check().err().map(|fault| fault.reason)),
            (&texts.iter().map(ToString::to_string).collect::<Vec<_>>()[..], *reason),
            "{payload:?}"
        );
    }
}

/// Every character that is hidden by its Unicode properties is shown as an escape, and no other.
#[test]
fn hidden_characters() {
    let hidden =
        Regex::new(r"^[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}[\p{Cf}--\p{Prepended_Concatenation_Mark}]]$")
            .unwrap();
    let wrong: Vec<_> = ('\0'..=char::MAX).filter(|c| is_hidden(*c) != hidden.is_match(c.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(wrong, []);
}

/// A GUID in memory and as text.
#[test]
fn guid() {
    let guid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    let bytes = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
    assert_eq!((guid.to_bytes_le(), Uuid::from_bytes_le(bytes)), (bytes, guid));
}
