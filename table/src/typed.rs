//! A table for each kind of event, with fields as columns.

use crate::hash::Mix;
use crate::keys::{Key, Keys, Names};
use crate::kinds::{Kinds, address};
use crate::layout;
use crate::node::{Filled, Node};
use crate::options::{BYTES, ROWS};
use crate::schema;
use crate::table::{Batch, Kind, Table, names_of};
use arrow_array::RecordBatch;
use arrow_array::builder::BinaryBuilder;
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::payload::Fault;
use etw_layouts_etl::{Clock, Decoded, Event, Schemas};
use std::collections::HashMap;
use std::sync::Arc;

/// The rows of all tables that are not in a batch yet.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    tables: Vec<Rows>,
    by_name: HashMap<(String, String, u16), Vec<usize>>,
    kinds: Kinds<usize>,
    /// Approximate memory for the rows of all tables, in bytes.
    memory: usize,
    /// The table that has reached the maximum number of rows of a batch.
    full: Option<usize>,
    names: usize,
}

#[derive(Debug)]
struct Rows {
    table: Arc<Table>,
    keys: Keys,
    nodes: Vec<Node>,
    /// The address of the schema of the latest event; `None` before the first event of a trace.
    schema: Option<u64>,
    /// Whether all fields have nodes.
    is_whole: bool,
    /// Whether no node is a list or a structure.
    is_flat: bool,
    payload: BinaryBuilder,
    /// Memory for a row without texts, in bytes.
    width: usize,
    bytes: usize,
}

/// Maximum number of tables. Events of further kinds are in a table without fields.
const MOST: usize = 4096;
/// Memory limit for rows, in bytes. If it is exceeded, the largest table becomes a batch.
const MEMORY: usize = 64 << 20;
/// Maximum number of values of an event.
const VALUES: usize = 1 << 20;

impl Typed {
    /// Adds an event. Returns the fault if its payload is not decoded to its last byte.
    pub fn add(
        &mut self,
        event: &Event<'_>,
        key: &Key,
        decoded: Option<&Decoded<'_>>,
        schemas: &Schemas,
        clock: &Clock,
    ) -> Option<Fault> {
        let (tables, by_name, names) = (&mut self.tables, &mut self.by_name, &mut self.names);
        let number = self.kinds.get(event, decoded, || find(tables, by_name, names, event, decoded, schemas));
        let rows = &mut self.tables[number];
        let before = rows.bytes;
        let fault = rows.add(event, key, decoded, clock);
        self.memory += rows.width + rows.bytes - before;
        if rows.keys.len() >= ROWS || rows.bytes >= BYTES {
            self.full = Some(number);
        }
        fault
    }

    /// Begins another trace, which has other schemas.
    pub fn begin(&mut self) {
        self.kinds.forget();
        self.tables.iter_mut().for_each(|rows| rows.schema = None);
    }

    pub fn is_due(&self) -> bool {
        self.full.is_some() || self.memory > MEMORY
    }

    /// Memory for names of tables, in bytes.
    pub fn names_size(&self) -> usize {
        self.names
    }

    /// Discards all tables. There must be no rows.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Removes and returns the rows of the full table, or of the table that needs most memory.
    pub fn take(&mut self, names: &mut Names) -> Result<Option<Batch>, ArrowError> {
        let most = || (0..self.tables.len()).max_by_key(|number| self.tables[*number].memory());
        let Some(number) = self.full.take().or_else(most) else { return Ok(None) };
        let rows = &mut self.tables[number];
        self.memory = self.memory.saturating_sub(rows.memory());
        if rows.keys.len() == 0 { Ok(None) } else { rows.take(names).map(Some) }
    }
}

/// The table of an event. It is created if it does not exist.
fn find(
    tables: &mut Vec<Rows>,
    by_name: &mut HashMap<(String, String, u16), Vec<usize>>,
    names: &mut usize,
    event: &Event<'_>,
    decoded: Option<&Decoded<'_>>,
    schemas: &Schemas,
) -> usize {
    let (provider, name) = names_of(event, schemas);
    let mut kind = (provider.into_owned(), name.into_owned(), event.version().unwrap_or_default());
    let nodes = decoded.map(|decoded| layout::nodes(&decoded.schema.fields, Rows::taken()));
    let (mut nodes, mut is_whole) = nodes.unwrap_or((Vec::new(), false));
    if tables.len() >= MOST {
        (kind, nodes, is_whole) = ((String::new(), String::new(), 0), Vec::new(), false);
    }
    let rows = Rows::new(&kind, nodes, is_whole);
    let same = by_name.entry(kind.clone()).or_default();
    if let Some(number) =
        same.iter().find(|number| tables[**number].table.schema == rows.table.schema && tables[**number].is_whole == is_whole)
    {
        return *number;
    }
    *names += 256 + kind.0.len() + kind.1.len() + rows.nodes.len() * 128;
    same.push(tables.len());
    tables.push(rows);
    tables.len() - 1
}

