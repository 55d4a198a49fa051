//! The events of one buffer in time order.

use crate::buffer::{Buffer, Scratch};
use crate::diagnostic::{Diagnostic, Place};
use crate::event::{Event, Extent};
use crate::header_type::HeaderType;
use crate::walk::{step, usual};
use crate::wire::{BUFFER_HEADER, Generation};

/// Number of events listed at once. Nearly every buffer has fewer events, and the limit bounds memory.
const LISTED: usize = 4096;

/// A buffer, and its events in time order. An event without a time, or a diagnostic between events, keeps its position after
/// the previous event.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    /// Sequential number of the buffer among those of the processor.
    pub(super) number: u64,
    pub(super) processor: u16,
    pub(super) place: Place,
    generation: Generation,
    /// The bytes of an uncompressed buffer.
    slice: Option<&'a [u8]>,
    pub(super) scratch: Scratch,
    /// The next events.
    list: Vec<Entry>,
    /// Index of the current event in the list.
    next: usize,
    /// Start of the events that are not listed yet.
    rest: Cursor,
    /// Offsets of the events of a buffer that is not in order. The next event is the last element.
    sorted: Vec<u32>,
    extent: Option<Extent>,
    at: usize,
    /// Time of the current event, or of the last event before it that has a time.
    pub(super) time: i64,
    pub(super) earliest: i64,
    pub(super) latest: i64,
    /// Bytes allocated in addition to the permanent scratch of the stream.
    pub(super) beside: usize,
}

/// An event that is not the current one yet.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: i64,
    at: u32,
    length: u16,
    /// Offset of the payload; 0 for damage and for unusual events, which are examined again.
    payload: u8,
    header_type: HeaderType,
}

/// Position of a walk through a buffer.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    at: usize,
    /// Time of the previous event.
    time: i64,
}

impl<'a> Lane<'a> {
    pub(super) fn new() -> Self {
        Self {
            number: 0,
            processor: 0,
            place: Place::default(),
            generation: Generation::V6_1,
            slice: Some(&[]),
            scratch: Scratch::default(),
            list: Vec::new(),
            next: 0,
            rest: Cursor { at: 0, time: i64::MIN },
            sorted: Vec::new(),
            extent: None,
            at: 0,
            time: i64::MIN,
            earliest: i64::MIN,
            latest: i64::MIN,
            beside: 0,
        }
    }

    /// Starts a buffer, from its bytes or from the decompressed bytes in the scratch. `before` is the time of the event before
    /// it. Returns the time of the last event; `None` if the buffer has no events.
    pub(super) fn begin(&mut self, buffer: &Buffer<'a>, slice: Option<&'a [u8]>, before: i64) -> Option<i64> {
        (self.place, self.processor) = (buffer.place(), buffer.header().processor());
        (self.generation, self.slice) = (buffer.generation(), slice);
        (self.next, self.extent) = (0, None);
        self.list.clear();
        self.sorted.clear();
        let bytes = slice.unwrap_or(&self.scratch.0);
        let (mut cursor, mut is_sorted, mut least) = (Cursor { at: BUFFER_HEADER, time: before }, true, i64::MIN);
        self.rest = cursor;
        while let Some(entry) = cursor.next(bytes, self.generation) {
            is_sorted &= least <= entry.time;
            least = entry.time;
            if self.list.len() < LISTED {
                self.list.push(entry);
                self.rest = cursor;
            }
        }
        let last = cursor.time;
        (self.earliest, self.latest) = (self.list.first()?.time, last);
        if !is_sorted {
            self.sort(before);
        }
        self.time = self.earliest;
        Some(last)
    }

