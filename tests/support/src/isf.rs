//! An example table with every kind of content.

use etw_layouts_symbols::{SymbolTable, isf};
use serde_json::{Value, json};

/// The table, as a faithful producer writes it.
pub fn table() -> Value {
    json!({
        "metadata": {
            "format": "6.1.0",
            "producer": {"name": "volatility3", "version": "2.7.0"},
            "windows": {"pdb": {
                "GUID": "0123456789ABCDEF0123456789ABCDEF", "age": 2, "database": "ntkrnlmp.pdb", "machine_type": 34404
            }}
        },
        "base_types": {
            "void": base("void", 0, true),
            "char": base("char", 1, true),
            "unsigned char": base("char", 1, false),
            "unsigned short": base("int", 2, false),
            "wchar": base("int", 2, true),
            "int": base("int", 4, true),
            "unsigned int": base("int", 4, false),
            "long": base("int", 4, true),
            "unsigned long": base("int", 4, false),
            "HRESULT": base("int", 4, false),
            "unsigned long long": base("int", 8, false),
            "double": base("float", 8, true),
            "bool8": base("bool", 1, false),
            "pointer": base("int", 8, false)
        },
        "symbols": {"NtBuildNumber": {"address": 4096}},
        "enums": {
            "_STATE": {"base": "int", "size": 4, "constants": {"StateFree": 0, "StateBusy": 1, "StateLast": 1, "StateBad": -1}},
            "MODE": {"base": "unsigned long", "size": 4, "constants": {"ModeOff": 0}},
            "__unnamed_9": {"base": "int", "size": 4, "constants": {"Left": 1}}
        },
        "user_types": {
            "_LOGGER": {"kind": "struct", "size": 0x90, "fields": {
                "Id": {"offset": 0, "type": named("base", "unsigned long")},
                "Number": {"offset": 4, "type": named("base", "int")},
                "Letters": {"offset": 8, "type": array(4, named("base", "char"))},
                "Count": {"offset": 12, "type": named("base", "unsigned int")},
                "Clock": {"offset": 16, "type": pointer(json!({"kind": "function"}))},
                "Thread": {"offset": 24, "type": pointer(named("struct", "_THREAD"))},
                "Context": {"offset": 32, "type": pointer(named("base", "void"))},
                "Hidden": {"offset": 40, "type": pointer(named("struct", "__unnamed_1"))},
                "Kind": {"offset": 48, "type": bits(0, 3, named("base", "unsigned long long"))},
                "Frequency": {"offset": 48, "type": bits(3, 61, named("base", "unsigned long long"))},
                "List": {"offset": 56, "type": named("struct", "_LIST")},
                "State": {"offset": 72, "type": named("enum", "_STATE")},
                "Modes": {"offset": 76, "type": array(3, named("enum", "MODE"))},
                "u": {"offset": 88, "type": named("union", "__anonymous_10db")},
                "Grid": {"offset": 96, "type": array(2, array(4, named("base", "unsigned char")))},
                "Sides": {"offset": 104, "type": array(2, named("enum", "__unnamed_9"))},
                "Text": {"offset": 112, "type": pointer(named("base", "wchar"))},
                "Result": {"offset": 120, "type": named("base", "HRESULT")},
                "Ratio": {"offset": 128, "type": named("base", "double")},
                "Flag": {"offset": 136, "type": named("base", "bool8")}
            }},
            "_LIST": {"kind": "struct", "size": 16, "fields": {
                "Next": {"offset": 0, "type": pointer(named("struct", "_LIST"))},
                "": {"offset": 8, "type": named("union", "__unnamed_2")}
            }},
            "__unnamed_1": {"kind": "struct", "size": 4, "fields": {}},
            "__unnamed_2": {"kind": "union", "size": 8, "fields": {
                "Last": {"offset": 0, "type": pointer(named("struct", "_LIST"))},
                "unnamed_field_1": {"anonymous": true, "offset": 4, "type": named("struct", "__unnamed_3")}
            }},
            "__unnamed_3": {"kind": "struct", "size": 4, "fields": {
                "Low": {"offset": 0, "type": named("base", "unsigned short")},
                "High": {"offset": 2, "type": named("base", "unsigned short")}
            }},
            "__anonymous_10db": {"kind": "union", "size": 8, "fields": {
                "Whole": {"offset": 0, "type": named("base", "unsigned long long")},
                "s": {"offset": 0, "type": named("struct", "__unnamed_3")}
            }},
            "_THREAD": {"kind": "struct", "size": 0x500, "fields": {}}
        }
    })
}

pub fn named(kind: &str, name: &str) -> Value {
    json!({"kind": kind, "name": name})
}

pub fn pointer(subtype: Value) -> Value {
    json!({"kind": "pointer", "subtype": subtype})
}

pub fn array(count: i64, subtype: Value) -> Value {
    json!({"kind": "array", "count": count, "subtype": subtype})
}

pub fn bits(position: u32, width: u32, unit: Value) -> Value {
    json!({"kind": "bitfield", "bit_position": position, "bit_length": width, "type": unit})
}

fn base(kind: &str, size: u64, signed: bool) -> Value {
    json!({"kind": kind, "size": size, "signed": signed, "endian": "little"})
}

/// The table with changes. Each change has a JSON pointer; `null` removes the value.
pub fn changed(changes: &[(&str, Value)]) -> Value {
    let mut table = table();
    for (place, value) in changes {
        let (parent, key) = place.rsplit_once('/').unwrap();
        let parent = table.pointer_mut(parent).unwrap_or_else(|| panic!("{place} is not in the table")).as_object_mut().unwrap();
        match value {
            Value::Null => parent.remove(key),
            value => parent.insert(key.to_owned(), value.clone()),
        };
    }
    table
}

/// Reads `LOGGER` and the types that it embeds.
pub fn read(table: &Value) -> Result<SymbolTable, isf::Error> {
    isf::read(table.to_string().as_bytes(), &isf::Wanted::from_iter(["LOGGER"]))
}
