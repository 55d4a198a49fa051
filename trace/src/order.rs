//! The order of events, and slices of it that fit in memory.

use crate::index::Entry;

/// The order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// File order: buffer by buffer, file by file.
    File,
    /// Time order over all processors and files. Events are sorted by system time. Events of one session with equal system time are sorted
    /// by time stamp. All other ties keep the order of sessions, files, buffers and events. An event without a time stamp takes the time
    /// stamp of the previous event in its buffer; the first event takes that of the buffer.
    #[default]
    Time,
}

/// A buffer of a trace, with the keys of its earliest and latest event in the order of time.
pub(crate) struct Keyed<'t> {
    pub file: usize,
    pub entry: &'t Entry,
    pub first: i64,
    pub last: i64,
}

/// A part of the events of a trace, which fits in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Indices of its buffers in the list of all buffers, in file order.
    pub(crate) buffers: Vec<u32>,
    /// The keys of its events: from the first to the last.
    pub(crate) keys: (i64, i64),
    pub(crate) order: Order,
    /// Size of its buffers in memory, in bytes.
    pub(crate) size: u64,
}

/// In the order of time, a buffer can be read several times, because it has a range of times. If the average number of reads per buffer exceeds
/// this limit, each slice of the files is sorted separately instead.
const MAX_READS: u64 = 4;

/// Maximum size of a slice, in bytes.
const MAX_SLICE: u64 = 64 << 20;

/// The slices of the selected buffers in an order, and whether they are in that order. If buffers are too far out of order, each slice of the files is sorted
/// separately. `buffer` returns a buffer by its index.
pub(crate) fn slices<'t>(buffer: impl Fn(u32) -> Keyed<'t>, selected: Vec<u32>, order: Order, memory: u64) -> (Vec<Slice>, bool) {
    let buffer = &buffer;
    match order {
        Order::File => (by_place(buffer, selected, order, memory), true),
        Order::Time => {
            // Many processors with large buffers need more memory than a few.
            let limits =
                std::iter::successors(Some(memory), |memory| memory.checked_mul(2)).take_while(|memory| *memory <= MAX_SLICE);
            match limits.chain([MAX_SLICE]).find_map(|memory| by_time(buffer, selected.clone(), memory)) {
                Some(slices) => (slices, true),
                None => (by_place(buffer, selected, order, memory), false),
            }
        }
    }
}

fn by_place<'t>(buffer: impl Fn(u32) -> Keyed<'t>, selected: Vec<u32>, order: Order, memory: u64) -> Vec<Slice> {
    let mut slices = Vec::<Slice>::new();
    for index in selected {
        let decoded = u64::from(buffer(index).entry.decoded);
        match slices.last_mut() {
            Some(slice) if slice.size + decoded <= memory => {
                slice.buffers.push(index);
                slice.size += decoded;
            }
            _ => slices.push(Slice { buffers: vec![index], keys: (i64::MIN, i64::MAX), order, size: decoded }),
        }
    }
    slices
}

/// Slices by time; `None` if buffers would have to be read too often.
fn by_time<'t>(buffer: impl Fn(u32) -> Keyed<'t>, mut sorted: Vec<u32>, memory: u64) -> Option<Vec<Slice>> {
    let decoded = |index: u32| u64::from(buffer(index).entry.decoded);
    let all: u64 = sorted.iter().copied().map(decoded).sum();
    sorted.sort_by_cached_key(|index| (buffer(*index).first, *index));
    let (mut slices, mut read) = (Vec::new(), 0);
    // The buffers of the current slice, their size, and the start of the slice.
    let (mut active, mut size, mut start): (Vec<u32>, u64, i64) = (Vec::new(), 0, i64::MIN);
    let slice = |mut buffers: Vec<u32>, keys, size| {
        buffers.sort_unstable();
        Slice { buffers, keys, order: Order::Time, size }
    };
    for index in sorted {
        let first = buffer(index).first;
        if size + decoded(index) > memory && first > start && !active.is_empty() {
            read += size;
            if read > MAX_READS * all {
                return None;
            }
            slices.push(slice(active.clone(), (start, first - 1), size));
            active.retain(|index| buffer(*index).last >= first);
            size = active.iter().copied().map(decoded).sum();
            start = first;
        }
        active.push(index);
        size += decoded(index);
        // The buffers with this time do not fit into memory.
        if size > 2 * memory && active.len() > 1 {
            return None;
        }
    }
    if !active.is_empty() {
        slices.push(slice(active, (start, i64::MAX), size));
    }
    Some(slices)
}
