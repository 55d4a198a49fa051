//! The table of call stacks: a row for each part of the stack of an event.

use crate::columns::{NameBuilder, columns};
use crate::keys::{Key, Names};
use crate::options::ROWS;
use crate::schema;
use crate::table::{Batch, Kind, Table};
use arrow_array::RecordBatch;
use arrow_array::builder::{Int64Builder, ListBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder};
use arrow_schema::ArrowError;
use etw_layouts_trace::{Error, Event, StackPart};
use std::sync::Arc;

/// Rows of call stacks that are not in a batch yet.
#[derive(Debug)]
pub(crate) struct Stacks {
    table: Arc<Table>,
    columns: Columns,
    rows: usize,
    addresses: usize,
}

columns! {
    /// The columns of call stacks.
    struct Columns of Names, () {
        trace: REQUIRED NameBuilder => traces,
        host: OPTIONAL NameBuilder => hosts,
        sequence: REQUIRED UInt64Builder,
        time: OPTIONAL TimestampNanosecondBuilder,
        tick: OPTIONAL Int64Builder,
        processor: REQUIRED UInt16Builder,
        process: OPTIONAL UInt32Builder,
        thread: OPTIONAL UInt32Builder,
        process_name: OPTIONAL NameBuilder => processes,
        kind: REQUIRED NameBuilder => stacks,
        key: OPTIONAL UInt64Builder,
        frames: OPTIONAL ListBuilder<UInt64Builder>,
    }
}

/// Number of addresses at which a batch ends.
const ADDRESSES: usize = 1 << 20;

impl Default for Stacks {
    fn default() -> Self {
        let schema = schema::table("stacks", Columns::fields(), &[]);
        let table = Table { kind: Kind::Stacks, schema, layout: 0 };
        Self { table: Arc::new(table), columns: Columns::default(), rows: 0, addresses: 0 }
    }
}

impl Stacks {
    pub fn table(&self) -> Arc<Table> {
        self.table.clone()
    }

    /// Adds the parts of the call stack of an event.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, key: &Key, names: &mut Names) -> Result<(), Error> {
        if let Some(stack) = event.stack()? {
            stack.parts().iter().for_each(|part| self.push(event, key, part, names));
        }
        Ok(())
    }

    fn push(&mut self, event: &Event<'_>, key: &Key, part: &StackPart, names: &mut Names) {
        let columns = &mut self.columns;
        columns.trace.append_option(key.trace);
        columns.host.append_option(key.host);
        columns.sequence.append_value(key.place.sequence());
        columns.time.append_option(key.time.and_then(schema::nanoseconds));
        columns.tick.append_option(event.header().time_stamp());
        columns.processor.append_value(key.place.processor);
        columns.process.append_option(key.who.process);
        columns.thread.append_option(key.who.thread);
        columns.process_name.append_option(key.process_name);
        columns.kind.append_value(names.stacks.add(part.source.as_str()));
        columns.key.append_option(part.key);
        if let Some(frames) = &part.frames {
            columns.frames.values().append_slice(frames);
            self.addresses += frames.len();
        }
        columns.frames.append(part.frames.is_some());
        self.rows += 1;
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn is_due(&self) -> bool {
        self.rows >= ROWS || self.addresses >= ADDRESSES
    }

    /// Removes and returns all rows.
    pub fn take(&mut self, names: &mut Names) -> Result<Batch, ArrowError> {
        (self.rows, self.addresses) = (0, 0);
        let columns = self.columns.take(&[], &[], names)?;
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}
