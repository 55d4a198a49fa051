//! Names of types in symbol tables.

/// A type name without one leading underscore; `None` for the generated name of an unnamed type.
pub(crate) fn plain(key: &str) -> Option<&str> {
    let last = key.rsplit("::").next().unwrap_or(key);
    let made_up = ["__unnamed", "__anonymous", "<unnamed", "<anonymous"].iter().any(|prefix| last.starts_with(prefix));
    (!made_up).then(|| key.strip_prefix('_').unwrap_or(key))
}
