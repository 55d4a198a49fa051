//! Events as the consumer of a session receives them: EVENT_RECORD, without the decoder of Windows.
//!
//! ```
//! use etw_layouts_etl::live::EventRecordRef;
//! use etw_layouts_etl::wire::{EVENT_HEADER_EXT_TYPE, wire_guid, zero};
//! use etw_layouts_etl::{Item, Schemas, Uuid};
//!
//! // In a consumer, these are the members of the EVENT_RECORD. The schema has the event `Start` with the field `Id` of type UINT32.
//! let schema = *b"\x0d\x00\x00Start\0Id\0\x08";
//! let items = [Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, &schema)];
//! let mut record = EventRecordRef { header: zero(), context: zero(), items: &items, user_data: &[7, 0, 0, 0] };
//! record.header.ProviderId = wire_guid(Uuid::from_u128(0xa61e_a624_4944_55fc_c2a8_3782_8829_438d));
//!
//! // Reused for each event.
//! let mut bytes = Vec::new();
//! let event = record.event(&mut bytes)?;
//! let decoded = event.decode(Schemas::BUILT_IN).ok_or("no schema")?;
//! assert_eq!(decoded.to_string(), "Start");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::event::Event;
use crate::header::{self, EventHeader, Message};
use crate::header_type::HeaderType;
use crate::item::Item;
use crate::wire::{ETW_BUFFER_CONTEXT, EVENT_HEADER, EVENT_HEADER_FLAG, TRACE_MESSAGE_FLAG, guid, quad};
use crate::write::{Error, event_with_items};
use etw_layouts_payload::FileTime;

/// The members of an EVENT_RECORD, except UserContext.
#[derive(Clone, Copy, Debug)]
pub struct EventRecordRef<'a> {
    /// EventHeader. Size and HeaderType are not read.
    pub header: EVENT_HEADER,
    /// BufferContext: the processor, and the number of the session.
    pub context: ETW_BUFFER_CONTEXT,
    /// ExtendedData, in the same order. Only type and data are read.
    pub items: &'a [Item<'a>],
    /// UserData: the payload.
    pub user_data: &'a [u8],
}

impl EventRecordRef<'_> {
    /// The event, which borrows from `bytes`; these are replaced. Unlike in a trace, a kernel event has an EVENT_HEADER with its event type as opcode,
    /// and no hook ID. A message of WPP (EVENT_HEADER_FLAG_TRACE_MESSAGE) has the header of messages, with ProviderId as the GUID and Id as the number
    /// of the message, and no extended items. Pointers have 64 bits, unless the header has the flag EVENT_HEADER_FLAG_32_BIT_HEADER.
    ///
    /// # Errors
    ///
    /// [`Error::Length`]: the header and the extended items exceed 65,535 bytes. Windows writes no such events.
    pub fn event<'b>(&self, bytes: &'b mut Vec<u8>) -> Result<Event<'b>, Error> {
        if self.header.Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_TRACE_MESSAGE) {
            return Ok(self.message(bytes));
        }
        let items = || self.items.iter().map(|item| Item::new(item.ty, item.data));
        let described = size_of::<EVENT_HEADER>() + items().map(|item| item.size()).sum::<usize>();
        let payload = u16::try_from(described).map_err(|_| Error::Length(described))?;
        let is_32_bit = self.header.Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_32_BIT_HEADER);
        let header_type = if is_32_bit { HeaderType::Event32 } else { HeaderType::Event64 };
        let length = described + self.user_data.len();
        bytes.clear();
        // A kernel event can have a longer header here than in its buffer, so the length can exceed the member Size, which is not read again.
        event_with_items(self.header, header_type, items(), length.try_into().unwrap_or(u16::MAX), bytes);
        bytes.extend_from_slice(self.user_data);
        Ok(Event::new(bytes, 0, payload, header_type))
    }

    /// The event as a message of WPP.
    fn message<'b>(&self, bytes: &'b mut Vec<u8>) -> Event<'b> {
        let EVENT_HEADER { ThreadId, ProcessId, TimeStamp, ProviderId, EventDescriptor, Flags, .. } = self.header;
        let is_32_bit = Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_32_BIT_HEADER);
        let pointers =
            if is_32_bit { TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER32 } else { TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER64 };
        let message = Message {
            number: EventDescriptor.Id,
            guid: Some(guid(ProviderId)),
            time_stamp: Some(quad(TimeStamp)),
            thread_and_process: Some((ThreadId, ProcessId)),
            other_flags: pointers.0,
            ..Message::default()
        };
        let payload = header::message(message.flags().0);
        let length = (payload + self.user_data.len()).try_into().unwrap_or(u16::MAX);
        bytes.clear();
        EventHeader::Message(message).write(HeaderType::Message, length, bytes);
        bytes.extend_from_slice(self.user_data);
        Event::new(bytes, 0, payload as u16, HeaderType::Message)
    }

    /// The time of the event, unless the consumer requested time stamps of the session's clock with PROCESS_TRACE_MODE_RAW_TIMESTAMP.
    pub fn time(&self) -> FileTime {
        FileTime(quad(self.header.TimeStamp))
    }
}
