//! Payloads of events, decoded with untrusted schemas.

use etw_layouts_payload::tracelogging::Traits;
use etw_layouts_payload::{Count, Field, FieldList, InType, Length, Map, Members, OutType, PointerSize, Schema, Step};

const ENUMERATION: Map<'_> = Map::enumeration("ENUMERATION", &[(0, "ZERO"), (1, "ONE")]);
const FLAGS: Map<'_> = Map::flags("FLAGS", &[(3, "BOTH"), (1, "FIRST"), (u64::MAX, "ALL")]);

/// The size of a field in the input.
const FIELD: usize = 9;

/// For any schema and payload, the work for a walk is limited, and values are within the payload. The input is the number of
/// fields in a table, the number of top-level fields, the fields, and the payload; or a zero, the size of a TraceLogging schema,
/// the schema, and the payload.
pub fn run(input: &[u8]) {
    let Some((&[count, top], rest)) = input.split_first_chunk() else { return };
    if count == 0 {
        let Some((item, payload)) = rest.split_at_checked(top.into()) else { return };
        let _ = Traits::read(item);
        match Schema::trace_logging(item) {
            Ok(schema) => walk(&schema, payload),
            Err(fault) => assert!(!fault.to_string().is_empty()),
        }
        return;
    }
    let (table, payload) = rest.split_at(rest.len().min(usize::from(count) * FIELD));
    let fields: Vec<_> = table.chunks_exact(FIELD).filter_map(|bytes| bytes.first_chunk().map(field)).collect();
    walk(&Schema::table("Class", "Event", 0, &fields, top.into()), payload);
}

fn field(bytes: &[u8; FIELD]) -> Field<'static> {
    let [ty, out, count, counts, length, lengths, first, members, how] = *bytes;
    let in_type = if ty < 32 { ty.into() } else { 300 + u16::from(ty - 32) % 12 };
    let out_type = if out < 40 { out.into() } else { 300 + u16::from(out) % 2 };
    let count = match count % 6 {
        0 | 1 => Count::One,
        2 => Count::Constant(counts.into()),
        3 => Count::Field(counts.into()),
        4 => Count::Variable,
        _ => Count::Custom(&[1]),
    };
    let length = match length % 5 {
        0 | 1 => Length::Type,
        2 => Length::Constant(lengths.into()),
        3 => Length::Field(lengths.into()),
        _ => Length::Variable,
    };
    let members = Members { first: (how & 1 != 0).then_some(first.into()), count: members.into() };
    let field = Field::new("field", InType(in_type)).out(OutType(out_type)).count(count).length(length).members(members);
    let field = if how & 2 != 0 { field.size() } else { field };
    match how >> 2 & 3 {
        1 => field.map(&ENUMERATION),
        2 => field.map(&FLAGS),
        _ => field,
    }
}

fn walk(schema: &Schema<'_>, payload: &[u8]) {
    for pointers in [PointerSize::Bits32, PointerSize::Bits64] {
        let fields = schema.decode(payload, pointers);
        let (mut steps, mut count, mut values, mut fault) = (fields.steps(), 0, Vec::new(), None);
        while let Some(step) = steps.next() {
            count += 1;
            match step {
                Ok(Step::Value(value)) => {
                    let (whole, part) = (payload.as_ptr_range(), value.bytes.as_ptr_range());
                    assert!(value.bytes.is_empty() || whole.start <= part.start && part.end <= whole.end);
                    assert!(steps.field().is_some());
                    values.push(value);
                }
                Ok(_) => {}
                Err(found) => fault = Some(found),
            }
        }
        let extent = match schema.fields {
            FieldList::Table { all, .. } => 16 * all.len(),
            FieldList::TraceLogging(bytes) => bytes.len(),
            _ => 0,
        };
        assert!(count <= 300 * (64 + extent + payload.len()));
        // Only the first values are printed: there can be very many, each as long as the payload.
        assert!(values.iter().take(100).all(|value| value.to_string().len() <= 16 * (64 + payload.len())));
        let mut others = fields.iter();
        assert!(others.by_ref().zip(&values).all(|(other, value)| format!("{other:?}") == format!("{value:?}")));
        assert_eq!(others.by_ref().count(), 0);
        assert_eq!((others.fault(), others.rest()), (fault, steps.rest()));
    }
}

/// A table with a field of every kind, and a TraceLogging schema.
pub fn seeds() -> Vec<Vec<u8>> {
    let table: [[u8; FIELD]; 8] = [
        [8, 20, 0, 0, 0, 0, 0, 0, 0],
        [4, 0, 0, 0, 0, 0, 0, 0, 2 | 4],
        [16, 0, 3, 1, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
        [24, 0, 2, 2, 0, 0, 6, 2, 1],
        [42, 0, 0, 0, 0, 0, 0, 0, 0],
        [6, 22, 0, 0, 0, 0, 0, 0, 8],
        [14, 0, 0, 0, 3, 1, 0, 0, 0],
    ];
    let payload = [4, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, b'a', 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0];
    vec![
        [&[8, 6][..], table.as_flattened(), &payload].concat(),
        [&[8, 8][..], table.as_flattened(), &payload].concat(),
        [&[0, 14, 14, 0, 0, b'e', 0, b'a', 0, 8, b'b', 0, 0x44, b'c', 0, 1][..], &[1, 0, 0, 0, 2, 0, 7, 8, b'x', 0, 0, 0]]
            .concat(),
    ]
}
