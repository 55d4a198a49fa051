//! The table of all events, with their fields as JSON.

use crate::columns::{NameBuilder, columns};
use crate::dictionary::Dictionary;
use crate::keys::{Key, Keys, Names};
use crate::kinds::{Decoding, list};
use crate::options::Payload;
use crate::schema;
use crate::table::{Batch, Kind, Table, names_of};
use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, StringBuilder, UInt8Builder, UInt16Builder, UInt32Builder};
use arrow_schema::ArrowError;
use etw_layouts_etl::names::source as source_name;
use etw_layouts_etl::payload::Fault;
use etw_layouts_etl::text::{Recent, Style, Template, fields};
use etw_layouts_etl::{Clock, Event, Kinds, Schemas};
use std::sync::Arc;

/// The rows of the table that are not in a batch yet.
#[derive(Debug)]
pub(crate) struct Narrow {
    table: Arc<Table>,
    payloads: Payload,
    keys: Keys,
    columns: Columns,
    names: OwnNames,
    kinds: Kinds<Properties>,
    /// Bytes of text and payloads.
    bytes: usize,
    json: Vec<u8>,
    recent: Recent,
}

/// The properties of a kind of event: numbers of names, and its fields.
#[derive(Debug)]
struct Properties {
    provider: i32,
    event: i32,
    header: i32,
    source: Option<i32>,
    decoding: Decoding,
    /// The fields as JSON.
    fields: Option<Template>,
}

columns! {
    /// The columns of this table in addition to the key columns.
    struct Columns of OwnNames {
        provider: REQUIRED NameBuilder => providers,
        event: REQUIRED NameBuilder => events,
        task: OPTIONAL UInt16Builder,
        channel: OPTIONAL UInt8Builder,
        flags: OPTIONAL UInt16Builder,
        header: REQUIRED NameBuilder => headers,
        size: REQUIRED UInt32Builder,
        payload_size: REQUIRED UInt32Builder,
        source: OPTIONAL NameBuilder => sources,
        fields: OPTIONAL StringBuilder,
        payload: OPTIONAL BinaryBuilder,
    }
}

/// Dictionaries of this table.
#[derive(Debug, Default)]
struct OwnNames {
    providers: Dictionary,
    events: Dictionary,
    headers: Dictionary,
    sources: Dictionary,
}

impl Narrow {
    pub fn new(payloads: Payload) -> Self {
        let columns = [Keys::fields(), Columns::fields()].concat();
        let schema = schema::table("events", columns, &[]);
        Self {
            table: Arc::new(Table { kind: Kind::Events, schema, layout: 0 }),
            payloads,
            keys: Keys::default(),
            columns: Columns::default(),
            names: OwnNames::default(),
            kinds: Kinds::default(),
            bytes: 0,
            json: Vec::new(),
            recent: Recent::default(),
        }
    }

    pub fn table(&self) -> Arc<Table> {
        self.table.clone()
    }

    /// Adds an event. Returns the fault to report: its payload is not decoded to its last byte, or its schema is invalid.
    pub fn add(&mut self, event: &Event<'_>, key: &Key, schemas: &Schemas, clock: &Clock) -> Option<Fault> {
        self.keys.add(event, key);
        let (names, columns, recent) = (&mut self.names, &mut self.columns, &mut self.recent);
        let is_json = self.payloads == Payload::Json;
        let kind = self.kinds.get(event, || Properties::new(event, schemas, names, is_json.then_some(recent)));
        columns.provider.append_value(kind.provider);
        columns.event.append_value(kind.event);
        columns.task.append_option(event.task());
        columns.channel.append_option(event.channel());
        columns.flags.append_option(event.flags().map(|flags| flags.0));
        columns.header.append_value(kind.header);
        columns.size.append_value(event.bytes().len() as u32);
        columns.payload_size.append_value(event.payload().len() as u32);
        let has_fields = is_json && kind.decoding.source.is_some();
        let (mut fault, mut source) = (None, kind.source);
        self.json.clear();
        if let Some(template) = &kind.fields {
            let list = || list(event.decode_first(schemas));
            fault = template.write(list, event.payload(), Some(clock), &mut self.recent, &mut self.json);
        }
        if kind.decoding.is_disputed
            && (fault.is_some() || !is_json)
            && let Some(decoded) = event.decode(schemas)
        {
            source = Some(names.sources.add(source_name(decoded.source())));
            if is_json {
                self.json.clear();
                fault = fields::fields(&decoded.fields, Some(clock), Style::Json, &mut self.json);
            }
        }
        columns.source.append_option(source);
        match std::str::from_utf8(&self.json) {
            _ if !has_fields => columns.fields.append_null(),
            Ok(json) => columns.fields.append_value(json),
            Err(_) => columns.fields.append_value(String::from_utf8_lossy(&self.json)),
        }
        self.bytes += self.json.len();
        let is_kept = match self.payloads {
            Payload::Json => !has_fields || fault.is_some(),
            Payload::Binary => true,
            Payload::None => false,
        };
        columns.payload.append_option(is_kept.then(|| event.payload()));
        self.bytes += if is_kept { event.payload().len() } else { 0 };
        kind.decoding.reported(fault)
    }

    /// Begins another trace, which has other schemas.
    pub fn begin(&mut self) {
        self.kinds.forget();
    }

    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Bytes of text and payloads.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory for names, in bytes.
    pub fn names_size(&self) -> usize {
        let OwnNames { providers, events, headers, sources } = &self.names;
        providers.size() + events.size() + headers.size() + sources.size()
    }

    /// Discards all names. There must be no rows.
    pub fn forget_names(&mut self) {
        self.names = OwnNames::default();
        self.kinds.forget();
    }

    /// Removes and returns all rows.
    pub fn take(&mut self, names: &mut Names) -> Result<Batch, ArrowError> {
        self.bytes = 0;
        let columns = [self.keys.take(names)?, self.columns.take(&mut self.names)?].concat();
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}

impl Properties {
    /// The properties of the kind of an event, and their size in bytes.
    fn new(event: &Event<'_>, schemas: &Schemas, names: &mut OwnNames, recent: Option<&mut Recent>) -> (Self, usize) {
        let ((provider, name), decoded) = (names_of(event, schemas), event.decode_first(schemas));
        let decoding = Decoding::new(event, decoded.as_ref());
        let fields =
            decoded.zip(recent).map(|(decoded, recent)| Template::new(&decoded.schema.fields, decoded.fields.pointers, recent));
        let size = fields.as_ref().map_or(0, Template::size);
        let properties = Self {
            provider: names.providers.add(&provider),
            event: names.events.add(&name),
            header: names.headers.add(event.header_type().name()),
            source: decoding.source.map(|source| names.sources.add(source_name(source))),
            decoding,
            fields,
        };
        (properties, size)
    }
}
