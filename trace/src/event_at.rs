//! Events that are read again by their position.

use crate::buffer::Pool;
use crate::error::Error;
use crate::event::Event;
use crate::place::Position;
use crate::recall::Recalled;
use crate::trace::Trace;
use std::sync::Arc;

impl Trace {
    /// Reads an event again; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub(crate) fn event_at(&self, at: Position) -> Result<Option<Event<'_>>, Error> {
        let Some(recalled) = self.recalled(at)? else { return Ok(None) };
        let found = recalled.events.binary_search_by_key(&at.offset, |(offset, ..)| *offset).ok();
        Ok(found.map(|index| {
            let (offset, tick, extent) = recalled.events[index];
            Event::at(self, recalled.buffer.clone(), tick, offset, extent)
        }))
    }

    fn recalled(&self, at: Position) -> Result<Option<Arc<Recalled>>, Error> {
        if let Some(known) = self.recall.get(at.file, at.buffer) {
            return Ok(Some(known));
        }
        let number = at.file as usize;
        let Some((index, file)) = self.indexes.get(number).zip(self.files.get(number)) else { return Ok(None) };
        let Ok(entry) = index.buffers.binary_search_by_key(&at.buffer, |entry| entry.index) else { return Ok(None) };
        let mut events = Vec::new();
        let see = |tick, event: &etw_layouts_etl::Event<'_>| events.push((event.offset(), tick, event.extent()));
        let buffer = Pool::default().read(&*file.source, index, index.buffers[entry], (number, self.session_of[number]), see);
        let buffer = Arc::new(buffer.map_err(|error| Error::new(&file.name, error))?);
        let new = Arc::new(Recalled { buffer, events });
        self.recall.keep(new.clone());
        Ok(Some(new))
    }
}
