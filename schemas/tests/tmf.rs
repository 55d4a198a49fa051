//! TMF files, and payloads of WPP events.

use etw_layouts_payload::packed::{EventKey, Library};
use etw_layouts_payload::{PointerSize, Source};
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::tmf::{self, WppMessage, WppType};

pub const FILE: &str = "\
//PDB:  d:\\example\\obj\\amd64\\example.pdb
//PDB:  Last Updated :2024-1-2:3:4:5:6 (UTC) [tracepdb]
ee01de89-cf3f-2d13-2be7-f6a1a3f9b94d example // SRC=Device.c MJ= MN=
#typev Device_c87 10 \"%0%!FUNC! %10!s!: status %11!s!, %12!d! of %13!08x! at %14!p!\" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=INIT FUNC=DeviceAdd
{
Name, ItemWString -- 10
Status, ItemNTSTATUS -- 11
Count, ItemLong -- 12
f(a, b), ItemULong -- 13
Context, ItemPtr -- 14
}
#typev Device_c99 11 \"%0\\\"quoted\\\" 100%% [%10!-6s!|%11!6.2f!|%12!+d!|%13!#x!|%14!c!|%15!I64u!]\" //   LEVEL=INFO FLAGS= FUNC=
{
A, ItemPString -- 10
B, ItemDouble -- 11
C, ItemShort -- 12
D, ItemUChar -- 13
E, ItemChar -- 14
F, ItemULongLong -- 15
}
#typev Device_c101 12 \"%0%1!s!(%2!s!) %3!04x! %10!s! %11!s! %12!s! %13!s! %14!s! %15!s! %16!s! %17!s! %18!s! %19!s! %20!s!\"
{
guid, ItemGuid -- 10
time, ItemTimestamp -- 11
delta, ItemTimeDelta -- 12
ip, ItemIPAddr -- 13
ip6, ItemIPV6Addr -- 14
port, ItemPort -- 15
mac, ItemMACAddr -- 16
flag, ItemListByte(no,yes) -- 17
bits, ItemSetLong(READ,WRITE,EXECUTE) -- 18
dump, ItemHEXDump -- 19
user, ItemSid -- 20
}
12345678-cf3f-2d13-2be7-f6a1a3f9b94d other // SRC=Other.c MJ= MN=
#typev Other_c1 10 \"%0nothing\" //   LEVEL=INFO FLAGS=ALL FUNC=Other::Start
{
}
#typev Other_c2 11 \"%0%10!s! %11!d!\" //   LEVEL=INFO
{
what, ItemFuture -- 10
number, ItemLong -- 11
}
#typev Other_c3 12 \"%0due %10!s! after %11!s!, %12!s!, %13!s!, 0x%14!p!, %15!s!\" //   LEVEL=INFO
{
due, ItemDueTime -- 10
wait, ItemTimeDelta -- 11
rights, ItemSetLong(READ,WRITE) -- 12
minor, ItemListByte(START,STOP,REMOVE=5,LAST) -- 13
object, ItemPtr -- 14
name, ItemString -- 15
name, ItemString -- 15
password, ItemPWString -- 16
count, ItemLong -- 17
handle, ItemPtr -- 18
}
";

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

fn messages() -> Vec<WppMessage> {
    let (messages, errors) = tmf::read(FILE.as_bytes());
    assert_eq!(errors, []);
    messages
}

#[test]
fn messages_of_a_file() {
    assert!(tmf::is_tmf(FILE.as_bytes()) && !tmf::is_tmf(b"<xml/>") && !tmf::is_tmf(b""));
    let messages = messages();
    let numbers: Vec<_> = messages.iter().map(|message| (&*message.component, message.number, message.arguments.len())).collect();
    assert_eq!(
        numbers,
        [("example", 10, 5), ("example", 11, 6), ("example", 12, 11), ("other", 10, 0), ("other", 11, 2), ("other", 12, 10)]
    );
    let first = &messages[0];
    assert_eq!(first.guid.to_string(), "ee01de89-cf3f-2d13-2be7-f6a1a3f9b94d");
    assert_eq!((first.name.as_str(), first.level.as_str(), first.flags.as_str()), ("Device_c87", "TRACE_LEVEL_ERROR", "INIT"));
    assert_eq!((&*first.function, first.arguments[3].name.as_str()), ("DeviceAdd", "f(a, b)"));
    assert_eq!((messages[1].level.as_str(), messages[1].flags.as_str(), &*messages[1].function), ("INFO", "", ""));
    assert_eq!(&*messages[3].function, "Other::Start");
    assert_eq!(messages[4].arguments[0].ty, WppType::Unknown("ItemFuture".to_owned()));
}

