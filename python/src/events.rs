//! Events.

use crate::error;
use crate::fields;
use crate::source::{Interruptible, from_json};
use crate::trace_file::{Chosen, TraceFile};
use etw_layouts_cli::api::{EventFields, Selection};
use etw_layouts_etl::threads::Threads;
use etw_layouts_etl::{Clock, EventRecord, FileTime, Filter, Schemas, names};
use etw_layouts_table::{Order, Parts};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The size of buffers in memory at the same time in time order, in bytes. It can grow if events are far out of order.
const MEMORY: u64 = 4 << 20;

/// An iterator over the events of a trace.
#[pyclass(frozen, module = "etw")]
pub struct Events {
    shared: Arc<SharedByEvents>,
    state: Mutex<State>,
}

/// The data that all events of an iterator share.
struct SharedByEvents {
    file: Arc<TraceFile>,
    selection: Arc<Selection>,
    schemas: Schemas,
    clock: Clock,
}

struct State {
    parts: Parts<Interruptible>,
    filter: Filter,
    threads: Threads,
    ready: VecDeque<Found>,
    read: u64,
    matched: u64,
    /// The number of events in the first pass.
    expected: u64,
    is_done: bool,
    is_reported: bool,
}

/// A matching event, and the process of the thread in its payload.
type Found = (EventRecord<'static>, Option<u32>);

impl Events {
    pub fn new(py: Python<'_>, file: Arc<TraceFile>, options: &[(String, String)], order: Order) -> PyResult<Self> {
        let Chosen { selection, schemas, filter } = file.chosen(py, options)?;
        let index = file.first(py)?.index.clone();
        let (clock, expected) = (index.log_file().to_clock(), index.events());
        let source = file.source.open().map_err(|why| error::input(py, &file.name, why))?;
        let parts = py.detach(|| Parts::new(Interruptible::new(source), index, order, MEMORY));
        let parts = parts.map_err(|why| error::table(py, &file.name, why))?;
        if !parts.is_ordered() {
            error::warn(py, &format!("{}: events are so far out of order that only parts are sorted", file.name))?;
        }
        let (threads, ready) = (Threads::default(), VecDeque::new());
        let state = State { parts, filter, threads, ready, read: 0, matched: 0, expected, is_done: false, is_reported: false };
        Ok(Self { shared: Arc::new(SharedByEvents { file, selection, schemas, clock }), state: Mutex::new(state) })
    }
}

#[pymethods]
impl Events {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        loop {
            if let Some((record, thread_process)) = state.ready.pop_front() {
                let shared = self.shared.clone();
                return Ok(Some(Event { record, thread_process, shared, fields: PyOnceLock::new() }));
            }
            if state.is_done {
                return self.ended(py, state);
            }
            py.check_signals()?;
            let more = py.detach(|| state.advance(self.shared.clock));
            state.is_done = !more.map_err(|why| error::table(py, &self.shared.file.name, why))?;
        }
    }
}

impl Events {
    /// Warns once if no event matched, or if the number of events differs from that of the first pass.
    fn ended(&self, py: Python<'_>, state: &mut State) -> PyResult<Option<Event>> {
        if std::mem::replace(&mut state.is_reported, true) {
            return Ok(None);
        }
        let name = &self.shared.file.name;
        if state.read != state.expected {
            let text = format!(
                "{name}: {} of {} events read: the file is damaged, or changed; use order=\"file\"",
                state.read, state.expected
            );
            error::warn(py, &text)?;
        }
        if state.matched == 0 && state.read > 0 {
            error::warn(py, &format!("{name}: 0 of {} events match{}", state.read, self.shared.selection.hint()))?;
        }
        Ok(None)
    }
}

impl State {
    /// Reads a part. Returns whether there are more parts.
    fn advance(&mut self, clock: Clock) -> Result<bool, etw_layouts_table::Error> {
        let Self { parts, filter, threads, ready, read, matched, .. } = self;
        parts.advance(|event, place| {
            *read += 1;
            threads.add(event);
            if filter.takes(event, place.processor, &clock) {
                *matched += 1;
                let record = event.to_record((place.buffer, place.buffer_offset), place.processor, &clock);
                ready.push_back((record, threads.process(event)));
            }
        })
    }
}

/// An event.
#[pyclass(frozen, module = "etw")]
pub struct Event {
    record: EventRecord<'static>,
    thread_process: Option<u32>,
    shared: Arc<SharedByEvents>,
    fields: PyOnceLock<Py<PyAny>>,
}

