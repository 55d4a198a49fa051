//! Payloads made from the schemas of all kernel events, without the decoder. The decoder must return the same values.

use etw_layouts::events;
use etw_layouts_etl::payload::{Count, Field, FieldList, Fields, InType, Length, OutType, PointerSize, Schema, Step};
use fastrand::Rng;
use std::fmt::Write;

/// A payload, and its values as text in payload order: `name=value`, without structures and arrays.
struct Made {
    payload: Vec<u8>,
    text: Vec<String>,
    /// Values of fields, by index in the table.
    sizes: Vec<u64>,
    pointers: PointerSize,
    /// The largest count and length.
    largest: u64,
}

impl Made {
    /// A payload of a schema. In its table, the members of a structure follow the structure.
    fn new(schema: &Schema<'_>, pointers: PointerSize, largest: u64, random: &mut Rng) -> Self {
        let FieldList::Table { all, top } = schema.fields else { panic!("no table") };
        assert_eq!(usize::from(top), all.len());
        let mut made = Self { payload: Vec::new(), text: Vec::new(), sizes: vec![0; all.len()], pointers, largest };
        made.fields(all, 0, all.len(), random);
        made
    }

    /// Adds the fields of the table from one index up to another.
    fn fields(&mut self, all: &[Field<'_>], from: usize, to: usize, random: &mut Rng) {
        let mut index = from;
        while index < to {
            let behind = behind(all, index);
            self.field(all, index, behind, random);
            index = behind;
        }
        assert_eq!(index, to);
    }

    fn field(&mut self, all: &[Field<'_>], index: usize, behind: usize, random: &mut Rng) {
        let field = &all[index];
        if field.pointer != 0 && usize::from(field.pointer) != self.width() {
            return;
        }
        let is_text = matches!(field.in_type, InType::UNICODECHAR | InType::ANSICHAR);
        let count = match field.count {
            Count::One => 1,
            Count::Constant(count) => u64::from(count),
            Count::Field(other) => self.sizes[usize::from(other)],
            Count::Rest => random.u64(..=self.largest),
            other => panic!("{other:?}"),
        };
        if is_text {
            let length = random.u64(..=count) as usize;
            let text: String = (0..length).map(|_| random.alphanumeric()).collect();
            let room = count as usize;
            self.push(field, wide_or_not(&text, room, field.in_type == InType::UNICODECHAR), text);
            return;
        }
        for _ in 0..count {
            if field.in_type == InType::STRUCT {
                self.fields(all, index + 1, behind, random);
            } else {
                self.value(field, index, random);
            }
        }
    }

    fn value(&mut self, field: &Field<'_>, index: usize, random: &mut Rng) {
        let length = match field.length {
            Length::Type => None,
            Length::Constant(length) => Some(u64::from(length)),
            Length::Field(other) => Some(self.sizes[usize::from(other)]),
            other => panic!("{other:?}"),
        };
        let (bytes, text) = match field.in_type {
            InType::UNICODESTRING => {
                let text: String =
                    (0..length.unwrap_or(random.u64(..20))).map(|_| random.choice(['a', 'Ω', '€']).unwrap()).collect();
                (wide_or_not(&text, text.chars().count() + usize::from(length.is_none()), true), text)
            }
            InType::ANSISTRING => {
                let text: String = (0..length.unwrap_or(random.u64(..20))).map(|_| random.alphanumeric()).collect();
                (wide_or_not(&text, text.len() + usize::from(length.is_none()), false), text)
            }
            InType::BINARY => {
                let bytes: Vec<u8> = (0..length.unwrap_or(random.u64(..20))).map(|_| random.u8(..)).collect();
                let text = match (field.out_type, <[u8; 16]>::try_from(&bytes[..])) {
                    (OutType::IPV6, Ok(address)) => std::net::Ipv6Addr::from(address).to_string(),
                    _ => bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}")),
                };
                (bytes, text)
            }
            InType::WBEMSID if random.bool() => (vec![0; 4], String::new()),
            InType::WBEMSID => {
                let token = vec![7; 2 * self.width()];
                ([&token[..], &[1, 2, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 0xE9, 3, 0, 0]].concat(), "S-1-5-21-1001".to_owned())
            }
            InType::GUID => {
                let bytes = [0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
                (bytes.into(), "00112233-4455-6677-8899-aabbccddeeff".to_owned())
            }
            InType::FILETIME => (132_404_799_797_984_230_i64.to_le_bytes().into(), "2020-07-29T07:06:19.7984230Z".to_owned()),
            _ => self.number(field, index, random),
        };
        self.push(field, bytes, text);
    }

    /// An integer, and its text according to Microsoft's manifests.
    fn number(&mut self, field: &Field<'_>, index: usize, random: &mut Rng) -> (Vec<u8>, String) {
        let (width, is_signed) = match field.in_type {
            InType::INT8 => (1, true),
            InType::UINT8 => (1, false),
            InType::INT16 => (2, true),
            InType::UINT16 => (2, false),
            InType::INT32 => (4, true),
            InType::UINT32 => (4, false),
            InType::INT64 => (8, true),
            InType::UINT64 => (8, false),
            InType::POINTER | InType::SIZET => (self.width(), false),
            other => panic!("{}: no kind of value for {other:?}", field.name),
        };
        let mask = u64::MAX >> (64 - 8 * width);
        let value = match field.out_type {
            _ if field.is_size => random.u64(..=self.largest),
            OutType::BOOLEAN => random.u64(..2),
            _ => random.u64(..) & mask,
        };
        self.sizes[index] = value;
        let bytes = value.to_le_bytes()[..width].to_vec();
        let text = match (field.in_type, field.out_type) {
            (_, OutType::PORT) => u16::from_be_bytes([bytes[0], bytes[1]]).to_string(),
            (_, OutType::IPV4) => format!("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]),
            (_, OutType::BOOLEAN) => (value == 1).to_string(),
            (InType::INT8 | InType::INT16 | InType::INT32, OutType::NTSTATUS) => format!("{value:#x}"),
            (_, OutType::PID | OutType::TID) => value.to_string(),
            (InType::POINTER, _) => format!("{value:#x}"),
            (_, OutType::HEXINT8 | OutType::HEXINT16 | OutType::HEXINT32 | OutType::HEXINT64) => format!("{value:#x}"),
            (_, OutType::NTSTATUS | OutType::CODE_POINTER) => format!("{value:#x}"),
            (_, OutType::ETWTIME) => (value as i64).to_string(),
            _ if is_signed => ((value << (64 - 8 * width)) as i64 >> (64 - 8 * width)).to_string(),
            _ => value.to_string(),
        };
        (bytes, text)
    }

    fn push(&mut self, field: &Field<'_>, bytes: Vec<u8>, text: String) {
        self.payload.extend(bytes);
        self.text.push(format!("{}={text}", field.name));
    }

    fn width(&self) -> usize {
        if self.pointers == PointerSize::Bits32 { 4 } else { 8 }
    }
}

/// The index after a field and its members.
fn behind(all: &[Field<'_>], index: usize) -> usize {
    (0..all[index].members.count).fold(index + 1, |next, _| behind(all, next))
}

/// A text, padded to a fixed number of characters.
fn wide_or_not(text: &str, room: usize, is_wide: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = if is_wide { text.encode_utf16().flat_map(u16::to_le_bytes).collect() } else { text.into() };
    bytes.resize(if is_wide { 2 * room } else { room }, 0);
    bytes
}

/// The decoded values, in the same form as [`Made::text`].
fn decoded(fields: &Fields<'_>) -> Vec<String> {
    fields.iter().map(|value| format!("{}={}", value.name(), value.data())).collect()
}

const BOTH: [PointerSize; 2] = [PointerSize::Bits32, PointerSize::Bits64];

#[test]
fn round_trip() {
    let (mut random, mut wrong) = (Rng::with_seed(0x26), Vec::new());
    let (mut schemas, mut payloads, mut values) = (0, 0, 0);
    for (_, _, ty, schema) in events::all() {
        schemas += 1;
        for pointers in BOTH {
            for largest in [0, 1, 5, 30] {
                let made = Made::new(schema, pointers, largest, &mut random);
                let fields = schema.decode(&made.payload, pointers);
                let present = (decoded(&fields), fields.check());
                if present != (made.text.clone(), Ok(())) {
                    let version = schema.version;
                    wrong.push(format!(
                        "{schema}, type {ty}, version {version}, {pointers:?}: {present:?} instead of {:?}",
                        made.text
                    ));
                }
                (payloads, values) = (payloads + 1, values + made.text.len());
            }
        }
    }
    println!("{schemas} schemas, {payloads} payloads, {values} values");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(schemas > 0);
}

/// Corrupt payloads cause no panic, no unbounded work, and no value from outside the payload.
#[test]
fn corruptions() {
    let (mut random, schemas) = (Rng::with_seed(0x27), events::all().map(|(.., schema)| schema).collect::<Vec<_>>());
    let (mut faults, mut text) = (0, String::new());
    for round in 0..10_000 {
        let schema = schemas[round % schemas.len()];
        let made = Made::new(schema, random.choice(BOTH).unwrap(), 9, &mut random);
        let (mut payload, pointers) = (made.payload, random.choice(BOTH).unwrap());
        for _ in 0..random.usize(1..4) {
            match random.u8(..3) {
                0 => payload.truncate(random.usize(..=payload.len())),
                1 => payload.extend((0..random.usize(..9)).map(|_| random.u8(..)).collect::<Vec<_>>()),
                _ if payload.is_empty() => {}
                _ => *random.choice(&mut payload).unwrap() = random.choice([0, 1, 0x7F, 0xFF]).unwrap(),
            }
        }
        let fields = schema.decode(&payload, pointers);
        let (whole, mut steps, mut count) = (payload.as_ptr_range(), fields.steps(), 0);
        while let Some(step) = steps.next() {
            count += 1;
            match step {
                Ok(Step::Value(value)) => {
                    let part = value.bytes.as_ptr_range();
                    assert!(value.bytes.is_empty() || whole.start <= part.start && part.end <= whole.end, "{schema} {value:?}");
                    text.clear();
                    write!(text, "{value} {:?}", value.number()).unwrap();
                }
                Ok(_) => {}
                Err(fault) => {
                    faults += 1;
                    assert_eq!(fault.offset + steps.rest().len(), payload.len(), "{schema} {fault}");
                }
            }
        }
        let FieldList::Table { all, .. } = schema.fields else { panic!("no table") };
        assert!(count <= 3 * (1 + all.len()) * (1 + payload.len()), "{schema}: {count} steps of {} bytes", payload.len());
    }
    println!("{faults} of 10000 payloads have a fault");
    assert!(faults > 1_000);
}
