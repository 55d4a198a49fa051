//! Bytes that the atlas decodes with the layout of a build, compared with arithmetic on the same bytes; and offsets in embedded structures.

use crate::atlas::{run, specs, written};
use etw_layouts_codegen::layouts::Type;
use etw_layouts_project::members::{at, expanded};
use serde_json::json;
use std::collections::BTreeMap;
use test_support::browser::Browser;

/// Decodes a text. Returns the path, the offset and the value of each row, and the note.
const DECODE: &str = "const decode = async (text, from = '') => {
    const note = document.getElementById('bytes-note'), form = document.getElementById('bytes-form');
    form.closest('details').open = true;
    document.getElementById('bytes-input').value = text;
    document.getElementById('bytes-from').value = from;
    note.textContent = '';
    form.requestSubmit();
    await until(() => note.textContent);
    return [note.textContent, [...document.querySelectorAll('#bytes-members tbody tr:not(.padding)')].map((row) => [row.cells[1].title, row.cells[0].textContent, row.cells[2].textContent])];
};";

/// Bytes without a pattern that a wrong offset, width or order of bytes could hide.
fn noise(count: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7_u32), next).map(|state| state.to_be_bytes()[0]).take(count).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x} ")).collect()
}

/// Each integer, pointer and bit field of a structure and of the structures that it embeds.
#[test]
fn decoded_bytes_equal_arithmetic() {
    let Some(browser) = Browser::start() else { return };
    let (layouts, _) = specs();
    let folder = written();
    let mut count = 0;
    for (name, build) in [
        ("WMI_BUFFER_HEADER", "10.0.19041.1415-x64"),
        ("WMI_BUFFER_HEADER", "5.2.3790-sp1-x86"),
        ("WMI_LOGGER_CONTEXT", "10.0.22000.434-x64"),
        ("ETW_REG_ENTRY", "6.1.7601.24000-x86"),
        ("EVENT_HEADER", "10.0.16299.15-x64"),
    ] {
        let target = layouts.spec.axis.find(build).expect("a target").target;
        let size = usize::try_from(layouts.get(target, name).expect("a layout").extent().size).expect("a size");
        let bytes = noise(size);
        let script = format!("{DECODE} return await decode('{}');", hex(&bytes));
        let page = run(&browser, &folder, &format!("type/{name}.html#build={build}"), &script);
        let note = page[0].as_str().unwrap_or_default();
        assert!(note.starts_with(&format!("{size:#x} bytes, decoded with the layout of {build}")), "{note}");
        let rows: Vec<[String; 3]> = serde_json::from_value(page[1].clone()).expect("rows");
        let mut by_path: BTreeMap<&str, Vec<&[String; 3]>> = BTreeMap::new();
        rows.iter().for_each(|row| by_path.entry(&row[0]).or_default().push(row));
        let all = expanded(layouts, name, target, 9);
        for (index, member) in all.iter().enumerate() {
            let (Some(path), Some((field, _))) = (&member.path, &member.field) else { continue };
            let is_group = all.get(index + 1).is_some_and(|next| next.depth > member.depth);
            let is_one = path.ends_with("QuadPart")
                || path.contains(".u.")
                || path.contains("Guid.Data")
                || path.contains("Id.Data")
                || path.ends_with("Part");
            if is_group
                || is_one
                || path.contains('[')
                || !matches!(member.size, 1 | 2 | 4 | 8)
                || matches!(field.ty, Type::Array { .. })
            {
                continue;
            }
            let own = &bytes[member.offset as usize..][..member.size as usize];
            let whole = own.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
            let width = member.bits.map_or(member.size * 8, |bits| bits.width);
            let value = (whole >> member.bits.map_or(0, |bits| bits.position)) & (u64::MAX >> (64 - width));
            let signed = (value << (64 - width)) as i64 >> (64 - width);
            let place = format!("{:#06x}", member.offset);
            let row = by_path.get(path.as_str()).into_iter().flatten().find(|row| row[1].starts_with(&place));
            let row = row.unwrap_or_else(|| panic!("{name} at {build}: no row {path} at {place}: {by_path:?}"));
            let first = row[2].split([',', ' ']).next().unwrap_or_default();
            let digits = format!("{value:x}");
            let is_pointer =
                first.strip_prefix("0x").is_some_and(|first| first.trim_start_matches('0') == digits.trim_start_matches('0'));
            assert!(
                is_pointer || first == value.to_string() || first == signed.to_string(),
                "{name}.{path} at {build}: {row:?}, {value:#x}"
            );
            count += 1;
        }
    }
    assert!(count > 250, "{count} members");
}