#[pymethods]
impl Event {
    #[getter]
    fn file(&self) -> &str {
        &self.shared.file.name
    }

    #[getter]
    fn buffer(&self) -> u32 {
        self.record.buffer()
    }

    #[getter]
    fn buffer_offset(&self) -> u64 {
        self.record.buffer_offset()
    }

    #[getter]
    fn offset(&self) -> u32 {
        self.record.event().offset()
    }

    #[getter]
    fn time(&self) -> Option<i64> {
        self.record.time().map(|time| time.0)
    }

    #[getter]
    fn time_utc<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(time) = self.time() else { return Ok(None) };
        let datetime = py.import("datetime")?;
        let zone = datetime.getattr("timezone")?.getattr("utc")?;
        let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
        // Python's resolution is microseconds.
        let since = datetime.getattr("timedelta")?.call1((
            0,
            0,
            (i128::from(time) - i128::from(FileTime::UNIX_EPOCH.0)).div_euclid(10),
        ))?;
        epoch.add(since).map(Some)
    }

    #[getter]
    fn processor(&self) -> u16 {
        self.record.processor()
    }

    #[getter]
    fn process(&self) -> Option<u32> {
        self.record.process()
    }

    #[getter]
    fn thread(&self) -> Option<u32> {
        self.record.thread()
    }

    #[getter]
    fn thread_process(&self) -> Option<u32> {
        self.thread_process
    }

    #[getter]
    fn provider(&self) -> Option<String> {
        self.record.provider().map(|guid| guid.to_string())
    }

    #[getter]
    fn provider_name<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> {
        names::provider_of(&self.record.event(), &self.shared.schemas).map(|name| PyString::new(py, name))
    }

    #[getter]
    fn event(&self) -> Option<String> {
        names::event_of(&self.record.event(), &self.shared.schemas).map(|(provider, event)| format!("{provider}/{event}"))
    }

    #[getter]
    fn id(&self) -> Option<u16> {
        self.record.id()
    }

    #[getter]
    fn version(&self) -> Option<u16> {
        self.record.version()
    }

    #[getter]
    fn opcode(&self) -> Option<u8> {
        self.record.opcode()
    }

    #[getter]
    fn level(&self) -> Option<u8> {
        self.record.level()
    }

    #[getter]
    fn keyword(&self) -> Option<u64> {
        self.record.keyword()
    }

    #[getter]
    fn task(&self) -> Option<u16> {
        self.record.task()
    }

    #[getter]
    fn channel(&self) -> Option<u8> {
        self.record.channel()
    }

    #[getter]
    fn activity(&self) -> Option<String> {
        self.record.activity_id().filter(|activity| !activity.is_nil()).map(|guid| guid.to_string())
    }

    #[getter]
    fn related(&self) -> Option<String> {
        self.record.related_activity_id().map(|guid| guid.to_string())
    }

    #[getter]
    fn size(&self) -> usize {
        self.record.bytes().len()
    }

    #[getter]
    fn payload_size(&self) -> usize {
        self.record.payload().len()
    }

    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.record.payload())
    }

    #[getter]
    fn fields(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let fields = self.fields.get_or_try_init(py, || {
            let SharedByEvents { selection, schemas, clock, .. } = &*self.shared;
            match selection.fields(&self.record.event(), schemas) {
                EventFields::Decoded(decoded) => fields::to_dict(py, &decoded.fields, clock).map(Bound::into_any),
                EventFields::LogFile => self.to_dict(py)?.bind(py).get_item("fields"),
                EventFields::None => Ok(PyDict::new(py).into_any()),
            }
            .map(Bound::unbind)
        })?;
        Ok(fields.clone_ref(py))
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        Ok(self.fields(py)?.bind(py).get_item(name)?.unbind())
    }

    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let SharedByEvents { file, selection, schemas, clock } = &*self.shared;
        let all = from_json(py, &selection.json(&file.name, &self.record, schemas, *clock))?;
        all.bind(py).set_item("thread_process", self.thread_process)?;
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let name = names::identity(&self.record.event(), &self.shared.schemas);
        let time = self.record.time().map(|time| format!(" {}", time.rfc3339())).unwrap_or_default();
        format!("<etw.Event {name}{time}, {} bytes>", self.payload_size())
    }
}
