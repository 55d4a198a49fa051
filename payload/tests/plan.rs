//! Compiled fields read the same values as the steps of the schema.

use crate::kit::{Made, made};
use etw_layouts_payload::{Cursor, Fault, Fields, Part, Step, Steps, Value};
use fastrand::Rng;

/// The values without names, and the error at their end.
type Decoded<'a> = (Vec<Value<'a>>, Option<Fault>);

fn rest<'a>(steps: Steps<'a>, values: &mut Vec<Value<'a>>) -> Option<Fault> {
    for step in steps {
        match step {
            Ok(Step::Value(value)) => values.push(value),
            Ok(_) => {}
            Err(fault) => return Some(fault),
        }
    }
    None
}

fn planned<'a>(fields: &Fields<'a>) -> Decoded<'a> {
    let (list, mut values) = (fields.schema.fields, Vec::new());
    let (mut slots, mut cursor, mut read) =
        (list.slots(fields.pointers), Cursor::new(fields.payload, fields.pointers), Vec::new());
    for (field, slot) in slots.by_ref() {
        let value = |bytes| slot.value(bytes).with_map(field.map);
        match cursor.next(&slot) {
            Some(Part::Value(bytes)) => values.push(value(bytes)),
            Some(Part::Array(bytes, size)) => values.extend(bytes.chunks_exact(size).map(value)),
            Some(Part::End) => return (values, None),
            None => {
                let fault = rest(cursor.steps(list, read.iter(), slot.position()), &mut values);
                return (values, fault);
            }
        }
        read.push(slot);
    }
    let fault = match slots.is_done() {
        true => cursor.end(),
        false => rest(cursor.steps(list, read.iter(), slots.position()), &mut values),
    };
    (values, fault)
}

#[test]
fn plans() {
    let mut random = Rng::with_seed(0x26);
    let (mut fixed, mut others) = (0, 0);
    for _ in 0..2_000 {
        let Made { schemas, mut payload, pointers, .. } = made(&mut random);
        // Intact, truncated, and longer.
        payload.extend([7; 3]);
        for schema in &schemas {
            let count = schema.fields.slots(pointers).count();
            (fixed, others) = (fixed + count, others + schema.fields.iter().count() - count);
            for length in [payload.len() - 3, payload.len(), random.usize(..payload.len())] {
                let fields = schema.decode(&payload[..length], pointers);
                let (values, fault) = planned(&fields);
                let mut steps = Vec::new();
                assert_eq!(fault, rest(fields.steps(), &mut steps), "{schema:?} {payload:02x?}");
                let shown = |value: &Value<'_>| format!("{:?} {:?} {value}", value.in_type, value.bytes);
                assert_eq!(values.iter().map(shown).collect::<Vec<_>>(), steps.iter().map(shown).collect::<Vec<_>>());
                // A field by name skips arrays.
                for field in schema.fields.iter() {
                    assert_eq!(fields.get(field.name), fields.iter().find(|value| value.name() == field.name));
                }
            }
        }
    }
    println!("{fixed} fields by plans, {others} by steps");
}
