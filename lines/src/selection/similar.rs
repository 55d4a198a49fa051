//! Names of events and providers in schemas, and similar names.

use etw_layouts_codegen::nearest;
use etw_layouts_etl::{Schemas, names};
use std::collections::BTreeSet;

/// Whether a schema has an event with this name. For the name of a provider, whether a schema has the provider.
pub fn is_known(name: &str, schemas: &Schemas) -> bool {
    let (provider, event) = name.split_once('/').unwrap_or((name, "*"));
    let events = events_of(provider, schemas);
    !events.is_empty() && (event == "*" || events.iter().any(|own| own.eq_ignore_ascii_case(event)))
}

/// The most similar name of a known event, if there is one; if the provider is unknown, of the most similar provider.
pub fn similar_event(name: &str, schemas: &Schemas) -> Option<String> {
    let Some((provider, event)) = name.split_once('/') else {
        return similar(name, schemas).filter(|near| is_known(near, schemas));
    };
    let mut events = events_of(provider, schemas);
    let mut known = provider.to_owned();
    if events.is_empty() {
        known = similar(provider, schemas)?;
        events = events_of(&known, schemas);
    }
    let near = match event {
        "*" => "*",
        _ => nearest(event, events.iter().map(String::as_str))?,
    };
    Some(format!("{known}/{near}")).filter(|near| is_known(near, schemas))
}

/// The name of the most similar provider, if any is similar: one that contains the name, else one with similar letters.
pub fn similar(name: &str, schemas: &Schemas) -> Option<String> {
    let classes = names::events().map(|(class, _)| class);
    let libraries: Vec<_> = schemas.libraries().collect();
    let known = classes.chain(libraries.iter().flat_map(|library| library.providers()).map(|provider| provider.name()));
    let known: BTreeSet<_> = known.filter(|own| !own.is_empty()).collect();
    let wanted = name.to_lowercase();
    let longer = known.iter().filter(|own| wanted.len() > 3 && own.to_lowercase().contains(&wanted)).min_by_key(|own| own.len());
    longer.copied().or_else(|| nearest(name, known.iter().copied())).map(str::to_owned)
}

/// The names of events, or their IDs, of a class of kernel events or of a provider in the libraries.
fn events_of(provider: &str, schemas: &Schemas) -> Vec<String> {
    let kernel = names::events().filter(|(class, _)| class.eq_ignore_ascii_case(provider)).map(|(_, event)| event.to_owned());
    let guids: BTreeSet<_> = schemas.providers_named(provider).collect();
    let providers = schemas.libraries().flat_map(|library| library.providers()).filter(|own| guids.contains(&own.guid()));
    let variants = providers.flat_map(|provider| provider.events()).filter_map(|variants| variants.first());
    let variants = variants.flat_map(|variant| [variant.name().to_owned(), variant.id().to_string()]);
    kernel.chain(variants).filter(|name| !name.is_empty()).collect()
}
