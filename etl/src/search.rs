//! Search in the values of payloads.

use crate::clock::Clock;
use crate::event::Event;
use crate::schemas::Schemas;
use crate::text::{Style, values};
use etw_layouts_payload::{Data, Text};
use std::fmt;
use std::sync::Arc;

/// A condition for the text of a value.
#[derive(Clone)]
pub(crate) struct TextTest(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl fmt::Debug for TextTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextTest")
    }
}

/// Whether for each of the conditions, the event has a text that meets it.
pub(crate) fn meets(tests: &[TextTest], event: &Event<'_>, schemas: &Schemas, clock: &Clock) -> bool {
    let mut is_met = vec![false; tests.len()];
    texts(event, schemas, clock, &mut |text| {
        for (TextTest(test), is_met) in tests.iter().zip(&mut is_met) {
            *is_met = *is_met || test(text);
        }
    });
    is_met.into_iter().all(|is_met| is_met)
}

/// Passes on each value as it is displayed, without quotes and escapes, and the texts in bytes that are not decoded.
fn texts(event: &Event<'_>, schemas: &Schemas, clock: &Clock, found: &mut impl FnMut(&str)) {
    let Some(decoded) = event.decode(schemas) else { return of_bytes(event.payload(), found) };
    let mut values = decoded.iter();
    for value in values.by_ref() {
        match value.data() {
            Data::Text(text) => found(&text.chars().collect::<String>()),
            data => {
                let mut text = Vec::new();
                values::bare(&value, Some(clock), Style::Text, &mut text);
                found(&String::from_utf8_lossy(&text));
                if let Data::Binary(bytes) = data {
                    of_bytes(bytes, found);
                }
            }
        }
    }
    of_bytes(values.rest(), found);
}

/// Passes on each part of the bytes without control characters: of single bytes, and of UTF-16 at even and at odd offsets.
fn of_bytes(bytes: &[u8], found: &mut impl FnMut(&str)) {
    let is_control = |unit: u16| unit < 0x20 && !matches!(unit, 9 | 10 | 13) || unit == 0x7F;
    for part in bytes.split(|byte| is_control((*byte).into())).filter(|part| !part.is_empty()) {
        found(&String::from_utf8_lossy(part));
    }
    for bytes in [bytes, bytes.get(1..).unwrap_or_default()] {
        let (units, _) = bytes.as_chunks::<2>();
        for part in units.split(|unit| is_control(u16::from_le_bytes(*unit))).filter(|part| !part.is_empty()) {
            found(&Text::Utf16(part.as_flattened()).chars().collect::<String>());
        }
    }
}
