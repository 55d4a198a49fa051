//! The bytes of an event record with the structure over them: members of its header by the layout of the build, extended items, and fields of its payload.

use etw_layouts::runtime::packed::Structure;
use etw_layouts::runtime::{Value, View};
use etw_layouts::{Arch, Build, structures};
use etw_layouts_etl::payload::Step;
use etw_layouts_etl::text::{Style, values};
use etw_layouts_etl::{Event, HeaderType, LogFile};
use etw_layouts_trace as trace;
use serde::Serialize;

/// The bytes of an event record.
#[derive(Serialize)]
pub(crate) struct RecordBytes {
    /// All bytes in hexadecimal digits, at most [`MAX_BYTES`].
    hex: String,
    /// Number of all bytes.
    size: usize,
    /// What is in the bytes, in the order of offsets.
    parts: Vec<Part>,
    /// What is not known or left out, as sentences.
    notes: Vec<String>,
}

/// A member, an item or a field in the bytes.
#[derive(Serialize)]
struct Part {
    /// Offset in the record, in bytes.
    offset: usize,
    /// Size in bytes.
    size: usize,
    /// The structure, or `payload`.
    of: String,
    name: String,
    #[serde(rename = "type")]
    ty: String,
    value: String,
}

/// Maximum number of bytes that are shown. A record has at most 64 KB, except after damage.
const MAX_BYTES: usize = 1 << 16;

/// Maximum number of parts.
const MAX_PARTS: usize = 4096;

/// Maximum length of the text of a value, in bytes.
const MAX_TEXT: usize = 1024;

/// The bytes of an event with their structure.
pub(crate) fn record(event: &trace::Event<'_>) -> RecordBytes {
    let (header, log) = (event.header(), event.file().log_file());
    let bytes = header.bytes();
    let mut record = RecordBytes {
        hex: bytes.iter().take(MAX_BYTES).map(|byte| format!("{byte:02x}")).collect(),
        size: bytes.len(),
        parts: Vec::new(),
        notes: Vec::new(),
    };
    if bytes.len() > MAX_BYTES {
        record.notes.push(format!("Only the first {MAX_BYTES} bytes are shown."));
    }
    record.header(&header, log);
    for item in header.items() {
        if let Some(offset) = offset_in(bytes, item.data) {
            record.add(Part {
                offset,
                size: item.data.len(),
                of: "extended item".into(),
                name: format!("{:?}", item.ty).replace("EVENT_HEADER_EXT_TYPE_", ""),
                ty: String::new(),
                value: String::new(),
            });
        }
    }
    record.payload(event, &header, log);
    record.parts.sort_by_key(|part| part.offset);
    record
}

impl RecordBytes {
    fn add(&mut self, part: Part) {
        if self.parts.len() < MAX_PARTS {
            self.parts.push(Part { name: shortened(part.name), value: shortened(part.value), ..part });
        } else if self.parts.len() == MAX_PARTS && self.notes.iter().all(|note| !note.starts_with("More parts")) {
            self.notes.push(format!("More parts than {MAX_PARTS} are left out."));
        }
    }

    fn header(&mut self, event: &Event<'_>, log: &LogFile) {
        use HeaderType::{
            Compact32, Compact64, Event32, Event64, Full32, Full64, Instance32, Instance64, Message, PerfInfo32, PerfInfo64,
            System32, System64,
        };
        let bytes = &event.bytes()[..event.header_length().min(event.bytes().len())];
        match event.header_type() {
            System32 | System64 | Compact32 | Compact64 => self.structure(&structures::SYSTEM_TRACE_HEADER, bytes, 0, log),
            Full32 | Full64 => self.structure(&structures::EVENT_TRACE_HEADER, bytes, 0, log),
            Instance32 | Instance64 => self.structure(&structures::EVENT_INSTANCE_GUID_HEADER, bytes, 0, log),
            PerfInfo32 | PerfInfo64 => self.structure(&structures::PERFINFO_TRACE_HEADER, bytes, 0, log),
            Event32 | Event64 => self.structure(&structures::EVENT_HEADER, bytes, 0, log),
            Message => self.structure(&structures::MESSAGE_TRACE_HEADER, bytes, 0, log),
            other => self.notes.push(format!("The layout of a header of type {} is not known.", other.name())),
        }
    }

