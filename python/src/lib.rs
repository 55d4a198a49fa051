//! The compiled part of the Python package `etw`. The folder `etw` has the Python part, with types and documentation.

#![forbid(unsafe_code)]

mod batches;
mod error;
mod events;
mod fields;
mod layouts;
mod opened;
mod physical_memory;
mod source;
mod trace;

use etw_layouts_cli::api;
use physical_memory::PythonMemory;
use pyo3::prelude::*;
use source::Signals;
use std::ffi::OsString;
use std::sync::Arc;

/// The compiled part of the package `etw`.
#[pymodule]
mod _etw {
    use super::*;

    #[pymodule_export]
    use super::batches::{Batch, Batches};
    #[pymodule_export]
    use super::events::{Event, Events};
    #[pymodule_export]
    use super::layouts::{layout, structures};
    #[pymodule_export]
    use super::trace::{Trace, batches};

    /// Runs the program `etw`, and returns its exit status.
    #[pyfunction]
    fn program(py: Python<'_>, args: Vec<OsString>) -> u8 {
        let code = py.detach(|| etw_layouts_cli::program(args));
        // The number in an `ExitCode` cannot be read.
        (0..=2).find(|status| code == std::process::ExitCode::from(*status)).unwrap_or(2)
    }

    /// Writes the output of a command to a file object, and returns diagnostics and notes. `args` are the words after `etw`.
    #[pyfunction]
    fn command(py: Python<'_>, args: Vec<OsString>, file: Py<PyAny>) -> PyResult<Vec<Py<PyAny>>> {
        let receiver = source::Receiver::new(file);
        let (found, signals) = (receiver.found(), Arc::new(Signals::default()));
        let own = signals.clone();
        let interrupt = move |count| own.check(count);
        let result = py.detach(|| api::command(&args, Box::new(receiver), interrupt).map_err(|why| why.to_string()));
        if let Some(raised) = signals.end().or_else(|| found.get().map(|raised| raised.clone_ref(py))) {
            return Err(raised);
        }
        let asides = result.map_err(|why| error::invalid(py, None, &why))?;
        source::from_lines(py, &asides)
    }

    /// As `command`, for a command on dumps whose file is physical memory: `read(address, size)` returns bytes, or `None` for missing ones, and `ranges`
    /// are the addresses and sizes of the memory. `args` are the words after `etw dump`.
    #[pyfunction]
    fn memory(
        py: Python<'_>,
        args: Vec<OsString>,
        read: Py<PyAny>,
        ranges: Vec<(u64, u64)>,
        file: Py<PyAny>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let receiver = source::Receiver::new(file);
        let memory = PythonMemory::new(read, &ranges);
        let (found, failed) = (receiver.found(), memory.failed());
        let result = py.detach(|| api::memory(&args, memory, &ranges, Box::new(receiver)).map_err(|why| why.to_string()));
        if let Some(raised) = failed.get().or(found.get()) {
            return Err(raised.clone_ref(py));
        }
        let asides = result.map_err(|why| error::invalid(py, None, &why))?;
        source::from_lines(py, &asides)
    }
}
