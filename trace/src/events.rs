//! Iteration over events.

use crate::buffer::Pool;
use crate::error::Error;
use crate::event::Event;
use crate::order::{Order, Slice};
use crate::slice::Loaded;
use crate::trace::{MEMORY, Trace};
use std::vec;

/// An iterator over the events of a trace. It reads the trace part by part.
#[derive(Debug)]
pub struct Events<'t> {
    trace: &'t Trace,
    /// The file, or all.
    file: Option<usize>,
    slices: vec::IntoIter<Slice>,
    loaded: Option<Loaded>,
    next: usize,
    is_ordered: bool,
    pool: Pool,
}

impl<'t> Events<'t> {
    fn new(trace: &'t Trace, file: Option<usize>, order: Order) -> Self {
        let (slices, is_ordered) = trace.slices(file, order, MEMORY);
        Self { trace, file, slices: slices.into_iter(), loaded: None, next: 0, is_ordered, pool: Pool::default() }
    }

    /// The events of a slice of [`Trace::slices`], in the memory of the events before them.
    pub fn of_slice(&mut self, slice: Slice) -> &mut Self {
        self.slices = vec![slice].into_iter();
        self.next = usize::MAX;
        self
    }

    /// The events from the first one in file order: buffer by buffer, file by file.
    #[must_use]
    pub fn in_file_order(self) -> Self {
        Self::new(self.trace, self.file, Order::File)
    }

    /// Whether the events are in the requested order. If buffers are too far out of order, only parts are sorted.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }
}

impl Trace {
    /// All events in the order of time. [`Events::in_file_order`] changes the order.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        Events::new(self, None, Order::Time)
    }

    /// No events: a worker begins with it, and reads [slices](Events::of_slice).
    #[must_use]
    pub fn no_events(&self) -> Events<'_> {
        let (slices, pool) = (Vec::new().into_iter(), Pool::default());
        Events { trace: self, file: None, slices, loaded: None, next: 0, is_ordered: true, pool }
    }

    /// The events of one file, by its index, in the order of time.
    #[must_use]
    pub fn events_of(&self, file: usize) -> Events<'_> {
        Events::new(self, Some(file), Order::Time)
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Result<Event<'t>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(loaded) = &self.loaded
                && let Some(item) = loaded.items.get(self.next)
            {
                self.next += 1;
                let buffer = loaded.buffers[item.buffer as usize].clone();
                return Some(Ok(Event::new(self.trace, buffer, item)));
            }
            // The memory of a slice is used again for the next one.
            let Loaded { buffers, items } = self.loaded.take().unwrap_or_default();
            buffers.into_iter().for_each(|buffer| self.pool.recycle(buffer));
            match Loaded::read(self.trace, &self.slices.next()?, &mut self.pool, items) {
                Ok(loaded) => (self.loaded, self.next) = (Some(loaded), 0),
                Err(error) => {
                    self.slices = Vec::new().into_iter();
                    return Some(Err(error));
                }
            }
        }
    }
}