#[test]
fn texts() {
    let messages = messages();
    let payload =
        [wide("disk"), vec![0x22, 0, 0, 0xC0, 0xFE, 0xFF, 0xFF, 0xFF, 0xCD, 0xAB, 0, 0], vec![0x78, 0x56, 0x34, 0x12]].concat();
    let text = messages[0].text(&payload, PointerSize::Bits32);
    assert_eq!(text.text, "DeviceAdd disk: status 0xc0000022(STATUS_ACCESS_DENIED), -2 of 0000abcd at 12345678");
    assert_eq!((text.undecoded, text.rest), (None, 0));
    let text = messages[0].text(&payload, PointerSize::Bits64);
    assert_eq!(text.text, "DeviceAdd disk: status 0xc0000022(STATUS_ACCESS_DENIED), -2 of 0000abcd at <missing>");
    assert_eq!((text.undecoded, text.rest), (Some(4), 4));

    let payload = [&[2, 0, b'a', b'b'][..], &1.5f64.to_le_bytes(), &[7, 0, 0x1F, b'x'], &u64::MAX.to_le_bytes(), &[9]].concat();
    let text = messages[1].text(&payload, PointerSize::Bits64);
    assert_eq!(text.text, r#"\"quoted\" 100% [ab    |  1.50|+7|0x1f|x|18446744073709551615]"#);
    assert_eq!((text.undecoded, text.rest), (None, 1));

    let sid = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0];
    let payload = [
        &(0u8..16).collect::<Vec<_>>()[..],
        &132_223_104_000_000_000u64.to_le_bytes(),
        &15_000_000u64.to_le_bytes(),
        &[127, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 80],
        &[1, 2, 3, 4, 5, 0xFF],
        &[1],
        &[5, 0, 0, 0],
        &[3, 0, 1, 2, 0xAB],
        &sid,
    ]
    .concat();
    let text = messages[2].text(&payload, PointerSize::Bits64);
    assert_eq!(
        text.text,
        "example(Device_c101) %3 03020100-0504-0706-0809-0a0b0c0d0e0f 2020-01-01T00:00:00.0000000Z 0~00:00:01.5000000 127.0.0.1 ::1 80 \
         01-02-03-04-05-ff yes [READ,EXECUTE] 01 02 ab S-1-5-32-544"
    );
    assert_eq!((text.undecoded, text.rest), (None, 0));

    let text = messages[4].text(&[1, 0, 0, 0, 2, 0, 0, 0], PointerSize::Bits64);
    assert_eq!((text.text.as_str(), text.undecoded, text.rest), ("<missing> <missing>", Some(0), 8));

    // Negative durations, a day and more; bits and numbers without names; a string of code page 1252; arguments that the format does not contain.
    let payload = [
        &(-5_000_000_i64).to_le_bytes()[..],
        &(93_784 * 10_000_000_i64 + 1).to_le_bytes(),
        &[9, 0, 0, 0x80],
        &[6],
        &[0x78, 0x56, 0x34, 0x12],
        b"\x80a\0two\0",
        &[4, 0, b's', 0, 0x29, 0x20],
        &[0xFE, 0xFF, 0xFF, 0xFF],
        &[0xCD, 0xAB, 0, 0],
    ]
    .concat();
    let text = messages[5].text(&payload, PointerSize::Bits32);
    assert_eq!(text.text, "due -0~00:00:00.5000000 after 1~02:03:04.0000001, [READ,0x80000008], LAST, 0x12345678, \u{20ac}a");
    let others: Vec<_> = text.others.iter().map(|(index, text)| (*index, text.as_str())).collect();
    assert_eq!(others, [(6, "two"), (7, "s\u{2029}"), (8, "-2"), (9, "0000ABCD")]);
    assert_eq!((text.undecoded, text.rest), (None, 0));
}

/// A corrupt line loses its message, and no other.
#[test]
fn corrupt_lines() {
    for (found, replacement, error) in [
        ("Count, ItemLong -- 12", "Count ItemLong 12", "line 8: invalid argument of a message"),
        ("#typev Device_c87 10", "#typev Device_c87 x", "line 4: message without a number"),
        ("\"%0%!FUNC!", "%0%!FUNC!", "line 4: format of a message without a closing quotation mark"),
    ] {
        let text = FILE.replacen(found, replacement, 1);
        let (messages, errors) = tmf::read(text.as_bytes());
        assert_eq!(messages.len(), 5, "{found}");
        assert!(errors[0].to_string().starts_with(error), "{} not {error}", errors[0]);
    }
    let (messages, errors) = tmf::read(FILE.replacen("ee01de89", "no GUID ", 1).as_bytes());
    assert_eq!((messages.len(), errors[0].to_string().starts_with("line 3: unexpected line: ")), (3, true));
}

/// The arguments are fields, with the values that the text has. A message with an argument of unknown type has no fields.
#[test]
fn fields() {
    let messages = messages();
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Manifest, "", None);
    messages.iter().for_each(|message| builder.add(&message.to_provider(), origin));
    let library = builder.build();
    let library = Library::read(library.bytes()).unwrap();
    let schema = |message: &WppMessage| {
        let variant = library.find(message.guid, EventKey::from_id(message.number, 0)).first()?;
        variant.schema()
    };
    assert!(schema(&messages[3]).is_some() && schema(&messages[4]).is_none());
    let payload = [
        &(0u8..16).collect::<Vec<_>>()[..],
        &132_223_104_000_000_000u64.to_le_bytes(),
        &15_000_000u64.to_le_bytes(),
        &[127, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 80],
        &[1, 2, 3, 4, 5, 0xFF],
        &[1],
        &[5, 0, 0, 0],
        &[3, 0, 1, 2, 0xAB],
        &[1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0],
    ]
    .concat();
    let decoded = schema(&messages[2]).unwrap().decode(&payload, PointerSize::Bits64);
    let values: Vec<_> = decoded.iter().map(|value| format!("{}={value}", value.name())).collect();
    assert_eq!(
        values.join(" "),
        "guid=03020100-0504-0706-0809-0a0b0c0d0e0f time=2020-01-01T00:00:00.0000000Z delta=15000000 ip=127.0.0.1 ip6=::1 port=80 \
         mac=0x0102030405ff flag=yes bits=READ|EXECUTE dump=0x0102ab user=S-1-5-32-544"
    );
    assert_eq!(decoded.check(), Ok(()));
}
