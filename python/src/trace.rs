//! A trace.

use crate::batches::{Batch, Batches};
use crate::error;
use crate::events::Events;
use crate::opened::Opened;
use crate::source::Input;
use etw_layouts_cli::api;
use etw_layouts_trace::Order;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A trace of one or more files. `etw.open` returns it.
#[pyclass(frozen, module = "etw")]
pub struct Trace {
    opened: Arc<Opened>,
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (files, manifests, tmf))]
    fn new(py: Python<'_>, files: Vec<(Input, String)>, manifests: Vec<PathBuf>, tmf: Vec<PathBuf>) -> PyResult<Self> {
        Ok(Self { opened: Arc::new(Opened::new(py, files, manifests, tmf)?) })
    }

    #[getter]
    fn name(&self) -> String {
        self.opened.name()
    }

    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.opened.info(py)
    }

    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.opened.first(py)?.diagnostics.lines())?)
    }

    fn processes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let processes = api::processes(&self.opened.first(py)?.trace).map_err(|why| error::trace(py, &why))?;
        Ok(pythonize::pythonize(py, &processes)?)
    }

    fn top<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        by: Vec<String>,
        symbol_path: Option<String>,
        options: Vec<(String, String)>,
    ) -> PyResult<(Bound<'py, PyAny>, Batch)> {
        let trace = &self.opened.first(py)?.trace;
        let filters = self.opened.selection(py, &options)?.filters(trace);
        let answer = py.detach(|| api::top(trace, what, &by, symbol_path, &filters).map_err(|why| why.to_string()));
        let (answer, rows) = answer.map_err(|why| error::invalid(py, None, &why))?;
        Ok((pythonize::pythonize(py, &answer)?, Batch::new(rows)))
    }

    #[pyo3(signature = (options, order))]
    fn events(&self, py: Python<'_>, options: Vec<(String, String)>, order: &str) -> PyResult<Events> {
        Events::new(py, &self.opened, &options, ordered(py, order)?)
    }

    fn __repr__(&self) -> String {
        format!("etw.Trace({:?})", self.opened.name())
    }
}

/// The order with this name.
fn ordered(py: Python<'_>, order: &str) -> PyResult<Order> {
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
    let traces = traces.iter().map(|trace| trace.opened.clone()).collect();
    Batches::new(py, traces, options, (shape, ordered(py, order)?, payload), table)
}
