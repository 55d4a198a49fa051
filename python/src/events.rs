//! Events.

use crate::error;
use crate::fields;
use crate::opened::Opened;
use crate::source::from_json;
use etw_layouts_cli::api::{EventFields, Selection};
use etw_layouts_etl::{FileTime, Filter, Uuid, names};
use etw_layouts_trace::{self as trace, KnownBy, Order, Process, Record, Slice, Trace};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyBytes, PyDict};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

/// Limit of decompressed buffers in memory at the same time, in bytes.
const MEMORY: u64 = 4 << 20;

/// An iterator over the events of a trace.
#[pyclass(frozen, module = "etw")]
pub struct Events {
    shared: Arc<SharedByEvents>,
    state: Mutex<State>,
}

/// The data that all events of an iterator share.
struct SharedByEvents {
    trace: Arc<Trace>,
    selection: Selection,
    /// The filter of each file.
    filters: Vec<Filter>,
}

struct State {
    /// The name of the trace.
    name: String,
    slices: vec::IntoIter<Slice>,
    ready: VecDeque<Record>,
    read: u64,
    matched: u64,
    is_reported: bool,
}

impl Events {
    pub fn new(py: Python<'_>, opened: &Opened, options: &[(String, String)], order: Order) -> PyResult<Self> {
        let selection = opened.selection(py, options)?;
        let (name, trace) = (opened.name(), opened.first(py)?.trace.clone());
        let (slices, is_ordered) = trace.slices(None, order, MEMORY);
        if !is_ordered {
            error::warn(py, &format!("{name}: events are so far out of order that only parts are sorted"))?;
        }
        let filters = selection.filters(&trace);
        let (slices, ready) = (slices.into_iter(), VecDeque::new());
        let state = Mutex::new(State { name, slices, ready, read: 0, matched: 0, is_reported: false });
        Ok(Self { shared: Arc::new(SharedByEvents { trace, selection, filters }), state })
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
            if let Some(record) = state.ready.pop_front() {
                return Ok(Some(Event { record, shared: self.shared.clone(), fields: PyOnceLock::new() }));
            }
            py.check_signals()?;
            match state.slices.next() {
                Some(slice) => py.detach(|| state.read(slice, &self.shared)).map_err(|why| error::trace(py, &why))?,
                None => return self.ended(py, state),
            }
        }
    }
}

impl Events {
    /// Warns once if no event matched.
    fn ended(&self, py: Python<'_>, state: &mut State) -> PyResult<Option<Event>> {
        if !std::mem::replace(&mut state.is_reported, true) && state.matched == 0 && state.read > 0 {
            error::warn(py, &format!("{}: 0 of {} events match{}", state.name, state.read, self.shared.selection.hint()))?;
        }
        Ok(None)
    }
}

impl State {
    /// Reads the events of a slice.
    fn read(&mut self, slice: Slice, shared: &SharedByEvents) -> Result<(), trace::Error> {
        for event in shared.trace.no_events().of_slice(slice) {
            let event = event.inspect_err(|_| self.slices = Vec::new().into_iter())?;
            self.read += 1;
            if event.matches(&shared.filters[event.file_index()]) {
                self.matched += 1;
                self.ready.push_back(event.into_record());
            }
        }
        Ok(())
    }
}

/// An event. It shares its buffer with other events, and so keeps it in memory.
#[pyclass(frozen, module = "etw")]
pub struct Event {
    record: Record,
    shared: Arc<SharedByEvents>,
    fields: PyOnceLock<Py<PyAny>>,
}

impl Event {
    fn inner(&self) -> trace::Event<'_> {
        self.shared.trace.event(self.record.clone())
    }
}

/// Defines the class of events: the properties that are values of an event, and then the other methods.
macro_rules! methods {
    ($($name:ident: $ty:ty = |$event:ident| $value:expr;)+ { $($methods:tt)+ }) => {
        #[pymethods]
        impl Event {
            $(
                #[getter]
                fn $name(&self) -> $ty {
                    let $event = self.inner();
                    $value
                }
            )+
            $($methods)+
        }
    };
}

