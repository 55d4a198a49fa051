//! Sessions, each a WMI_LOGGER_CONTEXT.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::start::Table;
use crate::walk::Walk;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use etw_layouts::constants::{EVENT_TRACE_CLOCK, LOG_FILE_MODE};
use etw_layouts::members::{ETW_REF_CLOCK, WMI_LOGGER_CONTEXT as LOGGER};
use etw_layouts::runtime::packed::Type;
use etw_layouts::structures;

/// A session. Members are `None` if they could not be read, or the kernel does not have them.
#[derive(Clone, Debug)]
pub struct Session {
    /// Number of the session, its slot in the table.
    pub number: u32,
    /// Its name.
    pub name: Option<String>,
    /// Name of its log file.
    pub file: Option<String>,
    /// Logging mode.
    pub mode: Option<LOG_FILE_MODE>,
    /// Names of the flags in [`mode`](Self::mode).
    pub mode_names: Vec<&'static str>,
    /// Names of the kernel's flags for the session, such as `RealTime` and `AutoLogger`. Empty before 6.0.
    pub flags: Vec<&'static str>,
    /// Names of the enabled kernel events, in 5.x; later kernels store them elsewhere.
    pub kernel_events: Vec<&'static str>,
    /// Clock of the time stamps.
    pub clock: Option<EVENT_TRACE_CLOCK>,
    /// Routine that reads the clock; the number of a clock in 2004 and later.
    pub clock_routine: Option<Routine>,
    /// Reference point of the clock: system time, in units of 100 ns since 1601, and the value of the session's clock at that
    /// time. `None` in 5.0.
    pub reference: Option<(i64, i64)>,
    /// Start time, in units of 100 ns since 1601.
    pub start_time: Option<i64>,
    /// Size of a buffer, in bytes.
    pub buffer_size: Option<u32>,
    /// Number of buffers.
    pub buffers: Option<i64>,
    /// Number of free buffers.
    pub buffers_free: Option<i64>,
    /// Minimum number of buffers.
    pub minimum_buffers: Option<u32>,
    /// Maximum number of buffers.
    pub maximum_buffers: Option<u32>,
    /// Number of buffers written.
    pub buffers_written: Option<u32>,
    /// Number of buffers that could not be written.
    pub buffers_lost: Option<u32>,
    /// Number of buffers that no consumer took.
    pub real_time_buffers_lost: Option<u32>,
    /// Number of events lost because no buffer was free.
    pub events_lost: Option<u32>,
    /// Address of the security descriptor, which determines who may control the session. `None` before 6.0.
    pub security: Option<Address>,
    /// Number of real-time consumers, according to the session. `None` before 6.0.
    pub consumers: Option<u32>,
    /// The WMI_LOGGER_CONTEXT structure.
    pub context: Object<LOGGER::Type>,
}

/// Source of a session's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// Address of the routine.
    At(Address),
    /// Number of a clock in the kernel.
    Number(u64),
}

