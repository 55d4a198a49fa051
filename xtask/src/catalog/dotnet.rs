//! Events of .NET 5 and later that the other sources lack or state incompletely.
//!
//! Names and types are from `src/coreclr/vm/ClrEtwAll.man` in dotnet/runtime. The sizes equal those of the events in a trace of
//! .NET 6. The members of `Values` in events 208 and 209 are left out: the manifest lacks the padding that the events have.

use super::fields;
use super::rows::Row;
use etw_layouts_catalog::Mask;
use etw_layouts_payload::Uuid;

/// A provider.
struct Provider {
    guid: Uuid,
    name: &'static str,
    /// ID, version, level, task, opcode, keyword and fields of events.
    events: &'static [(u16, u8, &'static str, [&'static str; 3], &'static str)],
}

const PROVIDERS: [Provider; 2] = [
    Provider {
        guid: Uuid::from_u128(0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4),
        name: "Microsoft-Windows-DotNETRuntime",
        events: RUNTIME,
    },
    Provider {
        guid: Uuid::from_u128(0xa669021c_c450_4609_a035_5af59af4df18),
        name: "Microsoft-Windows-DotNETRuntimeRundown",
        events: RUNDOWN,
    },
];

/// The names are those that a consumer on Windows prints.
const RUNDOWN: &[(u16, u8, &str, [&str; 3], &str)] = &[
    (
        10,
        0,
        "Informational",
        ["GC", "SettingsRundown", ""],
        "HardLimit:UInt64;LOHThreshold:UInt64;PhysicalMemoryConfig:UInt64;Gen0MinBudgetConfig:UInt64;Gen0MaxBudgetConfig:UInt64;\
         HighMemPercentConfig:UInt32;BitSettings:UInt32;ClrInstanceID:UInt16",
    ),
    (280, 0, "Informational", ["TieredCompilationRundown", "SettingsDCStart", ""], "ClrInstanceID:UInt16;Flags:UInt32"),
];

const RUNTIME: &[(u16, u8, &str, [&str; 3], &str)] = &[
    (
        4,
        2,
        "Informational",
        ["GarbageCollection", "GCHeapStats", "GCKeyword"],
        "GenerationSize0:UInt64:HexInt64;TotalPromotedSize0:UInt64:HexInt64;GenerationSize1:UInt64:HexInt64;\
         TotalPromotedSize1:UInt64:HexInt64;GenerationSize2:UInt64:HexInt64;TotalPromotedSize2:UInt64:HexInt64;\
         GenerationSize3:UInt64:HexInt64;TotalPromotedSize3:UInt64:HexInt64;FinalizationPromotedSize:UInt64:HexInt64;\
         FinalizationPromotedCount:UInt64;PinnedObjectCount:UInt32;SinkBlockCount:UInt32;GCHandleCount:UInt32;ClrInstanceID:UInt16;\
         GenerationSize4:UInt64:HexInt64;TotalPromotedSize4:UInt64:HexInt64",
    ),
    (
        10,
        4,
        "Verbose",
        ["GarbageCollection", "GCAllocationTick", "GCKeyword"],
        "AllocationAmount:UInt32:HexInt32;AllocationKind:UInt32;ClrInstanceID:UInt16;AllocationAmount64:UInt64:HexInt64;TypeID:Pointer;\
         TypeName:UnicodeString;HeapIndex:UInt32;Address:Pointer;ObjectSize:UInt64",
    ),
    (
        204,
        3,
        "Informational",
        ["GarbageCollection", "GCPerHeapHistory", "GCKeyword"],
        "ClrInstanceID:UInt16;FreeListAllocated:Pointer;FreeListRejected:Pointer;EndOfSegAllocated:Pointer;CondemnedAllocated:Pointer;\
         PinnedAllocated:Pointer;PinnedAllocatedAdvance:Pointer;RunningFreeListEfficiency:UInt32;CondemnReasons0:UInt32;\
         CondemnReasons1:UInt32;CompactMechanisms:UInt32;ExpandMechanisms:UInt32;HeapIndex:UInt32;ExtraGen0Commit:Pointer;\
         Count:UInt32;Values{SizeBefore:Pointer;FreeListBefore:Pointer;FreeObjBefore:Pointer;SizeAfter:Pointer;FreeListAfter:Pointer;\
         FreeObjAfter:Pointer;In:Pointer;PinnedSurv:Pointer;NonePinnedSurv:Pointer;NewAllocation:Pointer} count=Count",
    ),
    (
        205,
        3,
        "Informational",
        ["GarbageCollection", "GCGlobalHeapHistory", "GCKeyword"],
        "FinalYoungestDesired:UInt64:HexInt64;NumHeaps:Int32;CondemnedGeneration:UInt32;Gen0ReductionCount:UInt32;Reason:UInt32;\
         GlobalMechanisms:UInt32;ClrInstanceID:UInt16;PauseMode:UInt32;MemoryPressure:UInt32;CondemnReasons0:UInt32;\
         CondemnReasons1:UInt32",
    ),
    (
        205,
        4,
        "Informational",
        ["GarbageCollection", "GCGlobalHeapHistory", "GCKeyword"],
        "FinalYoungestDesired:UInt64:HexInt64;NumHeaps:Int32;CondemnedGeneration:UInt32;Gen0ReductionCount:UInt32;Reason:UInt32;\
         GlobalMechanisms:UInt32;ClrInstanceID:UInt16;PauseMode:UInt32;MemoryPressure:UInt32;CondemnReasons0:UInt32;\
         CondemnReasons1:UInt32;Count:UInt32;Values:UInt32 count=Count",
    ),
    (
        208,
        0,
        "Informational",
        ["GarbageCollection", "GCLOHCompact", "GCKeyword"],
        "ClrInstanceID:UInt16;Count:UInt16;Values{} count=Count",
    ),
    (
        209,
        0,
        "Verbose",
        ["GarbageCollection", "GCFitBucketInfo", "GCKeyword"],
        "ClrInstanceID:UInt16;BucketKind:UInt16;TotalSize:UInt64:HexInt64;Count:UInt16;Values{} count=Count",
    ),
];

/// The events. A field gets the map of the same field in `others`.
pub fn rows(others: &[Row]) -> Vec<Row> {
    let map = |guid: Uuid, id: u16, name: &str| {
        let events = others.iter().filter(|other| other.guid == guid && other.id == id);
        events.flat_map(|other| other.fields.iter().flatten()).filter(|field| field.name == name).find_map(|field| field.map)
    };
    let mut rows = Vec::new();
    for Provider { guid, name, events } in PROVIDERS {
        for (id, version, level, [task, opcode, keyword], text) in events {
            let mut fields = fields::parse(text).unwrap_or_default().fields;
            fields.iter_mut().for_each(|field| field.map = map(guid, *id, &field.name));
            rows.push(Row {
                guid,
                provider: name.to_owned(),
                id: *id,
                version: *version,
                task: (*task).to_owned(),
                opcode: (*opcode).to_owned(),
                level: (*level).to_owned(),
                keywords: Some((*keyword).to_owned()).into_iter().filter(|keyword| !keyword.is_empty()).collect(),
                masks: Vec::new(),
                fields: Some(fields),
                sources: Mask::named("dotnet"),
            });
        }
    }
    rows
}
