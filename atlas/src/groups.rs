//! The topics of the index page, and the structures of each topic.

use crate::facts::{Atlas, Structure};

/// The structures that most readers look for.
pub const MAIN: [&str; 6] =
    ["WMI_LOGGER_CONTEXT", "WMI_BUFFER_HEADER", "ETW_GUID_ENTRY", "ETW_REG_ENTRY", "EVENT_HEADER", "ETW_SILODRIVERSTATE"];

/// Types that are embedded in structures of ETW but do not belong to ETW.
pub const EMBEDDED: &str = "Embedded types";

/// The topics with parts of structure names, separated by spaces. The first topic that matches a name is taken.
const PARTS: [(&str, &str); 9] = [
    ("Crash dumps", "DUMP KDDEBUGGER TRIAGE LOADED_MODULE PHYSICAL_MEMORY RDMP"),
    ("Silos", "SILO"),
    (
        "User mode",
        "ETW_UM_ MCGEN_ EVENT_RECORD EVENT_MAP_ EVENT_PROPERTY_INFO TRACE_EVENT_INFO EVENT_DATA_DESCRIPTOR \
         REGISTRATION_HANDLE",
    ),
    ("Consumers", "REALTIME WMI_CLIENT ETW_RECEIVE REPLY"),
    ("Trace files", "TRACE_LOGFILE_HEADER RSDS NB10 CVDD RTL_TIME_ZONE ETW_DATA_SOURCE"),
    ("Buffers", "BUFFER ETW_QUEUE_ENTRY ETW_REF_CLOCK"),
    (
        "Providers and registrations",
        "GUID REG_ENTRY REGIST PROVIDER ENABLE FILTER TRAITS NOTIFICATION HASH_BUCKET DISALLOWED PREDICATE \
         WMI_TRACE_ DEMUX PERIODIC",
    ),
    (
        "Sessions",
        "LOGGER SESSION EVENT_TRACE_PROPERTIES ETW_ WNODE GROUPMASK TRACE_PROFILE TRACE_VERSION EVENT_TRACE_ \
         PROFILE_SOURCE",
    ),
    ("Events", "EVENT_ TRACE_HEADER PERFINFO MESSAGE_TRACE CLASSIC_EVENT WMI_"),
];

/// The topics in the order of the page.
const ORDER: [&str; 10] = [
    "Sessions",
    "Buffers",
    "Providers and registrations",
    "Events",
    "Consumers",
    "Silos",
    "Trace files",
    "Crash dumps",
    "User mode",
    EMBEDDED,
];

/// The structures by topic, without empty topics.
pub fn parts<'a, 'b>(atlas: &'b Atlas<'a>) -> Vec<(&'static str, Vec<&'b Structure<'a>>)> {
    let of = |name| (name, atlas.structures.iter().filter(|structure| part(structure.name()) == name).collect::<Vec<_>>());
    ORDER.into_iter().map(of).filter(|(_, list)| !list.is_empty()).collect()
}

fn part(name: &str) -> &'static str {
    let first = |(_, parts): &&(&str, &str)| parts.split(' ').any(|part| name.contains(part));
    match name {
        "GUID" | "WNF_SILODRIVERSTATE" | "UNICODE_STRING64" => EMBEDDED,
        "EVENT_INSTANCE_GUID_HEADER" | "EVENT_TRACE_HEADER" | "ETW_KERNEL_HEADER_EXTENSION" | "PERFINFO_CCSWAP_BUFFER" => {
            "Events"
        }
        _ => PARTS.iter().find(first).map_or(EMBEDDED, |(part, _)| part),
    }
}
