//! A trace: one or more files, read once, and then in any order.

use crate::error::Error;
use crate::file::TraceFile;
use crate::index::{Index, Item};
use crate::options::{Notice, Options};
use crate::order::{self, Keyed, Order, Slice};
use crate::process::Process;
use crate::recall::Recall;
use crate::session::{self, Session, SessionBuilder};
use crate::source::{BytesSource, FileSource};
use etw_layouts_etl::wire::ETW_BUFFER_FLAG;
use etw_layouts_etl::{BufferHeader, Diagnostic, Event, FileTime, Filter};
use std::path::Path;
use std::sync::Arc;

/// One or more trace files after the first pass, which finds their buffers, the schemas in them, and what the events of a session say about its
/// processes, threads and call stacks.
#[derive(Debug)]
pub struct Trace {
    pub(crate) files: Vec<TraceFile>,
    pub(crate) indexes: Vec<Index>,
    /// The session of each file.
    pub(crate) session_of: Vec<usize>,
    pub(crate) sessions: Vec<Session>,
    /// The buffers of all files, session by session and in file order: the file of each, and its index in the list of the file.
    buffers: Vec<(u32, u32)>,
    pub(crate) recall: Recall,
    diagnostics: Vec<(usize, Diagnostic)>,
    more_diagnostics: u64,
    losses: Losses,
}

/// Buffers whose flags state losses before them. A file that was not closed has no counts of losses in its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Number of buffers with the flag EVENTS_LOST.
    pub buffers_with_events_lost: u64,
    /// Number of buffers with the flag BUFFER_LOST.
    pub buffers_with_buffer_lost: u64,
}

impl Losses {
    /// Counts a buffer.
    pub fn add(&mut self, header: &BufferHeader) {
        self.buffers_with_events_lost += u64::from(header.flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST));
        self.buffers_with_buffer_lost += u64::from(header.flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_BUFFER_LOST));
    }
}

/// Default limit of decompressed buffers that are in memory at the same time for [`Trace::events`], in bytes. It is exceeded only if a single
/// buffer, or buffers with the same time, are larger.
pub const MEMORY: u64 = 8 << 20;

/// Limit of the tables of names and call stacks in memory, in bytes. Larger tables are in temporary files.
const TABLES: usize = 32 << 20;

/// Maximum number of diagnostics that are kept.
const MAX_DIAGNOSTICS: usize = 1024;

