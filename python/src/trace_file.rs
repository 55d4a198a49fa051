//! A trace file: the result of its first pass, and the selection of its events.

use crate::error;
use crate::source::{Interruptible, Source};
use etw_layouts_cli::api::{self, Diagnostics, Selection};
use etw_layouts_etl::{Diagnostic, Filter, Schemas};
use etw_layouts_schemas::trace::{Collector, Place};
use etw_layouts_table::{Index, Seen};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// A trace file with the result of its first pass.
pub struct TraceFile {
    pub name: String,
    pub source: Source,
    /// Options for schemas.
    options: Vec<(String, String)>,
    first: PyOnceLock<First>,
    /// The value of `Trace.info`.
    pub info: PyOnceLock<Py<PyAny>>,
}

/// The result of the first pass over a trace.
pub struct First {
    pub index: Arc<Index>,
    /// The schemas in the trace.
    library: Option<Arc<[u8]>>,
    /// Lines of JSON.
    pub diagnostics: String,
}

/// Selected events of a trace, and the schemas to decode them.
pub struct Chosen {
    pub selection: Arc<Selection>,
    pub schemas: Schemas,
    pub filter: Filter,
}

impl TraceFile {
    /// A file that has not been read yet.
    pub fn new(name: String, source: Source, options: Vec<(String, String)>) -> Self {
        Self { name, source, options, first: PyOnceLock::new(), info: PyOnceLock::new() }
    }

    /// The selection from the options for schemas and the options of a call.
    pub fn selection(&self, py: Python<'_>, options: &[(String, String)]) -> PyResult<Selection> {
        let all = self.options.iter().chain(options).map(|(name, value)| (name.as_str(), value.as_str()));
        Selection::new(all).map_err(|why| error::invalid(py, None, &why.to_string()))
    }

    /// The filter and the schemas for the events of a call.
    pub fn chosen(&self, py: Python<'_>, options: &[(String, String)]) -> PyResult<Chosen> {
        let selection = self.selection(py, options)?;
        let First { index, library, .. } = self.first(py)?;
        let schemas = selection.schemas(index.log_file(), library.clone());
        let filter = selection.filter(index.log_file().start_time, &schemas);
        Ok(Chosen { selection: Arc::new(selection), schemas, filter })
    }

    /// The result of the first pass. The file is read once. Warns if the file is damaged.
    pub fn first(&self, py: Python<'_>) -> PyResult<&First> {
        if let Some(first) = self.first.get(py) {
            return Ok(first);
        }
        let read = py.detach(|| self.read()).map_err(|why| error::input(py, &self.name, why));
        let (first, notes, damage) = read?;
        let is_new = self.first.set(py, first).is_ok();
        if is_new && damage > 0 {
            let text = format!("{}: {damage} diagnostics: parts of the trace may be missing; see Trace.diagnostics", self.name);
            error::warn(py, &text)?;
        }
        for note in notes.lines().filter(|_| is_new) {
            error::warn(py, note)?;
        }
        self.first.get(py).ok_or_else(|| error::invalid(py, Some(&self.name), "not read"))
    }

    /// The result of the first pass; notes on unused schemas; and the number of diagnostics if one reports damage, otherwise 0.
    fn read(&self) -> io::Result<(First, String, u64)> {
        let (mut collector, mut diagnostics) = (Collector::default(), Diagnostics::default());
        let source = BufReader::with_capacity(1 << 18, Interruptible::new(self.source.open()?));
        let index = Index::read(source, |seen| match seen {
            Seen::Event(event, place) => {
                let (buffer, buffer_offset, offset) = (place.buffer, place.buffer_offset, place.offset);
                collector.add(event, Place { file: 0, buffer, buffer_offset, offset });
                if let Some(kind) = event.fault() {
                    diagnostics.add(&Diagnostic { buffer, buffer_offset, offset, kind });
                }
            }
            Seen::Diagnostic(diagnostic) => diagnostics.add(&diagnostic),
        })?;
        let (library, notes) = api::library(&self.name, collector.finish());
        let damage = if diagnostics.are_damage() { diagnostics.total() } else { 0 };
        Ok((First { index: Arc::new(index), library, diagnostics: diagnostics.lines() }, notes, damage))
    }

    /// Checks that the file begins like a trace.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        let check = || {
            let mut head = Vec::new();
            self.source.open()?.take(api::HEAD).read_to_end(&mut head)?;
            match api::no_trace(&head) {
                Some(why) => Err(io::Error::new(io::ErrorKind::InvalidData, why)),
                None => etw_layouts_etl::Reader::new(&head[..]).map(drop),
            }
        };
        py.detach(check).map_err(|why| error::input(py, &self.name, why))
    }

    /// Runs a command on the file.
    pub fn run(
        &self,
        py: Python<'_>,
        command: impl Fn(&str, Interruptible) -> Result<api::Kept, etw_layouts_cli::Error> + Sync,
    ) -> PyResult<api::Kept> {
        let source = self.source.open().map_err(|why| error::input(py, &self.name, why))?;
        let source = Interruptible::new(source);
        let found = source.found();
        let result = py.detach(|| command(&self.name, source).map_err(|why| why.to_string()));
        if let Some(interrupt) = found.get() {
            return Err(interrupt.clone_ref(py));
        }
        result.map_err(|why| error::invalid(py, Some(&self.name), &why))
    }
}
