//! Sessions: the files that one session wrote.

use crate::file::TraceFile;
use crate::names::{NameTables, NamesBuilder};
use crate::options::{Notice, Options};
use crate::place::Place;
use crate::process_table::ProcessTable;
use crate::processes::Processes;
use crate::stacks::{StackBuilder, Stacks};
use crate::threads::{ThreadTable, Threads};
use crate::timer::TimerInterval;
use crate::volumes::{Volume, Volumes};
use crate::who::{Who, who};
use crate::wpp::WppSources;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::{Clock, Event, LogFile, Schemas};
use etw_layouts_schemas::trace::{self, Collector};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Returns the number of the session of each file, from 0. Files belong to one session if their log file headers have the same logger name,
/// start, boot time and clock. Two files with the same first buffer never belong to one session, because the buffers of a session are
/// numbered: one file is a copy, or its header is wrong. A file that states no clock is a session of its own.
#[must_use]
pub fn group<'f>(files: impl IntoIterator<Item = &'f TraceFile>) -> Vec<usize> {
    let (mut sessions, mut count) = (HashMap::new(), 0);
    let mut firsts = HashSet::new();
    let mut of_file = Vec::new();
    for file in files {
        let log = &file.log_file;
        let key = (
            (&log.logger_name, file.logger),
            (log.start_time, log.start_stamp, log.boot_time),
            (log.clock, log.perf_frequency, log.cpu_mhz, log.pointer_size, log.build),
        );
        // The header of a file without a clock was made, and states nothing of a session.
        let known = sessions.get(&key).copied().filter(|_| log.states_times());
        let known = known.filter(|session| firsts.insert((*session, file.first)));
        of_file.push(known.unwrap_or_else(|| {
            firsts.insert((count, file.first));
            sessions.entry(key).or_insert(count);
            count += 1;
            count - 1
        }));
    }
    of_file
}

/// A session: the processes, threads, names, volumes and schemas from its events.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    files: Vec<usize>,
    schemas: Schemas,
    library: Option<Arc<[u8]>>,
    host: Option<String>,
    processes: ProcessTable,
    threads: ThreadTable,
    pub(crate) stacks: Stacks,
    pub(crate) names: NameTables,
    volumes: Volumes,
    timer_interval: Option<u32>,
    wpp: WppSources,
}

impl Session {
    /// Who did an event of the session, and whom it is about, at a time stamp.
    #[must_use]
    pub fn who(&self, event: &Event<'_>, tick: i64) -> Who {
        who(event, &self.schemas, &self.processes, &self.threads, tick)
    }

    /// Its processes.
    #[must_use]
    pub fn processes(&self) -> &ProcessTable {
        &self.processes
    }

    /// The process of each of its threads.
    #[must_use]
    pub fn threads(&self) -> &ThreadTable {
        &self.threads
    }

    /// Indices of its files.
    #[must_use]
    pub fn files(&self) -> &[usize] {
        &self.files
    }

    /// The schemas of its events: those in its files, then those of the options.
    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// The schemas in its files as a library; `None` if there are none.
    #[must_use]
    pub fn library(&self) -> Option<&Arc<[u8]>> {
        self.library.as_ref()
    }

    /// Name of the computer, which the system configuration in kernel traces states.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The interval of the timer that takes samples, at the start of the session, in units of 100 ns: by the first event that states it, which can follow
    /// samples. `None` if no event states it.
    #[must_use]
    pub fn timer_interval(&self) -> Option<u32> {
        self.timer_interval
    }

    /// The volumes on its disks, which the system configuration in kernel traces states.
    #[must_use]
    pub fn volumes(&self) -> &[Volume] {
        &self.volumes.volumes
    }

    /// Its messages of the Windows software trace preprocessor (WPP), and the program databases that can have their formats.
    #[must_use]
    pub fn wpp(&self) -> &WppSources {
        &self.wpp
    }

    /// A path of the kernel, such as `\Device\HarddiskVolume2\Windows`, as users see it. Unchanged unless the merge of the trace added the volumes.
    #[must_use]
    pub fn user_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.volumes.user_path(path)
    }
}

/// Collects the properties of a session in the first pass.
pub(crate) struct SessionBuilder {
    files: Vec<usize>,
    log_file: LogFile,
    clock: Clock,
    schemas: Collector,
    host: Option<String>,
    processes: Processes,
    threads: Threads,
    stacks: StackBuilder,
    names: NamesBuilder,
    volumes: Volumes,
    /// The time stamp of the first event that states the interval of the timer, and the interval before it.
    timer_interval: Option<(i64, u32)>,
    wpp: WppSources,
    /// Whether a temporary file could not be written.
    failed: Option<io::Error>,
}

