//! The properties of decoding that all events of a kind have in common.

use etw_layouts_etl::payload::{Fault, FieldList, Source};
use etw_layouts_etl::{Decoded, Event};

/// How payloads of a kind are decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding {
    /// The source of the schema, if there is one.
    pub source: Option<Source>,
    /// Whether a payload that is not decoded to its last byte can have another schema.
    pub is_disputed: bool,
    /// Whether a payload that is not decoded to its last byte is a fault. If the version of the event is later than that of the schema, it is
    /// not.
    is_exact: bool,
    /// The fault to report otherwise: that of a schema or of traits in the event.
    fault: Option<Fault>,
}

impl Decoding {
    /// The decoding of the kind of an event.
    pub fn new(event: &Event<'_>, decoded: Option<&Decoded<'_>>) -> Self {
        let fault = match decoded.map(Decoded::source) {
            None => event.trace_logging().and_then(|logging| logging.schema.err()),
            Some(Source::TraceLogging) => event.traits().and_then(Result::err),
            Some(_) => None,
        };
        Self {
            source: decoded.map(Decoded::source),
            is_disputed: decoded.is_some_and(|decoded| decoded.is_disputed),
            is_exact: decoded.is_some_and(|decoded| decoded.is_exact),
            fault,
        }
    }

    /// The fault to report for an event, if any.
    #[inline]
    pub fn reported(&self, fault: Option<Fault>) -> Option<Fault> {
        fault.filter(|_| self.is_exact).or(self.fault)
    }
}

/// The address of a schema, which no other schema of the trace has; 0 for a schema in an event.
pub(crate) fn address(fields: &FieldList<'_>) -> u64 {
    match fields {
        FieldList::Table { all, .. } => all.as_ptr() as u64,
        FieldList::Packed { library, first, .. } => library.bytes().as_ptr() as u64 + u64::from(*first),
        _ => 0,
    }
}

/// The fields of an event; none if there is no schema.
pub(crate) fn list<'a>(decoded: Option<Decoded<'a>>) -> FieldList<'a> {
    decoded.map_or(FieldList::TraceLogging(&[]), |decoded| decoded.schema.fields)
}
