//! Physical memory that a Python function reads.

use etw_layouts_dump::Source;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io;
use std::sync::{Arc, OnceLock};

/// Memory by physical address. Use it only in a thread that has released the global interpreter lock: it takes the lock for each read.
pub struct PythonMemory {
    read: Py<PyAny>,
    /// The first address after the memory.
    end: u64,
    /// The exception of the function, or of a signal handler.
    failed: Arc<OnceLock<PyErr>>,
}

impl PythonMemory {
    pub fn new(read: Py<PyAny>, ranges: &[(u64, u64)]) -> Self {
        let end = ranges.iter().map(|(address, size)| address.saturating_add(*size)).max().unwrap_or(0);
        Self { read, end, failed: Arc::default() }
    }

    /// The exception that ended the reading.
    pub fn failed(&self) -> Arc<OnceLock<PyErr>> {
        self.failed.clone()
    }
}

impl Source for PythonMemory {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        if self.failed.get().is_some() {
            return Err(io::Error::other("interrupted"));
        }
        let read = Python::attach(|py| {
            py.check_signals()?;
            let bytes: Option<PyBackedBytes> = self.read.call1(py, (offset, out.len()))?.extract(py)?;
            let length = bytes.as_ref().map_or(0, |bytes| bytes.len().min(out.len()));
            if let Some(bytes) = bytes {
                out[..length].copy_from_slice(&bytes[..length]);
            }
            Ok(length)
        });
        read.map_err(|error: PyErr| {
            self.failed.get_or_init(|| error);
            io::Error::other("the read failed")
        })
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.end)
    }
}
