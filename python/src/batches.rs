//! Events as Arrow record batches.

use crate::error;
use crate::source::{Interruptible, Stream, from_lines};
use crate::trace_file::{Chosen, TraceFile};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use etw_layouts_cli::api::Diagnostics;
use etw_layouts_table as table;
use etw_layouts_table::{Encoder, Error, Index, Kind, MEMORY, Options, Order, Payload, Rows, Shape, Table};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyDict};
use std::collections::VecDeque;
use std::io::{Read, Seek};
use std::sync::{Arc, Mutex, PoisonError};

/// The batches of traces.
#[pyclass(frozen, module = "etw")]
pub struct Batches {
    files: Vec<Arc<TraceFile>>,
    options: Vec<(String, String)>,
    form: Options,
    table: Option<String>,
    counts: Arc<Mutex<Counted>>,
    /// The state of the Python iterator.
    own: Mutex<Option<Chain<Interruptible>>>,
}

/// The numbers that iterators over the batches have counted so far.
#[derive(Default)]
struct Counted {
    events: u64,
    rows: u64,
    diagnostics: Diagnostics,
}

impl Batches {
    pub fn new(
        py: Python<'_>,
        files: Vec<Arc<TraceFile>>,
        options: Vec<(String, String)>,
        (shape, order, payload): (&str, Order, &str),
        table: Option<String>,
    ) -> PyResult<Self> {
        let unknown =
            |what: &str, value: &str, known: &str| error::invalid(py, None, &format!("unknown {what} `{value}`; use {known}"));
        let shape = match shape {
            "narrow" => Shape::Narrow,
            "typed" => Shape::Typed,
            _ => return Err(unknown("shape", shape, "\"narrow\" or \"typed\"")),
        };
        let payload = match payload {
            "json" => Payload::Json,
            "binary" => Payload::Binary,
            "none" => Payload::None,
            _ => return Err(unknown("payload", payload, "\"json\", \"binary\" or \"none\"")),
        };
        let table = table.or_else(|| (shape == Shape::Narrow).then(|| "events".to_owned()));
        if shape == Shape::Narrow && !matches!(table.as_deref(), Some("events" | "stacks")) {
            return Err(unknown("table", table.as_deref().unwrap_or_default(), "\"events\" or \"stacks\", or shape=\"typed\""));
        }
        if let Some(file) = files.first() {
            file.selection(py, &options)?;
        }
        let form = Options { shape, order, payload };
        Ok(Self { files, options, form, table, counts: Arc::default(), own: Mutex::default() })
    }

    fn chain<S>(&self, py: Python<'_>, open: fn(Stream) -> S) -> PyResult<Chain<S>> {
        let mut traces = VecDeque::new();
        for file in &self.files {
            let chosen = file.chosen(py, &self.options)?;
            traces.push_back((file.clone(), chosen, file.first(py)?.index.clone()));
        }
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = Counted::default();
        Ok(Chain { traces, open, form: self.form, table: self.table.clone(), current: None, counts: self.counts.clone() })
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        let chain = slf.chain(slf.py(), Interruptible::new)?;
        *slf.own.lock_py_attached(slf.py()).unwrap_or_else(PoisonError::into_inner) = Some(chain);
        Ok(slf)
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut own = self.own.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let chain = match &mut *own {
            Some(chain) => chain,
            none => none.insert(self.chain(py, Interruptible::new)?),
        };
        loop {
            py.check_signals()?;
            match py.detach(|| chain.step()) {
                None => return self.ended(py),
                Some(Ok(None)) => {}
                Some(Ok(Some(batch))) => return Ok(Some(Batch { batch })),
                Some(Err((name, why))) => return Err(error::table(py, &name, why)),
            }
        }
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let dict = PyDict::new(py);
        dict.set_item("events", counts.events)?;
        dict.set_item("rows", counts.rows)?;
        dict.set_item("diagnostics", counts.diagnostics.total())?;
        Ok(dict)
    }

    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let lines = self.counts.lock().unwrap_or_else(PoisonError::into_inner).diagnostics.lines();
        from_lines(py, &lines)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers must convert the batches to a requested schema themselves.
        drop(requested_schema);
        let mut chain = self.chain(py, |stream| stream)?;
        let fixed = Encoder::new(self.form).tables().into_iter().find(|table| is_named(table, self.table.as_deref()));
        let mut first = None;
        let table = match fixed {
            Some(table) if self.form.shape == Shape::Narrow || self.table.as_deref() == Some("stacks") => Some(table),
            _ => {
                let found = py.detach(|| chain.next_batch());
                first = found.transpose().map_err(|(name, why)| error::table(py, &name, why))?;
                let Some(batch) = &first else {
                    let wanted = self.table.as_ref().map(|name| format!(" of the table `{name}`")).unwrap_or_default();
                    return Err(error::invalid(
                        py,
                        None,
                        &format!("no events{wanted}; iterate over the batches to see the tables"),
                    ));
                };
                Some(batch.table.clone())
            }
        };
        let schema = table.as_ref().map_or_else(|| Arc::new(Schema::empty()), |table| table.schema.clone());
        let reader = Single { chain, first, schema, table };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}

