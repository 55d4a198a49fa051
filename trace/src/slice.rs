//! The events of a slice in memory, in order.

use crate::buffer::{Buffer, Pool};
use crate::error::Error;
use crate::order::{Order, Slice};
use crate::trace::Trace;
use etw_layouts_etl::Extent;
use std::cmp::Ordering;
use std::sync::Arc;

/// The events of a slice, in order.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub buffers: Vec<Arc<Buffer>>,
    pub items: Vec<Item>,
}

/// An event of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The key in the order of time.
    key: i64,
    pub tick: i64,
    /// Index of the buffer in the slice.
    pub buffer: u32,
    /// Offset in the buffer.
    pub offset: u32,
    pub extent: Extent,
}

impl Loaded {
    /// Reads the buffers of a slice.
    pub fn read(trace: &Trace, slice: &Slice, pool: &mut Pool, mut items: Vec<Item>) -> Result<Self, Error> {
        let (mut buffers, mut runs) = (Vec::with_capacity(slice.buffers.len()), Vec::with_capacity(slice.buffers.len()));
        items.clear();
        for at in &slice.buffers {
            let keyed = trace.buffer(*at);
            let (file, index) = (&trace.files[keyed.file], &trace.indexes[keyed.file]);
            let session = trace.session_of[keyed.file];
            let (number, start) = (buffers.len() as u32, items.len());
            let buffer = pool.read(&*file.source, index, *keyed.entry, (keyed.file, session), |tick, event| {
                let key = trace.key(keyed.file, tick);
                if (slice.keys.0..=slice.keys.1).contains(&key) {
                    items.push(Item { key, tick, buffer: number, offset: event.offset(), extent: event.extent() });
                }
            });
            let buffer = buffer.map_err(|error| Error::new(&file.name, error))?;
            runs.push((buffer.processor, start..items.len()));
            buffers.push(Arc::new(buffer));
        }
        trace.recall.share(&buffers);
        if slice.order == Order::Time {
            items = sorted(items, runs, &buffers);
        }
        Ok(Self { buffers, items })
    }
}

/// The events in the order of time. The events of a buffer are usually in order, and so are the buffers of a processor: the sort finds the events
/// of a processor as one run.
fn sorted(items: Vec<Item>, mut runs: Vec<(u16, std::ops::Range<usize>)>, buffers: &[Arc<Buffer>]) -> Vec<Item> {
    runs.sort_by_key(|(processor, run)| (*processor, items.get(run.start).map(|item| item.key)));
    let mut sorted = Vec::with_capacity(items.len());
    runs.into_iter().for_each(|(_, run)| sorted.extend_from_slice(&items[run]));
    let session = |item: &Item| buffers[item.buffer as usize].session;
    sorted.sort_by(|one, other| {
        one.key.cmp(&other.key).then_with(|| match session(one).cmp(&session(other)) {
            Ordering::Equal => (one.tick, one.buffer, one.offset).cmp(&(other.tick, other.buffer, other.offset)),
            unequal => unequal,
        })
    });
    sorted
}
