//! TraceLogging: events that carry their own schema.
//!
//! [`Event::trace_logging`] finds what the extended items of an event say: the provider and its traits, and the name and fields of the
//! event. [`TraceLogging::steps`] goes through the payload. All of it borrows from the event, and nothing is allocated.

pub use etw_layouts_payload::tracelogging::{Traits, in_name, out_name};
pub use etw_layouts_payload::{
    Count, Data, Fault, Field, Fields, InType, OutType, Reason, Schema, Sid, Step, Steps, SystemTime, Text, Value,
};

use crate::event::Event;
use crate::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};
use etw_layouts_payload::PointerSize;

/// What an event says of its own payload.
#[derive(Clone, Debug)]
pub struct TraceLogging<'a> {
    /// The provider's name and traits, if the event has them; or why they are none.
    pub traits: Option<Result<Traits<'a>, Fault>>,
    /// The name of the event, its tags, and its fields; or why they are none.
    pub schema: Result<Schema<'a>, Fault>,
    payload: &'a [u8],
    pointers: PointerSize,
}

impl<'a> Event<'a> {
    /// The traits of its provider, if its extended items have them; or why they are none.
    pub fn traits(&self) -> Option<Result<Traits<'a>, Fault>> {
        if !self.flags()?.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO) {
            return None;
        }
        let traits = self.items().find(|item| item.ty == EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS)?;
        Some(Traits::read(traits.data))
    }

    /// What its extended items say of its payload, if they do. An event of TraceLogging has a schema; one that has two is read by the first.
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
    /// Why there is no schema.
    pub fn fields(&self) -> Result<Fields<'a>, Fault> {
        self.schema.map(|schema| schema.decode(self.payload, self.pointers))
    }

    /// Goes through the fields of the payload; without a schema, the only step is why there is none.
    pub fn steps(&self) -> Steps<'a> {
        Steps::new(self.schema.as_ref().map_err(|fault| *fault), self.payload, self.pointers)
    }
}