/// Values with a meaning, bytes in all forms that users have, and inputs that are too short or too long.
#[test]
fn values_and_ends_are_named() {
    let Some(browser) = Browser::start() else { return };
    let folder = written();
    // EVENT_HEADER of 80 bytes.
    let mut bytes = vec![0x50, 0, 0x13, 0, 0x40, 2, 0, 0];
    bytes.extend([4_u32, 8].iter().flat_map(|number| number.to_le_bytes()));
    // 2009-07-14 01:02:03.4567890, as seconds between 1601 and 1970 and from 1970 on.
    bytes.extend(((11_644_473_600_u64 + 1_247_533_323) * 10_000_000 + 4_567_890).to_le_bytes());
    bytes.extend([0xd6, 0x2c, 0xfb, 0x22, 0x7b, 0x0e, 0x2b, 0x42, 0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16]);
    bytes.resize(80, 0);
    let plain = hex(&bytes);
    let commas: String = bytes.iter().map(|byte| format!("0x{byte:X}, ")).collect();
    let lines = |head: &str, gap: &str, text: &str| -> String {
        let line = |(number, line): (usize, &[u8])| format!("{head}{:08x}{gap}{} {text}\n", number * 16, hex(line));
        bytes.chunks(16).enumerate().map(line).collect()
    };
    let forms = [
        plain.clone(),
        plain.replace(' ', ""),
        commas,
        lines("", "  ", "|................|"),
        lines("", ": ", " ab cd ef 01 text"),
        lines("fffff801`", "  ", "  P...@..........."),
    ];
    let script = format!(
        "{DECODE} const all = []; for (const text of {}) all.push(await decode(text));
        const list = new DataTransfer();
        list.items.add(new File([Uint8Array.from('{plain}'.trim().split(' '), (byte) => parseInt(byte, 16)), new Uint8Array(3)], 'one.bin'));
        document.getElementById('bytes-file').files = list.files;
        document.getElementById('bytes-file').dispatchEvent(new Event('change'));
        return [all, await decode('')];",
        json!(forms)
    );
    let address = "type/EVENT_HEADER.html#build=19041.1415-x64";
    let found = run(&browser, &folder, address, &script);
    let first = &found[0][0];
    let value = |path: &str| {
        let rows = first[1].as_array().into_iter().flatten();
        rows.filter(|row| row[0] == path).map(|row| row[2].clone()).next().unwrap_or_else(|| panic!("no {path}: {first}"))
    };
    assert_eq!(value("Size"), "80 (0x50)");
    assert_eq!(value("ThreadId"), "4");
    assert_eq!(value("ProviderId"), "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");
    assert_eq!(value("TimeStamp"), "128920069234567890 (0x1ca041eb3252ad2), as a FILETIME 2009-07-14 01:02:03.4567890 UTC");
    assert_eq!(value("Flags"), "576 (0x240), EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX");
    for (form, other) in forms.iter().zip(found[0].as_array().into_iter().flatten()) {
        assert_eq!(other, first, "{form}");
    }
    assert_eq!(
        (&found[1][1], &found[1][0]),
        (
            &first[1],
            &json!(format!(
                "{} 0x3 bytes of the file, after these, are beyond the structure.",
                first[0].as_str().unwrap_or_default()
            ))
        )
    );
    let notes = format!(
        "{DECODE} const said = []; for (const [text, from] of [['{}', ''], ['{plain} 01', ''], ['50 0', ''], ['01 02', '9'], ['0x50000000, 0x1', ''],
            ['00000000  50 00\\n00000010  50', ''], ['deadbeef 00 11', ''], ['', ''],
            ['00000000: 50 00  ab cd', ''], ['00000000  50 00\\n*\\n00000004', '']]) said.push(await decode(text, from));
        return said.map(([note, rows]) => [note, rows.at(-1)]);",
        hex(&bytes[..27])
    );
    let said = run(&browser, &folder, address, &notes);
    let note = |index: usize| said[index][0].as_str().unwrap_or_default();
    assert!(note(0).contains("The input ends at 0x1b; the structure has 0x50 bytes. "), "{said}");
    assert!(note(0).contains(" (0x0028) on are beyond the end of the input."), "{said}");
    assert_eq!(said[0][1], json!(["ProviderId", "0x0018", "the input ends at 0x1b, within this member"]));
    assert!(note(1).ends_with(" 0x1 bytes of the input, from 0x50, are beyond the structure."), "{said}");
    let errors = [
        "not bytes: 0 has an odd number of digits",
        "no bytes after this offset",
        "not bytes: 0x50000000 is a number of more than one byte; write its bytes",
        "bytes are missing before 0x10",
    ];
    for (index, error) in (2..).zip(errors) {
        assert_eq!(said[index], json!([error, null]), "{said}");
    }
    // A single line without a gap after its first group has no offset.
    assert!(note(6).starts_with("0x6 bytes, decoded"), "{said}");
    assert_eq!(note(7), "no bytes: paste them, or choose a file");
    // The text beside the bytes of a short line is not read; an asterisk stands for lines that repeat.
    assert!(note(8).starts_with("0x2 bytes, decoded") && note(9).starts_with("0x4 bytes, decoded"), "{said}");
}

