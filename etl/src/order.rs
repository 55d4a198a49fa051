//! Events in the order of time: a merge of one stream a processor.

use crate::buffer::{Buffer, Head, Scratch};
use crate::event::Event;
use crate::finding::{Finding, What};
use crate::layout::{BUFFER_HEADER, ETW_BUFFER_TYPE, Generation};
use crate::trace::Buffers;
use crate::walk::{Record, step};
use std::collections::{BTreeMap, VecDeque};

/// The events of a trace in the order of time. Of each processor one buffer is decompressed at a time.
#[derive(Debug)]
pub struct ByTime<'a> {
    streams: Vec<Stream<'a>>,
    /// Whose event is the earliest.
    earliest: Tournament,
    /// Whether the earliest event is still to be given out.
    fresh: bool,
    findings: VecDeque<Finding>,
    decompressed: usize,
}

/// An event, with what its buffer tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'s> {
    /// The event.
    pub event: Event<'s>,
    /// The processor that wrote it.
    pub processor: u16,
    /// The place of its buffer among those of the file, from 0.
    pub buffer: u32,
    /// Where its buffer begins in the file, in bytes.
    pub offset: u64,
}

impl<'a> ByTime<'a> {
    pub(crate) fn new(buffers: Buffers<'a>) -> Self {
        let mut findings = VecDeque::new();
        // The events of the header buffer can be of any time, so it is a stream of its own, the first.
        let mut queues: BTreeMap<Option<u16>, Vec<Buffer<'a>>> = BTreeMap::new();
        for buffer in buffers {
            match buffer {
                Ok(buffer) => {
                    let head = buffer.head();
                    let header = head.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER || buffer.index() == 0;
                    queues.entry((!header).then(|| head.processor())).or_default().push(buffer);
                }
                Err(finding) => findings.push_back(finding),
            }
        }
        let streams = queues.into_values().map(|mut queue| {
            queue.sort_by_key(|buffer| buffer.head().time_stamp);
            queue.reverse();
            Stream::new(queue)
        });
        let streams: Vec<_> = streams.collect();
        let earliest = Tournament::new(streams.len());
        let mut new = Self { streams, earliest, fresh: true, findings, decompressed: 0 };
        for stream in 0..new.streams.len() {
            new.next_of(stream);
        }
        new
    }

    /// The next event; `None` at the end. A finding comes when its buffer is reached.
    pub fn next_event(&mut self) -> Option<Result<Timed<'_>, Finding>> {
        if !self.fresh {
            self.advance();
            self.fresh = true;
        }
        if !self.findings.is_empty() {
            return self.findings.pop_front().map(Err);
        }
        let stream = self.streams.get(self.earliest.winner())?;
        let record = stream.record?;
        self.fresh = false;
        Some(Ok(Timed {
            event: record.event(stream.rest(), stream.at as u32),
            processor: stream.processor,
            buffer: stream.index,
            offset: stream.offset,
        }))
    }

    /// Goes to the next event.
    #[inline]
    fn advance(&mut self) {
        let current = self.earliest.winner();
        let Some(stream) = self.streams.get_mut(current) else { return };
        match stream.next_in_buffer() {
            true => self.earliest.set(current, key(stream.time)),
            false => self.next_of(current),
        }
    }

    /// Brings a stream to its next event, over findings and to the next buffers.
    fn next_of(&mut self, index: usize) {
        let Some(stream) = self.streams.get_mut(index) else { return };
        match stream.next(&mut self.findings, &mut self.decompressed) {
            true => self.earliest.set(index, key(stream.time)),
            false => self.earliest.set(index, u64::MAX),
        }
    }
}

/// A time as a key; a stream that has no more events has one beyond.
fn key(time: i64) -> u64 {
    (time as u64 ^ 1 << 63).min(u64::MAX - 1)
}

/// Finds the least of some keys, of equal ones the first: a binary tree, in which each node has the lesser of its children.
#[derive(Debug)]
struct Tournament {
    /// The root at 1, the children of each node at twice its place and behind; the leaves are the second half.
    nodes: Vec<(u64, u32)>,
}