methods! {
    file: String = |event| event.file().name().to_owned();
    buffer: u32 = |event| event.place().buffer;
    buffer_offset: u64 = |event| event.place().buffer_offset;
    offset: u32 = |event| event.place().offset;
    time: Option<i64> = |event| event.time().map(|time| time.0);
    processor: u16 = |event| event.processor();
    process: Option<u32> = |event| event.who().by.process;
    thread: Option<u32> = |event| event.who().by.thread;
    header_process: Option<u32> = |event| event.header().process();
    header_thread: Option<u32> = |event| event.header().thread();
    kernel_time: Option<u64> = |event| event.file().log_file().thread_times(&event.header()).map(|(kernel, _)| kernel);
    user_time: Option<u64> = |event| event.file().log_file().thread_times(&event.header()).map(|(_, user)| user);
    process_name: Option<String> = |event| image(event.process());
    process_by: Option<&'static str> = |event| known(event.who().by.known);
    subject: Option<u32> = |event| event.who().about.process;
    subject_name: Option<String> = |event| image(event.subject());
    subject_by: Option<&'static str> = |event| known(event.who().about.known);
    provider: Option<String> = |event| guid(event.header().provider());
    provider_name: Option<String> = |event| names::provider_of(&event.header(), event.schemas()).map(str::to_owned);
    event: Option<String> = |event| {
        let named = names::event_of(&event.header(), event.schemas());
        named.map(|(provider, name)| format!("{provider}/{name}"))
    };
    id: Option<u16> = |event| event.header().id();
    version: Option<u16> = |event| event.header().version();
    opcode: Option<u8> = |event| event.header().opcode();
    level: Option<u8> = |event| event.header().level();
    keyword: Option<u64> = |event| event.header().keyword();
    task: Option<u16> = |event| event.header().task();
    channel: Option<u8> = |event| event.header().channel();
    activity: Option<String> = |event| guid(event.header().activity_id().filter(|activity| !activity.is_nil()));
    related: Option<String> = |event| guid(event.header().related_activity_id());
    size: usize = |event| event.header().bytes().len();
    payload_size: usize = |event| event.header().payload().len();
    {
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
        fn stack(&self, py: Python<'_>) -> PyResult<Option<Vec<u64>>> {
            let stack = py.detach(|| self.inner().stack()).map_err(|why| error::trace(py, &why))?;
            Ok(stack.map(|stack| stack.frames().collect()))
        }

        #[getter]
        fn payload<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
            PyBytes::new(py, self.inner().header().payload())
        }

        #[getter]
        fn fields(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
            let fields = self.fields.get_or_try_init(py, || {
                let event = self.inner();
                match self.shared.selection.fields(&event.header(), event.schemas()) {
                    EventFields::Decoded(decoded) => fields::to_dict(py, &decoded.fields, event.file().clock()).map(Bound::into_any),
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
            from_json(py, &self.shared.selection.json(&self.inner()))
        }

        fn __repr__(&self) -> String {
            let event = self.inner();
            let time = event.time().map(|time| format!(" {}", time.rfc3339())).unwrap_or_default();
            let header = event.header();
            format!("<etw.Event {}{time}, {} bytes>", names::identity(&header, event.schemas()), header.payload().len())
        }
    }
}

fn image(process: Option<&Process>) -> Option<String> {
    process.and_then(Process::image).map(str::to_owned)
}

/// How a process is known; `None` if it is not.
fn known(by: KnownBy) -> Option<&'static str> {
    Some(by.as_str()).filter(|by| !by.is_empty())
}

fn guid(guid: Option<Uuid>) -> Option<String> {
    guid.map(|guid| guid.to_string())
}