/// Upper bound for the numbers of clocks, and for the values of empty table slots: greater values are addresses.
const NUMBERS: u64 = 0xFFFF;

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The sessions of the host, by number.
    pub fn sessions(&mut self) -> Vec<Session> {
        let host = self.host();
        let table = self.table(host.as_ref());
        table.map(|table| self.sessions_in(table)).unwrap_or_default()
    }

    /// The sessions of a silo. `state` is its ETW_SILODRIVERSTATE. Empty if it does not lead to a table.
    pub fn sessions_of(&mut self, state: &Object) -> Vec<Session> {
        let table = self.table_in(state);
        table.map(|table| self.sessions_in(table)).unwrap_or_default()
    }

    fn sessions_in(&mut self, table: Table) -> Vec<Session> {
        let places = self.pointers(table.address, table.count);
        let unread = places.iter().filter(|place| place.is_none()).count();
        if unread > 0 {
            let place = MemberLocation { structure: "WMI_LOGGER_CONTEXT *", address: table.address, member: "" };
            self.report(
                place,
                FindingKind::Unreadable { requested: table.count as u64, read: (table.count.max(unread) - unread) as u64 },
            );
        }
        let mut sessions = Vec::new();
        for (number, context) in (0..).zip(places) {
            // A slot without a session has a small odd number, or zero.
            let Some(context) = context.filter(|context| context.0 > NUMBERS) else { continue };
            if context.0.is_multiple_of(self.kernel().arch().pointer_size()) {
                sessions.extend(self.session(number, context));
            } else {
                let place = MemberLocation { structure: "WMI_LOGGER_CONTEXT *", address: table.address, member: "" };
                self.report(place, FindingKind::Pointer(context));
            }
        }
        sessions
    }

    /// The session at an address.
    pub fn session(&mut self, number: u32, address: Address) -> Option<Session> {
        let context = self.object(&structures::WMI_LOGGER_CONTEXT, address)?;
        let place = |member| MemberLocation { structure: context.layout().name, address, member };
        if let Some(stated) = context.unsigned(LOGGER::LOGGER_ID).filter(|stated| *stated != u64::from(number)) {
            self.report(place("LoggerId"), FindingKind::Number { slot: number, stated });
        }
        let number32 = |value: Option<u64>| value.map(|value| value as u32);
        let mode = context.choice(LOGGER::LOGGER_MODE);
        let clock = context.unsigned(LOGGER::CLOCK_TYPE).or(context.unsigned(LOGGER::USE_PERF_CLOCK));
        let session = Session {
            number,
            name: self.text(&context, LOGGER::LOGGER_NAME),
            file: self.text(&context, LOGGER::LOG_FILE_NAME),
            mode: mode.map(|mode| LOG_FILE_MODE(mode.value as u32)),
            mode_names: mode.map(|mode| mode.names().collect()).unwrap_or_default(),
            flags: context.set_bits(LOGGER::FLAGS),
            kernel_events: context.choice(LOGGER::ENABLE_FLAGS).map(|flags| flags.names().collect()).unwrap_or_default(),
            clock: clock.map(|clock| EVENT_TRACE_CLOCK(clock as u32)),
            clock_routine: self.routine(&context),
            reference: reference(&context),
            start_time: context.quad(LOGGER::START_TIME),
            buffer_size: number32(context.unsigned(LOGGER::BUFFER_SIZE)),
            buffers: context.signed(LOGGER::NUMBER_OF_BUFFERS),
            buffers_free: context.signed(LOGGER::BUFFERS_AVAILABLE),
            minimum_buffers: number32(context.unsigned(LOGGER::MINIMUM_BUFFERS)),
            maximum_buffers: number32(context.unsigned(LOGGER::MAXIMUM_BUFFERS)),
            buffers_written: number32(context.unsigned(LOGGER::BUFFERS_WRITTEN)),
            buffers_lost: number32(context.unsigned(LOGGER::LOG_BUFFERS_LOST)),
            real_time_buffers_lost: number32(context.unsigned(LOGGER::REAL_TIME_BUFFERS_LOST)),
            events_lost: number32(context.unsigned(LOGGER::EVENTS_LOST)),
            security: self.fast_ref(&context, LOGGER::SECURITY_DESCRIPTOR).filter(|address| !address.is_null()),
            consumers: number32(context.unsigned(LOGGER::NUM_CONSUMERS)),
            context: context.clone(),
        };
        self.routines(&session);
        Some(session)
    }

    /// The routine that reads the clock, or in 2004 and later a number.
    fn routine(&self, context: &Object<LOGGER::Type>) -> Option<Routine> {
        let value = context.get(LOGGER::GET_CPU_CLOCK)?;
        match value.ty() {
            Type::Pointer => Some(self.kernel().address(value.unsigned())).filter(|routine| !routine.is_null()).map(Routine::At),
            _ => Some(Routine::Number(value.unsigned())),
        }
    }

    /// Verifies the session's routines against the modules.
    fn routines(&mut self, session: &Session) {
        let context = &session.context;
        let place = |member| MemberLocation { structure: context.layout().name, address: context.address(), member };
        match session.clock_routine {
            Some(Routine::At(routine)) if self.kernel().is_outside(routine) => {
                self.report(place("GetCpuClock"), FindingKind::Clock(routine));
            }
            Some(Routine::Number(number)) if number > NUMBERS => {
                self.report(place("GetCpuClock"), FindingKind::ClockNumber(number))
            }
            _ => {}
        }
        let callback = context.unsigned(LOGGER::BUFFER_CALLBACK).map(|value| self.kernel().address(value));
        if let Some(callback) = callback.filter(|callback| !callback.is_null() && self.kernel().is_outside(*callback)) {
            self.report(place("BufferCallback"), FindingKind::Callback(callback));
        }
    }
}

/// The same point in time by system time and by the session's clock.
fn reference(context: &Object<LOGGER::Type>) -> Option<(i64, i64)> {
    if let Some(reference) = context.inner(LOGGER::REFERENCE_TIME) {
        return Some((reference.quad(ETW_REF_CLOCK::START_TIME)?, reference.quad(ETW_REF_CLOCK::START_PERF_CLOCK)?));
    }
    Some((context.quad(LOGGER::REFERENCE_SYSTEM_TIME)?, context.quad(LOGGER::REFERENCE_TIME_STAMP)?))
}

impl fmt::Display for Session {
    /// Number, name, file and mode on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>2}  {}", self.number, self.name.as_deref().unwrap_or("?"))?;
        if let Some(file) = self.file.as_deref().filter(|file| !file.is_empty()) {
            write!(f, "  {file}")?;
        }
        self.mode_names.iter().try_for_each(|name| write!(f, "  {name}"))
    }
}
