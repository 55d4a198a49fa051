//! Generates random schemas, matching payloads, and the expected text. The generator does not use the decoder.

use etw_layouts_payload::{Count, Field, InType, Length, Members, OutType, PointerSize, Schema};
use fastrand::Rng;
use std::collections::HashMap;

/// A generated event.
pub struct Made {
    /// The same schema in two forms: members directly after their structure, and at the end of the table.
    pub schemas: [Schema<'static>; 2],
    pub payload: Vec<u8>,
    pub pointers: PointerSize,
    /// `name=value;`, `name{…};`, `name[…];`.
    pub text: String,
}

/// A field, or a structure.
struct Node {
    id: usize,
    kind: Kind,
    count: Number,
    length: Number,
    members: Vec<Node>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Type(usize),
    Structure,
    /// An integer of this many bytes. It is the count or length of later fields.
    Size(usize),
}

/// A count or length.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    None,
    Constant(u16),
    /// The value of a field.
    Field(usize),
    Before,
}

type Make = fn(&mut Rng, usize, Option<usize>) -> (Vec<u8>, String);

/// Types of values, with functions that generate a value from the pointer size and the length of the field. The last types extend to the end of
/// a payload.
const TYPES: &[(InType, OutType, Make)] = &[
    (InType::INT8, OutType::NULL, |r, _, _| own(r.i8(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT8, OutType::NULL, |r, _, _| own(r.u8(..), |v| (vec![v], v.to_string()))),
    (InType::UINT8, OutType::HEXINT8, |r, _, _| own(r.u8(..), |v| (vec![v], format!("{v:#x}")))),
    (InType::UINT8, OutType::BOOLEAN, |r, _, _| own(r.bool(), |v| (vec![v.into()], v.to_string()))),
    (InType::INT16, OutType::NULL, |r, _, _| own(r.i16(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT16, OutType::UNSIGNEDSHORT, |r, _, _| own(r.u16(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT16, OutType::PORT, |r, _, _| own(r.u16(..), |v| (v.to_be_bytes().into(), v.to_string()))),
    (InType::INT32, OutType::NULL, |r, _, _| own(r.i32(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::INT32, OutType::HRESULT, |r, _, _| own(r.u32(..), |v| (v.to_le_bytes().into(), format!("{v:#x}")))),
    (InType::UINT32, OutType::PID, |r, _, _| own(r.u32(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT32, OutType::NTSTATUS, |r, _, _| own(r.u32(..), |v| (v.to_le_bytes().into(), format!("{v:#x}")))),
    (InType::UINT32, OutType::WIN32ERROR, |r, _, _| own(r.u32(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT32, OutType::IPV4, |r, _, _| {
        own([r.u8(..), r.u8(..), r.u8(..), r.u8(..)], |v| (v.into(), format!("{}.{}.{}.{}", v[0], v[1], v[2], v[3])))
    }),
    (InType::INT64, OutType::NULL, |r, _, _| own(r.i64(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::INT64, OutType::ETWTIME, |r, _, _| own(r.i64(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT64, OutType::NULL, |r, _, _| own(r.u64(..), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::UINT64, OutType::CODE_POINTER, |r, _, _| own(r.u64(..), |v| (v.to_le_bytes().into(), format!("{v:#x}")))),
    (InType::FLOAT, OutType::NULL, |r, _, _| own(r.f32(), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::DOUBLE, OutType::NULL, |r, _, _| own(r.f64(), |v| (v.to_le_bytes().into(), v.to_string()))),
    (InType::BOOLEAN, OutType::NULL, |r, _, _| own(r.bool(), |v| (vec![v.into(), 0, 0, 0], v.to_string()))),
    (InType::GUID, OutType::NULL, |_, _, _| {
        let bytes = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
        (bytes.into(), "00112233-4455-6677-8899-aabbccddeeff".into())
    }),
    (InType::POINTER, OutType::NULL, |r, size, _| own(word(r, size), |(v, bytes)| (bytes, format!("{v:#x}")))),
    (InType::SIZET, OutType::NULL, |r, size, _| own(word(r, size), |(v, bytes)| (bytes, v.to_string()))),
    (InType::POINTER, OutType::TID, |r, size, _| own(word(r, size), |(v, bytes)| (bytes, v.to_string()))),
    (InType::FILETIME, OutType::NULL, |_, _, _| {
        (132_404_799_797_984_230_i64.to_le_bytes().into(), "2020-07-29T07:06:19.7984230Z".into())
    }),
    (InType::SYSTEMTIME, OutType::NULL, |_, _, _| {
        ([2020, 7, 3, 29, 7, 6, 19, 798_u16].map(u16::to_le_bytes).concat(), "2020-07-29T07:06:19.798".into())
    }),
    (InType::SID, OutType::NULL, |r, _, _| sid(r)),
    (InType::WBEMSID, OutType::NULL, |r, size, _| match r.bool() {
        true => (vec![0; 4], String::new()),
        false => own(sid(r), |(bytes, text)| ([&vec![7; 2 * size][..], &bytes].concat(), text)),
    }),
    (InType::HEXINT32, OutType::NULL, |r, _, _| own(r.u32(..), |v| (v.to_le_bytes().into(), format!("{v:#x}")))),
    (InType::HEXINT64, OutType::NULL, |r, _, _| own(r.u64(..), |v| (v.to_le_bytes().into(), format!("{v:#x}")))),
    (InType::UNICODESTRING, OutType::NULL, |r, _, room| own(text(r, room), |t| (room_for(wide(&t), room, 2), t))),
    (InType::ANSISTRING, OutType::NULL, |r, _, room| own(ascii(r, room), |t| (room_for(t.clone().into(), room, 1), t))),
    (InType::ANSISTRING, OutType::UTF8, |r, _, _| own(text(r, None), |t| ([t.as_bytes(), &[0]].concat(), t))),
    (InType::BINARY, OutType::IPV6, |_, _, _| ([&[0; 15][..], &[1]].concat(), "::1".into())),
    (InType::MANIFEST_COUNTEDSTRING, OutType::NULL, |r, _, _| own(text(r, None), |t| (counted(false, wide(&t)), t))),
    (InType::COUNTEDSTRING, OutType::XML, |r, _, _| own(text(r, None), |t| (counted(false, wide(&t)), t))),
    (InType::MANIFEST_COUNTEDANSISTRING, OutType::UTF8, |r, _, _| own(text(r, None), |t| (counted(false, t.clone().into()), t))),
    (InType::COUNTEDANSISTRING, OutType::NULL, |r, _, _| own(ascii(r, None), |t| (counted(false, t.clone().into()), t))),
    (InType::REVERSEDCOUNTEDSTRING, OutType::NULL, |r, _, _| own(text(r, None), |t| (counted(true, wide(&t)), t))),
    (InType::REVERSEDCOUNTEDANSISTRING, OutType::NULL, |r, _, _| own(ascii(r, None), |t| (counted(true, t.clone().into()), t))),
    (InType::MANIFEST_COUNTEDBINARY, OutType::NULL, |_, _, _| (vec![2, 0, 0xAB, 1], "0xab01".into())),
    (InType::MANIFEST_COUNTEDBINARY, OutType::SOCKETADDRESS, |_, _, _| {
        (vec![16, 0, 2, 0, 0x1F, 0x90, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], "10.0.0.1:8080".into())
    }),
    (InType::HEXDUMP, OutType::NULL, |_, _, _| (vec![2, 0, 0, 0, 9, 8], "0x0908".into())),
    (InType::UNICODECHAR, OutType::NULL, |r, _, room| {
        own(text(r, room.or(Some(1))), |t| (room_for(wide(&t), room.or(Some(1)), 2), t))
    }),
    (InType::ANSICHAR, OutType::NULL, |r, _, room| {
        own(ascii(r, room.or(Some(1))), |t| (room_for(t.clone().into(), room.or(Some(1)), 1), t))
    }),
    (InType::BINARY, OutType::NULL, |r, _, room| {
        let bytes: Vec<u8> = (0..room.unwrap_or_else(|| r.usize(..9))).map(|_| r.u8(..)).collect();
        own(bytes, |v| (v.clone(), "0x".to_owned() + &v.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }),
    (InType::NONNULLTERMINATEDSTRING, OutType::NULL, |r, _, _| own(text(r, None), |t| (wide(&t), t))),
    (InType::NONNULLTERMINATEDANSISTRING, OutType::NULL, |r, _, _| own(ascii(r, None), |t| (t.clone().into(), t))),
];

/// Number of types at the end of the list that extend to the end of the payload if they have no length.
const TO_THE_END: usize = 3;

fn own<T, R>(value: T, make: impl FnOnce(T) -> R) -> R {
    make(value)
}

fn word(random: &mut Rng, size: usize) -> (u64, Vec<u8>) {
    let value = if size == 4 { random.u32(..).into() } else { random.u64(..) };
    (value, value.to_le_bytes()[..size].to_vec())
}

fn sid(random: &mut Rng) -> (Vec<u8>, String) {
    let parts: Vec<u32> = (0..random.u8(..4)).map(|_| random.u32(..)).collect();
    let bytes = [1, parts.len() as u8, 0, 0, 0, 0, 0, 5].into_iter().chain(parts.iter().flat_map(|part| part.to_le_bytes()));
    (bytes.collect(), parts.iter().fold("S-1-5".to_owned(), |text, part| format!("{text}-{part}")))
}

/// A text of characters with one UTF-16 unit each, up to the length of the field.
fn text(random: &mut Rng, room: Option<usize>) -> String {
    (0..random.usize(..=room.unwrap_or(20).min(20))).map(|_| random.choice(['a', 'Ω', '\\', 'ÿ', '€']).unwrap()).collect()
}

fn ascii(random: &mut Rng, room: Option<usize>) -> String {
    (0..random.usize(..=room.unwrap_or(20).min(20))).map(|_| random.alphanumeric()).collect()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A text padded to its length, or terminated.
fn room_for(mut bytes: Vec<u8>, room: Option<usize>, unit: usize) -> Vec<u8> {
    bytes.resize(room.map_or(bytes.len() + unit, |room| room * unit), 0);
    bytes
}

fn counted(is_reversed: bool, bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as u16;
    [&if is_reversed { length.to_be_bytes() } else { length.to_le_bytes() }[..], &bytes].concat()
}

/// Generates an event.
pub fn made(random: &mut Rng) -> Made {
    let (mut ids, mut all) = (0, Vec::new());
    nodes(random, 0, &mut ids, &mut all);
    if random.bool() {
        let kind = Kind::Type(TYPES.len() - 1 - random.usize(..TO_THE_END));
        all.push(Node { id: ids + 1, kind, count: Number::None, length: Number::None, members: Vec::new() });
    }
    let pointers = if random.bool() { PointerSize::Bits32 } else { PointerSize::Bits64 };
    let size = if pointers == PointerSize::Bits32 { 4 } else { 8 };
    let (mut payload, mut text, mut values) = (Vec::new(), String::new(), HashMap::new());
    all.iter().for_each(|node| encode(node, random, size, &mut payload, &mut text, &mut values));
    let schemas = [false, true].map(|at_end| {
        let mut places = Vec::new();
        if at_end {
            flatten(&all, &mut places)
        } else {
            nest(&all, &mut places)
        }
        let index = |id: usize| places.iter().position(|node| node.id == id).unwrap() as u16;
        let fields: Vec<_> = places.iter().map(|node| field(node, at_end, &index)).collect();
        let top = if at_end { all.len() } else { fields.len() };
        Schema::table("Class", "Event", 1, Vec::leak(fields), top as u16)
    });
    Made { schemas, payload, pointers, text }
}

fn nodes(random: &mut Rng, depth: usize, ids: &mut usize, out: &mut Vec<Node>) {
    let sized = |random: &mut Rng, ids: &mut usize, out: &mut Vec<Node>| match random.u8(..3) {
        0 => Number::Constant(random.u16(..5)),
        1 => {
            *ids += 1;
            let kind = Kind::Size(1 << random.usize(..4));
            out.push(Node { id: *ids, kind, count: Number::None, length: Number::None, members: Vec::new() });
            Number::Field(*ids)
        }
        _ => Number::Before,
    };
    for _ in 0..random.usize(1..6) {
        let count = if random.u8(..4) == 0 { sized(random, ids, out) } else { Number::None };
        if depth < 3 && random.u8(..5) == 0 {
            let mut members = Vec::new();
            *ids += 1;
            let id = *ids;
            nodes(random, depth + 1, ids, &mut members);
            out.push(Node { id, kind: Kind::Structure, count, length: Number::None, members });
            continue;
        }
        let ty = random.usize(..TYPES.len() - TO_THE_END + 1);
        let has_length = TYPES[ty].0 == InType::BINARY && TYPES[ty].1 == OutType::NULL;
        let can_have = matches!(TYPES[ty].0, InType::UNICODESTRING | InType::ANSISTRING) && TYPES[ty].1 == OutType::NULL;
        let length = if has_length || can_have && random.bool() { sized(random, ids, out) } else { Number::None };
        *ids += 1;
        out.push(Node { id: *ids, kind: Kind::Type(ty), count, length, members: Vec::new() });
    }
}

fn encode(node: &Node, random: &mut Rng, size: usize, out: &mut Vec<u8>, text: &mut String, values: &mut HashMap<usize, u64>) {
    let number = |number, random: &mut Rng, out: &mut Vec<u8>, values: &HashMap<usize, u64>| match number {
        Number::None => None,
        Number::Constant(number) => Some(number.into()),
        Number::Field(id) => Some(values[&id] as usize),
        Number::Before => {
            let number = random.u16(..5);
            out.extend(number.to_le_bytes());
            Some(number.into())
        }
    };
    let name = format!("f{}", node.id);
    let is_characters = matches!(node.kind, Kind::Type(ty) if matches!(TYPES[ty].0, InType::UNICODECHAR | InType::ANSICHAR));
    let count = number(node.count, random, out, values);
    let one = |random: &mut Rng, out: &mut Vec<u8>, text: &mut String, values: &mut HashMap<usize, u64>| match node.kind {
        Kind::Structure => {
            *text += "{";
            node.members.iter().for_each(|member| encode(member, random, size, out, text, values));
            *text += "};";
        }
        Kind::Size(width) => {
            let value = random.u64(..5);
            out.extend(&value.to_le_bytes()[..width]);
            values.insert(node.id, value);
            *text += &format!("{value};");
        }
        Kind::Type(ty) => {
            let room = if is_characters { count } else { number(node.length, random, out, values) };
            let (bytes, value) = TYPES[ty].2(random, size, room);
            out.extend(bytes);
            *text += &format!("{value};");
        }
    };
    match count {
        Some(count) if !is_characters => {
            *text += &format!("{name}[");
            (0..count).for_each(|_| one(random, out, text, values));
            *text += "];";
        }
        _ => {
            *text += &name;
            if node.kind != Kind::Structure {
                *text += "=";
            }
            one(random, out, text, values);
        }
    }
}

/// Lists members directly after their structure.
fn nest<'a>(nodes: &'a [Node], out: &mut Vec<&'a Node>) {
    for node in nodes {
        out.push(node);
        nest(&node.members, out);
    }
}

/// Lists members after all fields that are not members.
fn flatten<'a>(nodes: &'a [Node], out: &mut Vec<&'a Node>) {
    out.extend(nodes);
    nodes.iter().filter(|node| !node.members.is_empty()).for_each(|node| flatten(&node.members, out));
}

fn field(node: &Node, at_end: bool, index: &dyn Fn(usize) -> u16) -> Field<'static> {
    let name = String::leak(format!("f{}", node.id));
    let field = match node.kind {
        Kind::Type(ty) => Field::new(name, TYPES[ty].0).out(TYPES[ty].1),
        Kind::Structure => Field::structure(name, node.members.len() as u16),
        Kind::Size(width) => {
            Field::new(name, [InType::UINT8, InType::UINT16, InType::UINT32, InType::UINT64][width.ilog2() as usize]).size()
        }
    };
    let field = match node.members.first() {
        Some(first) if at_end => field.members(Members { first: Some(index(first.id)), count: node.members.len() as u16 }),
        _ => field,
    };
    let count = match node.count {
        Number::None => Count::One,
        Number::Constant(count) => Count::Constant(count),
        Number::Field(id) => Count::Field(index(id)),
        Number::Before => Count::Variable,
    };
    let length = match node.length {
        Number::None => Length::Type,
        Number::Constant(length) => Length::Constant(length),
        Number::Field(id) => Length::Field(index(id)),
        Number::Before => Length::Variable,
    };
    field.count(count).length(length)
}
