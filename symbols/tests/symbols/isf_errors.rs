//! Errors for inputs that are not a valid table.

use etw_layouts_symbols::isf::{self, Error, Wanted};
use serde_json::{Value, json};
use test_support::isf::{array, changed, named, pointer, read, table};

fn message(input: &[u8]) -> String {
    isf::read(input, &Wanted::from_iter(["LOGGER"])).unwrap_err().to_string()
}

#[test]
fn damaged_input() {
    let packed = liblzma::encode_all(table().to_string().as_bytes(), 6).unwrap();
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 1;
    let opened = |with| table().to_string().replacen('{', with, 1);
    let (twice, form_feed) = (opened("{\"enums\": {}, "), opened("{\x0C"));
    let cases: [(&[u8], &str); 11] = [
        (b"", "neither JSON nor xz"),
        (b"Microsoft C/C++ MSF 7.00\r\n", "neither JSON nor xz"),
        (&packed[..packed.len() - 20], "corrupt xz data after"),
        (&packed[..6], "corrupt xz data after 0 bytes"),
        (&flipped, "corrupt xz data after"),
        (b"{\n\"a\": \xFF}", "not UTF-8 at byte 7"),
        (b"{\n \"metadata\": oops}", "invalid JSON at line 2 column 14"),
        (b"{\"metadata\": {", "invalid JSON at line 1 column 14 (EOF"),
        (form_feed.as_bytes(), "invalid JSON at line 1 column 2 (key must be a string"),
        (twice.as_bytes(), "valid JSON, but not ISF at line 1"),
        (b"{\"user_types\": []}", "valid JSON, but not ISF at line 1 column 15 (invalid type: sequence"),
    ];
    for (input, expected) in cases {
        let message = message(input);
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("; "), "no remedy in {message}");
    }
}

#[test]
fn too_large() {
    let mut large = b"{".to_vec();
    large.resize(isf::MAX_JSON + 1, b' ');
    let packed = liblzma::encode_all(large.as_slice(), 0).unwrap();
    assert_eq!(isf::read(&large, &Wanted::All), Err(Error::TooLarge));
    assert_eq!(isf::read(&packed, &Wanted::All), Err(Error::TooLarge));
    assert!(Error::TooLarge.to_string().starts_with("more than 64 MiB of JSON"));
}

#[test]
fn json_that_is_not_isf() {
    let field = "/user_types/_LOGGER/fields/Id";
    let ty = "/user_types/_LOGGER/fields/Id/type";
    let cases = [
        ("/metadata", Value::Null, "missing field `metadata`"),
        ("/base_types", Value::Null, "missing field `base_types`"),
        ("/user_types", Value::Null, "missing field `user_types`"),
        ("/enums", Value::Null, "missing field `enums`"),
        ("/metadata/windows/pdb/GUID", json!("12"), "the GUID is not 32 hexadecimal digits"),
        ("/user_types/_LOGGER/kind", json!("interface"), "unknown variant `interface`"),
        ("/user_types/_LOGGER/size", json!(-1), "invalid value: integer `-1`"),
        ("/user_types/_LOGGER/fields", Value::Null, "missing field `fields`"),
        (field, json!({"offset": 0}), "missing field `type`"),
        (ty, json!({"kind": "reference"}), "unknown variant `reference`"),
        (ty, json!({"kind": "array", "count": 1}), "missing field `subtype`"),
        (ty, named("base", "decimal"), "the base type `decimal` is unknown"),
        (ty, array(-4, named("base", "long")), "an array has -4 elements"),
        (ty, array(-5, named("enum", "MODE")), "an array has -5 elements"),
        ("/enums/MODE/base", json!("decimal"), "the enumeration's base type is unknown"),
        ("/enums/MODE/constants/ModeOff", json!(0.5), "invalid type: floating point"),
        ("/base_types/int/kind", json!("complex"), "unknown variant `complex`"),
        ("/base_types/unsigned long/size", json!(3), "the base type `unsigned long` is unknown"),
        ("/user_types/__unnamed_3/fields/Low/offset", json!(u64::MAX), "the offset of `Low` is too large"),
        ("/enums/_LIST", json!({"base": "int", "size": 4, "constants": {}}), "ambiguous type `LIST`"),
    ];
    for (place, value, expected) in cases {
        let message = read(&changed(&[(place, value)])).unwrap_err().to_string();
        assert!(message.contains(expected), "{place}: {message}");
    }
}

/// An error within one type names its place in the whole file.
#[test]
fn places_are_those_of_the_file() {
    let table = changed(&[("/user_types/_LOGGER/fields/Id/type/kind", json!("nonsense"))]);
    let text = serde_json::to_string_pretty(&table).unwrap();
    let Error::Isf(fault) = isf::read(text.as_bytes(), &Wanted::All).unwrap_err() else { panic!() };
    let (line, kind) = text.lines().enumerate().find(|(_, line)| line.contains("nonsense")).unwrap();
    assert!((line + 1..line + 6).contains(&fault.line), "{fault:?}: {kind} is in line {}", line + 1);
    let text = table.to_string();
    let Error::Isf(fault) = isf::read(text.as_bytes(), &Wanted::All).unwrap_err() else { panic!() };
    let column = text.find("nonsense").unwrap();
    assert!(fault.line == 1 && (column..column + 60).contains(&fault.column), "{fault:?}: {column}");
}

