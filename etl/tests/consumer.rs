//! Values of kernel events, compared with the output of a consumer on Windows: `expected` in the folder of traces.

use crate::payloads::each_kernel_event;
use etw_layouts_etl::Decoded;
use etw_layouts_etl::payload::Value;
use std::collections::BTreeMap;
use std::fs;
use test_support::consumer::{is_equal, rows};
use test_support::installed;

/// A field that the consumer prints differently.
enum Other {
    /// Our field has this name and an equal value.
    Named(&'static str),
    /// The reason why it is not compared.
    Not(&'static str),
}
use Other::{Named, Not};

/// Fields with another name or value: the class and the field of the consumer. `*` means all classes.
const OTHERS: &[(&str, &str, Other)] = &[
    ("EventTrace", "SessionName", Named("SessionNameString")),
    ("EventTrace", "LogFileName", Named("LogFileNameString")),
    ("EventTrace", "UtcOffsetMinutes", Not("derived: the bias of TimeZoneInformation")),
    ("Process", "PageDirectoryBase", Named("DirectoryTableBase")),
    ("Process", "MemoryCount", Named("PageFaultCount")),
    ("Process", "Flags", Not("presentation: the consumer's own names of flags, `None` for 0")),
    ("Thread", "StartAddr", Not("the name of Affinity before version 3; the value is Affinity, as Windows registers version 3")),
    ("Thread", "ThreadName", Not("not in the payload of Windows 8: empty")),
    ("Thread", "ParentThreadID", Not("derived: the thread of the event's header")),
    ("Thread", "ParentProcessID", Not("derived: the process of the event's header")),
    ("Image", "BuildTime", Not("derived: TimeDateStamp as a date")),
    ("Image", "FileName", Not("presentation: the drive in place of the device")),
    ("ImageID", "BuildTime", Not("derived: TimeDateStamp as a date")),
    ("ImageID", "ProcessID", Not("0 for the process 4 in the payload; the payload is right")),
    ("DiskIO", "FileKey", Named("FileObject")),
    ("DiskIO", "FileName", Not("derived: the name of FileObject in another event")),
    ("DiskIO", "IrpFlags", Not("presentation: the consumer's own names of flags, and the other name if a bit has two")),
    ("DiskIO", "Priority", Not("derived: bits 17 to 19 of IrpFlags")),
    ("DiskIO", "ElapsedTimeMSec", Not("derived: HighResResponseTime in milliseconds")),
    ("DiskIO", "DiskServiceTimeMSec", Not("derived: the part of HighResResponseTime after the request before it")),
    ("Memory", "ElapsedTimeMSec", Not("derived: time since InitialTime")),
    ("Memory", "FileKey", Named("FileObject")),
    ("Memory", "FileName", Not("derived: the name of FileObject in another event")),
    ("PerfInfo", "ProcessorNumber", Not("derived: the processor of the buffer")),
    ("PerfInfo", "Priority", Not("derived: bits 3 to 7 of Reserved")),
    ("PerfInfo", "ExecutingDPC", Not("derived: a bit of Reserved, 0 in all events")),
    ("PerfInfo", "ExecutingISR", Not("derived: a bit of Reserved, 0 in all events")),
    ("PerfInfo", "Rank", Not("derived: bits 8 to 15 of Reserved")),
    ("PerfInfo", "SampleSource", Named("Source")),
    (
        "SystemConfig",
        "ProcessName",
        Not("derived: the name of the process 0 for a service without a process; the payload is empty"),
    ),
    ("UdpIp", "context", Not("PID and size of the payload as one number, as in version 0; Windows registers two fields")),
    ("UdpIp", "dsize", Not("a field of version 0; at its offset are seqnum and connid, 0")),
];

/// Our field with a name, ignoring case.
fn field<'a>(decoded: &Decoded<'a>, name: &str) -> Option<Value<'a>> {
    decoded.iter().find(|value| value.name().eq_ignore_ascii_case(name))
}

#[test]
fn equal_values() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut events, mut equal, mut used, mut wrong) = (0, 0, BTreeMap::<usize, usize>::new(), Vec::new());
    for entry in fs::read_dir(folder.join("expected")).unwrap() {
        let path = entry.unwrap().path();
        let trace = path.file_name().unwrap().to_str().unwrap().split_once(".pairs").unwrap().0.to_owned();
        let mut rows = rows(&fs::read_to_string(&path).unwrap(), true);
        each_kernel_event(&folder.join(format!("microsoft__{trace}.etl")), |buffer, event, schemas| {
            let Some(row) = rows.remove(&(buffer, event.offset())) else { return };
            events += 1;
            let payload: String = event.payload().iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(payload.starts_with(&row.payload), "{trace}: {}", row.name);
            let Some(decoded) = event.decode(schemas) else { return wrong.push(format!("{}: no schema", row.name)) };
            let class = row.name.split('/').nth(1).unwrap();
            for (name, printed) in &row.fields {
                let other = OTHERS.iter().position(|other| (other.0 == "*" || other.0 == class) && other.1 == name);
                if let Some(other) = other {
                    *used.entry(other).or_default() += 1;
                }
                let ours = match other.map(|other| &OTHERS[other].2) {
                    Some(Not(_)) => continue,
                    Some(Named(ours)) => field(&decoded, ours),
                    None => field(&decoded, name),
                };
                match ours {
                    Some(value) if is_equal(&value, printed.trim()) => equal += 1,
                    ours => {
                        let ours = ours.map_or("no field".to_owned(), |value| format!("{}={value}", value.name()));
                        wrong.push(format!("{trace} {} {decoded}: {name}={printed}, here {ours}", row.name));
                    }
                }
            }
        });
        assert!(rows.is_empty(), "{trace}: no event at {:?}", rows.keys());
    }
    println!("{equal} values of {events} events are equal");
    for (index, count) in &used {
        let (class, name, other) = &OTHERS[*index];
        match other {
            Named(ours) => println!("{count}\t{class}\t{name}\tis {ours}"),
            Not(reason) => println!("{count}\t{class}\t{name}\tnot compared: {reason}"),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(used.len() == OTHERS.len() && events > 0);
}
