//! The second pass over a trace: slices of buffers that fit in memory, in file order or in time order.

use crate::index::{Entry, Index, Place, keyed};
use etw_layouts_etl::{Event, Scratch, Trace};
use std::io::{self, Read, Seek, SeekFrom};

/// The order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// File order: buffer by buffer.
    File,
    /// Time order. Events with equal times are in file order.
    #[default]
    Time,
}

/// Default limit of decompressed buffers in memory at the same time, in bytes. It is exceeded only if a single buffer, or buffers with the same
/// time, are larger.
pub const MEMORY: u64 = 48 << 20;

/// In time order, a buffer can be read several times, because it has a range of times. If the average number of reads per buffer exceeds this
/// limit, each slice of the file is sorted separately instead.
const MOST_READS: u64 = 4;

/// A part of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    /// Indices of its buffers.
    buffers: Vec<usize>,
    /// The keys of its events: from the first to the last.
    keys: (i64, i64),
}

/// The slices of a trace in time order. If buffers are too far out of order, each slice of the file is sorted separately, and the second value is
/// `false`.
pub(crate) fn slices(index: &Index, memory: u64) -> (Vec<Slice>, bool) {
    match by_time(&index.buffers, memory) {
        Some(slices) => (slices, true),
        None => (by_place(&index.buffers, memory), false),
    }
}

fn by_place(buffers: &[Entry], memory: u64) -> Vec<Slice> {
    let (mut slices, mut size) = (Vec::<Slice>::new(), u64::MAX);
    for (index, entry) in buffers.iter().enumerate() {
        size = size.saturating_add(entry.decoded.into());
        match slices.last_mut() {
            Some(slice) if size <= memory => slice.buffers.push(index),
            _ => {
                size = entry.decoded.into();
                slices.push(Slice { buffers: vec![index], keys: (i64::MIN, i64::MAX) });
            }
        }
    }
    slices
}

/// Slices by time; `None` if buffers would have to be read too often.
fn by_time(buffers: &[Entry], memory: u64) -> Option<Vec<Slice>> {
    let all: u64 = buffers.iter().map(|entry| u64::from(entry.decoded)).sum();
    let mut sorted: Vec<_> = (0..buffers.len()).collect();
    sorted.sort_by_key(|index| (buffers[*index].keys.0, *index));
    let (mut slices, mut read) = (Vec::new(), 0);
    // The buffers of the current slice, their size, and the start of the slice.
    let (mut active, mut size, mut start): (Vec<usize>, u64, i64) = (Vec::new(), 0, i64::MIN);
    for index in sorted {
        let entry = buffers[index];
        let first = entry.keys.0;
        if size + u64::from(entry.decoded) > memory && first > start && !active.is_empty() {
            read += size;
            if read > MOST_READS * all {
                return None;
            }
            let mut chosen = active.clone();
            chosen.sort_unstable();
            slices.push(Slice { buffers: chosen, keys: (start, first - 1) });
            active.retain(|index| buffers[*index].keys.1 >= first);
            size = active.iter().map(|index| u64::from(buffers[*index].decoded)).sum();
            start = first;
        }
        active.push(index);
        size += u64::from(entry.decoded);
        // The buffers with this time do not fit into memory.
        if size > 2 * memory && active.len() > 1 {
            return None;
        }
    }
    active.sort_unstable();
    slices.push(Slice { buffers: active, keys: (start, i64::MAX) });
    Some(slices)
}

/// Reads a slice, and calls `see` with each of its events in order. Stops at the first error of `see`.
pub(crate) fn read<E: From<io::Error>>(
    source: &mut (impl Read + Seek),
    index: &Index,
    slice: &Slice,
    mut see: impl FnMut(&Event<'_>, Place) -> Result<(), E>,
) -> Result<(), E> {
    let (bytes, places) = load(source, index, slice)?;
    // If the file changed since the first pass, the number of events differs. The caller compares it.
    let Ok(trace) = Trace::from_bytes(&bytes[..]) else { return Ok(()) };
    let buffers = trace.buffers().filter_map(Result::ok).filter_map(|buffer| {
        let at = places.binary_search_by_key(&buffer.offset(), |(offset, _)| *offset).ok()?;
        Some((buffer, index.buffers[places[at].1]))
    });
    let mut scratches: Vec<_> = places.iter().map(|_| Scratch::default()).collect();
    let mut events = Vec::new();
    for ((buffer, entry), scratch) in buffers.zip(&mut scratches) {
        let decoded = buffer.decode(scratch);
        for (key, event) in keyed(&decoded).filter_map(Result::ok) {
            if (slice.keys.0..=slice.keys.1).contains(&key) {
                events.push((key, Place::of(&decoded, (entry.index, entry.offset), &event), event));
            }
        }
    }
    // A stable sort keeps the file order of events with equal times. It is fast, because the events of each buffer are already sorted.
    events.sort_by_key(|(key, ..)| *key);
    events.iter().try_for_each(|(_, place, event)| see(event, *place))
}

/// The bytes of buffers, and for each buffer its offset in these bytes and its index.
type Loaded = (Vec<u8>, Vec<(u64, usize)>);

/// The bytes of the first buffer of the file and of the buffers of a slice. They form a separate trace. Each buffer of the slice has its offset in
/// these bytes.
fn load(source: &mut (impl Read + Seek), index: &Index, slice: &Slice) -> io::Result<Loaded> {
    let mut bytes = Vec::new();
    let mut take = |entry: &Entry, bytes: &mut Vec<u8>| {
        source.seek(SeekFrom::Start(entry.offset))?;
        let read = source.by_ref().take(entry.length.into()).read_to_end(bytes)?;
        if read < entry.length as usize { Err(changed()) } else { Ok(()) }
    };
    let mut places = Vec::with_capacity(slice.buffers.len());
    let size: usize = slice.buffers.iter().map(|at| index.buffers[*at].length as usize).sum();
    bytes.reserve_exact(size + index.buffers.first().map_or(0, |entry| entry.length as usize));
    // The first buffer has the log file header, which every trace needs.
    if let Some(first) = index.buffers.first().filter(|_| slice.buffers.first() != Some(&0)) {
        take(first, &mut bytes)?;
    }
    for at in &slice.buffers {
        places.push((bytes.len() as u64, *at));
        take(&index.buffers[*at], &mut bytes)?;
    }
    Ok((bytes, places))
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read; read it again when nothing writes to it")
}