impl SessionBuilder {
    /// A builder for the session of a file, with tables that need at most `memory` bytes.
    pub fn new(first: &TraceFile, memory: usize) -> Self {
        Self {
            files: Vec::new(),
            log_file: first.log_file.clone(),
            clock: first.clock,
            schemas: Collector::default(),
            host: None,
            processes: Processes::default(),
            threads: Threads::default(),
            stacks: StackBuilder::new(memory / 2),
            names: NamesBuilder::new(memory / 2),
            volumes: Volumes::default(),
            timer_interval: None,
            wpp: WppSources::default(),
            failed: None,
        }
    }

    /// Index of its first file.
    pub fn first_file(&self) -> usize {
        self.files.first().copied().unwrap_or_default()
    }

    /// Begins a file of the session, by its index.
    pub fn begin(&mut self, file: usize) {
        self.files.push(file);
    }

    /// Adds an event of the current file.
    pub fn add(&mut self, event: &Event<'_>, tick: i64, place: Place) {
        let Place { buffer, buffer_offset, offset, .. } = place;
        let file = self.files.last().copied().unwrap_or_default();
        self.schemas.add(event, trace::Place { file, buffer, buffer_offset, offset });
        self.processes.add(event, tick);
        self.threads.add(event, tick);
        if self.failed.is_none() {
            let added = self.stacks.add(event, tick, file as u32, place);
            self.failed = added.and_then(|()| self.names.add(event, tick, file as u32, place)).err();
        }
        self.volumes.add(event);
        if let Some(stated) = TimerInterval::of(event)
            && self.timer_interval.is_none_or(|(first, _)| tick < first)
        {
            self.timer_interval = Some((tick, stated.before));
        }
        self.wpp.add(event);
        if self.host.is_none() && event.hook().is_some_and(|hook| hook >> 8 == SYSTEM_CONFIG) {
            self.host = host(event);
        }
    }

    /// The session.
    pub fn finish(self, options: &mut Options<'_>) -> io::Result<Session> {
        let Self {
            files,
            log_file,
            clock,
            schemas,
            host,
            processes,
            threads,
            stacks,
            names,
            volumes,
            timer_interval,
            wpp,
            failed,
        } = self;
        failed.map_or(Ok(()), Err)?;
        let (stacks, names) = (stacks.finish()?, names.finish()?);
        let bytes = stacks.file_size() + names.file_size();
        if let (1.., Some(file)) = (bytes, files.first()) {
            options.notice(Notice::Temporary { file: *file, bytes });
        }
        let records = stacks.left_out() + names.left_out();
        if let (1.., Some(file)) = (records, files.first()) {
            options.notice(Notice::NotKept { file: *file, records });
        }
        let collected = schemas.finish();
        for diagnostic in &collected.diagnostics {
            options.notice(Notice::Schema { file: diagnostic.place.file, diagnostic: diagnostic.clone() });
        }
        if let (count @ 1.., Some(file)) = (collected.more_diagnostics, files.first()) {
            options.notice(Notice::MoreSchemas { file: *file, count });
        }
        let library: Option<Arc<[u8]>> = collected.library().map(|library| library.bytes().into());
        let mut schemas = options.schemas.clone();
        if let Some(messages) = options.messages(&wpp) {
            schemas = schemas.clone().with_library(messages).unwrap_or(schemas);
        }
        if let Some(library) = library.clone() {
            // The library was built above, so it can be read.
            schemas = schemas.clone().with_first_library(library).unwrap_or(schemas);
        }
        schemas = schemas.with_pointers(if log_file.pointer_size == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 });
        if log_file.build != 0 {
            schemas = schemas.with_build(log_file.build);
        }
        let (processes, threads) = (processes.finish(&schemas, &clock), threads.finish(&schemas));
        let timer_interval = timer_interval.map(|(_, interval)| interval);
        Ok(Session { files, schemas, library, host, processes, threads, stacks, names, volumes, timer_interval, wpp })
    }
}

/// The group of the hook identifiers of system configuration events.
const SYSTEM_CONFIG: u16 = 0x0B;

/// The name of the computer in SystemConfig/CPU.
fn host(event: &Event<'_>) -> Option<String> {
    let decoded = event.decode(Schemas::BUILT_IN)?;
    if (decoded.schema.provider, decoded.schema.event) != ("SystemConfig", "CPU") {
        return None;
    }
    decoded.get("ComputerName").map(|name| name.to_string()).filter(|name| !name.is_empty())
}