impl Tournament {
    fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(1);
        let mut nodes = vec![(u64::MAX, 0); 2 * leaves];
        for (index, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = index as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes }
    }

    #[inline]
    fn winner(&self) -> usize {
        self.nodes[1].1 as usize
    }

    #[inline]
    fn set(&mut self, index: usize, key: u64) {
        let mut node = self.nodes.len() / 2 + index;
        self.nodes[node].0 = key;
        while node > 1 {
            let (left, right) = (self.nodes[node & !1], self.nodes[node | 1]);
            node /= 2;
            self.nodes[node] = if right.0 < left.0 { right } else { left };
        }
    }
}

/// The buffers of a processor.
#[derive(Debug)]
struct Stream<'a> {
    /// What is still to come, the next at the end.
    queue: Vec<Buffer<'a>>,
    generation: Generation,
    slice: Option<&'a [u8]>,
    scratch: Scratch,
    at: usize,
    record: Option<Record>,
    time: i64,
    processor: u16,
    index: u32,
    offset: u64,
}

impl<'a> Stream<'a> {
    fn new(queue: Vec<Buffer<'a>>) -> Self {
        Self {
            queue,
            generation: Generation::V6_1,
            slice: Some(&[]),
            scratch: Scratch::default(),
            at: 0,
            record: None,
            time: i64::MIN,
            processor: 0,
            index: 0,
            offset: 0,
        }
    }

    /// What is left of the buffer, from the event on.
    #[inline]
    fn rest(&self) -> &[u8] {
        self.slice.unwrap_or(&self.scratch.0).get(self.at..).unwrap_or(&[])
    }

    /// Goes to the next event of the same buffer; `false` if what follows is anything else.
    #[inline]
    fn next_in_buffer(&mut self) -> bool {
        let Some(record) = self.record.take() else { return false };
        self.at += record.space();
        match step(self.rest(), self.generation) {
            Ok(Some(next)) => {
                self.found(next);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn found(&mut self, record: Record) {
        self.record = Some(record);
        self.time = record.event(self.rest(), 0).time_stamp().unwrap_or(self.time);
    }

    /// Goes to the event at hand or the next, over findings and to the next buffers; `false` at the end.
    fn next(&mut self, findings: &mut VecDeque<Finding>, decompressed: &mut usize) -> bool {
        loop {
            match step(self.rest(), self.generation) {
                Ok(Some(record)) => {
                    self.found(record);
                    return true;
                }
                Ok(None) => {
                    if !self.next_buffer(findings, decompressed) {
                        return false;
                    }
                }
                Err(fault) => {
                    findings.push_back(Finding { buffer: self.offset, at: self.at as u32, what: fault.what });
                    self.at = self.at.saturating_add(fault.space);
                }
            }
        }
    }

    fn next_buffer(&mut self, findings: &mut VecDeque<Finding>, decompressed: &mut usize) -> bool {
        let Some(buffer) = self.queue.pop() else {
            *decompressed -= self.scratch.0.capacity();
            self.scratch = Scratch::default();
            self.slice = Some(&[]);
            return false;
        };
        let head: &Head = buffer.head();
        (self.processor, self.index, self.offset) = (head.processor(), buffer.index(), buffer.offset());
        (self.generation, self.at) = (buffer.generation(), BUFFER_HEADER);
        let mut fault = |what| findings.push_back(Finding { buffer: buffer.offset(), at: 0, what });
        if !head.is_compressed() {
            let (end, what) = buffer.valid_end();
            self.slice = Some(&buffer.bytes()[..end]);
            what.map(fault);
            return true;
        }
        let before = self.scratch.0.capacity();
        self.slice = None;
        if *decompressed - before + head.offset as usize > MOST {
            self.slice = Some(&[]);
            fault(What::Memory);
        } else if let Err(what) = buffer.decompress(&mut self.scratch) {
            fault(what);
        }
        *decompressed = *decompressed - before + self.scratch.0.capacity();
        true
    }
}

/// What the decompressed buffers of all processors may take at once: 1 GiB.
const MOST: usize = 1 << 30;
