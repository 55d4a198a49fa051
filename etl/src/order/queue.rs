//! The buffers of each processor in the order of their times. There is no list of all, so that memory does not grow with the file:
//! they are looked up in it as they are needed, and those of other processors that are met on the way wait for these.

use crate::buffer::Buffer;
use crate::layout::ETW_BUFFER_TYPE;
use crate::trace::{Buffers, Place};
use std::collections::{BTreeMap, VecDeque};

/// How many buffers wait at most, each with 16 bytes of its own and at most 48 to spare. Files whose processors' buffers lie farther
/// apart than this are made to that end: then a processor scans the file on its own.
const MOST: usize = 1 << 18;

/// Whose buffers: `None` for header buffers, whose events can be of any time.
type Key = Option<u16>;

/// What is still to come of all buffers.
#[derive(Debug)]
pub(super) struct Queues<'a> {
    start: Buffers<'a>,
    /// In the order of their keys.
    queues: Vec<Queue<'a>>,
    /// For all that lie in the file in their order.
    file: Scan<'a>,
    /// For all that lie in a circle.
    circle: Scan<'a>,
    /// How many buffers wait for these two.
    waiting: usize,
    /// How many findings the headers of the buffers gave.
    pub(super) findings: u64,
}

/// What is still to come of one processor's buffers.
#[derive(Debug)]
struct Queue<'a> {
    key: Key,
    order: Order,
    /// How many are left, waiting or not.
    left: u64,
    /// The next ones, as far as they are known.
    waiting: VecDeque<Place>,
    /// What finds the others, if that is nothing shared.
    own: Option<Scan<'a>>,
}

/// How a processor's buffers lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    File,
    /// From an offset on, and from the start of the file up to it.
    Circle(u64),
    None,
}

impl<'a> Queues<'a> {
    /// A queue for each processor that has buffers.
    pub(super) fn new(start: &Buffers<'a>) -> Self {
        let mut surveys: BTreeMap<Key, Survey> = BTreeMap::new();
        let mut findings = 0;
        for buffer in start.clone() {
            match buffer {
                Ok(buffer) => surveys.entry(key(&buffer)).or_default().add(&buffer),
                Err(_) => findings += 1,
            }
        }
        let in_circle = surveys.values().filter(|survey| matches!(survey.order(), Order::Circle(_)));
        let turn = in_circle.filter_map(|survey| survey.turn).min_by_key(|turn| turn.offset).unwrap_or_default();
        let queue = |(key, survey): (_, Survey)| Queue {
            key,
            order: survey.order(),
            left: survey.count,
            waiting: VecDeque::new(),
            own: None,
        };
        let mut new = Self {
            start: start.clone(),
            queues: surveys.into_iter().map(queue).collect(),
            file: Scan { buffers: start.clone(), part: Part::Whole, again: None },
            circle: Scan { buffers: start.from(turn), part: Part::End, again: Some(start.clone()) },
            waiting: 0,
            findings,
        };
        if new.queues.iter().any(|queue| queue.order == Order::None) {
            new.sort();
        }
        new
    }

    /// How many processors there are.
    pub(super) fn len(&self) -> usize {
        self.queues.len()
    }

    /// Lists the buffers that lie in no order.
    fn sort(&mut self) {
        for buffer in self.start.clone().filter_map(Result::ok) {
            let of = self.queues.binary_search_by_key(&key(&buffer), |queue| queue.key);
            let queue = of.ok().and_then(|of| self.queues.get_mut(of));
            if let Some(queue) = queue.filter(|queue| queue.order == Order::None) {
                queue.waiting.push_back(buffer.place());
            }
        }
        let time = |place: &Place| self.start.from(*place).find_map(Result::ok).map(|buffer| buffer.head().time_stamp);
        for queue in &mut self.queues {
            queue.waiting.make_contiguous().sort_by_cached_key(time);
        }
    }

    /// The next buffer of a processor.
    pub(super) fn next(&mut self, index: usize) -> Option<Buffer<'a>> {
        let queue = self.queues.get_mut(index)?;
        queue.left = queue.left.checked_sub(1)?;
        let (key, order) = (queue.key, queue.order);
        if let Some(place) = queue.waiting.pop_front() {
            self.waiting -= usize::from(order != Order::None);
            if queue.waiting.capacity() > 64.max(4 * queue.waiting.len()) {
                queue.waiting.shrink_to(2 * queue.waiting.len());
            }
            return self.start.from(place).find_map(Result::ok);
        }
        let shared = if order == Order::File { &mut self.file } else { &mut self.circle };
        loop {
            let queue = self.queues.get_mut(index)?;
            if self.waiting >= MOST && queue.own.is_none() {
                queue.own = Some(shared.clone());
            }
            if let Some(own) = &mut queue.own {
                return own.find(|(buffer, part)| self::key(buffer) == key && order.has(buffer, *part)).map(|(buffer, _)| buffer);
            }
            let (buffer, part) = shared.next()?;
            let of = self.queues.binary_search_by_key(&self::key(&buffer), |queue| queue.key).ok()?;
            let queue = self.queues.get_mut(of)?;
            if queue.own.is_some() || !queue.order.has(&buffer, part) {
                continue;
            }
            if of == index {
                return Some(buffer);
            }
            queue.waiting.push_back(buffer.place());
            self.waiting += 1;
        }
    }
}

/// Goes through the buffers of the file.
#[derive(Clone, Debug)]
struct Scan<'a> {
    buffers: Buffers<'a>,
    part: Part,
    /// Where to go on from the end of the file: its start, if the scan began elsewhere.
    again: Option<Buffers<'a>>,
}

/// What a scan is in.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The file.
    Whole,
    /// The file's end, where a circle begins.
    End,
    /// The file's start, where a circle goes on.
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

impl Order {
    /// Whether a buffer of the processor is to be taken in this part of a scan.
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
    let head = buffer.head();
    let header = head.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER || buffer.index() == 0;
    (!header).then(|| head.processor())
}

/// In which order one processor's buffers lie.
#[derive(Default)]
struct Survey {
    first: i64,
    last: i64,
    count: u64,
    /// Where a buffer is of an earlier time than the one before it.
    turn: Option<Place>,
    turns: u64,
}

impl Survey {
    fn add(&mut self, buffer: &Buffer<'_>) {
        let time = buffer.head().time_stamp;
        if self.count == 0 {
            self.first = time;
        } else if time < self.last {
            self.turns += 1;
            self.turn = Some(buffer.place());
        }
        self.last = time;
        self.count += 1;
    }

    fn order(&self) -> Order {
        match (self.turns, self.turn) {
            (0, _) => Order::File,
            (1, Some(turn)) if self.last < self.first => Order::Circle(turn.offset),
            _ => Order::None,
        }
    }
}