impl Trace {
    /// Reads a trace file. A stream, such as a pipe, is copied to a temporary file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a trace file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_all([path])
    }

    /// Reads several trace files as one stream of events.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not a trace file.
    pub fn open_all<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let open = |path: P| {
            let name = path.as_ref().display().to_string();
            let source = FileSource::open(&path).map_err(|error| Error::new(&name, error))?;
            TraceFile::new(name, source)
        };
        Self::new(paths.into_iter().map(open).collect::<Result<_, _>>()?, Options::default())
    }

    /// Reads the bytes of a trace file.
    ///
    /// # Errors
    ///
    /// The bytes are not a trace file.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, Error> {
        Self::new(vec![TraceFile::new("bytes", BytesSource(bytes))?], Options::default())
    }

    /// Reads files with options.
    ///
    /// # Errors
    ///
    /// A file cannot be read to its end.
    pub fn new(files: Vec<TraceFile>, mut options: Options<'_>) -> Result<Self, Error> {
        let session_of = session::group(&files);
        let count = session_of.iter().max().map_or(0, |last| last + 1);
        let mut builders = Vec::with_capacity(count);
        let (mut diagnostics, mut more_diagnostics, mut losses) = (Vec::new(), 0, Losses::default());
        let mut indexes = Vec::with_capacity(files.len());
        for (number, file) in files.iter().enumerate() {
            // Sessions are numbered in the order of their first files.
            if session_of[number] == builders.len() {
                builders.push(SessionBuilder::new(file, TABLES / count));
            }
            let session = &mut builders[session_of[number]];
            session.begin(number);
            let mut report = |diagnostic: Diagnostic, options: &mut Options<'_>| {
                if diagnostics.len() < MAX_DIAGNOSTICS {
                    diagnostics.push((number, diagnostic.clone()));
                } else {
                    more_diagnostics += 1;
                }
                options.notice(Notice::Diagnostic { file: number, diagnostic });
            };
            let index = Index::read(&*file.source, |item| match item {
                Item::Event(event, tick, place) => {
                    if let Some(kind) = event.fault() {
                        report(place.diagnostic(kind), &mut options);
                    }
                    session.add(event, tick, place);
                }
                Item::Buffer(header) => losses.add(header),
                Item::Diagnostic(diagnostic) => report(diagnostic, &mut options),
            });
            indexes.push(match index.map_err(|error| Error::new(&file.name, error)) {
                Ok(index) => index,
                Err(error) if options.skips_unreadable => {
                    options.notice(Notice::Unreadable { file: number, error: Arc::new(error) });
                    Index::empty(file.format)
                }
                Err(error) => return Err(error),
            });
            let bytes = file.source.growth();
            if bytes > 0 {
                options.notice(Notice::Growth { file: number, bytes });
            }
        }
        let finish = |builder: SessionBuilder| {
            let first = &files[builder.first_file()];
            builder.finish(&mut options).map_err(|error| Error::new(&first.name, error))
        };
        let sessions = builders.into_iter().map(finish).collect::<Result<Vec<_>, _>>()?;
        let mut trace = Self {
            files,
            indexes,
            session_of,
            sessions,
            buffers: Vec::new(),
            recall: Recall::default(),
            diagnostics,
            more_diagnostics,
            losses,
        };
        let mut order: Vec<_> = (0..trace.files.len()).collect();
        order.sort_by_key(|file| trace.session_of[*file]);
        let of = |file: usize| (0..trace.indexes[file].buffers.len()).map(move |number| (file as u32, number as u32));
        trace.buffers = order.into_iter().flat_map(of).collect();
        Ok(trace)
    }

    /// The files, as they were given.
    #[must_use]
    pub fn files(&self) -> &[TraceFile] {
        &self.files
    }

    /// The sessions that wrote the files.
    #[must_use]
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// The session of a file, by the index of the file.
    #[must_use]
    pub fn session_of(&self, file: usize) -> Option<&Session> {
        self.sessions.get(*self.session_of.get(file)?)
    }

    /// The processes of all sessions, in the order of their start within each session.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.sessions.iter().flat_map(|session| session.processes().iter().map(|(_, process)| process))
    }

    /// Whether an event of a file matches a filter, at a time stamp. A process or thread of the filter is one that did it, or that it is about; a
    /// thread can also be that in the header.
    #[must_use]
    pub fn matches(&self, filter: &Filter, file: usize, event: &Event<'_>, processor: u16, tick: i64) -> bool {
        let (Some(opened), Some(session)) = (self.files.get(file), self.session_of(file)) else { return false };
        filter.matches_without_ids(event, processor, &opened.clock)
            && (!filter.asks_who() || session.who(event, tick).matches(filter, event))
    }

    /// Number of events of all files.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.indexes.iter().map(|index| index.events).sum()
    }

    /// Buffers whose flags state losses.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// System time of the last event of all files, as [`crate::Event::relative_time`]; `None` without events.
    #[must_use]
    pub fn last_time(&self) -> Option<FileTime> {
        let of_file = |(file, index): (usize, &Index)| {
            Some(FileTime(self.files[file].clock.system_time(index.buffers.iter().map(|buffer| buffer.last).max()?)))
        };
        self.indexes.iter().enumerate().filter_map(of_file).max()
    }

    /// The first 1,024 diagnostics, each with the index of its file. [`more_diagnostics`](Self::more_diagnostics) counts the others.
    #[must_use]
    pub fn diagnostics(&self) -> &[(usize, Diagnostic)] {
        &self.diagnostics
    }

    /// Number of further diagnostics.
    #[must_use]
    pub fn more_diagnostics(&self) -> u64 {
        self.more_diagnostics
    }

    /// Divides the events of one file, or of all files, into slices for worker threads. [`Events::of_slice`](crate::Events::of_slice) reads
    /// a slice. `memory` limits the decompressed size of a slice, in bytes. The second value is whether the slices, one after the other,
    /// are in this order: if buffers are too far out of order, only the events within each slice are sorted.
    #[must_use]
    pub fn slices(&self, file: Option<usize>, order: Order, memory: u64) -> (Vec<Slice>, bool) {
        let is_selected = |index: &u32| file.is_none_or(|file| self.buffers[*index as usize].0 as usize == file);
        let selected = (0..self.buffers.len() as u32).filter(is_selected).collect();
        order::slices(|index| self.buffer(index), selected, order, memory)
    }

    /// The key of a tick in the order of time: with several sessions, system time.
    #[inline]
    pub(crate) fn key(&self, file: usize, tick: i64) -> i64 {
        if self.sessions.len() == 1 { tick } else { self.files[file].clock.system_time(tick) }
    }

    /// The system time of a tick; `None` if the file states no clock.
    #[inline]
    pub(crate) fn time(&self, file: usize, tick: i64) -> Option<FileTime> {
        self.files[file].clock.time(tick)
    }

    /// A buffer of a slice.
    pub(crate) fn buffer(&self, index: u32) -> Keyed<'_> {
        let (file, number) = self.buffers[index as usize];
        let (file, entry) = (file as usize, &self.indexes[file as usize].buffers[number as usize]);
        Keyed { file, entry, first: self.key(file, entry.first), last: self.key(file, entry.last) }
    }
}
