//! The first pass over a file: its buffers with the times of their events.

use crate::place::Place;
use crate::source::{Sequential, Source};
use etw_layouts_etl::{BufferFormat, BufferHeader, DecodedBuffer, Diagnostic, Event, Reader};
use std::io::{self, BufReader};

/// The buffers of a file.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub format: BufferFormat,
    pub buffers: Vec<Entry>,
    /// Number of events.
    pub events: u64,
}

/// A buffer that has events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Index within the file, from 0.
    pub index: u32,
    /// Size in the file, in bytes.
    pub length: u32,
    /// Offset within the file, in bytes.
    pub offset: u64,
    /// Size in memory, in bytes.
    pub decoded: u32,
    /// The time stamp in its header.
    pub time_stamp: i64,
    /// The earliest and the latest [tick](ticks) of its events.
    pub first: i64,
    pub last: i64,
}

/// An item of the first pass.
pub(crate) enum Item<'a> {
    /// A buffer, before its events.
    Buffer(&'a BufferHeader),
    /// An event, with its [tick](ticks).
    Event(&'a Event<'a>, i64, Place),
    /// A diagnostic of the file.
    Diagnostic(Diagnostic),
}

impl Index {
    /// The index of a file without events.
    pub fn empty(format: BufferFormat) -> Self {
        Self { format, buffers: Vec::new(), events: 0 }
    }

    /// Reads a file to its end. `see` is called for each event and each diagnostic, in file order.
    pub fn read(source: &dyn Source, mut see: impl FnMut(Item<'_>)) -> io::Result<Self> {
        let mut reader = Reader::new(BufReader::with_capacity(1 << 18, Sequential::new(source)))?;
        let mut index = Self::empty(reader.format());
        while let Some(buffer) = reader.next_buffer()? {
            let decoded = match buffer {
                Ok(decoded) => decoded,
                Err(diagnostic) => {
                    see(Item::Diagnostic(diagnostic));
                    continue;
                }
            };
            let buffer = decoded.buffer();
            let mut entry = Entry {
                index: buffer.index(),
                length: buffer.bytes().len() as u32,
                offset: buffer.offset(),
                decoded: decoded.bytes().len() as u32,
                time_stamp: buffer.header().time_stamp,
                first: i64::MAX,
                last: i64::MIN,
            };
            let processor = buffer.header().processor();
            see(Item::Buffer(buffer.header()));
            for item in ticks(&decoded) {
                match item {
                    Ok((tick, event)) => {
                        index.events += 1;
                        (entry.first, entry.last) = (entry.first.min(tick), entry.last.max(tick));
                        let place = Place { buffer: entry.index, buffer_offset: entry.offset, offset: event.offset(), processor };
                        see(Item::Event(&event, tick, place));
                    }
                    Err(diagnostic) => see(Item::Diagnostic(diagnostic)),
                }
            }
            if entry.first <= entry.last {
                index.buffers.push(entry);
            }
        }
        Ok(index)
    }
}

/// The events of a buffer, each with its tick for the order of time: its time stamp, or that of the previous event if it has none. An event
/// without a time stamp at the start of a buffer has the time stamp of the buffer.
pub(crate) fn ticks<'s>(buffer: &DecodedBuffer<'s>) -> impl Iterator<Item = Result<(i64, Event<'s>), Diagnostic>> + use<'s> {
    let mut last = buffer.buffer().header().time_stamp;
    buffer.events().map(move |event| {
        let event = event?;
        last = event.time_stamp().unwrap_or(last);
        Ok((last, event))
    })
}
