//! The compiled part of the Python package `etw`. The folder `etw` beside it has the part in Python, with types and documentation.

#![forbid(unsafe_code)]

mod batches;
mod error;
mod events;
mod fields;
mod layouts;
mod source;
mod trace;

use pyo3::prelude::*;
use std::ffi::OsString;

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

    type Objects = Vec<Py<PyAny>>;

    /// Runs the program `etw`, and returns its exit status.
    #[pyfunction]
    fn program(py: Python<'_>, args: Vec<OsString>) -> u8 {
        let code = py.detach(|| etw_layouts_cli::program(args));
        // The status has no number that can be read.
        (0..=2).find(|status| code == std::process::ExitCode::from(*status)).unwrap_or(2)
    }

    /// The output of `etw dump … --format json`.
    #[pyfunction]
    fn dump(py: Python<'_>, args: Vec<OsString>) -> PyResult<(Objects, Objects)> {
        let kept = py.detach(|| etw_layouts_cli::api::dump(&args).map_err(|why| why.to_string()));
        let kept = kept.map_err(|why| error::invalid(py, None, &why))?;
        Ok((source::from_lines(py, &kept.lines)?, source::from_lines(py, &kept.asides)?))
    }
}
