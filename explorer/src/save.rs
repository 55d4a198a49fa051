//! Selected events as files: CSV, JSON lines, Parquet, or a smaller trace file.

use crate::explorer::Explorer;
use etw_layouts_etl::LogFile;
use etw_layouts_etl::write::Relog;
use etw_layouts_lines::Format;
use etw_layouts_lines::column::{Column, DEFAULT};
use etw_layouts_lines::kind::LineKinds;
use etw_layouts_lines::layout::Layout;
use etw_layouts_lines::line::{Line, Names, Payload};
use etw_layouts_table::write::{Format as TableFormat, Writer};
use etw_layouts_table::{Error, Kind, Options, Order, Rows};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The format of a saved file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveFormat {
    /// As `etw etl events --order time --format csv --payload fields` prints the selected events.
    Csv,
    /// As `etw etl events --order time --format json --payload fields`.
    Json,
    /// One table of all selected events, as `etw etl export`, uncompressed.
    Parquet,
    /// A trace file, as `etw etl save --compress` writes it.
    Etl,
}

/// Size of the parts that are passed on, in bytes.
const CHUNK: usize = 1 << 20;

impl SaveFormat {
    /// The format with a name, which is the extension of its files.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "csv" => Self::Csv,
            "jsonl" => Self::Json,
            "parquet" => Self::Parquet,
            "etl" => Self::Etl,
            _ => return None,
        })
    }
}

impl Explorer {
    /// Writes the selected events as a file, and passes its parts to `put`. Returns a sentence on what was written.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or has no form in the format.
    pub fn save(&self, format: SaveFormat, put: &mut dyn FnMut(&[u8])) -> Result<String, String> {
        match format {
            SaveFormat::Csv => self.lines(Format::Csv, put),
            SaveFormat::Json => self.lines(Format::Json, put),
            SaveFormat::Parquet => self.parquet(put),
            SaveFormat::Etl => self.etl(put),
        }
    }

    fn lines(&self, format: Format, put: &mut dyn FnMut(&[u8])) -> Result<String, String> {
        let (opened, schemas) = self.opened()?;
        let messages = schemas.messages();
        let file = (opened.trace.files().len() > 1).then_some(Column::File);
        let columns: Vec<_> = DEFAULT.into_iter().chain(file).collect();
        let layout = Layout::new(&opened.selected.wanted, Some(Payload::Fields), format, &[], &columns);
        let (mut out, mut names, mut saved) = (Vec::new(), Names::default(), 0_u64);
        let mut kinds: Vec<_> = opened.trace.sessions().iter().map(|_| LineKinds::default()).collect();
        layout.heading(&mut out);
        opened.all(|event| {
            let header = event.header();
            let line = Line::of_event(opened.name(event.file_index()), event, &header, &messages, Some(Payload::Fields));
            let line = Line { who: layout.has_who().then(|| event.who()), ..line };
            // The line states what cannot be decoded.
            layout.write(&line, &mut names, &mut kinds[event.session_index()], &mut out);
            saved += 1;
            if out.len() >= CHUNK {
                put(&out);
                out.clear();
            }
            Ok(())
        })?;
        put(&out);
        Ok(format!("{saved} events"))
    }

    fn parquet(&self, put: &mut dyn FnMut(&[u8])) -> Result<String, String> {
        let (opened, _) = self.opened()?;
        let options = Options { order: Order::Time, ..Options::default() };
        let rows = Rows { trace: &opened.trace, file: None, filters: &opened.selected.filters, options, threads: 1 };
        let (mut writer, mut count) = (None::<Writer<Chunks>>, 0);
        let chunks = Chunks::default();
        let read = rows.read(|part| {
            count += part.counts.rows;
            for batch in part.batches.into_iter().filter(|batch| batch.table.kind == Kind::Events) {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => none.insert(Writer::new(TableFormat::Parquet, &batch.table, chunks.clone())?),
                };
                writer.write(&batch.rows)?;
                chunks.pass(put);
            }
            Ok::<_, Error>(())
        });
        read.map_err(|error| error.to_string())?;
        let writer = writer.ok_or("no events to save: the filter selects none; change it")?;
        writer.finish().map_err(|error| error.to_string())?;
        chunks.pass(put);
        Ok(format!("{count} events"))
    }

    fn etl(&self, put: &mut dyn FnMut(&[u8])) -> Result<String, String> {
        let (opened, _) = self.opened()?;
        let logs: Vec<_> = opened.trace.files().iter().map(|file| file.log_file()).collect();
        let log =
            LogFile::join(&logs).map_err(|apart| format!("the files cannot be one trace file: {apart}; open one of them"))?;
        let new = |is_compressed| Relog::new(Cursor::new(Vec::new()), &log, is_compressed);
        // Versions before Windows 8 cannot read compressed buffers.
        let mut relog = new(true).or_else(|_| new(false)).map_err(|error| error.to_string())?;
        let needs = !opened.selected.wanted.is_all();
        let copied = opened.trace.copy(&opened.selected.filters, needs, &mut relog).map_err(|error| error.to_string())?;
        let file = relog.finish().map_err(|error| error.to_string())?;
        file.get_ref().chunks(CHUNK).for_each(put);
        let sum = |of: fn(&etw_layouts_trace::Copied) -> u64| copied.iter().map(of).sum::<u64>();
        let mut done = format!("{} events, and {} that they need", sum(|copied| copied.matching), sum(|copied| copied.needed));
        for (why, count) in copied.iter().flat_map(|copied| &copied.skipped) {
            done += &format!("; {count} not copied: {why}");
        }
        let repeated = sum(|copied| copied.repeated.values().sum());
        if repeated > 0 {
            done += &format!("; {repeated} buffers are in several files: their events are in the new file twice");
        }
        Ok(done)
    }
}

/// Bytes of a file that are not passed on yet.
#[derive(Clone, Default)]
struct Chunks(Arc<Mutex<Vec<u8>>>);

impl Chunks {
    fn pass(&self, put: &mut dyn FnMut(&[u8])) {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        put(&bytes);
        bytes.clear();
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