impl Batches {
    /// Warns about payloads that were not decoded, and if no event matched.
    fn ended(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let (events, rows, diagnostics) = {
            let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            (counts.events, counts.rows, counts.diagnostics.total())
        };
        let name = self.files.first().map_or("", |file| &file.name);
        if diagnostics > 0 {
            error::warn(py, &format!("{name}: {diagnostics} payloads are not decoded to their end; see Batches.diagnostics"))?;
        }
        if let Some(file) = self.files.first()
            && rows == 0
            && events > 0
        {
            let hint = file.selection(py, &self.options)?.hint();
            error::warn(py, &format!("{name}: 0 of {events} events match{hint}"))?;
        }
        Ok(None)
    }
}

/// The batches of one trace after another.
struct Chain<S> {
    traces: VecDeque<(Arc<TraceFile>, Chosen, Arc<Index>)>,
    open: fn(Stream) -> S,
    form: Options,
    table: Option<String>,
    current: Option<Current<S>>,
    counts: Arc<Mutex<Counted>>,
}

/// The trace that is currently read.
struct Current<S> {
    name: String,
    batches: table::Batches<S>,
    /// The number of events in the first pass.
    expected: u64,
    /// The part of its counts that is already included in the total.
    counted: (u64, u64),
}

/// An error with the name of its trace.
type Failed = (String, Error);

impl<S: Read + Seek> Chain<S> {
    /// Reads a part. Returns its batch; the inner `None` means that the part has none.
    fn step(&mut self) -> Option<Result<Option<table::Batch>, Failed>> {
        let current = match &mut self.current {
            Some(current) => current,
            none => {
                let (file, chosen, index) = self.traces.pop_front()?;
                match Current::new(&file, chosen, index, self.open, self.form) {
                    Ok(current) => none.insert(current),
                    Err(why) => return Some(Err(self.failed(file.name.clone(), why))),
                }
            }
        };
        let step = current.batches.step();
        current.count(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        match step {
            Some(Ok(batch)) => Some(Ok(batch.filter(|batch| is_named(&batch.table, self.table.as_deref())))),
            Some(Err(why)) => {
                let name = current.name.clone();
                Some(Err(self.failed(name, why)))
            }
            None => {
                let result = current.complete();
                let name = current.name.clone();
                self.current = None;
                Some(result.map(|()| None).map_err(|why| self.failed(name, why)))
            }
        }
    }

    /// The next batch.
    fn next_batch(&mut self) -> Option<Result<table::Batch, Failed>> {
        loop {
            match self.step()? {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(failed) => return Some(Err(failed)),
            }
        }
    }

    /// Stops reading after an error.
    fn failed(&mut self, name: String, why: Error) -> Failed {
        self.current = None;
        self.traces.clear();
        (name, why)
    }
}

impl<S: Read + Seek> Current<S> {
    fn new(file: &TraceFile, chosen: Chosen, index: Arc<Index>, open: fn(Stream) -> S, form: Options) -> Result<Self, Error> {
        let (name, expected) = (file.name.clone(), index.events());
        let Chosen { schemas, filter, .. } = chosen;
        let source = open(file.source.open()?);
        let rows = Rows { source, name: name.clone(), index, schemas, filter, order: form.order, memory: MEMORY };
        Ok(Self { name, batches: table::Batches::new(rows, form)?, expected, counted: (0, 0) })
    }

