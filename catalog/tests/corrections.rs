//! Corrections of the sources, compared with payloads of real events.

use etw_layouts_catalog::library;
use etw_layouts_payload::packed::EventKey;
use etw_layouts_payload::{PointerSize, Step};
use toml::{Table, Value};

const CORRECTIONS: &str = include_str!("../corrections.toml");

/// Each payload is decoded to its last byte by a corrected schema, with the stated values.
#[test]
fn payloads() {
    let corrections: Table = CORRECTIONS.parse().unwrap();
    let (mut decoded, mut without) = (0, Vec::new());
    for correction in corrections["correction"].as_array().unwrap() {
        let provider = correction["providers"][0].as_str().unwrap();
        let Some(payloads) = correction.get("payloads") else {
            without.push(format!("{provider}: {:?}", correction["evidence"][0]));
            continue;
        };
        for payload in payloads.as_array().unwrap() {
            decode(provider, payload);
            decoded += 1;
        }
    }
    assert_eq!((decoded, without.len()), (12, 2), "without a payload: {without:#?}");
}

fn decode(provider: &str, payload: &Value) {
    let number = |name: &str| payload.get(name).map_or(0, |value| value.as_integer().unwrap());
    let pointers = if number("bits") == 32 { PointerSize::Bits32 } else { PointerSize::Bits64 };
    let text = payload["bytes"].as_str().unwrap().as_bytes();
    let digits = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = text.chunks(2).map(digits).collect();
    let library = library();
    let provider = library.providers().find(|own| own.name() == provider).unwrap();
    let key = EventKey::from_id(number("id") as u16, number("version") as u8);
    let corrected = provider.find(key).filter(|variant| variant.origins().any(|origin| origin.name == "corrected by evidence"));
    let schema = corrected.filter_map(|variant| variant.schema()).find(|schema| schema.decode(&bytes, pointers).check().is_ok());
    let schema = schema.unwrap_or_else(|| panic!("no corrected schema decodes to the last byte: {payload:?}"));
    let fields = schema.decode(&bytes, pointers);
    for (name, value) in payload["values"].as_table().unwrap() {
        let is_named = |step: &Step<'_>| matches!(step, Step::Value(value) if value.name() == name.as_str());
        let step = fields.steps().map(Result::unwrap).find(is_named);
        let Some(Step::Value(own)) = step else { panic!("no field {name}: {payload:?}") };
        assert_eq!(own.to_string(), value.as_str().unwrap(), "{name}: {payload:?}");
    }
}

/// An event that a correction leaves out is not in the catalogue.
#[test]
fn left_out() {
    let corrections: Table = CORRECTIONS.parse().unwrap();
    for event in corrections["left_out"].as_array().unwrap() {
        let library = library();
        let provider = library.providers().find(|own| Some(own.name()) == event["provider"].as_str()).unwrap();
        let key = |version: i64| EventKey::from_id(event["id"].as_integer().unwrap() as u16, version as u8);
        let version = event["version"].as_integer().unwrap();
        assert!(provider.find(key(version)).next().is_none() && provider.find(key(version - 1)).next().is_some(), "{event:?}");
    }
}
