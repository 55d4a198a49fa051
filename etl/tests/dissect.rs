//! Our writer's files, read by dissect.etl, a reader in Python. `ETW_LAYOUTS_PYTHON` names the interpreter, if not `python3`.

use crate::events::in_file;
use etw_layouts_etl::{ClockType, HeaderType, Trace};
use std::fmt::Write;
use std::fs;
use test_support::installed;
use test_support::traces::{PRODUCERS, fixture_of};

#[test]
fn dissect() {
    let Some(python) = installed::python("dissect.etl") else { return };
    let folder = std::env::temp_dir().join(format!("etw-layouts-dissect-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut files = 0;
    // dissect.etl reads every buffer header as one of 6.0 or later.
    for producer in &PRODUCERS[3..] {
        for clock in [ClockType::PerfCounter, ClockType::SystemTime, ClockType::CpuCycle] {
            for compressed in [false, true] {
                // dissect.etl does not support records of unknown layout, and reads only messages with all options.
                let wanted = |header_type: HeaderType| header_type.is_known() && header_type != HeaderType::Message;
                let Some(fixture) = fixture_of(*producer, clock, compressed, 30, &wanted) else { continue };
                let trace = Trace::from_bytes(&fixture.bytes).unwrap();
                let mut list = String::new();
                for event in in_file(&trace) {
                    let time = trace.clock().system_time(event.time.unwrap());
                    writeln!(list, "{}\t{time}", event.bytes.len()).unwrap();
                }
                fs::write(folder.join(format!("{files}.etl")), &fixture.bytes).unwrap();
                fs::write(folder.join(format!("{files}.tsv")), list).unwrap();
                files += 1;
            }
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_by_dissect.py");
    let output = python.command().arg(script).arg(&folder).output().expect("Python runs");
    fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
