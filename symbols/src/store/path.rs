//! Conversion of a symbol path to stores.

use super::{MICROSOFT, PathError, Store, SymbolPath};
use std::path::Path;

pub(super) fn parse(text: &str, default_cache: &Path) -> Result<SymbolPath, PathError> {
    let mut elements = Vec::new();
    let mut caches: Vec<Store> = Vec::new();
    for element in text.split(';').map(str::trim).filter(|element| !element.is_empty()) {
        let mut parts = element.split('*').map(str::trim);
        let keyword = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_server = element.contains('*');
        let stores = match keyword.as_str() {
            "cache" if is_server => {
                let added = chain(parts, default_cache)?;
                caches.extend(added);
                caches.clone()
            }
            "srv" if is_server => joined(&caches, server(parts, default_cache)?),
            "symsrv" if is_server && parts.next().is_some_and(|dll| dll.eq_ignore_ascii_case("symsrv.dll")) => {
                joined(&caches, server(parts, default_cache)?)
            }
            _ if is_server => return Err(PathError::Server { element: element.to_owned() }),
            _ => joined(&caches, vec![store(element)?]),
        };
        elements.push(cached(stores, default_cache));
    }
    match elements.is_empty() {
        true => Err(PathError::Empty),
        false => Ok(SymbolPath { elements, default_cache: default_cache.to_owned() }),
    }
}

fn joined(caches: &[Store], stores: Vec<Store>) -> Vec<Store> {
    let new = stores.into_iter().filter(|store| !caches.contains(store));
    caches.iter().cloned().chain(new).collect()
}

/// Files of a server without a cache are stored in the default cache.
fn cached(mut stores: Vec<Store>, default_cache: &Path) -> Vec<Store> {
    if matches!(stores.first(), Some(Store::Server(_))) {
        stores.insert(0, Store::Folder(default_cache.to_owned()));
    }
    stores
}

/// The stores after `srv*`; if there are none, the default cache and Microsoft's store, as in debuggers.
fn server<'a>(parts: impl Iterator<Item = &'a str>, default_cache: &Path) -> Result<Vec<Store>, PathError> {
    let parts: Vec<_> = parts.collect();
    match parts.iter().all(|part| part.is_empty()) {
        true => Ok(vec![Store::Folder(default_cache.to_owned()), Store::Server(MICROSOFT.to_owned())]),
        false => chain(parts.into_iter(), default_cache),
    }
}

fn chain<'a>(parts: impl Iterator<Item = &'a str>, default_cache: &Path) -> Result<Vec<Store>, PathError> {
    let one = |part: &str| match part.is_empty() {
        true => Ok(Store::Folder(default_cache.to_owned())),
        false => store(part),
    };
    parts.map(one).collect()
}

fn store(text: &str) -> Result<Store, PathError> {
    let Some((scheme, rest)) = text.split_once("://") else { return Ok(Store::Folder(text.into())) };
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" if !rest.is_empty() => Ok(Store::Server(text.trim_end_matches('/').to_owned())),
        _ => Err(PathError::Url { url: text.to_owned() }),
    }
}
