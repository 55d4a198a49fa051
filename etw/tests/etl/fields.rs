//! The fields of events that carry their schema.

use crate::{Folder, json, run};
use serde_json::{Value, json as object};
use test_support::logging::{TEXT, logging};

#[test]
fn fields_are_printed() {
    let folder = Folder::new("fields");
    let file = folder.file("a.etl", logging().trace());
    let (status, out, err) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out.lines().last(), Some(TEXT));
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    let event = &json(&out)[1]["trace_logging"];
    assert_eq!(
        [&event["provider"], &event["group"], &event["event"]],
        ["Maker.Provider", "07070707-0707-0707-0707-070707070707", "Happened"]
    );
    let fields = event["fields"].as_array().unwrap();
    let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!(field("narrow")["value"], "a€\"\n");
    assert_eq!(field("u64"), &object!({"name": "u64", "in": "UINT64", "value": u64::MAX}));
    assert_eq!(field("i64")["tags"], 0x80);
    assert_eq!(field("d")["value"], "NaN");
    assert_eq!(field("bin")["value"], object!({"hex": "0102"}));
    let byte = |name: &str, value: u8| object!({"name": name, "in": "UINT8", "value": value});
    let inner = object!({"name": "inner", "in": "STRUCT", "count": null, "value": [[byte("b", 2)], [byte("b", 3)]]});
    assert_eq!(field("outer")["value"], object!([byte("a", 1), inner, byte("c", 4)]));
    assert_eq!(field("two"), &object!({"name": "two", "in": "UINT16", "count": 2, "value": [5, 6]}));
    // The text says as much.
    assert_eq!(fields.len(), 29);
}

/// Wherever a payload ends, what is there is printed, the rest as bytes, and it is a finding.
#[test]
fn what_cannot_be_decoded_is_told() {
    let folder = Folder::new("undecoded");
    let whole = logging();
    for length in (0..whole.payload.len()).step_by(9) {
        let mut cut = whole.clone();
        cut.payload.truncate(length);
        let file = folder.file("a.etl", cut.trace());
        let (status, out, err) = run(&["events", "--payload", "fields", "--format", "json", &file]);
        assert_eq!((status, json(&err)[0]["kind"].as_str()), (1, Some("fields")), "{err}");
        let undecoded = &json(&out)[1]["trace_logging"]["undecoded"];
        let (offset, data) = (undecoded["offset"].as_u64().unwrap() as usize, undecoded["data"].as_str().unwrap());
        assert_eq!(offset + data.len() / 2, length);
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        let (shown, _) = out.lines().last().unwrap().split_once("} undecoded ").unwrap();
        let opened = shown.chars().filter(|character| *character == '{').count();
        assert_eq!(opened, 1 + shown.chars().filter(|character| *character == '}').count(), "{shown}");
    }
    let file = folder.file("b.etl", whole.trace());
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    assert_eq!(json(&out)[1]["trace_logging"].get("undecoded"), None::<&Value>);
}
