//! Decoded payloads are equal to the encoded values.

use crate::kit::{Made, made};
use etw_layouts_payload::{Fields, Step};
use fastrand::Rng;

/// The steps as text, in the form of the generator, and the error at their end.
pub fn shown(fields: &Fields<'_>) -> (String, Result<(), etw_layouts_payload::Fault>) {
    let (mut text, mut levels) = (String::new(), Vec::new());
    let name = |levels: &[char], name: &str| if levels.last() == Some(&']') { String::new() } else { name.to_owned() };
    for step in fields.steps() {
        match step {
            Ok(Step::Value(value)) => {
                let equals = if levels.last() == Some(&']') { "" } else { "=" };
                text += &format!("{}{equals}{value};", name(&levels, value.name()));
            }
            Ok(Step::Structure(field)) => {
                text += &format!("{}{{", name(&levels, field.name));
                levels.push('}');
            }
            Ok(Step::Array(field, _)) => {
                text += &format!("{}[", name(&levels, field.name));
                levels.push(']');
            }
            Ok(Step::End) => text += &format!("{};", levels.pop().expect("what ends has begun")),
            Err(fault) => return (text, Err(fault)),
        }
    }
    assert!(levels.is_empty());
    (text, Ok(()))
}

/// All types, counts, lengths and structures, with both pointer sizes, and both places of members.
#[test]
fn all_types() {
    let mut random = Rng::with_seed(0x22);
    for _ in 0..3_000 {
        let Made { schemas, payload, pointers, text } = made(&mut random);
        for schema in &schemas {
            let fields = schema.decode(&payload, pointers);
            assert_eq!(shown(&fields), (text.clone(), Ok(())), "{schema:?} {payload:02x?}");
            // `iter` uses faster code than `steps`, and must return the same values.
            let steps: Vec<_> =
                fields.steps().filter_map(|step| if let Ok(Step::Value(value)) = step { Some(value) } else { None }).collect();
            assert_eq!(fields.iter().collect::<Vec<_>>(), steps);
        }
    }
}

/// A truncated payload gives the fields before its end. A longer payload gives its rest.
#[test]
fn other_lengths() {
    let mut random = Rng::with_seed(0x23);
    for _ in 0..300 {
        let Made { schemas: [schema, _], payload, pointers, .. } = made(&mut random);
        let whole: Vec<_> = schema.decode(&payload, pointers).iter().collect();
        for length in 0..payload.len() {
            let fields = schema.decode(&payload[..length], pointers);
            let mut values = fields.iter();
            let part: Vec<_> = values.by_ref().collect();
            assert!(part.len() <= whole.len());
            // A text can be truncated. Later values are empty.
            let same = part.iter().zip(&whole).take_while(|(part, whole)| part == whole).count();
            assert!(part[same..].iter().skip(1).all(|value| value.bytes.is_empty()), "{schema:?} {length}");
            let fault = fields.check().err();
            assert_eq!(values.fault(), fault, "{schema:?} {length}");
            assert_eq!(fault.map(|fault| fault.offset), fault.map(|_| length - values.rest().len()));
            assert!(
                fault.is_some() || part.len() == whole.len() || whole[part.len()..].iter().all(|value| value.bytes.is_empty())
            );
        }
        let mut longer = payload.clone();
        longer.extend([0xAA; 4]);
        let mut values = schema.decode(&longer, pointers).iter();
        if values.by_ref().count() == whole.len() && values.fault().is_some() {
            assert_eq!(values.rest(), [0xAA; 4]);
        }
    }
}
