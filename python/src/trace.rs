//! A trace.

use crate::batches::Batches;
use crate::error;
use crate::events::Events;
use crate::source::{Shared, Source, from_json, from_lines};
use crate::trace_file::TraceFile;
use etw_layouts_cli::api;
use etw_layouts_table::Order;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// A trace file. `etw.open` returns it.
#[pyclass(frozen, module = "etw")]
pub struct Trace {
    file: Arc<TraceFile>,
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (source, name, options))]
    fn new(py: Python<'_>, source: Input, name: String, options: Vec<(String, String)>) -> PyResult<Self> {
        let source = match source {
            Input::Bytes(bytes) => Source::Bytes(Shared(Arc::new(bytes))),
            Input::Path(path) => Source::Path(path),
        };
        let file = TraceFile::new(name, source, options);
        // Report invalid options and files of other kinds now.
        file.selection(py, &[])?;
        file.check(py)?;
        Ok(Self { file: Arc::new(file) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.file.name
    }

    #[getter]
    fn info(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let file = &self.file;
        let info = file.info.get_or_try_init(py, || {
            let kept = file.run(py, api::info)?;
            from_json(py, &kept.lines)
        })?;
        // Return a copy, because callers can change it.
        Ok(py.import("copy")?.call_method1("deepcopy", (info,))?.unbind())
    }

    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        from_lines(py, &self.file.first(py)?.diagnostics)
    }

    fn processes(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        from_lines(py, &self.file.run(py, api::processes)?.lines)
    }

    #[pyo3(signature = (options, order))]
    fn events(&self, py: Python<'_>, options: Vec<(String, String)>, order: &str) -> PyResult<Events> {
        let order = ordered(py, order)?;
        Events::new(py, self.file.clone(), &options, order)
    }

    fn __repr__(&self) -> String {
        format!("etw.Trace({:?})", self.file.name)
    }
}

impl Trace {
    pub fn file(&self) -> Arc<TraceFile> {
        self.file.clone()
    }
}

#[derive(FromPyObject)]
enum Input {
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    #[pyo3(transparent)]
    Path(PathBuf),
}

/// The order with this name.
pub fn ordered(py: Python<'_>, order: &str) -> PyResult<Order> {
    match order {
        "time" => Ok(Order::Time),
        "file" => Ok(Order::File),
        _ => Err(error::invalid(py, None, &format!("unknown order `{order}`; use \"time\" or \"file\""))),
    }
}

/// The batches of traces, one after another.
#[pyfunction]
#[pyo3(signature = (traces, options, shape, order, payload, table))]
pub fn batches(
    py: Python<'_>,
    traces: Vec<PyRef<'_, Trace>>,
    options: Vec<(String, String)>,
    shape: &str,
    order: &str,
    payload: &str,
    table: Option<String>,
) -> PyResult<Batches> {
    let files = traces.iter().map(|trace| trace.file()).collect();
    Batches::new(py, files, options, (shape, ordered(py, order)?, payload), table)
}
