//! Sources of trace data.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A file, or its bytes.
#[derive(Clone)]
pub enum Source {
    Path(PathBuf),
    Bytes(Shared),
}

/// The bytes of a Python object, without a copy.
#[derive(Clone)]
pub struct Shared(pub Arc<PyBackedBytes>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// An open source.
pub enum Stream {
    File(File),
    Bytes(Cursor<Shared>),
}

impl Source {
    pub fn open(&self) -> io::Result<Stream> {
        Ok(match self {
            Self::Path(path) => Stream::File(File::open(path)?),
            Self::Bytes(bytes) => Stream::Bytes(Cursor::new(bytes.clone())),
        })
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(bytes),
            Self::Bytes(shared) => shared.read(bytes),
        }
    }
}

impl Seek for Stream {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Bytes(shared) => shared.seek(to),
        }
    }
}

/// A stream that ends with an error after a signal for Python, such as Ctrl+C. Use it only in a thread that has released the
/// global interpreter lock: it takes the lock to check for signals.
pub struct Interruptible {
    stream: Stream,
    /// Bytes until the next check for signals.
    left: usize,
    /// The exception of a signal handler.
    found: Arc<OnceLock<PyErr>>,
}

/// Bytes between two checks for signals.
const INTERVAL: usize = 4 << 20;

impl Interruptible {
    pub fn new(stream: Stream) -> Self {
        Self { stream, left: INTERVAL, found: Arc::default() }
    }

    /// The exception that ended the stream, for callers that get only its text.
    pub fn found(&self) -> Arc<OnceLock<PyErr>> {
        self.found.clone()
    }
}

impl Read for Interruptible {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(bytes)?;
        self.left = self.left.saturating_sub(count);
        if self.left == 0 {
            self.left = INTERVAL;
            Python::attach(|py| {
                py.check_signals().map_err(|error| {
                    self.found.get_or_init(|| error.clone_ref(py));
                    io::Error::other(error)
                })
            })?;
        }
        Ok(count)
    }
}

impl Seek for Interruptible {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.stream.seek(to)
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
