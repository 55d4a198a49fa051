//! The buffers of one processor in the order of their times. There is no list of them, so that memory does not grow with the file:
//! each processor's are looked up in the file as they are needed.

use crate::buffer::Buffer;
use crate::finding::Finding;
use crate::layout::ETW_BUFFER_TYPE;
use crate::trace::Buffers;
use std::collections::BTreeMap;

/// Whose buffers: `None` for header buffers, whose events can be of any time.
type Key = Option<u16>;

/// What is still to come of one processor's buffers.
#[derive(Debug)]
pub(super) enum Queue<'a> {
    /// They lie in the file in their order, or in a circle.
    File {
        key: Key,
        buffers: Buffers<'a>,
        /// Where to go on from the end of the file: its start, if the order begins elsewhere.
        again: Option<Buffers<'a>>,
        /// How many are left.
        left: u64,
    },
    /// They lie in no order. The next is at the end.
    Sorted(Vec<Buffer<'a>>),
}

/// A queue for each processor that has buffers, and what is wrong with the file.
pub(super) fn queues<'a>(start: &Buffers<'a>, mut finding: impl FnMut(Finding)) -> Vec<Queue<'a>> {
    let mut surveys: BTreeMap<Key, Survey<'a>> = BTreeMap::new();
    let mut buffers = start.clone();
    loop {
        let here = buffers.clone();
        match buffers.next() {
            None => break,
            Some(Err(found)) => finding(found),
            Some(Ok(buffer)) => surveys.entry(key(&buffer)).or_default().add(buffer.head().time_stamp, here),
        }
    }
    surveys.into_iter().map(|(key, survey)| survey.queue(key, start)).collect()
}

fn key(buffer: &Buffer<'_>) -> Key {
    let head = buffer.head();
    let header = head.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER || buffer.index() == 0;
    (!header).then(|| head.processor())
}

/// In which order one processor's buffers lie.
#[derive(Default)]
struct Survey<'a> {
    first: i64,
    last: i64,
    count: u64,
    /// Where a buffer is of an earlier time than the one before it.
    turn: Option<Buffers<'a>>,
    turns: u64,
}

impl<'a> Survey<'a> {
    fn add(&mut self, time: i64, here: Buffers<'a>) {
        if self.count == 0 {
            self.first = time;
        } else if time < self.last {
            self.turns += 1;
            self.turn = Some(here);
        }
        self.last = time;
        self.count += 1;
    }

    fn queue(self, key: Key, start: &Buffers<'a>) -> Queue<'a> {
        let in_file = |buffers, again| Queue::File { key, buffers, again, left: self.count };
        match (self.turns, self.turn) {
            (1, Some(turn)) if self.last < self.first => in_file(turn, Some(start.clone())),
            (0, _) => in_file(start.clone(), None),
            _ => {
                let mut queue = in_file(start.clone(), None);
                let mut sorted: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
                sorted.sort_by_key(|buffer| buffer.head().time_stamp);
                sorted.reverse();
                Queue::Sorted(sorted)
            }
        }
    }
}

impl<'a> Queue<'a> {
    /// The next buffer.
    pub(super) fn next(&mut self) -> Option<Buffer<'a>> {
        let (key, buffers, again, left) = match self {
            Self::Sorted(sorted) => return sorted.pop(),
            Self::File { key, buffers, again, left } => (*key, buffers, again, left),
        };
        *left = left.checked_sub(1)?;
        loop {
            let of_key = |buffer: &Buffer<'_>| self::key(buffer) == key;
            match buffers.by_ref().filter_map(Result::ok).find(of_key) {
                Some(buffer) => return Some(buffer),
                None => *buffers = again.take()?,
            }
        }
    }
}
