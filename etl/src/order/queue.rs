//! The buffers of each processor in time order. No list of all buffers is kept: the next buffer of a processor is searched in the file
//! when it is needed, and buffers of other processors before it are added to their queues. The file is therefore scanned once, or twice
//! if it is circular. Memory use depends only on the distance within the file between buffers of the same time.

use crate::buffer::Buffer;
use crate::buffers::Buffers;
use crate::diagnostic::Place;
use crate::wire::ETW_BUFFER_TYPE;
use std::collections::{BTreeMap, VecDeque};

/// The processor of buffers; `None` for header buffers, because their events can have any time.
type Key = Option<u16>;

/// All remaining buffers.
#[derive(Debug)]
pub(super) struct Queues<'a> {
    start: Buffers<'a>,
    /// Sorted by key.
    queues: Vec<Queue>,
    /// Scan for processors with buffers in file order.
    file: Scan<'a>,
    /// Scan for processors with buffers in circular order.
    circle: Scan<'a>,
    /// Number of diagnostics from buffer headers.
    pub(super) diagnostics: u64,
}

/// The remaining buffers of one processor.
#[derive(Debug)]
struct Queue {
    key: Key,
    arrangement: Arrangement,
    /// Number of remaining buffers, waiting or not.
    left: u64,
    /// The next buffers, as far as they are known.
    waiting: VecDeque<Place>,
}

/// Order of a processor's buffers within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    File,
    /// From an offset to the end, then from the start of the file to that offset.
    Circle(u64),
    None,
}

impl<'a> Queues<'a> {
    /// Creates a queue for each processor that has buffers.
    pub(super) fn new(start: &Buffers<'a>) -> Self {
        let mut surveys: BTreeMap<Key, Survey> = BTreeMap::new();
        let mut diagnostics = 0;
        for buffer in start.clone() {
            match buffer {
                Ok(buffer) => surveys.entry(key(&buffer)).or_default().add(&buffer),
                Err(_) => diagnostics += 1,
            }
        }
        let in_circle = surveys.values().filter(|survey| matches!(survey.arrangement(), Arrangement::Circle(_)));
        let turn = in_circle.filter_map(|survey| survey.turn).min_by_key(|turn| turn.offset).unwrap_or_default();
        let queue = |(key, survey): (_, Survey)| Queue {
            key,
            arrangement: survey.arrangement(),
            left: survey.count,
            waiting: VecDeque::new(),
        };
        let mut new = Self {
            start: start.clone(),
            queues: surveys.into_iter().map(queue).collect(),
            file: Scan { buffers: start.clone(), part: Part::Whole, again: None },
            circle: Scan { buffers: start.from(turn), part: Part::End, again: Some(start.clone()) },
            diagnostics,
        };
        if new.queues.iter().any(|queue| queue.arrangement == Arrangement::None) {
            new.sort();
        }
        new
    }

    /// Number of processors.
    pub(super) fn len(&self) -> usize {
        self.queues.len()
    }

    /// Lists the buffers that are in no order.
    fn sort(&mut self) {
        for buffer in self.start.clone().filter_map(Result::ok) {
            let of = self.queues.binary_search_by_key(&key(&buffer), |queue| queue.key);
            let queue = of.ok().and_then(|of| self.queues.get_mut(of));
            if let Some(queue) = queue.filter(|queue| queue.arrangement == Arrangement::None) {
                queue.waiting.push_back(buffer.place());
            }
        }
        let time = |place: &Place| self.start.from(*place).find_map(Result::ok).map(|buffer| buffer.header().time_stamp);
        for queue in &mut self.queues {
            queue.waiting.make_contiguous().sort_by_cached_key(time);
        }
    }

    /// The next buffer of a processor.
    pub(super) fn next(&mut self, index: usize) -> Option<Buffer<'a>> {
        let queue = self.queues.get_mut(index)?;
        queue.left = queue.left.checked_sub(1)?;
        if let Some(place) = queue.waiting.pop_front() {
            if queue.waiting.capacity() > 64.max(4 * queue.waiting.len()) {
                queue.waiting.shrink_to(2 * queue.waiting.len());
            }
            return self.start.from(place).find_map(Result::ok);
        }
        let shared = if queue.arrangement == Arrangement::File { &mut self.file } else { &mut self.circle };
        loop {
            let (buffer, part) = shared.next()?;
            let of = self.queues.binary_search_by_key(&key(&buffer), |queue| queue.key).ok()?;
            let queue = self.queues.get_mut(of)?;
            if queue.arrangement.has(&buffer, part) {
                if of == index {
                    return Some(buffer);
                }
                queue.waiting.push_back(buffer.place());
            }
        }
    }
}

/// A scan over the buffers of the file.
#[derive(Clone, Debug)]
struct Scan<'a> {
    buffers: Buffers<'a>,
    part: Part,
    /// The buffers to continue with after the end of the file: from its start, if the scan did not begin there.
    again: Option<Buffers<'a>>,
}

/// Part of the file that a scan is in.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The whole file.
    Whole,
    /// The end of the file, where circular order begins.
    End,
    /// The start of the file, where circular order continues.
    Start,
}

impl<'a> Iterator for Scan<'a> {
    type Item = (Buffer<'a>, Part);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.buffers.find_map(Result::ok) {
                Some(buffer) => return Some((buffer, self.part)),
                None => (self.buffers, self.part) = (self.again.take()?, Part::Start),
            }
        }
    }
}

impl Arrangement {
    /// Whether a processor with this arrangement takes the buffer from this part of a scan.
    fn has(self, buffer: &Buffer<'_>, part: Part) -> bool {
        match (self, part) {
            (Self::File, Part::Whole) => true,
            (Self::Circle(turn), Part::End) => buffer.offset() >= turn,
            (Self::Circle(turn), Part::Start) => buffer.offset() < turn,
            _ => false,
        }
    }
}

fn key(buffer: &Buffer<'_>) -> Key {
    let header = buffer.header();
    let is_header = header.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER || buffer.index() == 0;
    (!is_header).then(|| header.processor())
}

/// Determines the order of one processor's buffers.
#[derive(Default)]
struct Survey {
    first: i64,
    last: i64,
    count: u64,
    /// The first buffer that is earlier than the previous one.
    turn: Option<Place>,
    turns: u64,
}

impl Survey {
    fn add(&mut self, buffer: &Buffer<'_>) {
        let time = buffer.header().time_stamp;
        if self.count == 0 {
            self.first = time;
        } else if time < self.last {
            self.turns += 1;
            self.turn = Some(buffer.place());
        }
        self.last = time;
        self.count += 1;
    }

    fn arrangement(&self) -> Arrangement {
        match (self.turns, self.turn) {
            (0, _) => Arrangement::File,
            (1, Some(turn)) if self.last < self.first => Arrangement::Circle(turn.offset),
            _ => Arrangement::None,
        }
    }
}
