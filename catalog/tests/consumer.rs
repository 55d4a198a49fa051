//! Values of manifest and TraceLogging events, compared with the output of a consumer on Windows: `expected` in the folder of traces.

use etw_layouts_catalog::library;
use etw_layouts_etl::payload::Source;
use etw_layouts_etl::{Schemas, Trace};
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::trace::collect;
use std::collections::BTreeMap;
use std::fs;
use test_support::consumer::{is_equal, rows};
use test_support::installed;

/// Fields with another name in the output of the consumer: the event, the name in the output, and the name in the manifest.
const NAMED: [(&str, &str, &str); 2] = [("GC/MarkWithType", "Promoted", "Bytes"), ("Create", "IrpPtr", "Irp")];

/// Fields that the consumer prints differently: events, fields (all if none are listed), and the reason.
const OTHERS: &[(&[&str], &[&str], &str)] = &[
    (&["ManifestData"], &["PayloadLength"], "derived: the size of the payload"),
    (
        &["Create"],
        &["CreateDisposition", "FileAttributes", "CreateOptions"],
        "derived: parts of CreateOptions, which is in the manifest as one number",
    ),
    (&["Create"], &["ShareAccess"], "presentation: flags by names; the manifest has no map"),
    (&["Create"], &["FileName"], "presentation: the drive in place of the device"),
    (&["GC/FinalizeObject"], &["TypeName"], "derived: the name of TypeID in another event"),
    (
        &["GC/GlobalHeapHistory", "GC/PerHeapHistory"],
        &[
            "CondemnReasons0",
            "CondemnReasons1",
            "Count",
            "MemoryPressure",
            "PauseMode",
            "ClrInstanceID",
            "HeapIndex",
            "ExtraGen0Commit",
            "CondemnedAllocated",
            "EndOfSegAllocated",
            "FreeListAllocated",
            "FreeListRejected",
            "PinnedAllocated",
            "PinnedAllocatedAdvance",
            "RunningFreeListEfficiency",
            "ConcurrentCompactMechanisms",
        ],
        "fields of other versions, empty or 0; for PerHeapHistory also fields after a structure with unknown members",
    ),
    (
        &["GC/HeapStats"],
        &["Depth", "GenerationSize4", "TotalPromotedSize4", "TotalHeapSize", "TotalPromoted"],
        "fields of later versions, and derived sums",
    ),
    (&["GC/AllocationTick"], &["ObjectSize"], "a field of a later version"),
    (&["GC/Start"], &["ClientSequenceNumber"], "a field of a later version"),
    (&["Loader/Module"], &["ModuleILFileName"], "derived: the file name in ModuleILPath"),
    (&["Method/LoadVerbose", "Method/UnloadVerbose"], &["OptimizationTier", "ReJITID"], "derived or of a later version"),
    (&["Type/BulkType"], &["TypeID_0", "TypeName_0"], "the first element of an array, which is a structure here"),
    (
        &[
            "GC/",
            "TieredCompilationRundown/",
            "NgenBinder/",
            "Loader/ModuleDCStop",
            "Loader/DomainModuleDCStop",
            "Loader/AssemblyDCStop",
            "Runtime/Start",
        ],
        &[
            "BucketKind",
            "BitSettings",
            "Flags",
            "Type",
            "Reason",
            "GlobalMechanisms",
            "CompactMechanisms",
            "ExpandMechanisms",
            "ReasonCode",
            "ModuleFlags",
            "AssemblyFlags",
            "StartupMode",
        ],
        "presentation: names of values that no manifest of the catalogue has",
    ),
    (&["KernelEnableParameters"], &["keywords", "stacks"], "presentation: `Default` is a value in the manifest of the trace"),
    (
        &["PrimitiveTypesTest"],
        &["system_time_type"],
        "the milliseconds of the consumer are wrong: the FILETIME of the same event has the same milliseconds as our value",
    ),
];

#[test]
fn equal_values() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut events, mut equal, mut wrong) = (0, 0, Vec::new());
    let mut used = BTreeMap::<usize, usize>::new();
    for entry in fs::read_dir(folder.join("expected")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().split_once(".pairs").unwrap().0.to_owned();
        let mut rows = rows(&fs::read_to_string(&path).unwrap(), false);
        let bytes = fs::read(folder.join(format!("microsoft__{name}.etl"))).unwrap();
        let trace = Trace::from_bytes(&bytes).unwrap();
        let collected = collect(&trace);
        let mut builder = LibraryBuilder::default();
        let origin = builder.origin(Source::Trace, "", None);
        collected.providers.iter().chain(&collected.manifest_providers).for_each(|provider| builder.add(provider, origin));
        let own = builder.build();
        let schemas = Schemas::built_in().with_library(own.bytes()).unwrap().with_static_library(library());
        let schemas = schemas.with_build(trace.log_file().build);
        for record in trace.events().filter_map(Result::ok) {
            let event = record.event();
            let Some(row) = rows.remove(&(record.buffer(), event.offset())) else { continue };
            events += 1;
            let other = |field: Option<&str>| {
                let is = |(names, fields, _): &(&[&str], &[&str], _)| {
                    names.iter().any(|name| row.name.contains(&format!("/{name}")))
                        && field.map_or(fields.is_empty(), |field| fields.contains(&field))
                };
                OTHERS.iter().position(is)
            };
            let Some(decoded) = event.decode(&schemas) else {
                match other(None) {
                    Some(other) => *used.entry(other).or_default() += 1,
                    None => wrong.push(format!("{name} {}: no schema", row.name)),
                }
                continue;
            };
            for (field, printed) in &row.fields {
                let named = NAMED.iter().find(|(event, theirs, _)| row.name.contains(&format!("/{event}")) && theirs == field);
                let ours = named.map_or(field.as_str(), |(.., ours)| ours);
                match decoded.iter().find(|value| value.name().eq_ignore_ascii_case(ours)) {
                    Some(value) if is_equal(&value, printed.trim()) => equal += 1,
                    ours => {
                        if let Some(other) = other(Some(field)) {
                            *used.entry(other).or_default() += 1;
                            continue;
                        }
                        let ours = ours.map_or("no field".to_owned(), |value| format!("{}={value}", value.name()));
                        wrong.push(format!("{name} {} {decoded}: {field}={printed}, here {ours}", row.name));
                    }
                }
            }
        }
        assert!(rows.is_empty(), "{name}: no event at {:?}", rows.keys());
    }
    println!("{equal} values of {events} events are equal");
    assert!(wrong.is_empty(), "{} of {equal}: {}", wrong.len(), wrong.join("\n"));
    for (index, (names, fields, reason)) in OTHERS.iter().enumerate() {
        println!("{}\t{} {}: {reason}", used.get(&index).unwrap_or(&0), names.join(" "), fields.join(" "));
    }
    assert!(used.len() == OTHERS.len() && events > 0 && equal > 4 * used.values().sum::<usize>(), "{used:?}");
}