/// An offset in an embedded structure leads to its members, as in the library.
#[test]
fn an_offset_leads_into_embedded_structures() {
    let Some(browser) = Browser::start() else { return };
    let (layouts, _) = specs();
    let folder = written();
    let (name, build) = ("WMI_LOGGER_CONTEXT", "10.0.22000.434-x64");
    let target = layouts.spec.axis.find(build).expect("a target").target;
    let size = layouts.get(target, name).expect("a layout").extent().size;
    let offsets: Vec<u64> = (0..size).step_by(12).collect();
    let script = format!(
        "const said = [], answer = document.getElementById('ask-answer'), member = document.getElementById('ask-member');
        for (const wanted of {}) {{
            member.value = wanted;
            answer.textContent = '';
            document.getElementById('ask-form').requestSubmit();
            await until(() => answer.textContent);
            said.push(answer.querySelector('b')?.textContent ?? answer.textContent);
        }}
        return said;",
        json!(offsets.iter().map(|offset| format!("{offset:#x}")).chain(["LoggerName.Length".to_owned()]).collect::<Vec<_>>())
    );
    let said: Vec<String> =
        serde_json::from_value(run(&browser, &folder, &format!("type/{name}.html#build={build}"), &script)).expect("texts");
    let mut count = 0;
    for (offset, text) in offsets.iter().zip(&said) {
        let members = at(layouts, name, target, *offset);
        let inner: Vec<_> = members
            .iter()
            .filter(|member| member.of != name)
            .filter_map(|member| Some((member.path.as_ref()?, member.offset)))
            .collect();
        // GUIDs and large integers are single values.
        let is_single = |path: &str| {
            ["Data", "LowPart", "HighPart", "QuadPart", "u"]
                .iter()
                .any(|end| path.rsplit('.').next().is_some_and(|last| last.starts_with(end)))
        };
        let is_padding = members.last().is_none_or(|member| member.path.is_none());
        if let Some((path, place)) = inner.last().filter(|(path, _)| !is_padding && !is_single(path)) {
            count += 1;
            let row = format!("{path} {place:#06x}");
            assert!(text.contains(&row) || text.contains(" more members"), "{offset:#x}: {text}; {row}");
        }
    }
    assert!(count > 20, "{count} offsets in embedded structures");
    assert!(said.last().is_some_and(|text| text.starts_with("LoggerName.Length 0x")), "{said:?}");
}
