//! Every type of ETW in the symbols has a spec, or a reason why it has none.

use etw_layouts_project::tables::{self, Stated};
use etw_layouts_symbols::Wanted;
use rayon::prelude::*;
use std::collections::BTreeSet;
use test_support::installed;
use tests::project;

/// Words in the names of ETW's types.
const WORDS: [&str; 8] = ["ETW", "ETWP", "WMI", "WNODE", "PERFINFO", "TRACE", "MCGEN", "ESERVERSILO"];

/// Types with such a word that do not belong to ETW, and their purpose.
const OTHERS: [(&str, &str); 13] = [
    ("EVENT_COUNTER", "what the memory manager waits with until a section is deleted"),
    ("EVENT_TYPE", "the two kinds of event objects that threads wait for"),
    ("HANDLE_TRACE_DB_ENTRY", "a record of who opened and closed handles"),
    ("HANDLE_TRACE_DEBUG_INFO", "a record of who opened and closed handles"),
    ("IOV_FORCED_PENDING_TRACE", "a record of the driver verifier"),
    ("IOV_IRP_TRACE", "a record of the driver verifier"),
    ("KTIMER_EXPIRATION_TRACE", "a record of when timers expired"),
    ("OBJECT_REF_TRACE", "a record of who referenced an object"),
    ("PNP_REBALANCE_TRACE_CONTEXT", "what plug and play notes while it moves resources"),
    ("PNP_RESOURCE_CONFLICT_TRACE_CONTEXT", "what plug and play notes while it moves resources"),
    ("VF_KE_CRITICAL_REGION_TRACE", "a record of the driver verifier"),
    ("VF_POOL_TRACE", "a record of the driver verifier"),
    ("VI_FAULT_TRACE", "a record of the driver verifier"),
];

#[test]
fn every_type_of_the_family_has_a_spec_or_a_reason() {
    let layouts = project().layouts().expect("the specs resolve");
    let specified = |name: &str| layouts.spec.definitions.contains_key(name);
    for (name, _) in OTHERS {
        assert!(is_of_family(name) && !specified(name), "{name} needs no reason");
    }
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let folders = ["converted", "isf", "kernels", "newest"].map(|name| folder.join(name));
    let files = tables::files(&folders).expect("symbol data");
    let axis = &layouts.spec.axis;
    // Keep only the names of each table: all types of all tables would take gigabytes.
    let names = |file| -> BTreeSet<String> {
        let tables = tables::read(file, axis, &Wanted::All, &Stated::default()).unwrap_or_else(|error| panic!("{error}"));
        let all = tables.iter().flat_map(|table| table.types.keys());
        all.filter(|name| is_of_family(name)).cloned().collect()
    };
    let family: BTreeSet<String> = files.par_iter().flat_map_iter(names).collect();
    assert!(family.len() > 80, "the tables have {} types of the family", family.len());
    let stated = |name: &&String| specified(name) || OTHERS.iter().any(|(other, _)| other == name);
    let left: Vec<_> = family.iter().filter(|name| !stated(name)).collect();
    assert!(left.is_empty(), "neither a spec nor a reason: {left:?}");
}

fn is_of_family(name: &str) -> bool {
    name.starts_with("EVENT_") || name.split('_').any(|word| WORDS.contains(&word))
}
