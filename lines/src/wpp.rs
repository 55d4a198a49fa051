//! Messages of the Windows software trace preprocessor (WPP). Their texts are in TMF files and private PDBs.

use etw_layouts_etl::payload::Uuid;
use etw_layouts_etl::tracelogging::{Fault, FaultKind};
use etw_layouts_etl::{Event, HeaderType, Schemas};
use etw_layouts_schemas::tmf::{WppMessage, WppText};
use std::collections::{HashMap, HashSet};

/// Messages by GUID and number.
#[derive(Clone, Default)]
pub struct WppMessages(HashMap<(Uuid, u16), WppMessage>);

impl WppMessages {
    /// Adds a message, unless there is one with the same GUID and number. Returns whether that one differs.
    pub fn add(&mut self, message: &WppMessage) -> bool {
        self.0.entry((message.guid, message.number)).or_insert_with(|| message.clone()) != message
    }

    /// Adds messages. They replace those with the same GUID and number.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend(others.0.iter().map(|(key, message)| (*key, message.clone())));
    }

    /// The GUIDs that have messages.
    pub fn guids(&self) -> HashSet<Uuid> {
        self.0.keys().map(|(guid, _)| *guid).collect()
    }

    /// The message of an event.
    #[inline]
    pub fn of(&self, event: &Event<'_>) -> Option<&WppMessage> {
        if self.0.is_empty() || event.header_type() != HeaderType::Message {
            return None;
        }
        self.0.get(&(event.provider()?, event.id()?))
    }
}

/// The text of an event, and the fault if the text is incomplete.
pub fn text(message: &WppMessage, event: &Event<'_>, schemas: &Schemas) -> (WppText, Option<Fault>) {
    let payload = event.payload();
    let text = message.text(payload, schemas.pointer_size(event));
    let reason = match text.undecoded {
        Some(_) => Some(FaultKind::Payload),
        None => (text.rest > 0).then_some(FaultKind::Rest),
    };
    let fault = reason.map(|reason| Fault { reason, offset: payload.len().saturating_sub(text.rest) });
    (text, fault)
}