    /// Adds the members of a structure at an offset. Members after the end of the bytes are left out: short forms of headers lack them.
    fn structure<S>(&mut self, structure: &Structure<'static, S>, bytes: &[u8], offset: usize, log: &LogFile) {
        let [major, minor, ..] = log.version;
        let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
        let build = Build::new(major.into(), minor.into(), log.build, 0);
        let Ok(chosen) = structure.select(build, arch) else {
            self.notes.push(format!("No layout of {} is known for build {}.{}.{}.", structure.name, major, minor, log.build));
            return;
        };
        let mut padded = bytes.to_vec();
        padded.resize(padded.len().max(chosen.layout.size), 0);
        let Ok(view) = View::new(chosen.layout, &padded) else { return };
        for (member, value) in view.members().filter(|(member, _)| member.offset + member.size <= bytes.len()) {
            let bits = member.bits.map(|(lowest, count)| format!(" : {count} (bit {lowest})")).unwrap_or_default();
            self.add(Part {
                offset: offset + member.offset,
                size: member.size,
                of: structure.name.to_owned(),
                name: member.name.to_owned(),
                ty: format!("{}{bits}", member.c),
                value: shown(value),
            });
        }
    }

    fn payload(&mut self, event: &trace::Event<'_>, header: &Event<'_>, log: &LogFile) {
        let (payload, start) = (header.payload(), header.header_length());
        if LogFile::read(header).is_some() {
            return self.structure(&structures::TRACE_LOGFILE_HEADER, payload, start, log);
        }
        let Some(decoded) = event.decode() else {
            if !payload.is_empty() {
                self.notes.push("No schema is known for the payload.".into());
            }
            return;
        };
        let mut steps = decoded.fields.steps();
        let (mut at, mut path) = (0, Vec::<Open>::new());
        while let Some(step) = steps.next() {
            let end = payload.len() - steps.rest().len();
            match step {
                Ok(Step::Value(value)) => {
                    let mut text = Vec::new();
                    values::value(&value, Some(event.file().clock()), Style::Text, &mut text);
                    let ty = steps.field().map(|field| format!("{:?}", field.in_type)).unwrap_or_default();
                    self.add(Part {
                        offset: start + at,
                        size: end - at,
                        of: "payload".into(),
                        name: path_of(&mut path, value.name()),
                        ty,
                        value: String::from_utf8_lossy(&text).into_owned(),
                    });
                }
                Ok(Step::Structure(field)) => {
                    let name = path_of(&mut path, field.name);
                    path.push(Open::Structure(name));
                }
                Ok(Step::Array(field, _)) => {
                    let name = path_of(&mut path, field.name);
                    path.push(Open::Array(name, 0));
                }
                Ok(Step::End) => _ = path.pop(),
                Err(fault) => self.notes.push(format!("The payload is not decoded to its end: {fault}.")),
            }
            at = end;
        }
        if at < payload.len() {
            self.add(Part {
                offset: start + at,
                size: payload.len() - at,
                of: "payload".into(),
                name: "not decoded".into(),
                ty: String::new(),
                value: String::new(),
            });
        }
    }
}

/// An open structure or array of a payload, with its path.
enum Open {
    Structure(String),
    /// With the index of the next element.
    Array(String, u32),
}

/// The path of the next value with a name.
fn path_of(open: &mut [Open], name: &str) -> String {
    match open.last_mut() {
        None => name.to_owned(),
        Some(Open::Structure(path)) => format!("{path}.{name}"),
        Some(Open::Array(path, next)) => {
            *next += 1;
            format!("{path}[{}]", *next - 1)
        }
    }
}

/// A value of a member. Structures are shown by their bytes.
fn shown(value: Value<'_>) -> String {
    format!("{value:?}")
}

fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text
}

/// The offset of a part of `bytes`; `None` if it is not a part.
fn offset_in(bytes: &[u8], part: &[u8]) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    (offset + part.len() <= bytes.len()).then_some(offset)
}
