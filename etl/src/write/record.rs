//! A record: an event to be written.

use super::Error;
use crate::event::Event;
use crate::header::{self, ANNOUNCING, EventHeader};
use crate::header_type::HeaderType;
use crate::item::Item;
use crate::producer::Producer;
use crate::walk;
use crate::wire::{
    COMPACT, EVENT_HEADER, EVENT_HEADER_EXTENDED_DATA_ITEM, EVENT_HEADER_FLAG, EVENT_INSTANCE_GUID_HEADER, EVENT_INSTANCE_HEADER,
    EVENT_TRACE_HEADER, Generation, ITEM, PERFINFO, SYSTEM, align8, quad, zero,
};

/// An event to write, the counterpart of a decoded [`Event`].
#[derive(Clone, Debug)]
pub struct Record<'a> {
    header_type: HeaderType,
    header: EventHeader,
    items: Vec<Item<'a>>,
    payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// An event of a 32-bit or 64-bit writer.
    pub fn new(header: EventHeader, is_64_bit: bool, payload: &'a [u8]) -> Self {
        let (narrow, wide) = match header {
            EventHeader::System(_) => (HeaderType::System32, HeaderType::System64),
            EventHeader::Compact(_) => (HeaderType::Compact32, HeaderType::Compact64),
            EventHeader::PerfInfo(..) => (HeaderType::PerfInfo32, HeaderType::PerfInfo64),
            EventHeader::Full(_) => (HeaderType::Full32, HeaderType::Full64),
            EventHeader::Instance(_) => (HeaderType::Instance32, HeaderType::Instance64),
            EventHeader::InstanceHandle(_) => (HeaderType::Instance32, HeaderType::Instance32),
            EventHeader::Event(_) => (HeaderType::Event32, HeaderType::Event64),
            EventHeader::Message(_) => (HeaderType::Message, HeaderType::Message),
            EventHeader::Raw => (HeaderType::Unknown, HeaderType::Unknown),
        };
        Self { header_type: if is_64_bit { wide } else { narrow }, header, items: Vec::new(), payload }
    }

    /// A complete record of unknown layout, beginning with its Marker.
    pub fn raw(bytes: &'a [u8]) -> Self {
        Self { header_type: HeaderType::Unknown, header: EventHeader::Raw, items: Vec::new(), payload: bytes }
    }

    /// The record of a decoded event.
    pub fn from_event(event: &Event<'a>) -> Self {
        match event.header() {
            EventHeader::Raw => Self { header_type: event.header_type(), ..Self::raw(event.bytes()) },
            header => Self { header_type: event.header_type(), header, items: event.items().collect(), payload: event.payload() },
        }
    }

    /// Replaces the extended items of the event. They keep the given order.
    #[must_use]
    pub fn with_items(self, items: Vec<Item<'a>>) -> Self {
        Self { items, ..self }
    }

    /// The type of the header.
    pub fn header_type(&self) -> HeaderType {
        self.header_type
    }

    /// The header of the event.
    pub fn header(&self) -> &EventHeader {
        &self.header
    }

    /// Size in bytes, without padding.
    pub fn length(&self) -> usize {
        let header = match &self.header {
            EventHeader::System(_) => SYSTEM,
            EventHeader::Compact(_) => COMPACT,
            EventHeader::PerfInfo(_, counters) => PERFINFO + counters.size(),
            EventHeader::Full(_) => size_of::<EVENT_TRACE_HEADER>(),
            EventHeader::Instance(_) => size_of::<EVENT_INSTANCE_GUID_HEADER>(),
            EventHeader::InstanceHandle(_) => size_of::<EVENT_INSTANCE_HEADER>(),
            EventHeader::Event(_) => size_of::<EVENT_HEADER>(),
            EventHeader::Message(message) => header::message(message.flags().0),
            EventHeader::Raw => 0,
        };
        header + self.items.iter().map(Item::size).sum::<usize>() + self.payload.len()
    }

    /// The time stamp of the event.
    pub fn time_stamp(&self) -> Option<i64> {
        match &self.header {
            EventHeader::System(header) | EventHeader::Compact(header) => Some(quad(header.SystemTime)),
            EventHeader::PerfInfo(header, _) => Some(quad(header.SystemTime())),
            EventHeader::Full(header) => Some(quad(header.TimeStamp)),
            EventHeader::Instance(header) => Some(quad(header.TimeStamp)),
            EventHeader::InstanceHandle(header) => Some(quad(header.TimeStamp)),
            EventHeader::Event(header) => Some(quad(header.TimeStamp)),
            EventHeader::Message(message) => message.time_stamp,
            EventHeader::Raw => None,
        }
    }

    /// Appends the record, without padding.
    ///
    /// # Errors
    ///
    /// The producer does not write such records, or the record is inconsistent. Nothing is appended then.
    pub fn write(&self, producer: &Producer, out: &mut Vec<u8>) -> Result<(), Error> {
        producer.writes(self.header_type, &self.header)?;
        self.write_read(producer.generation(), out)
    }

    /// [`write`](Self::write), without verifying that the version writes such records: an event that was read is accepted.
    #[inline]
    pub(crate) fn write_read(&self, generation: Generation, out: &mut Vec<u8>) -> Result<(), Error> {
        self.check(generation)?;
        let length = self.length();
        let EventHeader::Event(header) = &self.header else {
            self.header.write(self.header_type, length as u16, out);
            out.extend_from_slice(self.payload);
            return Ok(());
        };
        event_with_items(*header, self.header_type, self.items.iter().copied(), length as u16, out);
        out.extend_from_slice(self.payload);
        Ok(())
    }

    fn check(&self, generation: Generation) -> Result<(), Error> {
        let length = self.length();
        match &self.header {
            EventHeader::Raw => return self.check_raw(generation),
            EventHeader::PerfInfo(_, counters) if counters.count > 7 => return Err(Error::Counters(counters.count)),
            EventHeader::Message(message) => {
                let both = message.guid.is_some() && message.component.is_some();
                let announced = ANNOUNCING & !if message.component.is_some() { 2 } else { 0 };
                if both || message.other_flags & announced != 0 {
                    return Err(Error::Message);
                }
            }
            _ => {}
        }
        if !self.items.is_empty() && !matches!(self.header, EventHeader::Event(_)) {
            return Err(Error::Items);
        }
        for item in &self.items {
            if item.padding.len() != align8(item.data.len()) - item.data.len() {
                return Err(Error::Padding(item.data.len()));
            }
        }
        if length > usize::from(u16::MAX) {
            return Err(Error::Length(length));
        }
        Ok(())
    }

    /// Verifies that a raw record decodes to itself.
    fn check_raw(&self, generation: Generation) -> Result<(), Error> {
        let mut padded = self.payload.to_vec();
        padded.resize(align8(padded.len()).max(8), 0);
        match walk::step(&padded, generation) {
            Ok(Some(extent)) if extent.length as usize == self.payload.len() && !extent.header_type.is_known() => Ok(()),
            _ => Err(Error::Raw),
        }
    }
}

/// Appends an EVENT_HEADER and its items. `length` is that of the record with its payload, in bytes.
pub(crate) fn event_with_items<'a>(
    mut header: EVENT_HEADER,
    header_type: HeaderType,
    items: impl Iterator<Item = Item<'a>>,
    length: u16,
    out: &mut Vec<u8>,
) {
    let mut items = items.peekable();
    header.Flags.0 &= !EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO.0;
    if items.peek().is_some() {
        header.Flags |= EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO;
    }
    EventHeader::Event(header).write(header_type, length, out);
    while let Some(item) = items.next() {
        let mut header: EVENT_HEADER_EXTENDED_DATA_ITEM = zero();
        header.Reserved1 = item.size() as u16;
        header.ExtType = item.ty;
        header.set_Linkage(items.peek().is_some().into());
        header.set_Reserved2(item.reserved);
        header.DataSize = item.data.len() as u16;
        out.extend_from_slice(&bytemuck::bytes_of(&header)[..ITEM]);
        out.extend_from_slice(item.data);
        out.extend_from_slice(item.padding);
    }
}
