//! The table of all events, with their fields as JSON.

use crate::dictionary::Dictionary;
use crate::keys::{Key, Keys, Names};
use crate::kinds::Kinds;
use crate::options::Payload;
use crate::schema;
use crate::table::{Batch, Kind, Table, names_of};
use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int32Builder, StringBuilder, UInt8Builder, UInt16Builder, UInt32Builder};
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::payload::Fault;
use etw_layouts_etl::text::fields::{self, Style};
use etw_layouts_etl::{Clock, Decoded, Event, Schemas, names};
use std::sync::Arc;

/// The rows of the table that are not in a batch yet.
#[derive(Debug)]
pub(crate) struct Narrow {
    table: Arc<Table>,
    payloads: Payload,
    keys: Keys,
    provider: Int32Builder,
    event: Int32Builder,
    task: UInt16Builder,
    channel: UInt8Builder,
    flags: UInt16Builder,
    header: Int32Builder,
    size: UInt32Builder,
    payload_size: UInt32Builder,
    source: Int32Builder,
    fields: StringBuilder,
    payload: BinaryBuilder,
    own: OwnNames,
    kinds: Kinds<(i32, i32)>,
    /// Bytes of text and payloads.
    bytes: usize,
    json: Vec<u8>,
}

/// Names that only this table has.
#[derive(Debug, Default)]
struct OwnNames {
    providers: Dictionary,
    events: Dictionary,
    headers: Dictionary,
    sources: Dictionary,
}

impl Narrow {
    pub fn new(payloads: Payload) -> Self {
        let always = |name, ty| Field::new(name, ty, false);
        let field = |name, ty| Field::new(name, ty, true);
        let mut columns = Keys::fields();
        columns.extend([
            always("provider", schema::name()),
            always("event", schema::name()),
            field("task", DataType::UInt16),
            field("channel", DataType::UInt8),
            field("flags", DataType::UInt16),
            always("header", schema::name()),
            always("size", DataType::UInt32),
            always("payload_size", DataType::UInt32),
            field("source", schema::name()),
            field("fields", DataType::Utf8),
            field("payload", DataType::Binary),
        ]);
        let schema = schema::table("events", columns, &[]);
        Self {
            table: Arc::new(Table { kind: Kind::Events, schema, layout: 0 }),
            payloads,
            keys: Keys::default(),
            provider: Int32Builder::with_capacity(0),
            event: Int32Builder::with_capacity(0),
            task: UInt16Builder::with_capacity(0),
            channel: UInt8Builder::with_capacity(0),
            flags: UInt16Builder::with_capacity(0),
            header: Int32Builder::with_capacity(0),
            size: UInt32Builder::with_capacity(0),
            payload_size: UInt32Builder::with_capacity(0),
            source: Int32Builder::with_capacity(0),
            fields: StringBuilder::new(),
            payload: BinaryBuilder::new(),
            own: OwnNames::default(),
            kinds: Kinds::default(),
            bytes: 0,
            json: Vec::new(),
        }
    }

    pub fn table(&self) -> Arc<Table> {
        self.table.clone()
    }

    /// Adds an event. Returns the fault if its payload is not decoded to its last byte.
    pub fn add(
        &mut self,
        event: &Event<'_>,
        key: &Key,
        decoded: Option<&Decoded<'_>>,
        schemas: &Schemas,
        clock: &Clock,
    ) -> Option<Fault> {
        self.keys.add(event, key);
        let own = &mut self.own;
        let (provider, name) = self.kinds.get(event, decoded, || {
            let (provider, name) = names_of(event, schemas);
            (own.providers.add(&provider), own.events.add(&name))
        });
        self.provider.append_value(provider);
        self.event.append_value(name);
        self.task.append_option(event.task());
        self.channel.append_option(event.channel());
        self.flags.append_option(event.flags().map(|flags| flags.0));
        self.header.append_value(self.own.headers.add(event.header_type().name()));
        self.size.append_value(event.bytes().len() as u32);
        self.payload_size.append_value(event.payload().len() as u32);
        self.source.append_option(decoded.map(|decoded| self.own.sources.add(names::source(decoded.source()))));
        let is_json = self.payloads == Payload::Json;
        let fault = match decoded.filter(|_| is_json) {
            Some(decoded) => {
                self.json.clear();
                let fault = fields::fields(&decoded.fields, Some(clock), Style::Json, &mut self.json);
                match std::str::from_utf8(&self.json) {
                    Ok(json) => self.fields.append_value(json),
                    Err(_) => self.fields.append_value(String::from_utf8_lossy(&self.json)),
                }
                self.bytes += self.json.len();
                fault
            }
            None => {
                self.fields.append_null();
                None
            }
        };
        let is_kept = match self.payloads {
            Payload::Json => decoded.is_none() || fault.is_some(),
            Payload::Binary => true,
            Payload::None => false,
        };
        self.payload.append_option(is_kept.then(|| event.payload()));
        self.bytes += if is_kept { event.payload().len() } else { 0 };
        fault
    }

    /// Another trace begins, whose schemas are others.
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

    /// Memory for names.
    pub fn names_size(&self) -> usize {
        let OwnNames { providers, events, headers, sources } = &self.own;
        providers.size() + events.size() + headers.size() + sources.size()
    }

    /// Forgets all names. There must be no rows.
    pub fn forget_names(&mut self) {
        self.own = OwnNames::default();
        self.kinds.forget();
    }

    /// The rows so far, which are removed.
    pub fn take(&mut self, names: &mut Names) -> Result<Batch, ArrowError> {
        self.bytes = 0;
        let mut columns = self.keys.take(names)?;
        columns.extend([
            self.own.providers.column(self.provider.finish())?,
            self.own.events.column(self.event.finish())?,
            Arc::new(self.task.finish()),
            Arc::new(self.channel.finish()),
            Arc::new(self.flags.finish()),
            self.own.headers.column(self.header.finish())?,
            Arc::new(self.size.finish()),
            Arc::new(self.payload_size.finish()),
            self.own.sources.column(self.source.finish())?,
            Arc::new(self.fields.finish()),
            Arc::new(self.payload.finish()),
        ]);
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}
