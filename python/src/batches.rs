//! Events as Arrow record batches.

use crate::error;
use crate::opened::Opened;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use etw_layouts_cli::api::Diagnostics;
use etw_layouts_etl::Filter;
use etw_layouts_table::{
    self as table, Counts, Encoder, Error, Kind, MEMORY, Merge, Options, Order, Payload, Shape, Table, TraceRow,
};
use etw_layouts_trace::{Slice, Trace, in_order};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyDict};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::{thread, vec};

/// The batches of traces.
#[pyclass(frozen, module = "etw")]
pub struct Batches {
    traces: Vec<Arc<Opened>>,
    options: Vec<(String, String)>,
    form: Options,
    table: Option<String>,
    counted: Arc<Mutex<Counted>>,
    /// The state of the Python iterator.
    own: Mutex<Option<Chain>>,
}

/// What iterators over the batches have counted so far.
#[derive(Default)]
struct Counted {
    counts: Counts,
    /// The diagnostics of the traces that were read.
    diagnostics: Vec<Diagnostics>,
    /// The names of traces of which only parts are sorted.
    unordered: Vec<String>,
}

impl Counted {
    fn diagnostics(&self) -> u64 {
        self.diagnostics.iter().map(Diagnostics::total).sum()
    }
}

impl Batches {
    pub fn new(
        py: Python<'_>,
        traces: Vec<Arc<Opened>>,
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
        if shape == Shape::Narrow && !matches!(table.as_deref(), Some("events" | "stacks" | TRACES)) {
            let known = "\"events\", \"stacks\" or \"traces\", or shape=\"typed\"";
            return Err(unknown("table", table.as_deref().unwrap_or_default(), known));
        }
        if let Some(trace) = traces.first() {
            trace.selection(py, &options)?;
        }
        let form = Options { shape, order, payload };
        Ok(Self { traces, options, form, table, counted: Arc::default(), own: Mutex::default() })
    }

