//! A provider of the catalogue as an instrumentation manifest.

use crate::library;
use crate::source::{Mask, SOURCES, Source};
use crate::xml::write;
use etw_layouts_payload::packed::{Provider, Variant};
use etw_layouts_payload::{InType, Uuid};
use etw_layouts_schemas::Library;
use std::collections::BTreeMap;

/// The provider with a name, ignoring case, or with a GUID as text, with or without braces. If several have the same name, the one with the
/// newest source at or before a build.
pub fn find(name: &str, build: u32) -> Option<Provider<'static>> {
    let view = library();
    if let Ok(guid) = Uuid::try_parse(name) {
        return view.provider(guid);
    }
    let named = view.providers().filter(|provider| provider.name().eq_ignore_ascii_case(name));
    named.max_by_key(|provider| listed(*provider).nearest(build).map(|source| source.build).filter(|nearest| *nearest <= build))
}

/// The builds of Windows for which the sources state a provider, oldest first. Empty for a provider that is not part of Windows.
pub fn builds(provider: Provider<'_>) -> Vec<u32> {
    listed(provider).without(without_build()).iter().map(|source| source.build).collect()
}

/// The manifest of a provider in XML, for a build of Windows: with the events of the newest source at or before the build, otherwise of the
/// oldest source after it. Comments state the source, and mark numbers that are unknown with [`PLACEHOLDER`](crate::PLACEHOLDER).
pub fn manifest(provider: Provider<'_>, build: u32) -> String {
    let mut events: BTreeMap<(u16, u8), Vec<Variant<'_>>> = BTreeMap::new();
    for variant in provider.events().flatten() {
        events.entry((variant.id(), variant.version())).or_default().push(variant);
    }
    let listed = listed(provider);
    // All sources that are not of a build, and the nearest of the others.
    let others = without_build();
    let nearest = listed.without(others).nearest(build);
    let wanted = nearest.map_or(Mask::default(), |source| Mask::named(source.name)).union(Mask(listed.0 & others.0));
    events.retain(|_, variants| variants.iter().any(|variant| sources(variant).intersects(wanted)));

    let chosen: BTreeMap<(u16, u8), Variant<'_>> =
        events.iter().filter_map(|(key, variants)| Some((*key, choose(variants, build)?))).collect();
    let notes = chosen.values().map(|variant| note(variant, wanted)).collect::<Vec<_>>();
    let plain = Library::provider(provider, |variant| chosen.get(&(variant.id(), variant.version())) == Some(variant));
    let stated: Vec<String> = wanted.iter().map(Source::to_string).collect();
    write(&plain, &stated.join("; "), &notes)
}

/// The sources that list events of a provider.
fn listed(provider: Provider<'_>) -> Mask {
    provider.events().flatten().fold(Mask::default(), |all, variant| all.union(sources(&variant)))
}

/// The sources that are not of a build.
fn without_build() -> Mask {
    let others = SOURCES.iter().filter(|source| source.build == 0);
    others.fold(Mask::default(), |all, source| all.union(Mask::named(source.name))).without(Mask::CORRECTED)
}

/// The variant with fields of the source nearest to a build; if no source states fields, the variant without fields.
fn choose<'a>(variants: &[Variant<'a>], build: u32) -> Option<Variant<'a>> {
    let stated = variants.iter().filter(|variant| variant.schema().is_some());
    let all = stated.clone().fold(Mask::default(), |all, variant| all.union(sources(variant)));
    let nearest = all.nearest(build).map_or(Mask::default(), |source| Mask::named(source.name));
    stated.into_iter().find(|variant| sources(variant).intersects(nearest)).or(variants.first()).copied()
}

fn sources(variant: &Variant<'_>) -> Mask {
    let all = (0..SOURCES.len()).filter(|index| variant.is_from(*index as u32)).fold(0, |all, index| all | 1 << index);
    Mask(all).without(Mask::CORRECTED)
}

/// A note about inferred or unknown parts of an event.
fn note(variant: &Variant<'_>, wanted: Mask) -> Option<String> {
    let Some(schema) = variant.schema() else { return Some("no source states the fields".to_owned()) };
    let unknown = schema.fields.iter().last().filter(|field| field.in_type == InType::STRUCT && field.members.count == 0);
    let unknown = unknown.map(|field| {
        format!("no source states the members or the length of {}: it and the fields after it are left out", field.name)
    });
    let others = (!sources(variant).intersects(wanted)).then(|| format!("fields as stated by source {}", sources(variant)));
    let is_corrected = variant.is_from((SOURCES.len() - 1) as u32);
    let corrected = is_corrected.then(|| "fields corrected by evidence that differs from the source".to_owned());
    let notes: Vec<_> = [others, corrected, unknown].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}
