//! Real traces.

use etw_layouts_etl::Trace;
use etw_layouts_schemas::trace::collect;
use std::fs;
use test_support::witness;

#[test]
fn real() {
    let Some(folder) = witness::folder("ETW_LAYOUTS_ETL") else { return };
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "etl")) {
        let trace = Trace::open(path).unwrap();
        let collected = collect(&trace);
        let events: usize = collected.providers.iter().map(|provider| provider.events.len()).sum();
        let maps: Vec<_> = collected.providers.iter().flat_map(|provider| &provider.maps).collect();
        let missing = maps.iter().filter(|map| map.entries.is_empty()).count();
        println!(
            "{} {} providers {events} events {} maps {missing} missing {} manifests",
            path.display(),
            collected.providers.len(),
            maps.len(),
            collected.manifests.len()
        );
        for d in &collected.diagnostics {
            println!("  {d}");
        }
        for p in &collected.providers {
            println!("   {} {} {:?}", p.guid, p.name, p.keywords);
        }
    }
}