    /// Sorts the events by time; events with equal times keep their order.
    #[cold]
    fn sort(&mut self, before: i64) {
        let bytes = self.slice.unwrap_or(&self.scratch.0);
        let (mut cursor, mut all) = (Cursor { at: BUFFER_HEADER, time: before }, Vec::new());
        while let Some(entry) = cursor.next(bytes, self.generation) {
            all.push((entry.time, entry.at));
        }
        all.sort_by_key(|(time, _)| *time);
        (self.earliest, self.latest) = (all.first().map_or(before, |first| first.0), all.last().map_or(before, |last| last.0));
        self.sorted.extend(all.iter().rev().map(|(_, at)| at));
        self.rest = Cursor { at: bytes.len(), time: self.earliest };
        self.list();
    }

    /// Lists the next events.
    fn list(&mut self) {
        self.next = 0;
        self.list.clear();
        let bytes = self.slice.unwrap_or(&self.scratch.0);
        while self.list.len() < LISTED {
            let entry = match self.sorted.pop() {
                Some(at) => Cursor { at: at as usize, ..self.rest }.next(bytes, self.generation),
                None => self.rest.next(bytes, self.generation),
            };
            let Some(entry) = entry else { break };
            self.rest.time = entry.time;
            self.list.push(entry);
        }
    }

    /// Sort key of the current event among the buffers of the processor.
    pub(super) fn key(&self) -> (i64, u64) {
        (self.time, self.number)
    }

    /// The current event.
    #[inline]
    pub(super) fn event(&self) -> Option<Event<'_>> {
        Some(self.extent?.event(self.slice.unwrap_or(&self.scratch.0).get(self.at..)?, self.at as u32))
    }

    /// The bytes of the current event in the file, if the buffer is not compressed.
    pub(super) fn in_file(&self) -> Option<&'a [u8]> {
        self.slice?.get(self.at..)?.get(..self.extent?.length as usize)
    }

    /// Advances to the next event; `false` if there is none, or the next item is not a usual event.
    #[inline]
    pub(super) fn advance(&mut self) -> bool {
        self.extent = None;
        self.next += 1;
        let Some(entry) = self.list.get(self.next).filter(|entry| entry.payload > 0) else { return false };
        (self.at, self.time) = (entry.at as usize, entry.time);
        let (length, payload) = (entry.length.into(), entry.payload.into());
        self.extent = Some(Extent { length, payload, header_type: entry.header_type });
        true
    }

    /// Makes the next event the current one; `false` at the end. After a diagnostic it has to be called again.
    pub(super) fn make_current(&mut self) -> Result<bool, Diagnostic> {
        while self.extent.is_none() {
            if self.next == self.list.len() {
                self.list();
            }
            let Some(&Entry { at, time, .. }) = self.list.get(self.next) else { return Ok(false) };
            let bytes = self.slice.unwrap_or(&self.scratch.0);
            match step(bytes.get(at as usize..).unwrap_or(&[]), self.generation) {
                Ok(Some(extent)) => (self.at, self.time, self.extent) = (at as usize, time, Some(extent)),
                Ok(None) => return Ok(false),
                Err(fault) => {
                    self.next += 1;
                    return Err(self.place.diagnostic(at, fault.kind));
                }
            }
        }
        Ok(true)
    }
}

impl Cursor {
    /// The item at this position, which may be damage; `None` at the end.
    #[inline(always)]
    fn next(&mut self, bytes: &[u8], generation: Generation) -> Option<Entry> {
        let rest = bytes.get(self.at..)?;
        let at = self.at as u32;
        let again = |time| Entry { time, at, length: 0, payload: 0, header_type: HeaderType::Unknown };
        let (entry, space) = match usual(rest) {
            Some(extent) => {
                let Extent { length, payload, header_type } = extent;
                let time = extent.event(rest, at).time_stamp().unwrap_or(self.time);
                (Entry { time, at, length: length as u16, payload: payload as u8, header_type }, extent.space())
            }
            None => match step(rest, generation) {
                Ok(extent) => {
                    let extent = extent?;
                    (again(extent.event(rest, at).time_stamp().unwrap_or(self.time)), extent.space())
                }
                Err(fault) => (again(self.time), fault.space),
            },
        };
        *self = Self { at: self.at.saturating_add(space), time: entry.time };
        Some(entry)
    }
}
