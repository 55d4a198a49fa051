//! TraceLogging: events that contain their schema.
//!
//! [`Event::trace_logging`] returns the schema in the extended items of an event: the provider and its traits, and the name and fields of
//! the event. [`TraceLogging::steps`] traverses the payload. Everything borrows from the event; nothing is allocated.

pub use etw_layouts_payload::tracelogging::{Traits, in_name, out_name};
pub use etw_layouts_payload::{
    Count, Data, Fault, FaultKind, Field, Fields, InType, OutType, Schema, Sid, Step, Steps, SystemTime, Text, Value,
};

use crate::event::Event;
use crate::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};
use etw_layouts_payload::PointerSize;

/// The schema and payload of a TraceLogging event.
#[derive(Clone, Debug)]
pub struct TraceLogging<'a> {
    /// Name and traits of the provider, or the error in them; `None` if the event has none.
    pub traits: Option<Result<Traits<'a>, Fault>>,
    /// Name, tags and fields of the event, or the error in its schema.
    pub schema: Result<Schema<'a>, Fault>,
    payload: &'a [u8],
    pointers: PointerSize,
}

impl<'a> Event<'a> {
    /// The traits of the provider in the extended items, or the error in them; `None` if there are none.
    pub fn traits(&self) -> Option<Result<Traits<'a>, Fault>> {
        if !self.flags()?.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO) {
            return None;
        }
        let traits = self.items().find(|item| item.ty == EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS)?;
        Some(Traits::read(traits.data))
    }

    /// The TraceLogging schema in the extended items, with the payload; `None` if there is none. If there are two, the first is used.
    pub fn trace_logging(&self) -> Option<TraceLogging<'a>> {
        if !self.flags()?.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO) {
            return None;
        }
        let item = |ty| self.items().find(|item| item.ty == ty).map(|item| item.data);
        let schema = item(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)?;
        let schema = Schema::trace_logging(schema);
        Some(TraceLogging { traits: self.traits(), schema, payload: self.payload(), pointers: self.pointer_size()? })
    }
}

impl<'a> TraceLogging<'a> {
    /// The payload with its schema.
    ///
    /// # Errors
    ///
    /// The schema is invalid.
    pub fn fields(&self) -> Result<Fields<'a>, Fault> {
        self.schema.map(|schema| schema.decode(self.payload, self.pointers))
    }

    /// An iterator over the fields of the payload. If the schema is invalid, the error is the only item.
    pub fn steps(&self) -> Steps<'a> {
        Steps::new(self.schema.as_ref().map_err(|fault| *fault), self.payload, self.pointers)
    }
}
