//! A table for each kind of event, with fields as columns.

use crate::columns::{Column, NameBuilder};
use crate::dictionary::Dictionary;
use crate::keys::{self, Key, Keys, Names};
use crate::kinds::{Decoding, address, list};
use crate::layout::Layout;
use crate::node::{Filled, Node};
use crate::options::{BYTES, ROWS};
use crate::schema;
use crate::table::{Batch, Kind, Table, names_of};
use arrow_array::RecordBatch;
use arrow_array::builder::BinaryBuilder;
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::names::{other_than_class, source as source_name};
use etw_layouts_etl::payload::{Fault, Part, Steps};
use etw_layouts_etl::{Clock, Decoded, Event, Kinds, Plan, Schemas, Uuid};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The rows of all tables that are not in a batch yet.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    tables: Tables,
    /// Names of the sources of schemas.
    sources: Dictionary,
    kinds: Kinds<Properties>,
    /// The values of key columns of each kind, by its number.
    kind_keys: Vec<keys::Kind>,
    /// Approximate memory for the rows of all tables, in bytes.
    memory: usize,
    /// The table that has reached the maximum number of rows of a batch.
    full: Option<usize>,
}

/// All tables.
#[derive(Debug, Default)]
struct Tables {
    rows: Vec<Rows>,
    by_name: HashMap<(String, String), Vec<usize>>,
    /// The columns of events of the trace, by their providers and the names of their tables.
    layouts: HashMap<(Option<Uuid>, String), Layout>,
    /// The names that several events of a provider have, by the providers of the trace.
    shared_names: HashMap<Uuid, HashSet<String>>,
    /// Approximate memory for the tables without their rows, in bytes.
    size: usize,
}

/// The properties of a kind of event.
#[derive(Debug)]
struct Properties {
    number: u32,
    decoding: Decoding,
    /// The table by the schema that is tried first, and by other schemas if sources disagree.
    tables: Vec<Planned>,
}

/// A table with the fields of a schema.
#[derive(Debug)]
struct Planned {
    /// The address of the schema.
    schema: u64,
    table: usize,
    /// The index of the column of each field.
    columns: Vec<usize>,
    /// Whether all fields have columns.
    is_whole: bool,
    /// The number of the name of the schema's source.
    source: Option<i32>,
    /// `None` if there is no schema.
    plan: Option<Plan>,
}

#[derive(Debug)]
struct Rows {
    table: Arc<Table>,
    keys: Keys,
    /// The kind of each row.
    kinds: Vec<u32>,
    source: NameBuilder,
    /// The columns of the fields of all versions. A column that the latest event does not have can have fewer rows.
    nodes: Vec<Node>,
    /// The address of the schema of the latest event; `None` before the first event of a trace.
    schema: Option<u64>,
    payload: BinaryBuilder,
    /// Memory for a row without texts, in bytes.
    width: usize,
    /// Memory without rows, in bytes.
    size: usize,
    bytes: usize,
}

/// Maximum number of columns of the layouts that are kept.
const LAYOUTS: usize = 1 << 16;
/// Memory limit for rows, in bytes. If it is exceeded, the largest table becomes a batch.
const MEMORY: usize = 32 << 20;
/// Memory limit for tables without their rows, in bytes. If it is exceeded, all tables become batches and are discarded.
const TABLES: usize = 32 << 20;
/// Approximate memory for a table without fields, and for a column of a field, in bytes.
const TABLE: usize = 8 << 10;
const COLUMN: usize = 1 << 10;
/// Maximum number of values of an event.
const VALUES: usize = 1 << 20;

