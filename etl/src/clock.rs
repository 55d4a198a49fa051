//! The clock of a session, and its conversion to system time.

use crate::wire::EVENT_TRACE_CLOCK;
use etw_layouts_payload::FileTime;

/// Tolerance for session times, because the system clock can be changed: the greatest difference between time zones, rounded up to a day.
pub(crate) const DAY: i64 = 24 * 3600 * 10_000_000;

/// The clock that supplies the time stamps of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockType {
    /// Ticks of the performance counter.
    PerfCounter,
    /// Units of 100 ns since 1601.
    SystemTime,
    /// Cycles of the processor.
    CpuCycle,
}

impl ClockType {
    /// The clock type for a ReservedFlags value of a log file header, if the value is valid.
    pub fn from_value(value: u32) -> Option<Self> {
        Some(match EVENT_TRACE_CLOCK(value) {
            EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_PERFCOUNTER => Self::PerfCounter,
            EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_SYSTEMTIME => Self::SystemTime,
            EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_CPUCYCLE => Self::CpuCycle,
            _ => return None,
        })
    }

    /// Its name: `performance counter`, `system time` or `processor cycles`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerfCounter => "performance counter",
            Self::SystemTime => "system time",
            Self::CpuCycle => "processor cycles",
        }
    }

    /// The value in a log file header.
    pub fn value(self) -> u32 {
        let clock = match self {
            Self::PerfCounter => EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_PERFCOUNTER,
            Self::SystemTime => EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_SYSTEMTIME,
            Self::CpuCycle => EVENT_TRACE_CLOCK::EVENT_TRACE_CLOCK_CPUCYCLE,
        };
        clock.0
    }
}

/// Converts time stamps to system time, in integers: `start_time + (stamp - start_stamp) * multiplier / divisor`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    start_time: i64,
    start_stamp: i64,
    multiplier: i64,
    divisor: i64,
    is_known: bool,
}

/// Units of 100 ns per second.
pub(crate) const SECOND: i64 = 10_000_000;

impl Clock {
    /// A clock that showed `start_stamp` at the system time `start_time`, which is in units of 100 ns since 1601. `frequency` is
    /// the rate of the performance counter in Hz, `mhz` that of the processor in MHz; a rate that is needed and not positive is
    /// replaced by 10 MHz.
    pub fn new(ty: ClockType, start_time: i64, start_stamp: i64, frequency: i64, mhz: u32) -> Self {
        let (multiplier, divisor) = match ty {
            ClockType::PerfCounter if frequency > 0 && frequency != SECOND => (SECOND, frequency),
            ClockType::CpuCycle if mhz > 0 => (10, i64::from(mhz)),
            _ => (1, 1),
        };
        Self { start_time, start_stamp, multiplier, divisor, is_known: true }
    }

    /// The clock of a file that does not state its clock. Its times are not those of the events, and differences are those of a rate of 10 MHz.
    pub(crate) const UNKNOWN: Self = Self { start_time: 0, start_stamp: 0, multiplier: 1, divisor: 1, is_known: false };

    /// Whether the clock is known, so that [`system_time`](Self::system_time) is the time of an event.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// System time; `None` if the clock is not known.
    #[inline]
    pub fn time(&self, stamp: i64) -> Option<FileTime> {
        self.is_known.then(|| FileTime(self.system_time(stamp)))
    }

    /// The rate in Hz, saturating; `None` for system time.
    pub(crate) fn rate(&self) -> Option<i64> {
        (self.multiplier != 1 || self.divisor != 1).then(|| self.divisor.saturating_mul(SECOND / self.multiplier))
    }

    /// Whether both clocks convert every time stamp to the same time, even if their starts differ.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let apart = |one: i64, other: i64, times: i64| (i128::from(one) - i128::from(other)) * i128::from(times);
        (self.multiplier, self.divisor) == (other.multiplier, other.divisor)
            && apart(self.start_time, other.start_time, self.divisor)
                == apart(self.start_stamp, other.start_stamp, self.multiplier)
    }

    /// System time in units of 100 ns since 1601, saturating at the ends of the range.
    #[inline]
    pub fn system_time(&self, stamp: i64) -> i64 {
        match stamp.checked_sub(self.start_stamp) {
            Some(ticks) if self.multiplier == 1 => self.start_time.saturating_add(ticks),
            Some(ticks) => self.scaled(ticks),
            None => self.wide(i128::from(stamp) - i128::from(self.start_stamp)),
        }
    }

    fn scaled(&self, ticks: i64) -> i64 {
        // Whole seconds and the remainder are converted separately: neither product overflows for any clock below 900 GHz within
        // 29,000 years.
        let (whole, rest) = (ticks.div_euclid(self.divisor), ticks.rem_euclid(self.divisor));
        let sum = || {
            let whole = whole.checked_mul(self.multiplier)?;
            let rest = rest.checked_mul(self.multiplier)? / self.divisor;
            self.start_time.checked_add(whole)?.checked_add(rest)
        };
        sum().unwrap_or_else(|| self.wide(ticks.into()))
    }

    #[cold]
    fn wide(&self, ticks: i128) -> i64 {
        let time = i128::from(self.start_time) + (ticks * i128::from(self.multiplier)).div_euclid(i128::from(self.divisor));
        time.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
