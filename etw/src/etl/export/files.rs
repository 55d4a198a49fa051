//! The files of a part.

use super::paths::{base, end};
use super::record::Written;
use etw_layouts_folder::Folder;
use etw_layouts_table::write::{Format, ROWS, Writer};
use etw_layouts_table::{Batch, Error, Kind};
use std::collections::HashMap;
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
    /// Increases with each batch.
    now: u64,
}

struct Open {
    writer: Writer<BufWriter<File>>,
    file: Written,
    generation: u32,
    used: u64,
    /// Memory for its rows, in bytes.
    memory: usize,
}

/// The maximum number of open files. At this number, the least recently used file is completed. Further rows of its table go to a
/// new file.
const OPEN: usize = 64;
/// The memory limit for the rows of open files. Above it, the rows of the largest file are written.
const MEMORY: usize = 64 << 20;

impl Files {
    pub fn new(folder: Folder, part: &str, format: Format) -> Self {
        let (open, numbers, written) = Default::default();
        Self { folder, part: part.to_owned(), format, open, numbers, written, now: 0 }
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
        if self.open.values().map(|open| open.memory).sum::<usize>() > MEMORY
            && let Some(largest) = self.open.values_mut().max_by_key(|open| open.memory)
        {
            largest.writer.flush()?;
            largest.memory = largest.writer.memory();
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
        let path = format!("{table}{}", end(&self.part, *number, self.format));
        let (name, provider, event) = match &batch.table.kind {
            Kind::Event { provider, event } => ("typed", Some(provider.clone()), Some(event.clone())),
            Kind::Stacks => ("stacks", None, None),
            Kind::Traces => ("traces", None, None),
            _ => ("events", None, None),
        };
        let file = Written { path, table: name.into(), provider, event, rows: 0, bytes: 0 };
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
