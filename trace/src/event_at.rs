//! Events that are read again by their position.

use crate::buffer::{Buffer, Pool};
use crate::error::Error;
use crate::event::Event;
use crate::place::Position;
use crate::trace::Trace;
use std::sync::Arc;

impl Trace {
    /// Reads an event again; `None` if no event is at the position. If it has no time stamp, its [tick](Event::tick) is the time stamp of its buffer.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub(crate) fn event_at(&self, at: Position) -> Result<Option<Event<'_>>, Error> {
        let Some(buffer) = self.recalled(at)? else { return Ok(None) };
        let format = self.indexes[at.file as usize].format;
        let Some(event) = format.event(&buffer.bytes, at.offset) else { return Ok(None) };
        let (tick, extent) = (event.time_stamp().unwrap_or(buffer.entry.time_stamp), event.extent());
        Ok(Some(Event::at(self, buffer, tick, at.offset, extent)))
    }

    fn recalled(&self, at: Position) -> Result<Option<Arc<Buffer>>, Error> {
        if let Some(known) = self.recall.get(at.file, at.buffer) {
            return Ok(Some(known));
        }
        let number = at.file as usize;
        let Some((index, file)) = self.indexes.get(number).zip(self.files.get(number)) else { return Ok(None) };
        let Ok(entry) = index.buffers.binary_search_by_key(&at.buffer, |entry| entry.index) else { return Ok(None) };
        let session = self.session_of[number];
        let buffer = Pool::default().read(&*file.source, index, index.buffers[entry], (number, session), |_, _| {});
        let buffer = Arc::new(buffer.map_err(|error| Error::new(&file.name, error))?);
        self.recall.keep(buffer.clone());
        Ok(Some(buffer))
    }
}
