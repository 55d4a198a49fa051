//! The parts of a JSON line that all events of a kind have in common.

use crate::column::Column;
use crate::line::{Line, Names, Payload};
use crate::payload;
use etw_layouts_etl::Kinds;
use etw_layouts_etl::payload::FieldList;
use etw_layouts_etl::text::fields::undecoded;
use etw_layouts_etl::text::put;
use etw_layouts_etl::text::{Recent, Style, Template};
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::wire::HOOK_ID;

/// Writes members of a JSON object: columns, each with its name.
macro_rules! members {
    ($line:expr, $names:expr, $out:expr, $($column:ident $name:literal),+) => {
        $(Column::$column.value($line).member(concat!(",\"", $name, "\":"), $names, $out);)+
    };
}
pub(crate) use members;

/// The kinds of events of a trace, for its schemas and one form of payloads.
#[derive(Default)]
pub struct LineKinds {
    /// The parts of lines by the kind of the event.
    pub kinds: Kinds<Kind>,
    /// Values that were written last.
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
    /// The kind of an event, and its size in bytes.
    pub fn new(line: &Line<'_>, names: &mut Names, recent: &mut Recent) -> (Self, usize) {
        let mut head = Vec::new();
        let (out, is_described) = (&mut head, line.event.flags().is_some());
        members!(
            line, names, out, Header "header", Provider "provider", ProviderName "provider_name", Event "event", Id "id",
            IdName "id_name", Version "version", Opcode "opcode", OpcodeName "opcode_name", Level "level", Keyword "keyword"
        );
        out.extend_from_slice(b",\"keyword_names\":[");
        for (index, name) in line.keyword_names().into_iter().enumerate() {
            out.extend_from_slice(if index > 0 { b"," } else { b"" });
            put::json(out, name.chars());
        }
        out.push(b']');
        members!(line, names, out, Task "task", TaskName "task_name", Channel "channel", Flags "flags", FlagsNames "flags_names");
        if !is_described {
            out.extend_from_slice(b",\"activity\":null,\"related\":null,\"items\":[]");
        }
        let fields = KindFields::compiled(line, recent);
        let size = head.len() + fields.as_ref().map_or(0, |fields| fields.schema.len() + fields.template.size());
        (Self { head, is_described, fields }, size)
    }
}

/// The list of an event without a schema.
const EMPTY: FieldList<'_> = FieldList::TraceLogging(&[]);

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
