//! Chooses one of the schemas that several sources have for an event.

use super::found::Found;
use super::{Decoded, Schemas, in_specs_by_key};
use etw_layouts_payload::packed::{EventKey, Variant, Variants};
use etw_layouts_payload::{Count, FieldList, Fields, Length, PointerSize, Schema, Uuid};
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
    let is_disputed = variant.schema().is_some_and(|Schema { fields, .. }| {
        let others = schemas
            .libraries()
            .enumerate()
            .flat_map(|(index, library)| library.find(provider, key).map(move |variant| (index, variant)));
        let mut others = others.filter_map(|(index, other)| Some((index, other.schema()?.fields)));
        others.any(|(index, other)| !is_same_size(&other, &fields) || index != library && !is_same_names(&other, &fields))
            || exact_specs(provider, key)
                .is_some_and(|specs| !is_same_size(&specs.fields, &fields) || !is_same_names(&specs.fields, &fields))
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
    let specs = exact_specs(provider, key).map(|schema| {
        let fields = schema.decode(payload, pointers);
        Decoded { schema: *schema, is_exact: true, is_disputed: true, variant: None, fields }
    });
    let mut others = others.filter_map(|variant| by(variant, found, payload, pointers)).chain(specs);
    others.find(|other| other.fields.check().is_ok())
}

/// The schema in the specs, if it is of the very version.
fn exact_specs(provider: Uuid, key: EventKey) -> Option<&'static Schema<'static>> {
    in_specs_by_key(provider, key).filter(|found| found.is_exact).map(|found| found.schema)
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
            Some(later) => (true, later),
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

/// Whether the fields of both lists have the same names. Some sources drop spaces and punctuation, or write names in another case.
fn is_same_names(one: &FieldList<'_>, other: &FieldList<'_>) -> bool {
    fn plain(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    one == other
        || one.iter().count() == other.iter().count()
            && one.iter().zip(other.iter()).all(|(one, other)| plain(one.name).eq(plain(other.name)))
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
