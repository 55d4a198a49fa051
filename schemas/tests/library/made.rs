//! Random providers. There are few names and numbers, so that equal ones occur.

use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use etw_layouts_schemas::{Count, Event, Field, Keyword, Length, Map, MapEntry, Name, Provider};
use fastrand::Rng;

/// A provider with one of a few GUIDs.
pub fn provider(random: &mut Rng) -> Provider {
    let maps: Vec<_> = (0..random.usize(..3)).map(|_| map(random)).collect();
    Provider {
        guid: Uuid::from_u128(u128::from(random.u8(..6)) << 118 | u128::from(random.u8(..2))),
        name: name(random),
        // Libraries do not contain the display name.
        message: String::new(),
        keywords: (0..random.usize(..4)).map(|_| Keyword { mask: some(random, 1 << 63), name: name(random) }).collect(),
        events: (0..random.usize(..6)).map(|_| event(random, maps.len())).collect(),
        maps,
    }
}

/// One of a few texts. One is empty, and one is longer than a length of one byte can state.
fn name(random: &mut Rng) -> String {
    ["", "Start", "Stop", "Größe", "win:Info", &"long ".repeat(30)][random.usize(..6)].to_owned()
}

fn some<T>(random: &mut Rng, value: T) -> Option<T> {
    random.bool().then_some(value)
}

fn named(random: &mut Rng, values: &[u32]) -> Name {
    let value = random.choice(values.iter().copied());
    Name { value: value.filter(|_| random.bool()), name: name(random) }
}

fn event(random: &mut Rng, maps: usize) -> Event {
    Event {
        id: random.choice([0, 1, 255, 256, u16::MAX]).unwrap_or(1),
        version: random.u8(254..),
        channel: named(random, &[0, 16, 255]),
        level: named(random, &[0, 4, 255]),
        opcode: named(random, &[0, 1, 255]),
        task: named(random, &[0, 1, 0xFFFF]),
        keyword_mask: some(random, 1 << 48 | 1),
        keywords: (0..random.usize(..3)).map(|_| name(random)).collect(),
        symbol: name(random),
        message: name(random),
        is_classic: false,
        fields: random.bool().then(|| fields(random, maps, 0)),
    }
}

fn fields(random: &mut Rng, maps: usize, depth: usize) -> Vec<Field> {
    let mut fields = Vec::new();
    for place in 0..random.usize(..4) {
        let is_structure = depth < 3 && random.u8(..4) == 0;
        let types = [InType::UINT32, InType::UNICODESTRING, InType::BINARY, InType::SID];
        let mut field =
            Field::new(format!("f{depth}{place}"), if is_structure { InType::STRUCT } else { random.choice(types).unwrap() });
        // The earlier field is in this list, or in the enclosing one.
        let earlier =
            [(depth, place), (depth.wrapping_sub(1), 1)].map(|(depth, place)| format!("f{depth}{}", place.wrapping_sub(1)));
        let earlier = fields.iter().map(|field: &Field| field.name.clone()).find(|name| earlier.contains(name));
        field.count = match (random.u8(..3), &earlier) {
            (0, Some(name)) => Count::Field(name.clone().into()),
            (1, _) => Count::Constant(random.u16(..)),
            _ => Count::One,
        };
        field.length = match (random.u8(..3), &earlier) {
            (0, Some(name)) => Length::Field(name.clone().into()),
            (1, _) => Length::Constant(random.u16(..)),
            // Fields after binary data of unknown length are left out.
            _ if field.in_type == InType::BINARY => Length::Constant(3),
            _ => Length::Type,
        };
        field.out_type = random.choice([OutType::NULL, OutType::PID, OutType::XML]).unwrap();
        field.tags = random.choice([0, 0x0FFF_FFFF]).unwrap();
        field.map = (maps > 0 && random.bool()).then(|| random.usize(..maps));
        if is_structure {
            // So are fields after a structure of unknown members.
            field.members = self::fields(random, maps, depth + 1);
            field.members.push(Field::new("last", InType::UINT8));
        }
        fields.push(field);
    }
    fields
}

fn map(random: &mut Rng) -> Map {
    let entry = |random: &mut Rng| MapEntry { value: random.choice([0, 1, 5, u64::MAX]).unwrap(), name: name(random) };
    Map {
        name: name(random),
        kind: random.choice([MapKind::Enumeration, MapKind::Flags]).unwrap(),
        entries: (0..random.usize(..5)).map(|_| entry(random)).collect(),
    }
}