impl Rows {
    /// Names that columns of fields must not have, in lower case.
    fn taken() -> std::collections::HashSet<String> {
        let keys = Keys::fields();
        // The first two are the names of partition folders.
        ["provider", "event", "payload"]
            .into_iter()
            .map(str::to_owned)
            .chain(keys.iter().map(|field| field.name().to_lowercase()))
            .collect()
    }

    fn new((provider, event, version): &(String, String, u16), nodes: Vec<Node>, is_whole: bool) -> Self {
        let mut columns = Keys::fields();
        columns.extend(nodes.iter().flat_map(Node::fields));
        columns.push(Field::new("payload", DataType::Binary, true));
        let text = format!("{provider}/{event}/{version}:{is_whole}:{columns:?}");
        let more = [("etw.provider", provider.clone()), ("etw.event", event.clone()), ("etw.event_version", version.to_string())];
        let schema = schema::table(&format!("{provider}/{event}"), columns, &more);
        let kind = Kind::Event { provider: provider.clone(), event: event.clone(), version: *version };
        Self {
            width: 120 + 12 * schema.fields().len(),
            table: Arc::new(Table { kind, schema, layout: (Mix::of(text.as_bytes()) >> 32) as u32 }),
            keys: Keys::default(),
            is_flat: nodes.iter().all(|node| matches!(node, Node::Scalar(_))),
            nodes,
            schema: None,
            is_whole,
            payload: BinaryBuilder::new(),
            bytes: 0,
        }
    }

    fn memory(&self) -> usize {
        self.keys.len() * self.width + self.bytes
    }

    #[inline]
    fn add(&mut self, event: &Event<'_>, key: &Key, decoded: Option<&Decoded<'_>>, clock: &Clock) -> Option<Fault> {
        self.keys.add(event, key);
        let payload = event.payload();
        self.bytes += payload.len();
        let schema = decoded.map(|decoded| address(&decoded.schema.fields));
        if schema != self.schema {
            self.schema = schema;
            self.nodes.iter_mut().for_each(Node::forget_names);
        }
        let fault = match decoded {
            Some(decoded) if self.is_flat => self.add_flat(decoded, clock),
            Some(decoded) => self.add_nested(decoded, clock),
            None => {
                self.nodes.iter_mut().for_each(Node::add_null);
                None
            }
        };
        let is_whole = self.is_whole && decoded.is_some() && fault.is_none();
        self.payload.append_option((!is_whole).then_some(payload));
        fault
    }

    #[inline]
    fn add_flat(&mut self, decoded: &Decoded<'_>, clock: &Clock) -> Option<Fault> {
        let mut values = decoded.iter();
        for node in &mut self.nodes {
            match (node, values.next()) {
                (Node::Scalar(scalar), Some(value)) => scalar.add(&value, clock),
                (node, _) => node.add_null(),
            }
        }
        // The remaining values must be read to find the fault at the end.
        values.by_ref().for_each(drop);
        values.fault()
    }

    fn add_nested(&mut self, decoded: &Decoded<'_>, clock: &Clock) -> Option<Fault> {
        let (mut steps, mut left, mut is_whole) = (decoded.fields.steps(), VALUES, true);
        for node in &mut self.nodes {
            let filled = if is_whole { node.fill(&mut steps, clock, &mut left) } else { Filled::Nothing };
            if filled == Filled::Nothing {
                node.add_null();
            }
            is_whole &= filled == Filled::Whole;
        }
        self.bytes += 8 * (VALUES - left);
        decoded.fields.check().err()
    }

    fn take(&mut self, names: &mut Names) -> Result<Batch, ArrowError> {
        let mut columns = self.keys.take(names)?;
        for node in &mut self.nodes {
            columns.extend(node.take()?);
        }
        columns.push(Arc::new(self.payload.finish()));
        self.bytes = 0;
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}
