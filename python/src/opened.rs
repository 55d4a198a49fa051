//! An opened trace: its files, and the trace, which is read when it is used for the first time.

use crate::error;
use crate::source::{Input, Interruptible, Signals};
use etw_layouts_cli::api::{self, Diagnostics, Selection};
use etw_layouts_trace::{Notice, Options, Sequential, Source, Trace, TraceFile};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The files of a trace, and the trace after its first pass.
pub struct Opened {
    files: Vec<File>,
    /// Selects all events. It has the schemas that were named.
    all: Selection,
    first: PyOnceLock<First>,
    info: PyOnceLock<Py<PyAny>>,
}

/// A file of a trace.
struct File {
    name: String,
    /// Its absolute path; `None` for bytes.
    path: Option<String>,
    source: Arc<dyn Source>,
}

/// The result of the first pass.
pub struct First {
    pub trace: Arc<Trace>,
    pub diagnostics: Diagnostics,
}

/// Maximum number of warnings about schemas in a trace that cannot be used.
const SCHEMAS: usize = 8;

impl Opened {
    /// Opens files, each with its name. Reports invalid schemas and files of other kinds; the events are not read yet.
    pub fn new(py: Python<'_>, files: Vec<(Input, String)>, manifests: Vec<PathBuf>, tmf: Vec<PathBuf>) -> PyResult<Self> {
        let all = py.detach(|| Selection::new(manifests, tmf)).map_err(|why| error::invalid(py, None, &why.to_string()))?;
        let open = |(input, name): (Input, String)| match py.detach(|| open(input)) {
            Ok((path, source)) => Ok(File { name, path, source }),
            Err(why) => Err(error::input(py, &name, &why)),
        };
        Ok(Self {
            files: files.into_iter().map(open).collect::<PyResult<_>>()?,
            all,
            first: PyOnceLock::new(),
            info: PyOnceLock::new(),
        })
    }

    /// The name of the file; if there are several, that of the first one with the number of others.
    pub fn name(&self) -> String {
        match &self.files[..] {
            [] => String::new(),
            [File { name, .. }] => name.clone(),
            [File { name, .. }, others @ ..] => format!("{name} and {} more", others.len()),
        }
    }

    /// The selection from the options of a call.
    pub fn selection(&self, py: Python<'_>, options: &[(String, String)]) -> PyResult<Selection> {
        let options = options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.all.with(options).map_err(|why| error::invalid(py, None, &why.to_string()))
    }

    /// The result of the first pass. The files are read once. Warns if they are damaged.
    pub fn first(&self, py: Python<'_>) -> PyResult<&First> {
        if let Some(first) = self.first.get(py) {
            return Ok(first);
        }
        let signals = Arc::default();
        let read = py.detach(|| self.read(&signals));
        if let Some(raised) = signals.end() {
            return Err(raised);
        }
        let (first, notes) = read.map_err(|why| error::trace(py, &why))?;
        // Another thread can have read the trace at the same time.
        if self.first.set(py, first).is_ok() {
            notes.iter().try_for_each(|note| error::warn(py, note))?;
        }
        self.first.get(py).ok_or_else(|| error::invalid(py, Some(&self.name()), "not read"))
    }

    /// Reads the files. Returns warnings too.
    fn read(&self, signals: &Arc<Signals>) -> Result<(First, Vec<String>), etw_layouts_trace::Error> {
        let files = self.files.iter().map(|File { name, source, .. }| {
            TraceFile::new(name, Interruptible { source: source.clone(), signals: signals.clone() })
        });
        let mut diagnostics = Diagnostics::new(self.files.iter().map(|file| file.name.clone()));
        let (mut notes, mut more, mut growth) = (Vec::new(), 0, Vec::new());
        let name = |file: usize| self.files.get(file).map_or("", |file| &file.name);
        let options = Options::new().schemas(self.all.schemas()).notices(|notice| match notice {
            Notice::Diagnostic { file, diagnostic } => diagnostics.add(file, &diagnostic),
            Notice::Schema { file, diagnostic } if notes.len() < SCHEMAS => notes.push(format!("{}: {diagnostic}", name(file))),
            Notice::Schema { .. } => more += 1,
            Notice::MoreSchemas { count, .. } => more += count,
            Notice::Growth { file, bytes } => {
                growth.push(format!("{}: {bytes} bytes were added after the file was opened; they are not read", name(file)));
            }
            _ => {}
        });
        let trace = Trace::new(files.collect::<Result<_, _>>()?, options)?;
        if more > 0 {
            notes.push(format!("{}: {more} more schemas are not used", self.name()));
        }
        notes.append(&mut growth);
        let total = diagnostics.total();
        if total > 0 {
            notes.insert(
                0,
                format!("{}: {total} diagnostics: parts of the trace may be missing; see Trace.diagnostics", self.name()),
            );
        }
        Ok((First { trace: Arc::new(trace), diagnostics }, notes))
    }

    /// Path and hash of a file, by its index, for the table of traces. The file is read for its hash.
    pub fn identity(&self, file: usize) -> io::Result<(Option<&str>, String)> {
        let File { path, source, .. } = self.files.get(file).ok_or(io::ErrorKind::NotFound)?;
        Ok((path.as_deref(), api::hash(Sequential::new(&**source))?))
    }

    /// The result of `etw etl info`.
    pub fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let info = self.info.get_or_try_init(py, || self.read_info(py))?;
        // Return a copy, because callers can change it.
        py.import("copy")?.call_method1("deepcopy", (info,))
    }

    fn read_info(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let [File { name, source, .. }] = &self.files[..] else {
            let text = format!("the trace has {} files; open each of them alone for its info", self.files.len());
            return Err(error::invalid(py, Some(&self.name()), &text));
        };
        let signals: Arc<Signals> = Arc::default();
        let stream = Sequential::new(Box::new(Interruptible { source: source.clone(), signals: signals.clone() }));
        let result = py.detach(|| api::info(name, stream).map_err(|why| why.to_string()));
        if let Some(raised) = signals.end() {
            return Err(raised);
        }
        let info = result.map_err(|why| error::invalid(py, Some(name), &why))?;
        Ok(pythonize::pythonize(py, &info)?.unbind())
    }
}

/// Opens a source that begins like a trace. Returns its path too.
fn open(input: Input) -> io::Result<(Option<String>, Arc<dyn Source>)> {
    let path = input.path().map(api::location).transpose()?;
    let source = input.open()?;
    let mut head = vec![0; usize::try_from(source.length().min(api::HEAD)).unwrap_or_default()];
    source.read_at(0, &mut head)?;
    match api::no_trace(&head) {
        Some(why) => Err(io::Error::new(io::ErrorKind::InvalidData, why)),
        None => etw_layouts_etl::Reader::new(&head[..]).map(|_| (path, source)),
    }
}
