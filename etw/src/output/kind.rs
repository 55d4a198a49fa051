//! The parts of a JSON line that all events of a kind have in common.

use super::document::{header, name, number, text};
use super::fields::{self, undecoded};
use super::line::{self, Line, Names, Payload};
use super::{payload, put};
use etw_layouts_etl::Kinds;
use etw_layouts_etl::payload::FieldList;
use etw_layouts_etl::text::{Recent, Style, Template};
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::wire::{EVENT_HEADER_FLAG, HOOK_ID};

/// The kinds of events of a trace, for its schemas and one form of payloads.
#[derive(Default)]
pub struct LineKinds {
    pub kinds: Kinds<Kind>,
    pub recent: Recent,
}

/// A kind of event.
pub struct Kind {
    /// The members from `header` up to the first member that differs between events of the kind.
    pub head: Vec<u8>,
    /// Whether activities and items follow.
    pub is_described: bool,
    /// The fields, if [`payload::json`] would write them by a schema.
    pub fields: Option<KindFields>,
}

/// The fields of a kind.
pub struct KindFields {
    /// The source of the schema, with the key of the fields.
    schema: Vec<u8>,
    template: Template,
    /// Whether a payload that is not decoded to its last byte has another schema.
    is_disputed: bool,
    /// Whether a payload that is not decoded to its last byte is a fault.
    is_exact: bool,
    /// The fault to report otherwise.
    fault: Option<Fault>,
}

impl Kind {
    /// The kind of an event, without its fields.
    pub fn new(line: &Line<'_>, names: &mut Names) -> Self {
        let (event, mut head) = (line.event, Vec::new());
        let out = &mut head;
        text(out, b",\"header\":", Some(line::header(event)), header);
        text(out, b",\"provider\":", line.provider, put::guid);
        out.extend_from_slice(b",\"provider_name\":");
        fields::optional(out, line.provider_name());
        text(out, b",\"event\":", line.event_name(), |out, (provider, event)| {
            put::json_part(out, provider);
            out.push(b'/');
            put::json_part(out, event);
        });
        number(out, b",\"id\":", event.id());
        name(out, b",\"id_name\":", line.id_name());
        number(out, b",\"version\":", event.version());
        number(out, b",\"opcode\":", event.opcode());
        out.extend_from_slice(b",\"opcode_name\":");
        fields::optional(out, line.opcode_name());
        number(out, b",\"level\":", event.level());
        match event.flags() {
            Some(flags) => described(line, flags, names, out),
            None => out.extend_from_slice(
                b",\"keyword\":null,\"keyword_names\":[],\"task\":null,\"task_name\":null,\"channel\":null,\"flags\":null,\"flags_names\":null,\"activity\":null,\
                  \"related\":null,\"items\":[]",
            ),
        }
        Self { head, is_described: event.flags().is_some(), fields: None }
    }

    /// The kind of an event, and its size in bytes.
    pub fn compiled(line: &Line<'_>, names: &mut Names, recent: &mut Recent) -> (Self, usize) {
        let fields = KindFields::compiled(line, recent);
        let kind = Self { fields, ..Self::new(line, names) };
        let size = kind.head.len() + kind.fields.as_ref().map_or(0, |fields| fields.schema.len() + fields.template.size());
        (kind, size)
    }
}

/// The list of an event without a schema.
const EMPTY: FieldList<'_> = FieldList::TraceLogging(&[]);

/// Values that only an EVENT_HEADER has.
fn described(line: &Line<'_>, flags: EVENT_HEADER_FLAG, names: &mut Names, out: &mut Vec<u8>) {
    let event = line.event;
    text(out, b",\"keyword\":", event.keyword(), put::keyword);
    out.extend_from_slice(b",\"keyword_names\":[");
    for (index, name) in line.keyword_names().into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        put::json(out, name.chars());
    }
    number(out, b"],\"task\":", event.task());
    out.extend_from_slice(b",\"task_name\":");
    fields::optional(out, line.task_name());
    number(out, b",\"channel\":", event.channel());
    number(out, b",\"flags\":", Some(flags.0));
    name(out, b",\"flags_names\":", Some(names.flags(flags)));
}

impl KindFields {
    fn compiled(line: &Line<'_>, recent: &mut Recent) -> Option<Self> {
        let is_log_file = line.hook == Some(HOOK_ID::WMI_LOG_TYPE_HEADER.0);
        if line.payload != Some(Payload::Fields) || line.message.is_some() || is_log_file {
            return None;
        }
        let decoded = line.event.decode_first(line.schemas)?;
        let mut schema = Vec::new();
        payload::schema(line, &decoded, &mut schema);
        schema.extend_from_slice(b",\"fields\":");
        let template = Template::new(&decoded.schema.fields, decoded.fields.pointers, recent);
        let (is_disputed, is_exact) = (decoded.is_disputed, decoded.is_exact);
        Some(Self { schema, template, is_disputed, is_exact, fault: payload::reported(line, &decoded, None) })
    }

    /// Writes members of a JSON object, as [`payload::json`]. Returns the fault if fields cannot be decoded.
    pub fn write(&self, line: &Line<'_>, recent: &mut Recent, out: &mut Vec<u8>) -> Option<Fault> {
        let (start, payload) = (out.len(), line.event.payload());
        out.extend_from_slice(&self.schema);
        let list = || line.event.decode_first(line.schemas).map_or(EMPTY, |decoded| decoded.schema.fields);
        let fault = self.template.write(list, payload, line.clock.as_ref(), recent, out);
        if fault.is_some() && self.is_disputed {
            out.truncate(start);
            return payload::json(line, out);
        }
        if let Some(fault) = &fault {
            undecoded(payload, fault, Style::Json, out);
        }
        fault.filter(|_| self.is_exact).or(self.fault)
    }
}
