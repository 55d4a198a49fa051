//! The output of a consumer on Windows for the events of traces. The tables are in the folder `expected` of the traces.

use etw_layouts_etl::payload::{Data, MapKind, Value};
use std::collections::BTreeMap;

/// A row: the output for one event.
pub struct Row {
    pub name: String,
    pub payload: String,
    pub fields: Vec<(String, String)>,
}

/// The rows of a table by buffer and offset, either of kernel events or of other events.
pub fn rows(text: &str, is_kernel: bool) -> BTreeMap<(u32, u32), Row> {
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |line: &[&str], name: &str| line[head.iter().position(|column| *column == name).unwrap()].to_owned();
    lines
        .filter(|line| column(line, "header").starts_with("EVENT_HEADER") != is_kernel)
        .map(|line| {
            let place = (column(&line, "buffer").parse().unwrap(), column(&line, "offset").parse().unwrap());
            let fields = serde_json::from_str(&column(&line, "fields")).unwrap();
            (place, Row { name: column(&line, "name"), payload: column(&line, "payload_hex"), fields })
        })
        .collect()
}

/// Whether a value equals the printed text. If the text is truncated, only its beginning is compared.
pub fn is_equal(value: &Value<'_>, printed: &str) -> bool {
    let (printed, is_cut) = printed.strip_suffix("...").map_or((printed, false), |part| (part, true));
    let is = |text: &str| if is_cut { text.starts_with(printed) } else { text == printed };
    let data = value.data();
    if let Data::FileTime(_) = data {
        // The consumer prints local time. Only minutes and seconds are comparable.
        let text = data.to_string();
        return printed.split_once(':').is_some_and(|(_, printed)| text[14..].starts_with(printed));
    }
    // The consumer uses another separator for flags, and prints None for a number without flags.
    if is(data.to_string().trim()) || is(&value.to_string()) || is(&value.to_string().replace('|', ", ")) {
        return true;
    }
    if value.map.is_some_and(|map| map.kind() == MapKind::Flags) && value.number() == Some(0) && is("None") {
        return true;
    }
    let Some(number) = value.number() else { return false };
    let signed = if value.bytes.len() == 4 { i64::from(number as i32) } else { number as i64 };
    let truth = if number == 0 { "False" } else { "True" };
    is(&grouped(number.to_string()))
        || is(&grouped(signed.to_string()))
        || is(&format!("{number:#010x}"))
        || number < 2 && is(truth)
}

/// Groups digits by three.
fn grouped(digits: String) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
