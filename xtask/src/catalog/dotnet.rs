//! Events of .NET 5 and later that no other source states, or not whole.
//!
//! Names and types are those of `src/coreclr/vm/ClrEtwAll.man` in dotnet/runtime. The sizes agree with the events of a trace of .NET 6. The
//! members of `Values` in events 208 and 209 are left out: the manifest states them without the padding that the events have.

use super::fields;
use super::rows::Row;
use etw_layouts_catalog::Mask;
use etw_layouts_payload::Uuid;

const PROVIDER: &str = "Microsoft-Windows-DotNETRuntime";
const GUID: Uuid = Uuid::from_u128(0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4);

/// ID, version, level, opcode and fields.
const EVENTS: [(u16, u8, &str, &str, &str); 7] = [
    (
        4,
        2,
        "Informational",
        "GCHeapStats",
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
        "GCAllocationTick",
        "AllocationAmount:UInt32:HexInt32;AllocationKind:UInt32;ClrInstanceID:UInt16;AllocationAmount64:UInt64:HexInt64;TypeID:Pointer;\
         TypeName:UnicodeString;HeapIndex:UInt32;Address:Pointer;ObjectSize:UInt64",
    ),
    (
        204,
        3,
        "Informational",
        "GCPerHeapHistory",
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
        "GCGlobalHeapHistory",
        "FinalYoungestDesired:UInt64:HexInt64;NumHeaps:Int32;CondemnedGeneration:UInt32;Gen0ReductionCount:UInt32;Reason:UInt32;\
         GlobalMechanisms:UInt32;ClrInstanceID:UInt16;PauseMode:UInt32;MemoryPressure:UInt32;CondemnReasons0:UInt32;\
         CondemnReasons1:UInt32",
    ),
    (
        205,
        4,
        "Informational",
        "GCGlobalHeapHistory",
        "FinalYoungestDesired:UInt64:HexInt64;NumHeaps:Int32;CondemnedGeneration:UInt32;Gen0ReductionCount:UInt32;Reason:UInt32;\
         GlobalMechanisms:UInt32;ClrInstanceID:UInt16;PauseMode:UInt32;MemoryPressure:UInt32;CondemnReasons0:UInt32;\
         CondemnReasons1:UInt32;Count:UInt32;Values:UInt32 count=Count",
    ),
    (208, 0, "Informational", "GCLOHCompact", "ClrInstanceID:UInt16;Count:UInt16;Values{} count=Count"),
    (
        209,
        0,
        "Verbose",
        "GCFitBucketInfo",
        "ClrInstanceID:UInt16;BucketKind:UInt16;TotalSize:UInt64:HexInt64;Count:UInt16;Values{} count=Count",
    ),
];

/// The events. A field has the map that it has in `others`, which are of the same provider.
pub fn rows(others: &[Row]) -> Vec<Row> {
    let map = |id: u16, name: &str| {
        let events = others.iter().filter(|other| other.guid == GUID && other.id == id);
        events.flat_map(|other| other.fields.iter().flatten()).filter(|field| field.name == name).find_map(|field| field.map)
    };
    let row = |(id, version, level, opcode, text): &(u16, u8, &str, &str, &str)| {
        let mut fields = fields::parse(text).unwrap_or_default().fields;
        fields.iter_mut().for_each(|field| field.map = map(*id, &field.name));
        Row {
            guid: GUID,
            provider: PROVIDER.to_owned(),
            id: *id,
            version: *version,
            task: "GarbageCollection".to_owned(),
            opcode: (*opcode).to_owned(),
            level: (*level).to_owned(),
            keywords: vec!["GCKeyword".to_owned()],
            masks: Vec::new(),
            fields: Some(fields),
            sources: Mask::named("dotnet"),
        }
    };
    EVENTS.iter().map(row).collect()
}
