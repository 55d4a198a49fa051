//! Exceptions and warnings.

use pyo3::prelude::*;
use std::ffi::CString;
use std::io;

/// The exception for input that cannot be read: `etw.ReadError` for an error of the system, otherwise `etw.Error`.
pub fn input(py: Python<'_>, name: &str, error: &io::Error) -> PyErr {
    let text = etw_layouts_cli::unreadable(error);
    match error.raw_os_error() {
        Some(code) => raised(py, "ReadError", (format!("{name}: {text}"), name, code)),
        None => invalid(py, Some(name), &text),
    }
}

/// The exception for invalid input: `etw.Error`.
pub fn invalid(py: Python<'_>, name: Option<&str>, text: &str) -> PyErr {
    let message = name.map_or_else(|| text.to_owned(), |name| format!("{name}: {text}"));
    raised(py, "Error", (message, name))
}

/// The exception for a trace that cannot be read.
pub fn trace(py: Python<'_>, error: &etw_layouts_trace::Error) -> PyErr {
    input(py, error.file(), error.cause())
}

/// The exception for an error of tables.
pub fn table(py: Python<'_>, error: &etw_layouts_table::Error) -> PyErr {
    match error {
        etw_layouts_table::Error::Trace(error) => trace(py, error),
        error => invalid(py, None, &error.to_string()),
    }
}

fn raised<'py, A: pyo3::call::PyCallArgs<'py>>(py: Python<'py>, class: &str, args: A) -> PyErr {
    let error = py.import("etw._errors").and_then(|module| module.getattr(class)).and_then(|class| class.call1(args));
    error.map_or_else(|error| error, PyErr::from_value)
}

/// Warns that something was skipped.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let class = py.import("etw._errors")?.getattr("DamageWarning")?;
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    PyErr::warn(py, &class, &text, 1)
}
