//! The axis and the scalars of Windows, for spec sets that have none of their own.

use crate::source::Sources;
use toml::de::DeTable;

// Copies that `cargo xtask generate` writes, so that the crate has them wherever it is built.
const AXIS: &str = include_str!("../standard/windows.toml");
const SCALARS: &str = include_str!("../standard/scalars.toml");

/// Adds what a spec set lacks; returns whether that was the axis.
pub(crate) fn complete(sources: &mut Sources) -> bool {
    let has = |key: &str| {
        let texts = sources.files().iter().map(|file| DeTable::parse_recoverable(&file.text).0);
        texts.into_iter().any(|table| table.get_ref().iter().any(|(k, _)| *k.get_ref() == key))
    };
    let (axis, scalars) = (has("version"), has("scalar"));
    if !scalars {
        sources.add("scalars.toml of etw-layouts", SCALARS);
    }
    if !axis {
        sources.add("windows.toml of etw-layouts", AXIS);
    }
    !axis
}
