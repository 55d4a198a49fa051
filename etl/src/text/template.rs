//! The fields of a kind of event as JSON, with keys and punctuation written in advance.

use super::fields::{self, Members};
use super::recent::Recent;
use super::{put, values};
use crate::clock::Clock;
use crate::plan::Plan;
use crate::text::Style;
use etw_layouts_payload::{Cursor, Fault, FieldList, InType, OutType, Part, PointerSize, Slot, Uuid};
use std::ops::Range;

/// The JSON of the fields of a schema, for payloads with pointers of one size: text with holes for values.
#[derive(Debug)]
pub struct Template {
    plan: Plan,
    /// A hole for each slot of the plan.
    holes: Vec<Hole>,
    /// The keys of all holes, with the punctuation before and after them.
    keys: Vec<u8>,
}

#[derive(Debug)]
struct Hole {
    /// The range of its key.
    key: Range<usize>,
    form: Form,
    has_map: bool,
    /// The number of the field, for [`Recent`].
    field: u64,
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
enum Form {
    Unsigned,
    Signed,
    Hexadecimal,
    /// A text of characters with this number of bytes each.
    Text(u8),
    Guid,
    /// A system time.
    Time,
    /// A number with few values, such as one with names: its text is kept.
    Recent,
    Other,
}

impl Template {
    /// The template of a schema.
    pub fn new(list: &FieldList<'_>, pointers: PointerSize, recent: &mut Recent) -> Self {
        let (plan, mut keys, mut members) = (Plan::new(list, pointers), Vec::new(), Members::default());
        let mut holes = Vec::with_capacity(plan.slots.len());
        for (field, slot) in list.iter().zip(&plan.slots) {
            let start = keys.len();
            keys.extend_from_slice(if start == 0 { b"" } else { b"," });
            fields::key(&mut members, field.name, &mut keys);
            keys.push(b':');
            let has_map = field.map.is_some();
            holes.push(Hole { key: start..keys.len(), form: Form::of(slot, has_map), has_map, field: recent.field() });
        }
        Self { plan, holes, keys }
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        self.keys.len() + self.plan.size() + size_of_val(self.holes.as_slice())
    }

    /// Writes the fields as a JSON object, the same as [`fields`](fields::fields). `list` returns the schema. Returns the fault if the payload is not
    /// decoded to its last byte.
    pub fn write<'a>(
        &self,
        list: impl Fn() -> FieldList<'a>,
        payload: &'a [u8],
        clock: Option<&Clock>,
        recent: &mut Recent,
        out: &mut Vec<u8>,
    ) -> Option<Fault> {
        out.push(b'{');
        let mut cursor = self.plan.read(payload);
        for (index, (slot, hole)) in self.plan.slots.iter().zip(&self.holes).enumerate() {
            let part = cursor.next(slot);
            if matches!(part, Some(Part::Value(_) | Part::Array(..))) {
                out.extend_from_slice(self.keys.get(hole.key.clone()).unwrap_or_default());
            }
            match part {
                Some(Part::Value(value)) => hole.write(slot, value, &list, clock, recent, out),
                Some(Part::Array(elements, size)) => {
                    out.push(b'[');
                    for (index, element) in elements.chunks_exact(size).enumerate() {
                        out.extend_from_slice(if index > 0 { b"," } else { b"" });
                        hole.write(slot, element, &list, clock, recent, out);
                    }
                    out.push(b']');
                }
                Some(Part::End) => {
                    out.push(b'}');
                    return None;
                }
                None => return self.rest(index, &cursor, list(), clock, out),
            }
        }
        if !self.plan.is_whole() {
            return self.rest(self.holes.len(), &cursor, list(), clock, out);
        }
        out.push(b'}');
        cursor.end()
    }

