//! Valid and invalid manifests.

use crate::describe::describe;
use etw_layouts_schemas::manifest;

const KINDS: &str = include_str!("manifests/kinds.man");

#[test]
fn every_kind_of_definition() {
    let schemas = manifest::read(KINDS.as_bytes()).unwrap();
    let expected = include_str!("manifests/kinds.txt");
    let text = describe(&schemas);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests/kinds.txt"), &text).unwrap();
    } else {
        assert_eq!(text, expected);
    }
}

/// UTF-16 in both byte orders, with and without a byte order mark, and UTF-8 with one.
#[test]
fn encodings() {
    let expected = manifest::read(KINDS.as_bytes()).unwrap();
    let text = KINDS.replace("encoding=\"UTF-8\"", "encoding=\"UTF-16\"");
    let encoded = |mark: bool, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let mark = mark.then_some(0xFEFF);
        mark.into_iter().chain(text.encode_utf16()).flat_map(unit).collect()
    };
    let utf8 = ["\u{FEFF}", KINDS].concat().into_bytes();
    for bytes in [utf8, encoded(true, u16::to_le_bytes), encoded(true, u16::to_be_bytes), encoded(false, u16::to_le_bytes)] {
        assert_eq!(manifest::read(&bytes).unwrap(), expected);
    }
}

/// Inputs without any provider, with the line and the beginning of the message.
#[test]
fn refused() {
    let bomb = "<!DOCTYPE e [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<events><provider name=\"&b;\"/></events>";
    let deep = "<a>".repeat(100_000);
    let wide = format!("<events {}/>", "a=\"\" ".repeat(100_000));
    let many = format!("<events>{}</events>", "<a/>".repeat(1 << 21));
    let cases: [(&[u8], &str); 12] = [
        (b"", "line 1: no provider"),
        (b"<events><provider/></events>", "line 1: provider without the attribute `guid`"),
        (b"<events>\n<provider guid='{1}'/></events>", "line 2: invalid GUID of a provider: `{1}`"),
        (b"<events>\n\n<provider", "line 3: malformed XML"),
        (b"<events>\n</event>", "line 2: malformed XML"),
        (b"<events>\n<a>", "line 2: truncated XML"),
        (b"<e a='\xFF'/>", "line 1: not UTF-8"),
        (b"<events>\n<provider name='&b;' guid=''/></events>", "line 2: unreadable value of the attribute name"),
        (bomb.as_bytes(), "line 1: unsupported document type definition"),
        (deep.as_bytes(), "line 1: elements nested too deeply"),
        (wide.as_bytes(), "line 1: too many attributes"),
        (many.as_bytes(), "line 1: too many elements"),
    ];
    for (input, expected) in cases {
        let error = manifest::read(input).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}, not {expected}");
    }
}

/// An error in a manifest leaves out only the part with the error.
#[test]
fn left_out() {
    let whole = manifest::read(KINDS.as_bytes()).unwrap();
    let cases = [
        // Text, replacement, error, number of remaining events, number of events with known fields.
        ("value=\"0x2\" task", "value=\"0x10002\" task", "line 60: invalid ID of an event: `0x10002`; correct it", 3, 3),
        ("level=\"Chatty\"", "level=\"Quiet\"", "line 60: undefined level `Quiet` of an event; define it", 4, 4),
        ("template=\"All\"", "template=\"None\"", "line 58: undefined template `None` of an event; define it", 4, 3),
        ("inType=\"win:UInt8\" map", "inType=\"win:Int9\" map", "line 42: unknown inType `win:Int9`", 4, 3),
        ("length=\"Size\"", "length=\"Later\"", "line 39: invalid length: `Later` is not an earlier field", 4, 3),
        ("length=\"Size\"", "", "line 40: missing length: binary data `Bytes` is not the last field; add a length", 4, 3),
        ("count=\"3\"", "count=\"65536\"", "line 43: count too large: `65536`", 4, 3),
        ("map=\"State\"", "map=\"Stat\"", "line 41: unknown map `Stat`; define it", 4, 3),
        ("<valueMap name=\"State\">", "<valueMap>", "line 27: valueMap without the attribute `name`; add it", 4, 3),
        ("id=\"State.Open\"", "id=\"State.Ajar\"", "line 29: undefined string `State.Open` in a message", 4, 4),
        ("mask=\"0x1\"", "mask=\"one\"", "line 24: keyword without a name or number", 4, 4),
        ("channel=\"SYS\"", "channel=\"SUS\"", "line 61: undefined channel `SUS` of an event; define it", 4, 4),
    ];
    for (found, replacement, error, events, fields) in cases {
        let text = KINDS.replacen(found, replacement, 1);
        assert_ne!(text, KINDS, "{found}");
        let schemas = manifest::read(text.as_bytes()).unwrap();
        assert!(schemas.errors[0].to_string().starts_with(error), "{}, not {error}", schemas.errors[0]);
        let provider = &schemas.providers[0];
        assert_eq!(provider.events.len(), events, "{found}");
        assert_eq!(provider.events.iter().filter(|event| event.fields.is_some()).count(), fields, "{found}");
        let same = provider.events.iter().filter(|event| whole.providers[0].events.contains(event)).count();
        assert!(same >= 3, "{found}: {same} events are as before");
    }
}

/// A large template that many events repeat exceeds the limit, and needs no memory.
#[test]
fn repeated_template() {
    let data: String = (0..10_000).map(|number| format!("<data name=\"a{number}\" inType=\"win:Int8\"/>")).collect();
    let events: String = (0..10_000).map(|number| format!("<event value=\"{number}\" template=\"T\"/>")).collect();
    let text = format!(
        "<events><provider guid=\"{{11111111-2222-3333-4444-555555555555}}\">\n<templates><template tid=\"T\">{data}</template></templates>\
         <events>{events}</events></provider></events>"
    );
    let error = manifest::read(text.as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("line 1: schemas too large"), "{error}");
}
