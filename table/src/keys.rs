//! The columns that all tables have: those that identify an event, and those by which events are compared.

use crate::dictionary::Dictionary;
use crate::index::Place;
use crate::schema;
use arrow_array::ArrayRef;
use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int32Builder, Int64Builder, TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder,
    UInt64Builder,
};
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::{Event, Uuid};
use std::sync::Arc;

/// The values of an event for its key columns that are not in its header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub place: Place,
    /// System time.
    pub time: Option<i64>,
    pub thread_process: Option<u32>,
    /// Numbers of names in the dictionaries that all tables share.
    pub trace: i32,
    pub host: Option<i32>,
    pub process_name: Option<i32>,
}

/// Names of traces, hosts and processes.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub traces: Dictionary,
    pub hosts: Dictionary,
    pub processes: Dictionary,
}

impl Names {
    pub fn size(&self) -> usize {
        self.traces.size() + self.hosts.size() + self.processes.size()
    }
}

/// The key columns.
#[derive(Debug)]
pub(crate) struct Keys {
    trace: Int32Builder,
    host: Int32Builder,
    sequence: UInt64Builder,
    time: TimestampNanosecondBuilder,
    tick: Int64Builder,
    provider_guid: FixedSizeBinaryBuilder,
    id: UInt16Builder,
    version: UInt16Builder,
    opcode: UInt8Builder,
    level: UInt8Builder,
    keyword: UInt64Builder,
    processor: UInt16Builder,
    process: UInt32Builder,
    thread: UInt32Builder,
    thread_process: UInt32Builder,
    process_name: Int32Builder,
    activity: FixedSizeBinaryBuilder,
    related: FixedSizeBinaryBuilder,
}

impl Default for Keys {
    fn default() -> Self {
        let guid = || FixedSizeBinaryBuilder::with_capacity(0, 16);
        Self {
            trace: Int32Builder::with_capacity(0),
            host: Int32Builder::with_capacity(0),
            sequence: UInt64Builder::with_capacity(0),
            time: TimestampNanosecondBuilder::with_capacity(0).with_data_type(schema::time()),
            tick: Int64Builder::with_capacity(0),
            provider_guid: guid(),
            id: UInt16Builder::with_capacity(0),
            version: UInt16Builder::with_capacity(0),
            opcode: UInt8Builder::with_capacity(0),
            level: UInt8Builder::with_capacity(0),
            keyword: UInt64Builder::with_capacity(0),
            processor: UInt16Builder::with_capacity(0),
            process: UInt32Builder::with_capacity(0),
            thread: UInt32Builder::with_capacity(0),
            thread_process: UInt32Builder::with_capacity(0),
            process_name: Int32Builder::with_capacity(0),
            activity: guid(),
            related: guid(),
        }
    }
}

impl Keys {
    /// The columns, in order.
    pub fn fields() -> Vec<Field> {
        let field = |name, ty| Field::new(name, ty, true);
        let always = |name, ty| Field::new(name, ty, false);
        vec![
            always("trace", schema::name()),
            field("host", schema::name()),
            always("sequence", DataType::UInt64),
            field("time", schema::time()),
            field("tick", DataType::Int64),
            schema::guid("provider_guid"),
            field("id", DataType::UInt16),
            field("version", DataType::UInt16),
            field("opcode", DataType::UInt8),
            field("level", DataType::UInt8),
            field("keyword", DataType::UInt64),
            always("processor", DataType::UInt16),
            field("process", DataType::UInt32),
            field("thread", DataType::UInt32),
            field("thread_process", DataType::UInt32),
            field("process_name", schema::name()),
            schema::guid("activity"),
            schema::guid("related"),
        ]
    }

    #[inline]
    pub fn add(&mut self, event: &Event<'_>, key: &Key) {
        self.trace.append_value(key.trace);
        self.host.append_option(key.host);
        self.sequence.append_value(key.place.sequence());
        self.time.append_option(key.time.and_then(schema::nanoseconds));
        self.tick.append_option(event.time_stamp());
        guid(&mut self.provider_guid, event.provider());
        self.id.append_option(event.id());
        self.version.append_option(event.version());
        self.opcode.append_option(event.opcode());
        self.processor.append_value(key.place.processor);
        self.process.append_option(event.process());
        self.thread.append_option(event.thread());
        self.thread_process.append_option(key.thread_process);
        self.process_name.append_option(key.process_name);
        self.level.append_option(event.level());
        self.keyword.append_option(event.keyword());
        guid(&mut self.activity, event.activity_id().filter(|activity| !activity.is_nil()));
        guid(&mut self.related, event.related_activity_id());
    }

    pub fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        self.sequence.len()
    }

    /// The columns of the rows so far, which are removed.
    pub fn take(&mut self, names: &mut Names) -> Result<Vec<ArrayRef>, ArrowError> {
        Ok(vec![
            names.traces.column(self.trace.finish())?,
            names.hosts.column(self.host.finish())?,
            Arc::new(self.sequence.finish()),
            Arc::new(self.time.finish()),
            Arc::new(self.tick.finish()),
            Arc::new(self.provider_guid.finish()),
            Arc::new(self.id.finish()),
            Arc::new(self.version.finish()),
            Arc::new(self.opcode.finish()),
            Arc::new(self.level.finish()),
            Arc::new(self.keyword.finish()),
            Arc::new(self.processor.finish()),
            Arc::new(self.process.finish()),
            Arc::new(self.thread.finish()),
            Arc::new(self.thread_process.finish()),
            names.processes.column(self.process_name.finish())?,
            Arc::new(self.activity.finish()),
            Arc::new(self.related.finish()),
        ])
    }
}

/// Appends a GUID in the order of its text.
#[inline]
pub(crate) fn guid(builder: &mut FixedSizeBinaryBuilder, guid: Option<Uuid>) {
    match guid {
        // A GUID always has the size of the column.
        Some(guid) => drop(builder.append_value(guid.as_bytes())),
        None => builder.append_null(),
    }
}