impl Typed {
    /// Adds an event. Returns the fault to report: its payload is not decoded to its last byte, or its schema is invalid.
    pub fn add(&mut self, event: &Event<'_>, key: &Key, schemas: &Schemas, clock: &Clock) -> Option<Fault> {
        let (tables, sources) = (&mut self.tables, &mut self.sources);
        let mut find = |decoded: Option<&Decoded<'_>>| tables.find(event, decoded, schemas);
        let keys = &mut self.kind_keys;
        let kind = self.kinds.get(event, || {
            keys.push(keys::Kind::new(event, key));
            Properties::new(event, schemas, keys.len() as u32 - 1, sources, &mut find)
        });
        let is_disputed =
            kind.decoding.is_disputed && !kind.tables[0].plan.as_ref().is_some_and(|plan| plan.fits(event.payload()));
        let decoded = if is_disputed { event.decode(schemas) } else { None };
        let at = if is_disputed { kind.by(decoded.as_ref(), sources, &mut find) } else { 0 };
        let planned = &kind.tables[at];
        let rows = &mut self.tables.rows[planned.table];
        let before = rows.bytes;
        let decode = || decoded.or_else(|| event.decode_first(schemas));
        let fault = rows.add(event, key, (kind.number, planned), decode, clock);
        self.memory += rows.width + rows.bytes - before;
        if rows.keys.len() >= ROWS || rows.bytes >= BYTES {
            self.full = Some(planned.table);
        }
        kind.decoding.reported(fault)
    }

    /// Begins another trace, which has other schemas.
    pub fn begin(&mut self) {
        self.kinds.forget();
        self.tables.rows.iter_mut().for_each(|rows| rows.schema = None);
        self.tables.layouts.clear();
        self.tables.shared_names.clear();
    }

    pub fn is_due(&self) -> bool {
        self.full.is_some() || self.memory > MEMORY || self.tables.size > TABLES
    }

    /// Memory for the names of kinds, in bytes.
    pub fn names_size(&self) -> usize {
        size_of_val(&self.kind_keys[..])
    }

    /// Discards all tables. There must be no rows.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Removes and returns the rows of the full table, or of the table that needs most memory. Without rows, tables that need much memory are
    /// discarded.
    pub fn take(&mut self, names: &mut Names) -> Result<Option<Batch>, ArrowError> {
        let most = || (0..self.tables.rows.len()).max_by_key(|number| self.tables.rows[*number].memory());
        match self.full.take().or_else(most) {
            Some(number) if self.tables.rows[number].keys.len() > 0 => {
                let rows = &mut self.tables.rows[number];
                self.memory = self.memory.saturating_sub(rows.memory());
                rows.take(&self.kind_keys, names, &mut self.sources).map(Some)
            }
            _ => {
                if self.tables.size > TABLES {
                    self.forget();
                }
                Ok(None)
            }
        }
    }
}

impl Properties {
    /// The properties of the kind of an event, and their size in bytes.
    fn new(
        event: &Event<'_>,
        schemas: &Schemas,
        number: u32,
        sources: &mut Dictionary,
        find: impl FnOnce(Option<&Decoded<'_>>) -> Found,
    ) -> (Self, usize) {
        let decoded = event.decode_first(schemas);
        let decoding = Decoding::new(event, decoded.as_ref());
        let first = Planned::new(decoded.as_ref(), sources, find);
        let size = first.plan.as_ref().map_or(0, Plan::size);
        (Self { number, decoding, tables: vec![first] }, size)
    }

    /// The index of the table by the schema of an event.
    fn by(
        &mut self,
        decoded: Option<&Decoded<'_>>,
        sources: &mut Dictionary,
        find: impl FnOnce(Option<&Decoded<'_>>) -> Found,
    ) -> usize {
        let schema = decoded.map_or(0, |decoded| address(&decoded.schema.fields));
        let known = self.tables.iter().position(|planned| planned.schema == schema);
        known.unwrap_or_else(|| {
            self.tables.push(Planned::new(decoded, sources, find));
            self.tables.len() - 1
        })
    }
}

impl Planned {
    fn new(decoded: Option<&Decoded<'_>>, sources: &mut Dictionary, find: impl FnOnce(Option<&Decoded<'_>>) -> Found) -> Self {
        let Found { table, columns, is_whole } = find(decoded);
        Self {
            schema: decoded.map_or(0, |decoded| address(&decoded.schema.fields)),
            table,
            columns,
            is_whole,
            source: decoded.map(|decoded| sources.add(source_name(decoded.source()))),
            plan: decoded.map(|decoded| Plan::new(&decoded.schema.fields, decoded.fields.pointers)),
        }
    }
}

/// The table of an event, and the columns of the fields of its schema.
struct Found {
    table: usize,
    columns: Vec<usize>,
    is_whole: bool,
}

impl Tables {
    /// The table of an event. It is created if it does not exist.
    fn find(&mut self, event: &Event<'_>, decoded: Option<&Decoded<'_>>, schemas: &Schemas) -> Found {
        let name = self.name(event, schemas);
        let mut own = Layout::default();
        // The event itself has its schema, or no source has one.
        let layout = if schemas.versions(event).is_empty() {
            decoded.into_iter().for_each(|decoded| own.add(&decoded.schema.fields));
            &own
        } else {
            self.layout(&name.1, event, schemas)
        };
        let (columns, is_whole) = decoded.map_or((Vec::new(), false), |decoded| layout.of(&decoded.schema.fields));
        let rows = Rows::new(&name, layout.nodes(Rows::taken()));
        let same = self.by_name.entry(name).or_default();
        let known = same.iter().find(|number| self.rows[**number].table.schema == rows.table.schema).copied();
        let table = known.unwrap_or_else(|| {
            self.size += rows.size + rows.table.schema.metadata().values().map(String::len).sum::<usize>();
            same.push(self.rows.len());
            self.rows.push(rows);
            self.rows.len() - 1
        });
        Found { table, columns, is_whole }
    }

