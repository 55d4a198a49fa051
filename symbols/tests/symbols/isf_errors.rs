//! What is not a table, and what each says.

use crate::fixture::{array, changed, named, pointer, read, table};
use etw_layouts_symbols::isf::{self, Error, Wanted};
use serde_json::{Value, json};

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
        (&packed[..packed.len() - 20], "the xz data ends in error after"),
        (&packed[..6], "the xz data ends in error after 0 bytes"),
        (&flipped, "the xz data ends in error after"),
        (b"{\n\"a\": \xFF}", "not UTF-8 at byte 7"),
        (b"{\n \"metadata\": oops}", "not JSON at line 2 column 14"),
        (b"{\"metadata\": {", "not JSON at line 1 column 14 (EOF"),
        (form_feed.as_bytes(), "not JSON at line 1 column 2 (key must be a string"),
        (twice.as_bytes(), "JSON but not ISF at line 1"),
        (b"{\"user_types\": []}", "JSON but not ISF at line 1 column 15 (invalid type: sequence"),
    ];
    for (input, expected) in cases {
        let message = message(input);
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains(": "), "no remedy in {message}");
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
        ("/metadata", Value::Null, "`metadata` is missing"),
        ("/base_types", Value::Null, "`base_types` is missing"),
        ("/user_types", Value::Null, "`user_types` is missing"),
        ("/enums", Value::Null, "`enums` is missing"),
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
        ("/enums/_LIST", json!({"base": "int", "size": 4, "constants": {}}), "several types are named `LIST`"),
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
    // Each level has the next one twice: 2^40 members, were there no bound.
    let mut table = table();
    for level in 0..40 {
        let ty = named("struct", &format!("__unnamed_x{}", level + 1));
        table["user_types"][format!("__unnamed_x{level}")] = json!({"kind": "struct", "size": 1, "fields": {
            "a": {"offset": 0, "type": ty}, "b": {"offset": 0, "type": ty}
        }});
    }
    table["user_types"]["_LOGGER"]["fields"]["Id"]["type"] = named("struct", "__unnamed_x0");
    let error = read(&table).unwrap_err();
    assert!(matches!(error, Error::TooMany | Error::TooDeep { .. }), "{error}");
    table["user_types"]["__unnamed_x20"] = json!({"kind": "struct", "size": 1, "fields": {}});
    assert_eq!(read(&table), Err(Error::TooMany));
}

/// No change of one byte panics, and no table that is cut short is accepted.
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
