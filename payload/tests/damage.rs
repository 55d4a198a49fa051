//! Damaged schemas and payloads.

use crate::kit::made;
use etw_layouts_payload::{Count, Field, FieldList, InType, Length, Members, OutType, PointerSize, Schema, Step};
use fastrand::Rng;
use std::fmt::Write;

/// Damaged schemas and payloads cause no panic, no unbounded number of steps, and no value from outside the payload.
#[test]
fn corruptions() {
    let mut random = Rng::with_seed(0x24);
    for _ in 0..10_000 {
        let made = made(&mut random);
        let (mut payload, schema) = (made.payload, made.schemas[random.usize(..2)]);
        let FieldList::Table { all, mut top } = schema.fields else { panic!("no table") };
        let mut all = all.to_vec();
        for _ in 0..random.usize(1..4) {
            match random.u8(..4) {
                0 => top = random.u16(..),
                1 if !payload.is_empty() => payload.truncate(random.usize(..payload.len())),
                2 if !payload.is_empty() => *random.choice(&mut payload).unwrap() = *random.choice(&[0, 1, 0x7F, 0xFF]).unwrap(),
                _ => {
                    let at = random.usize(..all.len());
                    all[at] = damaged(&mut random, all[at]);
                }
            }
        }
        check(&Schema::table("", "", 0, &all, top), &payload, made.pointers);
        // An encoded schema of random bytes.
        let bytes: Vec<u8> =
            (0..random.usize(..40)).map(|_| random.choice([0, 1, 8, 0x58, 0x98, 2, b'a', 0xFF]).unwrap()).collect();
        let item = [&(bytes.len() as u16 + 2).to_le_bytes()[..], &bytes].concat();
        if let Ok(schema) = Schema::trace_logging(&item) {
            check(&schema, &payload, made.pointers);
        }
    }
}

fn damaged<'a>(random: &mut Rng, field: Field<'a>) -> Field<'a> {
    let number = random.choice([0, 1, 2, 7, 100, u16::MAX]).unwrap();
    match random.u8(..5) {
        0 => Field::new(field.name, InType(random.choice([14, 19, 24, 300, 309, 310, 26, 16]).unwrap())).members(field.members),
        1 => field.out(OutType(random.u16(..40))),
        2 => field
            .count(random.choice([Count::Constant(number), Count::Field(number), Count::Variable, Count::Custom(&[1])]).unwrap()),
        3 => field.length(random.choice([Length::Constant(number), Length::Field(number), Length::Variable]).unwrap()),
        _ => field.members(Members { first: random.bool().then_some(number.min(9)), count: number }),
    }
}

fn check(schema: &Schema<'_>, payload: &[u8], pointers: PointerSize) {
    let fields = schema.decode(payload, pointers);
    let (mut steps, mut count, mut depth, mut text) = (fields.steps(), 0_usize, 0_usize, String::new());
    while let Some(step) = steps.next() {
        count += 1;
        match step {
            Ok(Step::Value(value)) => {
                assert!(value.bytes.is_empty() || payload.as_ptr_range().contains(&value.bytes.as_ptr()), "{value:?}");
                assert!(payload.subslice_of(value.bytes), "{value:?}");
                assert!(steps.field().is_some());
                text.clear();
                write!(text, "{value} {:?}", value.number()).unwrap();
            }
            Ok(Step::Structure(_) | Step::Array(..)) => depth += 1,
            Ok(Step::End) => depth -= 1,
            Err(fault) => {
                assert!(fault.offset + steps.rest().len() == payload.len() || fault.offset == 0);
                assert!(!fault.to_string().is_empty() && steps.next().is_none());
            }
        }
        assert!(depth <= 32);
    }
    let size = match schema.fields {
        FieldList::Table { all, .. } => 16 * all.len(),
        FieldList::TraceLogging(bytes) => bytes.len(),
        _ => panic!("another list"),
    };
    assert!(count <= 300 * (64 + size + payload.len()), "{count}");
    let (values, fault) = (fields.iter().count(), fields.check());
    let steps = fields.steps().filter(|step| matches!(step, Ok(Step::Value(_)))).count();
    assert_eq!(values, steps, "{fault:?}");
}

trait Within {
    /// Whether other bytes are a part of these.
    fn subslice_of(&self, part: &[u8]) -> bool;
}

impl Within for [u8] {
    fn subslice_of(&self, part: &[u8]) -> bool {
        let (whole, part) = (self.as_ptr_range(), part.as_ptr_range());
        part.start == part.end || whole.start <= part.start && part.end <= whole.end
    }
}
