//! Clang compares the structures and constants with the declarations in the headers of mingw-w64.

use etw_layouts::constants::{DECODING_SOURCE, MAP_FLAGS, MAP_VALUETYPE, PROPERTY_FLAGS, TEMPLATE_FLAGS};
use etw_layouts::runtime::Named;
use etw_layouts::win10_2004::x64::{EVENT_MAP_ENTRY, EVENT_MAP_INFO, EVENT_PROPERTY_INFO, TRACE_EVENT_INFO};
use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Stdio;
use test_support::installed::{self, Program};

/// Assertions in C that members have the same offsets as in Rust.
macro_rules! offsets {
    ($text:ident, $ty:ident: $($c:ident $rust:ident)*) => {
        $(assert(&mut $text, concat!("offsetof(", stringify!($ty), ", ", stringify!($c), ")"), offset_of!($ty, $rust) as u64);)*
        assert(&mut $text, concat!("sizeof(", stringify!($ty), ")"), size_of::<$ty>() as u64);
    };
}

fn assert(text: &mut String, expression: &str, value: u64) {
    writeln!(text, "_Static_assert({expression} == {value}, \"{expression} is not {value:#x}\");").unwrap();
}

#[test]
fn structures_of_tdh_h() {
    let headers = Path::new("/usr/share/mingw-w64/include");
    let Ok(header) = std::fs::read_to_string(headers.join("tdh.h")) else { return installed::absent("mingw-w64") };
    let Some(program) = installed::program("clang") else { return };
    let mut text = String::new();
    offsets!(text, TRACE_EVENT_INFO: ProviderGuid ProviderGuid EventGuid EventGuid EventDescriptor EventDescriptor
        DecodingSource DecodingSource ProviderNameOffset ProviderNameOffset LevelNameOffset LevelNameOffset
        ChannelNameOffset ChannelNameOffset KeywordsNameOffset KeywordsNameOffset TaskNameOffset TaskNameOffset
        OpcodeNameOffset OpcodeNameOffset EventMessageOffset EventMessageOffset ProviderMessageOffset ProviderMessageOffset
        BinaryXMLOffset BinaryXMLOffset BinaryXMLSize BinaryXMLSize ActivityIDNameOffset union_ActivityIDNameOffset
        RelatedActivityIDNameOffset union_RelatedActivityIDNameOffset PropertyCount PropertyCount
        TopLevelPropertyCount TopLevelPropertyCount Flags union_Flags EventPropertyInfoArray EventPropertyInfoArray);
    offsets!(text, EVENT_PROPERTY_INFO: Flags Flags NameOffset NameOffset nonStructType union_nonStructType
        structType union_nonStructType count union_count lengthPropertyIndex union_length Reserved union_Reserved);
    offsets!(text, EVENT_MAP_INFO: NameOffset NameOffset Flag Flag EntryCount EntryCount
        MapEntryValueType union_MapEntryValueType MapEntryArray MapEntryArray);
    offsets!(text, EVENT_MAP_ENTRY: OutputOffset OutputOffset Value union_Value);
    let structures = text.lines().count();
    let enumerations = [
        DECODING_SOURCE::CONSTANTS,
        MAP_FLAGS::CONSTANTS,
        MAP_VALUETYPE::CONSTANTS,
        PROPERTY_FLAGS::CONSTANTS,
        TEMPLATE_FLAGS::CONSTANTS,
    ];
    let words: std::collections::BTreeSet<_> = header.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (name, value) in enumerations.into_iter().flatten() {
        // The header lacks the constants of Windows 10.
        if words.contains(name) {
            assert(&mut text, name, *value as u64);
        }
    }
    let constants = text.lines().count() - structures;
    assert_eq!((structures, constants), (38, 19), "{text}");
    assert_eq!(clang(&program, headers, &text), "");
    let wrong = text.replacen("PropertyCount) == ", "PropertyCount) == 1", 1);
    assert!(clang(&program, headers, &wrong).contains("PropertyCount"), "a wrong offset compiles");
}

/// The output of clang for a program with the assertions.
fn clang(program: &Program, headers: &Path, assertions: &str) -> String {
    let mut clang = program
        .command()
        .args(["-target", "x86_64-w64-mingw32", "-D_WIN32_WINNT=0x0A00", "-std=c11", "-fsyntax-only", "-x", "c", "-isystem"])
        .arg(headers)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = format!("#include <stddef.h>\n#include <windows.h>\n#include <evntrace.h>\n#include <tdh.h>\n{assertions}");
    clang.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8_lossy(&clang.wait_with_output().unwrap().stderr).into_owned()
}
