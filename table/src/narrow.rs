//! The table of all events, with their fields as JSON.

use crate::columns::{NameBuilder, TextBuilder, columns};
use crate::dictionary::Dictionary;
use crate::keys::{self, Key, Keys, Names};
use crate::kinds::{Decoding, address, list};
use crate::options::Payload;
use crate::schema;
use crate::table::{self, Batch, Table, names_of};
use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, UInt8Builder, UInt16Builder, UInt32Builder};
use arrow_schema::ArrowError;
use etw_layouts_etl::names::source as source_name;
use etw_layouts_etl::payload::Fault;
use etw_layouts_etl::text::{Recent, Template};
use etw_layouts_etl::{Clock, Decoded, Event, Kinds, Schemas};
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
    /// The values that all events of a kind have, by the number of the kind.
    kind_keys: Vec<keys::Kind>,
    kind_columns: Vec<Kind>,
    /// The kind of each row.
    rows: Vec<u32>,
    /// Bytes of text and payloads.
    bytes: usize,
    recent: Recent,
}

/// The properties of a kind of event.
#[derive(Debug)]
struct Properties {
    number: u32,
    source: Option<i32>,
    decoding: Decoding,
    /// The fields as JSON.
    fields: Option<Template>,
    /// The same by other schemas, if sources disagree, with the addresses of the schemas.
    others: Vec<(u64, Template)>,
}

/// The values of columns that all events of a kind have.
#[derive(Clone, Copy, Debug)]
struct Kind {
    provider: Option<i32>,
    event: Option<i32>,
    task: Option<u16>,
    channel: Option<u8>,
    flags: Option<u16>,
    header: Option<i32>,
}

columns! {
    /// The columns of this table in addition to the key columns.
    struct Columns of OwnNames, Kind {
        provider: REQUIRED @kind NameBuilder => providers,
        event: REQUIRED @kind NameBuilder => events,
        task: OPTIONAL @kind UInt16Builder,
        channel: OPTIONAL @kind UInt8Builder,
        flags: OPTIONAL @kind UInt16Builder,
        header: REQUIRED @kind NameBuilder => headers,
        size: REQUIRED UInt32Builder,
        payload_size: REQUIRED UInt32Builder,
        source: OPTIONAL NameBuilder => sources,
        fields: OPTIONAL TextBuilder,
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
            table: Arc::new(Table { kind: table::Kind::Events, schema, layout: 0 }),
            payloads,
            keys: Keys::default(),
            columns: Columns::default(),
            names: OwnNames::default(),
            kinds: Kinds::default(),
            kind_keys: Vec::new(),
            kind_columns: Vec::new(),
            rows: Vec::new(),
            bytes: 0,
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
        let (keys, own) = (&mut self.kind_keys, &mut self.kind_columns);
        let kind = self.kinds.get(event, || {
            keys.push(keys::Kind::new(event, key));
            own.push(Kind::new(event, schemas, names));
            Properties::new(event, schemas, own.len() as u32 - 1, names, is_json.then_some(recent))
        });
        self.rows.push(kind.number);
        columns.size.append_value(event.bytes().len() as u32);
        columns.payload_size.append_value(event.payload().len() as u32);
        let has_fields = is_json && kind.decoding.source.is_some();
        let (mut fault, mut source) = (None, kind.source);
        let json = &mut columns.fields;
        if let Some(template) = &kind.fields {
            let list = || list(event.decode_first(schemas));
            fault = template.write(list, event.payload(), Some(clock), &mut self.recent, &mut json.bytes);
        }
        if kind.decoding.is_disputed
            && (fault.is_some() || !is_json)
            && let Some(decoded) = event.decode(schemas)
        {
            source = Some(names.sources.add(source_name(decoded.source())));
            if is_json {
                json.clear();
                let template = kind.other(&decoded, &mut self.recent);
                fault = template.write(|| decoded.schema.fields, event.payload(), Some(clock), &mut self.recent, &mut json.bytes);
            }
        }
        self.bytes += json.length();
        json.end(has_fields);
        columns.source.append_option(source);
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
        let kinds = size_of_val(&self.kind_keys[..]) + size_of_val(&self.kind_columns[..]);
        providers.size() + events.size() + headers.size() + sources.size() + kinds
    }

    /// Discards all names. There must be no rows.
    pub fn forget_names(&mut self) {
        self.names = OwnNames::default();
        self.kinds.forget();
        self.kind_keys.clear();
        self.kind_columns.clear();
    }

    /// Removes and returns all rows.
    pub fn take(&mut self, names: &mut Names) -> Result<Batch, ArrowError> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        let keys = self.keys.take(&rows, &self.kind_keys, names)?;
        let columns = [keys, self.columns.take(&rows, &self.kind_columns, &mut self.names)?].concat();
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}

impl Kind {
    fn new(event: &Event<'_>, schemas: &Schemas, names: &mut OwnNames) -> Self {
        let (provider, name) = names_of(event, schemas);
        Self {
            provider: Some(names.providers.add(&provider)),
            event: Some(names.events.add(&name)),
            task: event.task(),
            channel: event.channel(),
            flags: event.flags().map(|flags| flags.0),
            header: Some(names.headers.add(event.header_type().name())),
        }
    }
}

impl Properties {
    /// The properties of the kind of an event, and their size in bytes.
    fn new(
        event: &Event<'_>,
        schemas: &Schemas,
        number: u32,
        names: &mut OwnNames,
        recent: Option<&mut Recent>,
    ) -> (Self, usize) {
        let decoded = event.decode_first(schemas);
        let decoding = Decoding::new(event, decoded.as_ref());
        let fields =
            decoded.zip(recent).map(|(decoded, recent)| Template::new(&decoded.schema.fields, decoded.fields.pointers, recent));
        let size = fields.as_ref().map_or(0, Template::size);
        let properties = Self {
            number,
            source: decoding.source.map(|source| names.sources.add(source_name(source))),
            decoding,
            fields,
            others: Vec::new(),
        };
        (properties, size)
    }

    /// The template of an event that does not have the first schema.
    fn other(&mut self, decoded: &Decoded<'_>, recent: &mut Recent) -> &Template {
        let address = address(&decoded.schema.fields);
        let known = self.others.iter().position(|(own, _)| *own == address);
        let at = known.unwrap_or_else(|| {
            self.others.push((address, Template::new(&decoded.schema.fields, decoded.fields.pointers, recent)));
            self.others.len() - 1
        });
        &self.others[at].1
    }
}
