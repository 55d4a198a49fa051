//! Sources of trace data, and receivers of output.

use etw_layouts_trace::{BytesSource, FileSource, Source};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A path, or the bytes of a Python object, which are not copied.
#[derive(FromPyObject)]
pub enum Input {
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    #[pyo3(transparent)]
    Path(PathBuf),
}

impl Input {
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Bytes(_) => None,
            Self::Path(path) => Some(path),
        }
    }

    /// A file is opened again for each read: otherwise many traces would need many open files, and on Windows the file could not be removed.
    pub fn open(self) -> io::Result<Arc<dyn Source>> {
        Ok(match self {
            Self::Bytes(bytes) => Arc::new(BytesSource(bytes)),
            Self::Path(path) => {
                let is_file = path.metadata()?.is_file();
                let file = FileSource::open(&path)?;
                Arc::new(if is_file { file.reopened(path) } else { file })
            }
        })
    }
}

/// A source whose reads fail after a signal for Python, such as Ctrl+C. Read it only in a thread that has released the global interpreter lock: it
/// takes the lock to check for signals.
#[derive(Debug)]
pub struct Interruptible {
    pub source: Arc<dyn Source>,
    pub signals: Arc<Signals>,
}

/// The signals for Python during a call.
#[derive(Debug, Default)]
pub struct Signals {
    /// Bytes that were read since the last check.
    read: AtomicUsize,
    has_ended: AtomicBool,
    /// The exception of a signal handler.
    raised: Mutex<Option<PyErr>>,
}

/// Bytes between two checks for signals.
const INTERVAL: usize = 4 << 20;

impl Signals {
    /// Ends the call: signals are not checked any more. Returns the exception that a signal handler raised.
    pub fn end(&self) -> Option<PyErr> {
        self.has_ended.store(true, Ordering::Relaxed);
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Fails after a signal, if enough bytes were read since the last check.
    pub fn check(&self, count: usize) -> io::Result<()> {
        if self.has_ended.load(Ordering::Relaxed) || self.read.fetch_add(count, Ordering::Relaxed) < INTERVAL {
            return Ok(());
        }
        self.read.store(0, Ordering::Relaxed);
        Python::attach(|py| py.check_signals()).map_err(|error| {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            io::Error::other("interrupted")
        })
    }
}

impl Source for Interruptible {
    fn length(&self) -> u64 {
        self.source.length()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.signals.check(bytes.len())?;
        self.source.read_at(offset, bytes)
    }

    fn growth(&self) -> u64 {
        self.source.growth()
    }
}

/// Writes output to a Python file object, and checks for signals. Use it only in a thread that has released the global
/// interpreter lock.
pub struct Receiver {
    file: Py<PyAny>,
    /// The exception of the file object or of a signal handler.
    found: Arc<OnceLock<PyErr>>,
}

impl Receiver {
    pub fn new(file: Py<PyAny>) -> Self {
        Self { file, found: Arc::default() }
    }

    /// The exception that ended the output, for callers that get only its text.
    pub fn found(&self) -> Arc<OnceLock<PyErr>> {
        self.found.clone()
    }
}

impl Write for Receiver {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let written = py.check_signals().and_then(|()| self.file.call_method1(py, "write", (PyBytes::new(py, bytes),)));
            written.map(|_| bytes.len()).map_err(|error| {
                self.found.get_or_init(|| error.clone_ref(py));
                io::Error::other(error)
            })
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts JSON to a Python value.
pub fn from_json(py: Python<'_>, json: &str) -> PyResult<Py<PyAny>> {
    Ok(py.import("json")?.call_method1("loads", (json,))?.unbind())
}

/// Converts lines of JSON to Python values.
pub fn from_lines(py: Python<'_>, lines: &str) -> PyResult<Vec<Py<PyAny>>> {
    lines.lines().map(|line| from_json(py, line)).collect()
}