    /// The columns of all versions of an event with this name.
    fn layout(&mut self, name: &str, event: &Event<'_>, schemas: &Schemas) -> &Layout {
        if self.layouts.values().map(Layout::len).sum::<usize>() > LAYOUTS {
            self.layouts.clear();
        }
        self.layouts.entry((event.provider(), name.to_owned())).or_insert_with(|| {
            let mut layout = Layout::default();
            schemas.versions(event).iter().for_each(|schema| layout.add(&schema.fields));
            layout
        })
    }

    /// The provider and event in the name of a table, unique for each event. If other events of the provider have the same name, the event
    /// ID is appended. If another provider has the name of a kernel event class, the source of its schemas is appended to the provider.
    fn name(&mut self, event: &Event<'_>, schemas: &Schemas) -> (String, String) {
        let (provider, mut name) = names_of(event, schemas);
        if let Some(variant) = schemas.variant(event) {
            let guid = variant.provider().guid();
            let find = || schemas.shared_names(guid).into_iter().map(str::to_owned).collect();
            if self.shared_names.entry(guid).or_insert_with(find).contains(&*name) {
                name = format!("{name}_{}", variant.id()).into();
            }
        }
        let source = other_than_class(event, &provider, schemas);
        (source.map_or_else(|| provider.to_string(), |source| format!("{provider} ({source})")), name.into_owned())
    }
}

impl Rows {
    /// Names that columns of fields must not have, in lower case.
    fn taken() -> HashSet<String> {
        let keys = Keys::fields();
        // The first two are the names of partition folders.
        ["provider", "event", "source", "payload"]
            .into_iter()
            .map(str::to_owned)
            .chain(keys.iter().map(|field| field.name().to_lowercase()))
            .collect()
    }

    fn new((provider, event): &(String, String), nodes: Vec<Node>) -> Self {
        let mut columns = Keys::fields();
        columns.push(NameBuilder::field("source", true));
        columns.extend(nodes.iter().flat_map(Node::fields));
        columns.push(Field::new("payload", DataType::Binary, true));
        let identity = identity(&format!("{:?}", (provider, event, &columns)));
        let more = [("etw.provider", provider.clone()), ("etw.event", event.clone())];
        let schema = schema::table(&format!("{provider}/{event}"), columns, &more);
        let kind = Kind::Event { provider: provider.clone(), event: event.clone() };
        Self {
            width: 120 + 12 * schema.fields().len(),
            size: TABLE + COLUMN * nodes.iter().map(Node::columns).sum::<usize>(),
            table: Arc::new(Table { kind, schema, layout: identity }),
            keys: Keys::default(),
            kinds: Vec::new(),
            source: NameBuilder::empty(),
            nodes,
            schema: None,
            payload: BinaryBuilder::new(),
            bytes: 0,
        }
    }

    fn memory(&self) -> usize {
        self.keys.len() * self.width + self.bytes
    }