    fn count(&mut self, all: &mut Counted) {
        let counts = self.batches.counts();
        all.events += counts.events - self.counted.0;
        all.rows += counts.rows - self.counted.1;
        self.counted = (counts.events, counts.rows);
        self.batches.take_diagnostics().iter().for_each(|diagnostic| all.diagnostics.add(diagnostic));
    }

    /// Checks that both passes found the same number of events.
    fn complete(&self) -> Result<(), Error> {
        let read = self.batches.counts().events;
        if read == self.expected {
            return Ok(());
        }
        let text = format!("{read} of {} events read: the file is damaged, or changed; use order=\"file\"", self.expected);
        Err(std::io::Error::other(text).into())
    }
}

/// Whether a table has the requested name: `events`, `stacks`, `Process/Start` or `Process/Start/4`.
fn is_named(table: &Table, wanted: Option<&str>) -> bool {
    match (&table.kind, wanted) {
        (kind, None) => *kind != Kind::Stacks,
        (_, Some(name)) => {
            let own = named(table);
            name.eq_ignore_ascii_case(&own)
                || matches!(&table.kind, Kind::Event { version, .. } if name.eq_ignore_ascii_case(&format!("{own}/{version}")))
        }
    }
}

fn named(table: &Table) -> String {
    match &table.kind {
        Kind::Stacks => "stacks".to_owned(),
        Kind::Event { provider, event, .. } => format!("{provider}/{event}"),
        _ => "events".to_owned(),
    }
}

/// The batches of one table.
struct Single {
    chain: Chain<Stream>,
    first: Option<table::Batch>,
    schema: SchemaRef,
    table: Option<Arc<Table>>,
}

impl Iterator for Single {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.first.take() {
            Some(batch) => batch,
            None => match self.chain.next_batch()? {
                Ok(batch) => batch,
                Err((name, why)) => return Some(Err(ArrowError::ExternalError(format!("{name}: {why}").into()))),
            },
        };
        if let Some(table) = self.table.as_ref().filter(|table| table.schema != batch.table.schema) {
            let full = |table: &Table| match &table.kind {
                Kind::Event { version, .. } => format!("{}/{version}", named(table)),
                _ => named(table),
            };
            let (one, other) = (full(table), full(&batch.table));
            let text = format!(
                "several tables: {one} and {other} have different columns; select one with table=, or iterate over the batches"
            );
            return Some(Err(ArrowError::SchemaError(text)));
        }
        Some(Ok(batch.rows))
    }
}

impl RecordBatchReader for Single {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Rows of a table.
#[pyclass(frozen, module = "etw")]
pub struct Batch {
    batch: table::Batch,
}

#[pymethods]
impl Batch {
    #[getter]
    fn table(&self) -> String {
        named(&self.batch.table)
    }

    #[getter]
    fn version(&self) -> Option<u16> {
        match &self.batch.table.kind {
            Kind::Event { version, .. } => Some(*version),
            _ => None,
        }
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.rows.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.rows.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.rows.schema().as_ref());
        let schema = schema.map_err(|why| error::invalid(py, None, &why.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let array = FFI_ArrowArray::new(&StructArray::from(self.batch.rows.clone()).to_data());
        Ok((self.__arrow_c_schema__(py)?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    fn __repr__(&self) -> String {
        format!("<etw.Batch {}, {} rows>", self.table(), self.__len__())
    }
}