    /// Writes the fields from an index on, step by step.
    #[inline(never)]
    fn rest<'a>(
        &self,
        index: usize,
        cursor: &Cursor<'a>,
        list: FieldList<'a>,
        clock: Option<&Clock>,
        out: &mut Vec<u8>,
    ) -> Option<Fault> {
        let mut members = Members::default();
        for field in list.iter().take(index) {
            members.add(field.name);
        }
        fields::members(&mut self.plan.steps(cursor, list, index), members, index == 0, clock, Style::Json, out)
    }
}

impl Hole {
    #[inline]
    fn write<'a>(
        &self,
        slot: &Slot,
        bytes: &'a [u8],
        list: &impl Fn() -> FieldList<'a>,
        clock: Option<&Clock>,
        recent: &mut Recent,
        out: &mut Vec<u8>,
    ) {
        match self.form {
            Form::Unsigned => put::number(out, number(bytes)),
            Form::Signed => {
                let shift = 64 - 8 * bytes.len().min(8) as u32;
                put::number(out, (number(bytes) << (shift & 63)) as i64 >> (shift & 63));
            }
            Form::Hexadecimal => {
                out.push(b'"');
                put::hexadecimal(out, number(bytes));
                out.push(b'"');
            }
            Form::Text(size) if put::json_ascii(out, bytes, size.into()) => {}
            Form::Guid => {
                out.push(b'"');
                put::guid(out, Uuid::from_bytes_le(bytes.try_into().unwrap_or_default()));
                out.push(b'"');
            }
            Form::Time => {
                out.push(b'"');
                recent.times.put(out, number(bytes) as i64, false);
                out.push(b'"');
            }
            Form::Recent => recent.put(self.field, number(bytes), out, |out| self.other(slot, bytes, list, clock, out)),
            Form::Text(_) | Form::Other => self.other(slot, bytes, list, clock, out),
        }
    }

    #[inline(never)]
    fn other<'a>(
        &self,
        slot: &Slot,
        bytes: &'a [u8],
        list: &impl Fn() -> FieldList<'a>,
        clock: Option<&Clock>,
        out: &mut Vec<u8>,
    ) {
        let map = if self.has_map { list().map(slot) } else { None };
        values::value(&slot.value(bytes).with_map(map), clock, Style::Json, out);
    }
}

impl Form {
    /// The form of the values of a field, as [`values::value`] writes them.
    fn of(slot: &Slot, has_map: bool) -> Self {
        let is_short = slot.size().is_some_and(|size| size <= 8) || slot.is_array();
        match (slot.in_type, slot.out_type) {
            (InType::GUID, _) => Self::Guid,
            // A text with characters other than ASCII is written by its type.
            (InType::UNICODESTRING | InType::MANIFEST_COUNTEDSTRING | InType::COUNTEDSTRING, _) => Self::Text(2),
            (InType::ANSISTRING | InType::MANIFEST_COUNTEDANSISTRING | InType::COUNTEDANSISTRING, _) => Self::Text(1),
            _ if has_map => {
                if is_short {
                    Self::Recent
                } else {
                    Self::Other
                }
            }
            (
                InType::UINT8 | InType::UINT16 | InType::UINT32 | InType::UINT64 | InType::SIZET,
                OutType::NULL | OutType::PID | OutType::TID,
            ) => Self::Unsigned,
            (InType::POINTER | InType::HEXINT32 | InType::HEXINT64, OutType::NULL)
            | (InType::UINT32 | InType::HEXINT32, OutType::HEXINT32)
            | (InType::UINT64 | InType::HEXINT64, OutType::HEXINT64) => Self::Hexadecimal,
            (InType::INT8 | InType::INT16 | InType::INT32 | InType::INT64, OutType::NULL) => Self::Signed,
            (InType::FILETIME, OutType::NULL | OutType::DATETIME) => Self::Time,
            (InType::UINT16 | InType::UINT32 | InType::BOOLEAN, _) if is_short => Self::Recent,
            _ => Self::Other,
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}