    #[inline]
    fn add<'a>(
        &mut self,
        event: &Event<'a>,
        key: &Key,
        (kind, planned): (u32, &Planned),
        decode: impl Fn() -> Option<Decoded<'a>>,
        clock: &Clock,
    ) -> Option<Fault> {
        if self.schema != Some(planned.schema) {
            self.begin(planned);
        }
        self.keys.add(event, key);
        self.kinds.push(kind);
        self.source.append_option(planned.source);
        let payload = event.payload();
        self.bytes += payload.len();
        let fault = planned.plan.as_ref().and_then(|plan| self.add_planned(plan, &planned.columns, payload, decode, clock));
        let is_whole = planned.is_whole && planned.plan.is_some() && fault.is_none();
        self.payload.append_option((!is_whole).then_some(payload));
        fault
    }

    /// Begins events of another schema.
    fn begin(&mut self, planned: &Planned) {
        self.schema = Some(planned.schema);
        self.nodes.iter_mut().for_each(Node::forget_names);
        planned.columns.iter().for_each(|column| self.nodes[*column].pad(self.keys.len()));
    }

    #[inline]
    fn add_planned<'a>(
        &mut self,
        plan: &Plan,
        columns: &[usize],
        payload: &'a [u8],
        decode: impl Fn() -> Option<Decoded<'a>>,
        clock: &Clock,
    ) -> Option<Fault> {
        let (mut cursor, nodes) = (plan.read(payload), &mut self.nodes);
        for (index, slot) in plan.slots.iter().enumerate() {
            let node = columns.get(index).and_then(|column| nodes.get_mut(*column));
            match (cursor.next(slot), node) {
                (Some(Part::Value(bytes)), Some(Node::Scalar(scalar))) => {
                    self.bytes += scalar.add(&slot.value(bytes), || list(decode()).map(slot), clock);
                }
                (Some(Part::Array(bytes, size)), Some(node)) => {
                    let values = bytes.chunks_exact(size).map(|bytes| slot.value(bytes));
                    self.bytes += 8 * (bytes.len() / size) + node.add_array(values, || list(decode()).map(slot), clock);
                }
                (Some(Part::Value(_) | Part::Array(..)), None) => {}
                (Some(Part::End), _) => {
                    columns.iter().skip(index).for_each(|column| nodes[*column].add_null());
                    return None;
                }
                _ => {
                    let decoded = decode()?;
                    let mut steps = plan.steps(&cursor, decoded.schema.fields, index);
                    self.bytes += fill(nodes, columns.get(index..).unwrap_or_default(), &mut steps, clock);
                    return decoded.fields.check().err();
                }
            }
        }
        if plan.is_whole() {
            return cursor.end();
        }
        let decoded = decode()?;
        let mut steps = plan.steps(&cursor, decoded.schema.fields, plan.slots.len());
        self.bytes += fill(nodes, columns.get(plan.slots.len()..).unwrap_or_default(), &mut steps, clock);
        decoded.fields.check().err()
    }

    fn take(&mut self, kinds: &[keys::Kind], names: &mut Names, sources: &mut Dictionary) -> Result<Batch, ArrowError> {
        let rows = std::mem::take(&mut self.kinds);
        let mut columns = self.keys.take(&rows, kinds, names)?;
        columns.push(sources.column(self.source.finish())?);
        for node in &mut self.nodes {
            node.pad(rows.len());
            columns.extend(node.take()?);
        }
        columns.push(Arc::new(self.payload.finish()));
        self.bytes = 0;
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}

/// The first 128 bits of the SHA-256 of a text.
fn identity(text: &str) -> u128 {
    let [first, ..] = *Sha256::digest(text).as_chunks::<16>().0 else { return 0 };
    u128::from_be_bytes(first)
}

/// Fills columns with the next fields of a payload. Returns the additional memory in bytes.
fn fill(nodes: &mut [Node], columns: &[usize], steps: &mut Steps<'_>, clock: &Clock) -> usize {
    let (mut left, mut is_whole) = (VALUES, true);
    for column in columns {
        let node = &mut nodes[*column];
        let filled = if is_whole { node.fill(steps, clock, &mut left) } else { Filled::Nothing };
        if filled == Filled::Nothing {
            node.add_null();
        }
        is_whole &= filled == Filled::Whole;
    }
    8 * (VALUES - left)
}
