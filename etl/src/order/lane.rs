//! The events of one buffer in the order of time.

use crate::buffer::{Buffer, Scratch};
use crate::finding::{Finding, Place};
use crate::walk::{Extent, step, usual};
use crate::wire::{BUFFER_HEADER, Generation};

/// A buffer and its events in the order of time. One without a time keeps its place after the one before it, and so does what is
/// wrong between them.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    /// Counts the buffers of the processor.
    pub(super) number: u64,
    pub(super) processor: u16,
    pub(super) place: Place,
    generation: Generation,
    /// The buffer, if it is not decompressed.
    slice: Option<&'a [u8]>,
    pub(super) scratch: Scratch,
    /// Where its events begin, in the order of their times.
    order: Vec<u32>,
    /// Which of them is at hand.
    next: usize,
    pub(super) at: usize,
    pub(super) extent: Option<Extent>,
    /// Of the event at hand, or the last before it that has one.
    pub(super) time: i64,
    pub(super) earliest: i64,
    pub(super) latest: i64,
    /// Bytes that it takes beside those that its stream holds in any case.
    pub(super) beside: usize,
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
            order: Vec::new(),
            next: 0,
            at: 0,
            extent: None,
            time: i64::MIN,
            earliest: i64::MIN,
            latest: i64::MIN,
            beside: 0,
        }
    }

    /// Begins with a buffer: with its bytes, or with what was decompressed into the scratch. `before` is the time of the event before
    /// it; that of its own last event. `None` if it has no events.
    pub(super) fn begin(&mut self, buffer: &Buffer<'a>, slice: Option<&'a [u8]>, before: i64) -> Option<i64> {
        (self.place, self.processor) = (buffer.place(), buffer.head().processor());
        (self.generation, self.slice) = (buffer.generation(), slice);
        self.order.clear();
        let bytes = slice.unwrap_or(&self.scratch.0);
        let (mut at, mut time, mut is_sorted, mut least) = (BUFFER_HEADER, before, true, i64::MIN);
        while let Some((next, space)) = look(bytes, at, self.generation, time) {
            is_sorted &= least <= next;
            (time, least) = (next, next);
            self.order.push(at as u32);
            at = at.saturating_add(space);
        }
        let first = *self.order.first()?;
        self.latest = time;
        self.earliest = look(bytes, first as usize, self.generation, before).map_or(before, |(time, _)| time);
        if !is_sorted {
            self.sort(before);
        }
        (self.next, self.extent, self.time) = (0, None, self.earliest);
        Some(time)
    }

    #[cold]
    fn sort(&mut self, before: i64) {
        let bytes = self.slice.unwrap_or(&self.scratch.0);
        let mut last = before;
        let time = |at: &u32| {
            last = look(bytes, *at as usize, self.generation, last).map_or(last, |(time, _)| time);
            (last, *at)
        };
        let mut timed: Vec<_> = self.order.iter().map(time).collect();
        timed.sort_by_key(|(time, _)| *time);
        self.order.iter_mut().zip(&timed).for_each(|(at, (_, sorted))| *at = *sorted);
        self.earliest = timed.first().map_or(before, |(time, _)| *time);
        self.latest = timed.last().map_or(before, |(time, _)| *time);
    }

    /// What puts its event before that of another buffer of the processor.
    pub(super) fn key(&self) -> (i64, u64) {
        (self.time, self.number)
    }

    /// What is left of the buffer, from the event on.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.slice.unwrap_or(&self.scratch.0).get(self.at..).unwrap_or(&[])
    }

    /// Goes to the next event; `false` if there is none, or what follows is not a usual one.
    #[inline]
    pub(super) fn advance(&mut self) -> bool {
        self.extent = None;
        self.next += 1;
        let Some(at) = self.order.get(self.next) else { return false };
        self.at = *at as usize;
        match usual(self.rest()) {
            Some(extent) => {
                self.found(extent);
                true
            }
            None => false,
        }
    }

    #[inline]
    fn found(&mut self, extent: Extent) {
        self.extent = Some(extent);
        self.time = extent.event(self.rest(), 0).time_stamp().unwrap_or(self.time);
    }

    /// Goes to the event at hand; `false` if there are no more. After a finding it has to be called again.
    pub(super) fn settle(&mut self) -> Result<bool, Finding> {
        while self.extent.is_none() {
            let Some(at) = self.order.get(self.next) else { return Ok(false) };
            self.at = *at as usize;
            match step(self.rest(), self.generation) {
                Ok(Some(extent)) => self.found(extent),
                Ok(None) => self.next += 1,
                Err(fault) => {
                    self.next += 1;
                    return Err(self.place.finding(*at, fault.what));
                }
            }
        }
        Ok(true)
    }
}

/// The time of what begins at `at`, and how far it is to what follows; `None` at the end. What has no time of its own has that of the
/// event before it.
#[inline(always)]
fn look(bytes: &[u8], at: usize, generation: Generation, before: i64) -> Option<(i64, usize)> {
    let rest = bytes.get(at..)?;
    let extent = match usual(rest) {
        Some(extent) => extent,
        None => match step(rest, generation) {
            Ok(extent) => extent?,
            Err(fault) => return Some((before, fault.space)),
        },
    };
    Some((extent.event(rest, 0).time_stamp().unwrap_or(before), extent.space()))
}
