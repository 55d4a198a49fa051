//! The columns of all tables: those that identify an event, and those used to compare events of different tables.

use crate::columns::{NameBuilder, columns};
use crate::dictionary::Dictionary;
use crate::schema;
use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int64Builder, TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use etw_layouts_etl::{Event, Uuid};
use etw_layouts_trace::{Party, Place};

/// The column with the name of the trace.
pub(crate) const TRACE: &str = "trace";

/// The values for the key columns that are not in the header of the event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub place: Place,
    /// System time.
    pub time: Option<i64>,
    /// Who did it.
    pub who: Party,
    /// Time of the thread in kernel mode and in user mode, in units of 100 ns.
    pub times: Option<(u64, u64)>,
    /// Numbers of names in the dictionaries that all tables share.
    pub trace: Option<i32>,
    pub host: Option<i32>,
    pub process_name: Option<i32>,
}

/// The values of key columns that all events of a kind in a file have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    trace: Option<i32>,
    host: Option<i32>,
    provider_guid: Option<Uuid>,
    id: Option<u16>,
    version: Option<u16>,
    opcode: Option<u8>,
    level: Option<u8>,
    keyword: Option<u64>,
}

impl Kind {
    /// The kind of an event.
    pub fn new(event: &Event<'_>, key: &Key) -> Self {
        Self {
            trace: key.trace,
            host: key.host,
            provider_guid: event.provider(),
            id: event.id(),
            version: event.version(),
            opcode: event.opcode(),
            level: event.level(),
            keyword: event.keyword(),
        }
    }
}

/// Dictionaries that all tables share.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub traces: Dictionary,
    pub hosts: Dictionary,
    pub processes: Dictionary,
    /// Kinds of call stacks.
    pub stacks: Dictionary,
}

impl Names {
    pub fn size(&self) -> usize {
        self.traces.size() + self.hosts.size() + self.processes.size()
    }
}

columns! {
    /// The key columns.
    pub(crate) struct Keys of Names, Kind {
        trace: REQUIRED @kind NameBuilder => traces,
        host: OPTIONAL @kind NameBuilder => hosts,
        sequence: REQUIRED UInt64Builder,
        time: OPTIONAL TimestampNanosecondBuilder,
        tick: OPTIONAL Int64Builder,
        provider_guid: OPTIONAL @kind FixedSizeBinaryBuilder,
        id: OPTIONAL @kind UInt16Builder,
        version: OPTIONAL @kind UInt16Builder,
        opcode: OPTIONAL @kind UInt8Builder,
        level: OPTIONAL @kind UInt8Builder,
        keyword: OPTIONAL @kind UInt64Builder,
        processor: REQUIRED UInt16Builder,
        process: OPTIONAL UInt32Builder,
        thread: OPTIONAL UInt32Builder,
        process_name: OPTIONAL NameBuilder => processes,
        header_process: OPTIONAL UInt32Builder,
        header_thread: OPTIONAL UInt32Builder,
        kernel_time: OPTIONAL UInt64Builder,
        user_time: OPTIONAL UInt64Builder,
        activity: OPTIONAL FixedSizeBinaryBuilder,
        related: OPTIONAL FixedSizeBinaryBuilder,
    }
}

impl Keys {
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, key: &Key) {
        self.sequence.append_value(key.place.sequence());
        self.time.append_option(key.time.and_then(schema::nanoseconds));
        self.tick.append_option(event.time_stamp());
        self.processor.append_value(key.place.processor);
        self.process.append_option(key.who.process);
        self.thread.append_option(key.who.thread);
        self.process_name.append_option(key.process_name);
        self.header_process.append_option(event.process());
        self.header_thread.append_option(event.thread());
        self.kernel_time.append_option(key.times.map(|(kernel, _)| kernel));
        self.user_time.append_option(key.times.map(|(_, user)| user));
        guid(&mut self.activity, event.activity_id().filter(|activity| !activity.is_nil()));
        guid(&mut self.related, event.related_activity_id());
    }

    pub fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        self.sequence.len()
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