    fn chain(&self, py: Python<'_>) -> PyResult<Chain> {
        let mut traces = VecDeque::new();
        for opened in &self.traces {
            let first = opened.first(py)?;
            let filters = opened.selection(py, &self.options)?.filters(&first.trace);
            // The table of traces has a row for each file.
            let is_traces = self.table.as_deref() == Some(TRACES);
            let files = if is_traces { (0..first.trace.files().len()).map(Some).collect() } else { vec![None] };
            for file in files {
                let found = file.map_or((0, false), |file| first.diagnostics.of_file(file));
                traces.push_back(Next {
                    opened: opened.clone(),
                    trace: first.trace.clone(),
                    filters: filters.clone(),
                    file,
                    found,
                });
            }
        }
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = Counted::default();
        let (table, counted) = (self.table.clone(), self.counted.clone());
        Ok(Chain { traces, form: self.form, table, current: None, ready: VecDeque::new(), counted })
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        let chain = slf.chain(slf.py())?;
        *slf.own.lock_py_attached(slf.py()).unwrap_or_else(PoisonError::into_inner) = Some(chain);
        Ok(slf)
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut own = self.own.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let chain = match &mut *own {
            Some(chain) => chain,
            none => none.insert(self.chain(py)?),
        };
        loop {
            py.check_signals()?;
            match py.detach(|| chain.step()) {
                None => return self.ended(py),
                Some(Ok(None)) => {}
                Some(Ok(Some(batch))) => return Ok(Some(Batch::new(batch))),
                Some(Err(why)) => return Err(error::table(py, &why)),
            }
        }
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let dict = PyDict::new(py);
        dict.set_item("events", counted.counts.events)?;
        dict.set_item("rows", counted.counts.rows)?;
        dict.set_item("diagnostics", counted.diagnostics())?;
        Ok(dict)
    }

    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = counted.diagnostics.iter().flat_map(Diagnostics::lines).collect();
        Ok(pythonize::pythonize(py, &lines)?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers must convert the batches to a requested schema themselves.
        drop(requested_schema);
        let mut chain = self.chain(py)?;
        let traces = table::traces(&[]).map_err(|why| error::table(py, &why.into()))?.table;
        let mut fixed = Encoder::new(self.form).tables().into_iter().chain([traces]);
        let fixed = fixed.find(|table| is_named(table, self.table.as_deref()));
        let mut first = None;
        let table = match fixed {
            Some(table) if self.form.shape == Shape::Narrow || matches!(self.table.as_deref(), Some("stacks" | TRACES)) => {
                Some(table)
            }
            _ => {
                let found = py.detach(|| chain.next_batch());
                first = found.transpose().map_err(|why| error::table(py, &why))?;
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
    /// Warns about payloads that were not decoded, about rows out of order, and if no event matched.
    fn ended(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        let result = self.warn(py, &counted);
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        result.map(|()| None)
    }

    fn warn(&self, py: Python<'_>, counted: &Counted) -> PyResult<()> {
        let Some(opened) = self.traces.first() else { return Ok(()) };
        let (name, diagnostics, Counts { events, rows, .. }) = (opened.name(), counted.diagnostics(), counted.counts);
        if diagnostics > 0 {
            error::warn(py, &format!("{name}: {diagnostics} payloads are not decoded to their end; see Batches.diagnostics"))?;
        }
        for name in &counted.unordered {
            error::warn(py, &format!("{name}: events are so far out of order that only parts are sorted"))?;
        }
        if rows == 0 && events > 0 {
            let hint = opened.selection(py, &self.options)?.hint();
            error::warn(py, &format!("{name}: 0 of {events} events match{hint}"))?;
        }
        Ok(())
    }
}

/// The batches of one trace after another.
struct Chain {
    /// The traces that are not read yet.
    traces: VecDeque<Next>,
    form: Options,
    table: Option<String>,
    current: Option<Current>,
    ready: VecDeque<table::Batch>,
    counted: Arc<Mutex<Counted>>,
}

/// A trace that is not read yet.
struct Next {
    opened: Arc<Opened>,
    trace: Arc<Trace>,
    /// The filter of each file.
    filters: Vec<Filter>,
    /// The file that becomes a row of the table of traces; `None` for other tables, which have all files.
    file: Option<usize>,
    /// The number of diagnostics that the first pass found in this file, and whether it is damaged.
    found: (u64, bool),
}

/// The trace that is currently read.
struct Current {
    next: Next,
    counts: Counts,
    slices: vec::IntoIter<Slice>,
    /// The encoders that no thread uses.
    encoders: Mutex<Vec<Encoder>>,
    merge: Merge,
}

impl Chain {
    /// Reads a part. Returns a batch; the inner `None` means that there is none yet.
    fn step(&mut self) -> Option<Result<Option<table::Batch>, Error>> {
        let Self { traces, form, table, current, ready, counted } = self;
        if let Some(batch) = ready.pop_front() {
            return Some(Ok(Some(batch)));
        }
        let mut push = |batch| {
            ready.push_back(batch);
            Ok(())
        };
        let result = match current {
            Some(current) if current.slices.len() > 0 => current.read(*form, table.as_deref(), counted, push),
            Some(Current { merge, .. }) => {
                let mut result = merge.rest(&mut push);
                if let (Ok(()), Some(current)) = (&result, &*current) {
                    result = current.row(counted).and_then(|row| row.map_or(Ok(()), push));
                }
                *current = None;
                result
            }
            None => {
                let next = traces.pop_front()?;
                let (slices, is_ordered) = next.trace.slices(next.file, form.order, MEMORY);
                let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                counted.unordered.extend((!is_ordered).then(|| next.opened.name()));
                counted.diagnostics.push(Diagnostics::new(next.trace.files().iter().map(|file| file.name().to_owned())));
                let (slices, encoders) = (slices.into_iter(), Mutex::default());
                *current = Some(Current { next, counts: Counts::default(), slices, encoders, merge: Merge::default() });
                Ok(())
            }
        };
        if result.is_err() {
            // Stop reading after an error.
            self.current = None;
            self.traces.clear();
        }
        Some(result.map(|()| None))
    }

    /// The next batch.
    fn next_batch(&mut self) -> Option<Result<table::Batch, Error>> {
        loop {
            match self.step()? {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(why) => return Some(Err(why)),
            }
        }
    }
}

impl Current {
    /// Reads a part of the trace on each core, and passes complete batches to `push`.
    fn read(
        &mut self,
        form: Options,
        table: Option<&str>,
        counted: &Mutex<Counted>,
        mut push: impl FnMut(table::Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { next: Next { trace, filters, .. }, counts, slices, encoders, merge } = self;
        let encoders = &*encoders;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let parts: Vec<_> = slices.take(threads).collect();
        let work = |slice, put: &mut dyn FnMut(_) -> bool| {
            let pop = || encoders.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut encoder = pop().unwrap_or_else(|| Encoder::new(form));
            table::parts(&mut encoder, trace.no_events().of_slice(slice), filters, put);
            encoders.lock().unwrap_or_else(PoisonError::into_inner).push(encoder);
        };
        in_order(
            parts,
            threads,
            || (),
            |(), slice, put| work(slice, put),
            |part| {
                let part = part?;
                let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                counted.counts.add(part.counts);
                counts.add(part.counts);
                if let Some(diagnostics) = counted.diagnostics.last_mut() {
                    diagnostics.add_part(&part);
                }
                drop(counted);
                let mut batches = part.batches.into_iter().filter(|batch| is_named(&batch.table, table));
                batches.try_for_each(|batch| merge.add(batch, &mut push))
            },
        )
    }
}

impl Current {
    /// The row of the file in the table of traces, after its events were counted; `None` for other tables.
    fn row(&self, counted: &Mutex<Counted>) -> Result<Option<table::Batch>, Error> {
        let Next { opened, trace, file: Some(number), found, .. } = &self.next else { return Ok(None) };
        let (path, hash) = opened.identity(*number)?;
        let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let (diagnostics, _) = counted.diagnostics.last().map_or((0, false), |own| own.of_file(*number));
        let file = &trace.files()[*number];
        let row = TraceRow {
            trace: file.name(),
            path,
            hash: &hash,
            size: file.length(),
            host: trace.session_of(*number).and_then(|session| session.host()),
            log: file.log_file(),
            events: self.counts.events,
            rows: self.counts.rows,
            diagnostics: found.0 + diagnostics,
            is_damaged: found.1,
        };
        Ok(Some(table::traces(&[row])?))
    }
}

/// The name of the table of traces.
const TRACES: &str = "traces";

/// Whether a table has the requested name: `events`, `stacks`, `traces` or `Process/Start`.
fn is_named(table: &Table, wanted: Option<&str>) -> bool {
    wanted.map_or(!matches!(table.kind, Kind::Stacks | Kind::Traces), |name| name.eq_ignore_ascii_case(&named(table)))
}

fn named(table: &Table) -> String {
    match &table.kind {
        Kind::Stacks => "stacks".to_owned(),
        Kind::Traces => TRACES.to_owned(),
        Kind::Sums => "sums".to_owned(),
        Kind::Event { provider, event, .. } => format!("{provider}/{event}"),
        _ => "events".to_owned(),
    }
}

/// The batches of one table.
struct Single {
    chain: Chain,
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
                Err(why) => return Some(Err(ArrowError::ExternalError(why.into()))),
            },
        };
        if let Some(table) = self.table.as_ref().filter(|table| table.schema != batch.table.schema) {
            let (one, other) = (named(table), named(&batch.table));
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

impl Batch {
    pub fn new(batch: table::Batch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl Batch {
    #[getter]
    fn table(&self) -> String {
        named(&self.batch.table)
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

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = &self.batch.rows;
        let reader = RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<etw.Batch {}, {} rows>", self.table(), self.__len__())
    }
}
