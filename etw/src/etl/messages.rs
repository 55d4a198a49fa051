//! Messages of WPP in the PDBs that a trace names.

use super::symbols::{PdbSearch, in_store, path_in_store, report};
use crate::object::object;
use crate::output::{Output, Several};
use crate::wpp::WppMessages;
use etw_layouts_answers::PdbFailure;
use etw_layouts_etl::Uuid;
use etw_layouts_etl::payload::Source;
use etw_layouts_schemas::{LibraryBuilder, tmf};
use etw_layouts_trace::WppSources;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Finds the messages of a session that are not known yet. PDBs are read until each GUID has messages. Adds them to `known`, and
/// returns their schemas; `None` if nothing is found. Reports the PDBs that cannot be read.
pub fn find(search: &mut PdbSearch, sources: &WppSources, known: &mut WppMessages, out: &Output) -> Option<Arc<[u8]>> {
    let named = known.guids();
    if sources.left_out() > 0 {
        let note = format!(
            "{} with further GUIDs or PDBs of WPP messages, which are not searched",
            Several(sources.left_out(), "event")
        );
        out.say(format_args!("note: {note}"), &object! { note: &note });
    }
    let mut missing: BTreeSet<Uuid> = sources.guids().iter().filter(|guid| !named.contains(guid)).copied().collect();
    let (mut builder, mut failures, mut others, mut has_any) = (LibraryBuilder::default(), BTreeMap::new(), 0, false);
    for pdb in sources.pdbs() {
        if missing.is_empty() {
            break;
        }
        let unusable = |error: &dyn std::fmt::Display| PdbFailure::unusable(error.to_string());
        let read = search.read(pdb).and_then(|bytes| tmf::read_pdb(&bytes).map_err(|error| unusable(&error)));
        let (messages, schemas) = match read {
            Ok(read) => read,
            Err(failure) => {
                failures.insert(pdb.clone(), failure);
                continue;
            }
        };
        let name = in_store(pdb).name;
        schemas.errors.iter().for_each(|error| out.refused(&name, &error.to_string()));
        if let more @ 1.. = schemas.errors_total.saturating_sub(schemas.errors.len()) {
            out.refused(&name, &format!("{} not printed", Several(more as u64, "more error")));
        }
        let (origin, mut found) = (builder.origin(Source::Manifest, &name, None), BTreeSet::new());
        for message in messages.iter().filter(|message| missing.contains(&message.guid)) {
            known.add(message);
            builder.add(&message.to_provider(), origin);
            found.insert(message.guid);
        }
        has_any |= !found.is_empty();
        others += usize::from(found.is_empty());
        missing.retain(|guid| !found.contains(guid));
    }
    report(&failures, out);
    if others > 0 && !missing.is_empty() {
        let note = format!(
            "{} without the formats of the WPP messages in the trace: public PDBs lack them; give the private ones, or .tmf files with --tmf",
            Several(others as u64, "PDB")
        );
        out.say(format_args!("note: {note}"), &object! { note: &note });
    }
    has_any.then(|| builder.build().bytes().into())
}

/// The number of PDBs to name.
const PDBS: usize = 3;

/// What is needed for WPP messages without a known format.
pub fn without_format<'a>(count: u64, sources: impl IntoIterator<Item = &'a WppSources>) -> String {
    let pdbs: BTreeSet<_> = sources.into_iter().flat_map(WppSources::pdbs).map(path_in_store).collect();
    let named: Vec<_> = pdbs.iter().take(PDBS).map(String::as_str).collect();
    let more = if pdbs.len() > PDBS { format!(" and {} more", pdbs.len() - PDBS) } else { String::new() };
    let of = match pdbs.len() {
        0 => String::new(),
        _ => format!("; the trace names {}{more}", named.join(", ")),
    };
    format!(
        "{} without a known format: give the .tmf files or private PDBs of the programs with --tmf, or the PDBs with --symbol-path{of}; \
         `etw etl schemas` lists what is needed",
        Several(count, "WPP message")
    )
}
