//! Rows of a manifest.

use super::report::Report;
use super::rows::Row;
use crate::Error;
use etw_layouts_catalog::Mask;
use etw_layouts_schemas::{Event, Provider, manifest};
use std::path::Path;

/// Reads the providers of a manifest.
pub fn read(path: &Path, report: &mut Report) -> Result<Vec<Provider>, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::from(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let schemas = manifest::read(&bytes).map_err(|error| failed(&error))?;
    schemas.errors.iter().for_each(|error| report.example("errors of the manifest", "clr", &error.to_string()));
    Ok(schemas.providers)
}

/// The events of a provider.
pub fn rows(provider: &Provider, source: &str, report: &mut Report) -> Vec<Row> {
    report.add("maps", provider.maps.len());
    let row = |event: &Event| {
        report.count(&format!("rows of source {source}"));
        let name = |name: &str| name.strip_prefix("win:").unwrap_or(name).to_owned();
        Row {
            guid: provider.guid,
            provider: provider.name.clone(),
            id: event.id,
            version: event.version,
            task: event.task.name.clone(),
            opcode: name(&event.opcode.name),
            level: name(&event.level.name),
            keywords: event.keywords.clone(),
            masks: provider.keywords.iter().filter_map(|keyword| Some((keyword.name.clone(), keyword.mask?))).collect(),
            fields: event.fields.clone(),
            sources: Mask::named(source),
            is_corrected: false,
        }
    };
    provider.events.iter().map(row).collect()
}
