//! The files of a part.

use super::paths::{base, end};
use super::record::{LIMIT, Written};
use etw_layouts_folder::Folder;
use etw_layouts_table::write::{Format, ROWS, Writer};
use etw_layouts_table::{Batch, Error, Kind};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufWriter;

/// The files of a part, written to its staging folder.
pub struct Files {
    folder: Folder,
    part: String,
    format: Format,
    open: HashMap<String, Open>,
    /// The number of files so far, by table.
    numbers: HashMap<String, u32>,
    written: Vec<Written>,
    /// The tables so far.
    tables: HashSet<(Kind, u128)>,
    /// Size of the names of their files in the record of the part, in bytes.
    names: usize,
    /// Increases with each batch.
    now: u64,
}

/// Why the rows of a trace cannot be written.
pub enum Failed {
    /// The trace cannot be exported, for this reason.
    Input(String),
    /// There is a diagnostic, with `--strict`.
    Strict,
    Output(Error),
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Output(error.into())
    }
}

struct Open {
    writer: Writer<BufWriter<File>>,
    file: Written,
    generation: u32,
    used: u64,
    /// Its memory, in bytes.
    memory: usize,
}

/// The maximum number of open files. At this number, the least recently used file is completed. Further rows of its table go to a
/// new file.
const OPEN: usize = 64;
/// The memory limit for open files. Above it, the rows of the largest file are written; without such rows, the file is completed.
const MEMORY: usize = 64 << 20;

/// The most bytes that the format of the record and the counts of a file add to its names.
const FORMATTED: usize = 256;

const TOO_MANY: &str = "too many kinds of events for the typed shape; select events with --provider or --event, separate the traces with \
    --group 0, or export with --shape narrow";

impl Files {
    pub fn new(folder: Folder, part: &str, format: Format) -> Self {
        let (open, numbers, written, tables) = Default::default();
        Self { folder, part: part.to_owned(), format, open, numbers, written, tables, names: 0, now: 0 }
    }

    /// Checks that the record can state the table of a batch.
    pub fn admit(&mut self, batch: &Batch) -> Result<(), Failed> {
        if self.tables.insert((batch.table.kind.clone(), batch.table.layout)) {
            self.state(&self.file(&base(batch), 1, batch))?;
        }
        // The other half is for the traces, and for further files of the tables.
        if self.names as u64 > LIMIT / 2 { Err(Failed::Input(TOO_MANY.into())) } else { Ok(()) }
    }

    /// Counts the names of a file.
    fn state(&mut self, file: &Written) -> Result<(), Error> {
        self.names += serde_json::to_vec(file).map_err(std::io::Error::from)?.len() + FORMATTED;
        Ok(())
    }

    /// A file of a table, by its number.
    fn file(&self, table: &str, number: u32, batch: &Batch) -> Written {
        let path = format!("{table}{}", end(&self.part, number, self.format));
        let (name, provider, event) = match &batch.table.kind {
            Kind::Event { provider, event } => ("typed", Some(provider.clone()), Some(event.clone())),
            Kind::Stacks => ("stacks", None, None),
            Kind::Traces => ("traces", None, None),
            _ => ("events", None, None),
        };
        Written { path, table: name.into(), provider, event, rows: 0, bytes: 0 }
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        self.now += 1;
        let table = base(batch);
        if self.open.get(&table).is_some_and(|open| open.generation != batch.generation || open.file.rows >= ROWS) {
            self.close(&table)?;
        }
        if !self.open.contains_key(&table) {
            if self.open.len() >= OPEN
                && let Some(oldest) = self.open.iter().min_by_key(|(_, open)| open.used).map(|(table, _)| table.clone())
            {
                self.close(&oldest)?;
            }
            let open = self.begin(&table, batch)?;
            self.open.insert(table.clone(), open);
        }
        let Some(open) = self.open.get_mut(&table) else { return Ok(()) };
        open.writer.write(&batch.rows)?;
        open.file.rows += batch.rows.num_rows() as u64;
        open.used = self.now;
        open.memory = open.writer.memory();
        while self.open.values().map(|open| open.memory).sum::<usize>() > MEMORY
            && let Some((table, largest)) = self.open.iter_mut().max_by_key(|(_, open)| open.memory)
        {
            if largest.writer.has_rows() {
                largest.writer.flush()?;
                largest.memory = largest.writer.memory();
            } else {
                let table = table.clone();
                self.close(&table)?;
            }
        }
        Ok(())
    }

    /// Writes the last batch of a table, and completes its file.
    pub fn write_last(&mut self, batch: &Batch) -> Result<(), Error> {
        self.write(batch)?;
        self.close(&base(batch))
    }

    /// Completes all files.
    pub fn finish(mut self) -> Result<Vec<Written>, Error> {
        let mut tables: Vec<_> = self.open.keys().cloned().collect();
        tables.sort();
        for table in tables {
            self.close(&table)?;
        }
        self.written.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self.written)
    }

    fn begin(&mut self, table: &str, batch: &Batch) -> Result<Open, Error> {
        let number = self.numbers.entry(table.to_owned()).or_default();
        *number += 1;
        let number = *number;
        let file = self.file(table, number, batch);
        if number > 1 {
            self.state(&file)?;
        }
        let out = self.folder.create_file(&file.path)?;
        let writer = Writer::new(self.format, &batch.table, BufWriter::with_capacity(1 << 16, out))?;
        Ok(Open { writer, file, generation: batch.generation, used: self.now, memory: 0 })
    }

    fn close(&mut self, table: &str) -> Result<(), Error> {
        let Some(Open { writer, mut file, .. }) = self.open.remove(table) else { return Ok(()) };
        let out = writer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        out.sync_all()?;
        file.bytes = out.metadata()?.len();
        self.written.push(file);
        Ok(())
    }
}
