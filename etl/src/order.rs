//! Events in the order of time: a merge of one stream a processor.

use crate::buffer::{Buffer, Head, Scratch};
use crate::event::Event;
use crate::finding::{Finding, What};
use crate::layout::{BUFFER_HEADER, ETW_BUFFER_TYPE, Generation};
use crate::trace::Buffers;
use crate::walk::{Record, step};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The events of a trace in the order of time. Of each processor one buffer is decompressed at a time.
#[derive(Debug)]
pub struct ByTime<'a> {
    streams: Vec<Stream<'a>>,
    /// The other streams by their next time.
    waiting: BinaryHeap<Reverse<Key>>,
    current: Option<usize>,
    /// Whether the current stream's event is still to be given out.
    fresh: bool,
    findings: VecDeque<Finding>,
    decompressed: usize,
}

/// A time, and the stream that has an event then.
type Key = (i64, usize);

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
        let streams = streams.collect();
        let mut new = Self { streams, waiting: BinaryHeap::new(), current: None, fresh: true, findings, decompressed: 0 };
        for stream in 0..new.streams.len() {
            new.wait(stream);
        }
        new.current = new.earliest();
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
        let stream = &self.streams[self.current?];
        self.fresh = false;
        Some(Ok(Timed {
            event: stream.record?.event(stream.image(), stream.at),
            processor: stream.processor,
            buffer: stream.index,
            offset: stream.offset,
        }))
    }

    /// Goes to the next event.
    #[inline]
    fn advance(&mut self) {
        let Some(current) = self.current else { return };
        let stream = &mut self.streams[current];
        if stream.next_in_buffer() {
            // As long as it has the earliest event, no other stream is touched.
            let key = (stream.time, current);
            match self.waiting.peek() {
                Some(Reverse(other)) if *other < key => self.waiting.push(Reverse(key)),
                _ => return,
            }
        } else {
            self.wait(current);
        }
        self.current = self.earliest();
    }

    /// Brings a stream to its next event, over findings and to the next buffers, and lets it wait there.
    fn wait(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        if stream.next(&mut self.findings, &mut self.decompressed) {
            self.waiting.push(Reverse((stream.time, index)));
        }
    }

    fn earliest(&mut self) -> Option<usize> {
        self.waiting.pop().map(|Reverse((_, stream))| stream)
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

    #[inline]
    fn image(&self) -> &[u8] {
        self.slice.unwrap_or(&self.scratch.0)
    }

    /// Goes to the next event of the same buffer; `false` if what follows is anything else.
    #[inline]
    fn next_in_buffer(&mut self) -> bool {
        if let Some(record) = self.record {
            match step(self.image(), record.next(self.at), self.generation) {
                Ok(Some(next)) => {
                    self.at = record.next(self.at);
                    self.found(next);
                    return true;
                }
                _ => return false,
            }
        }
        false
    }

    #[inline]
    fn found(&mut self, record: Record) {
        self.record = Some(record);
        self.time = record.event(self.image(), self.at).time_stamp().unwrap_or(self.time);
    }

    /// Goes to the next event, over findings and to the next buffers; `false` at the end.
    fn next(&mut self, findings: &mut VecDeque<Finding>, decompressed: &mut usize) -> bool {
        if let Some(record) = self.record.take() {
            self.at = record.next(self.at);
        }
        loop {
            match step(self.image(), self.at, self.generation) {
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
                    self.at = fault.next.min(self.image().len());
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