#[test]
fn nesting_is_bounded() {
    let mut deep = named("base", "void");
    for _ in 0..80 {
        deep = pointer(deep);
    }
    let id = "/user_types/_LOGGER/fields/Id";
    let endless = json!({"offset": 0, "type": named("struct", "__unnamed_3")});
    let anonymous = json!({"offset": 0, "anonymous": true, "type": named("struct", "__unnamed_3")});
    let low = "/user_types/__unnamed_3/fields/Low";
    for change in [(id, json!({"offset": 0, "type": deep})), (low, endless), (low, anonymous)] {
        assert_eq!(read(&changed(&[change])), Err(Error::TooDeep { name: "LOGGER".to_owned() }));
    }
    // Each level contains the next one twice, which would give 2^40 members without a limit.
    let mut table = table();
    for level in 0..40 {
        let ty = named("struct", &format!("__unnamed_x{}", level + 1));
        table["user_types"][format!("__unnamed_x{level}")] = json!({"kind": "struct", "size": 1, "fields": {
            "a": {"offset": 0, "type": ty}, "b": {"offset": 0, "type": ty}
        }});
    }
    table["user_types"]["_LOGGER"]["fields"]["Id"]["type"] = named("struct", "__unnamed_x0");
    let error = read(&table).unwrap_err();
    assert!(matches!(error, Error::TooMuch | Error::TooDeep { .. }), "{error}");
    table["user_types"]["__unnamed_x20"] = json!({"kind": "struct", "size": 1, "fields": {}});
    assert_eq!(read(&table), Err(Error::TooMuch));
    // A larger table has a larger work limit. Then the limit of members is reached.
    table["symbols"] = json!({" ".repeat(24 << 20): {}});
    assert_eq!(read(&table), Err(Error::TooMany));
}

/// Each use of an unnamed type costs the length of its text, including blanks. The work is limited to a few times the size of the
/// table.
#[test]
fn work_is_bounded() {
    let mut table = table();
    let fields = |count: usize, ty: Value| -> Value {
        (0..count).map(|n| (format!("f{n}"), json!({"offset": 0, "type": ty}))).collect::<serde_json::Map<_, _>>().into()
    };
    table["user_types"]["_LOGGER"]["fields"] = fields(1000, named("struct", "__unnamed_3"));
    let text = table.to_string();
    assert_eq!(isf::read(text.as_bytes(), &Wanted::from_iter(["LOGGER"])).map(|table| table.types.len()), Ok(1));
    let blanks = text.replacen("\"__unnamed_3\":{", &format!("\"__unnamed_3\":{{{}", " ".repeat(1 << 20)), 1);
    assert_eq!(isf::read(blanks.as_bytes(), &Wanted::from_iter(["LOGGER"])), Err(Error::TooMuch));
    table["user_types"]["__unnamed_3"]["fields"] = json!({"N".repeat(1 << 20): {"offset": 0, "type": named("base", "int")}});
    assert_eq!(read(&table), Err(Error::TooMuch));
    // The number of elements of each of these arrays depends on the enumeration, which is read each time.
    table["user_types"]["_LOGGER"]["fields"] = fields(1000, array(-4, named("enum", "MODE")));
    let blanks = table.to_string().replacen("\"MODE\":{", &format!("\"MODE\":{{{}", " ".repeat(1 << 20)), 1);
    assert_eq!(isf::read(blanks.as_bytes(), &Wanted::from_iter(["LOGGER"])), Err(Error::TooMuch));
}

/// With duplicate keys, the intended value is unknown.
#[test]
fn keys_that_are_there_twice() {
    let text = table().to_string();
    let twice = |key: &str| {
        let at = text.find(&format!("\"{key}\":")).unwrap();
        let value = serde_json::Deserializer::from_str(&text[at + key.len() + 3..]).into_iter::<Value>().next().unwrap().unwrap();
        message(format!("{}\"{key}\":{value},{}", &text[..at], &text[at..]).as_bytes())
    };
    for key in ["_LOGGER", "__unnamed_9", "Id", "StateFree", "unsigned long long", "size", "base", "producer"] {
        let message = twice(key);
        assert!(
            message.starts_with("valid JSON, but not ISF at line 1 column") && message.contains(&format!("`{key}`")),
            "{key}: {message}"
        );
    }
}

/// Editors and shells of Windows write a byte order mark before UTF-8.
#[test]
fn a_byte_order_mark_is_ignored() {
    let text = format!("\u{FEFF}{}", table());
    let packed = liblzma::encode_all(text.as_bytes(), 6).unwrap();
    for input in [text.as_bytes(), &packed] {
        assert_eq!(isf::read(input, &Wanted::from_iter(["LOGGER"])), read(&table()));
        assert!(matches!(etw_layouts_symbols::read(input, &Wanted::All), Ok(etw_layouts_symbols::Symbols::Table(_))));
    }
    assert!(message(b"\xEF\xBB\xBF{\n \"metadata\": oops}").starts_with("invalid JSON at line 2 column 14"));
}

/// A file of a few bytes can require a dictionary of 1 GiB.
#[test]
fn memory_for_decoding_is_bounded() {
    use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
    let mut options = LzmaOptions::new_preset(0).unwrap();
    options.dict_size(1 << 30);
    let stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32).unwrap();
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    std::io::Write::write_all(&mut encoder, b"{}").unwrap();
    let packed = encoder.finish().unwrap();
    assert!(
        message(&packed).starts_with("xz data needs more than 96 MiB of memory to decode; compress it again"),
        "{}",
        message(&packed)
    );
}

/// Changing one byte never causes a panic, and a truncated table is always an error.
#[test]
fn no_damage_panics() {
    let text = table().to_string();
    for at in 0..text.len() {
        let mut damaged = text.clone().into_bytes();
        damaged[at] = [b'"', b'{', b'9', b'-', 0xFF][at % 5];
        let _ = isf::read(&damaged, &Wanted::All);
    }
    for end in (0..text.len()).step_by(10) {
        assert!(isf::read(&text.as_bytes()[..end], &Wanted::All).is_err());
    }
}
