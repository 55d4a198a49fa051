//! The table of call stacks.

use crate::columns::{NameBuilder, columns};
use crate::keys::{Key, Names};
use crate::options::ROWS;
use crate::schema;
use crate::table::{Batch, Kind, Table};
use arrow_array::RecordBatch;
use arrow_array::builder::{Int64Builder, ListBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder};
use arrow_schema::ArrowError;
use etw_layouts_etl::wire::EVENT_HEADER_EXT_TYPE;
use etw_layouts_etl::{Decoded, Event};
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
    struct Columns of Names {
        trace: REQUIRED NameBuilder => traces,
        host: OPTIONAL NameBuilder => hosts,
        sequence: REQUIRED UInt64Builder,
        time: OPTIONAL TimestampNanosecondBuilder,
        tick: OPTIONAL Int64Builder,
        of_tick: OPTIONAL Int64Builder,
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

/// Types of extended items with stacks.
const STACK_32: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_TRACE32;
const STACK_64: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
const KEY_32: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_KEY32;
const KEY_64: EVENT_HEADER_EXT_TYPE = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_STACK_KEY64;

impl Default for Stacks {
    fn default() -> Self {
        let schema = schema::table("stacks", Columns::fields(), &[]);
        let table = Table { kind: Kind::Stacks, schema, layout: 0 };
        Self { table: Arc::new(table), columns: Columns::default(), rows: 0, addresses: 0 }
    }
}

/// A stack, or the key of a stack.
struct Stack<'a> {
    kind: &'static str,
    key: Option<u64>,
    /// The addresses, and the size of an address in bytes.
    addresses: Option<(&'a [u8], usize)>,
}

impl Stacks {
    pub fn table(&self) -> Arc<Table> {
        self.table.clone()
    }

    /// Adds the stacks in the extended items of an event, and the stack of an earlier event in the payload of a StackWalk event.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>, key: &Key, decoded: Option<&Decoded<'_>>, names: &mut Names) {
        // The group of StackWalk events.
        if let Some(hook) = event.hook() {
            if hook >> 8 == 0x18
                && let Some(decoded) = decoded.filter(|decoded| decoded.schema.provider == "StackWalk")
            {
                self.walk(event, key, decoded, names);
            }
            return;
        }
        for item in event.items() {
            let (width, is_key) = match item.ty {
                STACK_32 => (4, false),
                STACK_64 => (8, false),
                KEY_32 => (4, true),
                KEY_64 => (8, true),
                _ => continue,
            };
            // Both kinds begin with the number that relates the kernel and the user part of a stack.
            let Some((_, rest)) = item.data.split_at_checked(8) else { continue };
            let stack = match is_key {
                true => Stack { kind: "item key", key: rest.get(..width).map(number), addresses: None },
                false => Stack { kind: "item", key: None, addresses: Some((rest, width)) },
            };
            self.push(event, key, event.time_stamp(), (event.process(), event.thread()), stack, names);
        }
    }

    /// A stack in the payload of a kernel event.
    fn walk(&mut self, event: &Event<'_>, key: &Key, decoded: &Decoded<'_>, names: &mut Names) {
        let kind = match decoded.schema.event {
            "Stack" => "walk",
            "KeyCreate" | "KeyDelete" | "KeyRundown" => "key",
            "StackKeyKernel" => "kernel key",
            "StackKeyUser" => "user key",
            _ => return,
        };
        let number = |name: &str| decoded.get(name).and_then(|value| value.number());
        let of = number("EventTimeStamp").map(|tick| tick as i64);
        let width = decoded.fields.pointers.bytes();
        // The addresses are the rest of the payload.
        let addresses = ["Stack", "StackFrame"].iter().find_map(|name| decoded.get(name)).map(|first| {
            let payload = decoded.fields.payload;
            let start = first.bytes.as_ptr() as usize - payload.as_ptr() as usize;
            (&payload[start.min(payload.len())..], width)
        });
        let stack = Stack { kind, key: number("key").or_else(|| number("StackKey")), addresses };
        let id = |name: &str| number(name).map(|number| number as u32);
        self.push(event, key, of, (id("StackProcess"), id("StackThread")), stack, names);
    }

    fn push(
        &mut self,
        event: &Event<'_>,
        key: &Key,
        of: Option<i64>,
        (process, thread): (Option<u32>, Option<u32>),
        stack: Stack<'_>,
        names: &mut Names,
    ) {
        let columns = &mut self.columns;
        columns.trace.append_value(key.trace);
        columns.host.append_option(key.host);
        columns.sequence.append_value(key.place.sequence());
        columns.time.append_option(key.time.and_then(schema::nanoseconds));
        columns.tick.append_option(event.time_stamp());
        columns.of_tick.append_option(of);
        columns.processor.append_value(key.place.processor);
        columns.process.append_option(process);
        columns.thread.append_option(thread);
        columns.process_name.append_option(key.process_name);
        columns.kind.append_value(names.stacks.add(stack.kind));
        columns.key.append_option(stack.key);
        if let Some((bytes, width)) = stack.addresses {
            let values = columns.frames.values();
            bytes.chunks_exact(width).for_each(|address| values.append_value(number(address)));
            self.addresses += bytes.len() / width;
        }
        columns.frames.append(stack.addresses.is_some());
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
        let columns = self.columns.take(names)?;
        Ok(Batch { rows: RecordBatch::try_new(self.table.schema.clone(), columns)?, table: self.table.clone(), generation: 0 })
    }
}

/// The number in up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
