//! Chooses one of the schemas that several sources have for an event.

use super::found::Found;
use super::{Decoded, Schemas};
use etw_layouts_payload::packed::{EventKey, Variant, Variants};
use etw_layouts_payload::{Count, FieldList, Fields, Length, PointerSize, Uuid};
use std::cmp::Reverse;

/// The variant of an event that is tried first, from the first library that states its fields, otherwise from the first library with the
/// event. If that library has several variants, the one of the nearest build.
pub(super) fn choose(schemas: &Schemas, provider: Uuid, key: EventKey) -> Option<Found> {
    let mut chosen: Option<(usize, Variant<'_>)> = None;
    for (index, library) in schemas.libraries().enumerate() {
        let Some(best) = nearest(library.find(provider, key), schemas.build) else { continue };
        if chosen.is_none_or(|(_, other)| other.schema().is_none() && best.schema().is_some()) {
            chosen = Some((index, best));
        }
    }
    let (library, variant) = chosen?;
    let is_disputed = variant.schema().is_some_and(|schema| {
        let others = schemas.libraries().flat_map(|library| library.find(provider, key));
        others.filter_map(|other| other.schema()).any(|other| !is_same_size(&other.fields, &schema.fields))
    });
    Some(Found { library, place: variant.place(), is_disputed })
}

/// The event with the schema that is tried first.
pub(super) fn first<'a>(schemas: &'a Schemas, found: Found, payload: &'a [u8], pointers: PointerSize) -> Option<Decoded<'a>> {
    by(found.variant(schemas)?, found, payload, pointers)
}

/// The event with its schema, if that is not the `first`: the first schema that decodes the payload to its last byte.
pub(super) fn other<'a>(schemas: &'a Schemas, first: &Decoded<'a>) -> Option<Decoded<'a>> {
    let (variant, Fields { payload, pointers, .. }) = (first.variant?, first.fields);
    let (provider, key) = (variant.provider().guid(), variant.key());
    let found = schemas.found(provider, key)?;
    let others = schemas.libraries().flat_map(|library| library.find(provider, key));
    others.filter_map(|variant| by(variant, found, payload, pointers)).find(|other| other.fields.check().is_ok())
}

fn by<'a>(variant: Variant<'a>, found: Found, payload: &'a [u8], pointers: PointerSize) -> Option<Decoded<'a>> {
    let schema = variant.schema()?;
    let fields = schema.decode(payload, pointers);
    Some(Decoded { schema, is_exact: true, is_disputed: found.is_disputed, variant: Some(variant), fields })
}

/// The variant of the nearest build at or before the given build, or else of the first build after it. Variants with fields come first.
fn nearest(variants: Variants<'_>, build: Option<u32>) -> Option<Variant<'_>> {
    let distance = |variant: &Variant<'_>| {
        let of = |other: u32| match other.checked_sub(build.unwrap_or(u32::MAX)) {
            None | Some(0) => (false, build.unwrap_or(u32::MAX) - other),
            Some(behind) => (true, behind),
        };
        variant.origins().filter_map(|origin| origin.build).map(of).min().unwrap_or((true, u32::MAX))
    };
    // Of equal variants, the first is returned.
    variants.min_by_key(|variant| (Reverse(variant.schema().is_some()), distance(variant)))
}

/// Whether the fields of both lists have the same sizes in every payload.
fn is_same_size(one: &FieldList<'_>, other: &FieldList<'_>) -> bool {
    if one == other {
        return true;
    }
    let sizes = |list: &FieldList<'_>| {
        let index = |length: Length| if let Length::Field(index) = length { Some(index) } else { None };
        let count = |count: Count<'_>| if let Count::Field(index) = count { Some(index) } else { None };
        let size = move |field: etw_layouts_payload::Field<'_>| {
            let constant = |length: Length| if let Length::Constant(length) = length { Some(length) } else { None };
            let constants = if let Count::Constant(count) = field.count { Some(count) } else { None };
            let width = width(field.in_type.0);
            (width, count(field.count), constants, index(field.length), constant(field.length), field.members.count)
        };
        list.iter().map(size).collect::<Vec<_>>()
    };
    sizes(one) == sizes(other)
}

/// A number that is the same for all types of the same size.
fn width(in_type: u16) -> u16 {
    match in_type {
        3 | 4 | 307 => 3,
        5 | 6 | 306 => 5,
        7 | 8 | 11 | 13 | 20 => 7,
        9 | 10 | 12 | 17 | 21 => 9,
        15 | 18 => 15,
        16 | 308 => 16,
        other => other,
    }
}
