//! Converts events to batches.

use crate::keys::{Key, Names};
use crate::narrow::Narrow;
use crate::options::{BYTES, Options, ROWS, Shape};
use crate::stacks::Stacks;
use crate::table::{Batch, Table};
use crate::typed::Typed;
use arrow_schema::ArrowError;
use etw_layouts_etl::Clock;
use etw_layouts_etl::payload::Fault;
use etw_layouts_trace::{Error, Event};
use std::sync::Arc;

/// Converts the events of one or more traces, one after the other, to batches. Memory for rows is limited: if all tables together exceed the
/// limit, the largest table becomes a batch.
#[derive(Debug)]
pub struct Encoder {
    rows: Rows,
    stacks: Stacks,
    names: Names,
    file: Option<FileState>,
    /// The number of the name of each process in the dictionary, once it was needed.
    processes: Vec<Option<Option<i32>>>,
}

#[derive(Debug)]
enum Rows {
    Narrow(Box<Narrow>),
    Typed(Box<Typed>),
}

/// The file of the current events.
#[derive(Debug)]
struct FileState {
    number: usize,
    name: i32,
    host: Option<i32>,
    clock: Clock,
}

/// Size of all names, in bytes, from which they are discarded.
const NAMES: usize = 1 << 20;

impl Encoder {
    /// An encoder without rows.
    pub fn new(options: Options) -> Self {
        let rows = match options.shape {
            Shape::Narrow => Rows::Narrow(Box::new(Narrow::new(options.payload))),
            Shape::Typed => Rows::Typed(Box::default()),
        };
        Self { rows, stacks: Stacks::default(), names: Names::default(), file: None, processes: Vec::new() }
    }

    /// The tables with columns that do not depend on the events: the table of call stacks, and in the narrow shape that of events.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        let events = match &self.rows {
            Rows::Narrow(narrow) => Some(narrow.table()),
            Rows::Typed(_) => None,
        };
        events.into_iter().chain([self.stacks.table()]).collect()
    }

    /// Begins a file. The next events belong to it.
    fn begin(&mut self, event: &Event<'_>) {
        let number = event.file_index();
        if self.file.as_ref().is_none_or(|file| file.number != number) {
            let names = &mut self.names;
            self.processes = vec![None; event.session().processes().len()];
            self.file = Some(FileState {
                number,
                name: names.traces.add(event.file().name()),
                host: event.session().host().map(|host| names.hosts.add(host)),
                clock: *event.file().clock(),
            });
            match &mut self.rows {
                Rows::Narrow(narrow) => narrow.begin(),
                Rows::Typed(typed) => typed.begin(),
            }
        }
    }

    /// Adds an event. Returns the fault if its payload cannot be decoded; its row then has the bytes.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, where it has the call stack of the event.
    pub fn add(&mut self, event: &Event<'_>) -> Result<Option<Fault>, Error> {
        self.begin(event);
        let Some(file) = &self.file else { return Ok(None) };
        let (header, schemas) = (event.header(), event.schemas());
        let who = event.who().by;
        let names = &mut self.names.processes;
        let process_name = who.index.and_then(|index| {
            let number = self.processes.get_mut(index.0 as usize)?;
            if number.is_none() {
                *number = Some(event.session().processes().get(index)?.image().map(|image| names.add(image)));
            }
            (*number)?
        });
        let key = Key {
            place: event.place(),
            time: event.time().map(|time| time.0),
            who,
            times: event.file().log_file().thread_times(&header),
            trace: Some(file.name),
            host: file.host,
            process_name,
        };
        self.stacks.add(event, &key, &mut self.names)?;
        Ok(match &mut self.rows {
            Rows::Narrow(narrow) => narrow.add(&header, &key, schemas, &file.clock),
            Rows::Typed(typed) => typed.add(&header, &key, schemas, &file.clock),
        })
    }

    /// A batch, if there are enough rows for one. Call it after each event until it returns `None`.
    ///
    /// # Errors
    ///
    /// Arrow rejects a column; no trace is known to cause that.
    #[inline]
    pub fn full(&mut self) -> Result<Option<Batch>, ArrowError> {
        let is_due = self.stacks.is_due()
            || match &self.rows {
                Rows::Narrow(narrow) => narrow.rows() >= ROWS || narrow.bytes() >= BYTES,
                Rows::Typed(typed) => typed.is_due(),
            };
        if is_due { self.due() } else { Ok(None) }
    }

    #[cold]
    fn due(&mut self) -> Result<Option<Batch>, ArrowError> {
        if self.stacks.is_due() {
            return self.stacks.take(&mut self.names).map(Some);
        }
        let batch = match &mut self.rows {
            Rows::Narrow(narrow) => Some(narrow.take(&mut self.names)?),
            Rows::Typed(typed) => typed.take(&mut self.names)?,
        };
        Ok(batch)
    }

    /// The next batch of the remaining rows; `None` if there are no more.
    ///
    /// # Errors
    ///
    /// As [`full`](Self::full).
    pub fn rest(&mut self) -> Result<Option<Batch>, ArrowError> {
        if self.stacks.rows() > 0 {
            return self.stacks.take(&mut self.names).map(Some);
        }
        let batch = match &mut self.rows {
            Rows::Narrow(narrow) if narrow.rows() > 0 => Some(narrow.take(&mut self.names)?),
            Rows::Narrow(_) => None,
            Rows::Typed(typed) => typed.take(&mut self.names)?,
        };
        Ok(batch)
    }

    /// Discards all names if they need much memory. There must be no rows.
    pub fn forget_names(&mut self) {
        let own = match &self.rows {
            Rows::Narrow(narrow) => narrow.names_size(),
            Rows::Typed(typed) => typed.names_size(),
        };
        if self.names.size() + own > NAMES {
            (self.names, self.file) = (Names::default(), None);
            match &mut self.rows {
                Rows::Narrow(narrow) => narrow.forget_names(),
                Rows::Typed(typed) => typed.forget(),
            }
        }
    }
}
