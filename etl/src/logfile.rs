//! The log file header: the first event of a file.

use crate::buffer_header::BufferHeader;
use crate::clock::{Clock, ClockType, DAY, SECOND};
use crate::event::Event;
use crate::header::EventHeader;
use crate::header_type::HeaderType;
use crate::producer::Producer;
use crate::wire::{
    BUFFER_HEADER, Generation, HOOK_ID, LOG_FILE_MODE, LogFileHeader32, LogFileHeader64, RTL_TIME_ZONE_INFORMATION, SYSTEM,
    SYSTEM_TRACE_HEADER, large, quad, view, zero,
};
use bytemuck::bytes_of;
use std::collections::BTreeMap;

/// Properties of a trace file and its session: TRACE_LOGFILE_HEADER of a 32-bit or 64-bit producer, and the names that follow it.
#[derive(Clone, Debug)]
pub struct LogFile {
    /// Size of the session's buffers, in bytes; a compressed buffer is smaller in the file. If the
    /// header states a wrong size, this is the size that the buffers have.
    pub buffer_size: u32,
    /// Major and minor version of Windows, and two more numbers. 6.2 if buffers are compressed, but the stated version
    /// cannot compress.
    pub version: [u8; 4],
    /// The build of Windows.
    pub build: u32,
    /// Number of processors.
    pub processors: u32,
    /// System time at the end of the session, in units of 100 ns since 1601; 0 in a file that was never closed.
    pub end_time: i64,
    /// Resolution of the timer, in units of 100 ns.
    pub timer_resolution: u32,
    /// Maximum file size in MB, or in KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE; 0 for no limit.
    pub maximum_file_size: u32,
    /// Mode of the session: LOG_FILE_MODE.
    pub mode: u32,
    /// Number of buffers; 0 in many files that were never closed.
    pub buffers_written: u32,
    /// Number of header buffers; 1 in files.
    pub start_buffers: u32,
    /// Pointer size in bytes: 4 or 8.
    pub pointer_size: u32,
    /// Number of events that were not written.
    pub events_lost: u32,
    /// Rate of the CPU-cycle clock, in MHz; 0 in 5.0, which lacks the member.
    pub cpu_mhz: u32,
    /// An address, meaningless in a file.
    pub logger_name_address: u64,
    /// An address, meaningless in a file.
    pub file_name_address: u64,
    /// The time zone.
    pub time_zone: RTL_TIME_ZONE_INFORMATION,
    /// The four bytes between the time zone and the boot time.
    pub padding: u32,
    /// System time at boot, in units of 100 ns since 1601.
    pub boot_time: i64,
    /// Rate of the performance counter, in Hz.
    pub perf_frequency: i64,
    /// System time at which the clock showed `start_stamp`, in units of 100 ns since 1601.
    pub start_time: i64,
    /// Clock of the session: EVENT_TRACE_CLOCK.
    pub clock: u32,
    /// Number of buffers that were not written.
    pub buffers_lost: u32,
    /// Time stamp of the event that contains the header.
    pub start_stamp: i64,
    /// Header of that event, with the process and thread that started the session.
    pub event: SYSTEM_TRACE_HEADER,
    /// Name of the session.
    pub logger_name: String,
    /// Name of the file when it was created.
    pub file_name: String,
}

/// The build of Windows 2000.
const FIRST_BUILD: u32 = 2195;

/// Windows supports 2,048 processors, in groups of 64.
pub(crate) const MAX_PROCESSORS: u32 = 2048;

impl LogFile {
    /// Decodes the log file header in an event; `None` if the event has none.
    pub fn read(event: &Event<'_>) -> Option<Self> {
        if event.hook()? != HOOK_ID::WMI_LOG_TYPE_HEADER.0 {
            return None;
        }
        // Both the event header and the log file header state the pointer size. Real files are consistent in this.
        let own = if event.header_type().is_64_bit() == Some(true) { 8 } else { 4 };
        let stated = Some(Self::stated_pointer_size(event)?).filter(|size| *size != own && matches!(size, 4 | 8));
        let new = Self::read_as(event, own);
        match stated.and_then(|size| Self::read_as(event, size)) {
            Some(other) if !new.as_ref().is_some_and(Self::has_clock) && other.has_clock() => Some(other),
            _ => new,
        }
    }

    /// Decodes a header of a 32-bit or 64-bit producer.
    fn read_as(event: &Event<'_>, pointer_size: u32) -> Option<Self> {
        let system = match event.header() {
            EventHeader::System(header) => header,
            _ => return None,
        };
        let payload = event.payload();
        macro_rules! read {
            ($header:ty) => {{
                let header: $header = view(payload.get(..size_of::<$header>())?);
                let version = header.VersionDetail();
                let mut names = names(&payload[size_of::<$header>()..]);
                Self {
                    buffer_size: header.BufferSize,
                    version: [version.MajorVersion, version.MinorVersion, version.SubVersion, version.SubMinorVersion],
                    build: header.ProviderVersion,
                    processors: header.NumberOfProcessors,
                    end_time: quad(header.EndTime),
                    timer_resolution: header.TimerResolution,
                    maximum_file_size: header.MaximumFileSize,
                    mode: header.LogFileMode.0,
                    buffers_written: header.BuffersWritten,
                    start_buffers: header.StartBuffers(),
                    pointer_size,
                    events_lost: header.EventsLost(),
                    cpu_mhz: header.CpuSpeedInMHz(),
                    logger_name_address: header.LoggerName.0.into(),
                    file_name_address: header.LogFileName.0.into(),
                    time_zone: header.TimeZone,
                    padding: view(&payload[core::mem::offset_of!($header, BootTime) - 4..]),
                    boot_time: quad(header.BootTime),
                    perf_frequency: quad(header.PerfFreq),
                    start_time: quad(header.StartTime),
                    clock: header.ReservedFlags.0,
                    buffers_lost: header.BuffersLost,
                    start_stamp: event.time_stamp()?,
                    event: system,
                    logger_name: names.next().unwrap_or_default(),
                    file_name: names.next().unwrap_or_default(),
                }
            }};
        }
        Some(if pointer_size == 8 { read!(LogFileHeader64) } else { read!(LogFileHeader32) })
    }

    /// Number of bytes needed to recognize that a trace [`begins`](Self::begins).
    pub(crate) const START: usize = BUFFER_HEADER + SYSTEM + size_of::<LogFileHeader32>();

    /// Whether a trace begins at these bytes, with a header buffer and a log file header as its first event.
    #[inline]
    pub(crate) fn begins(bytes: &[u8]) -> bool {
        Self::is_marked(bytes) && Self::is_log_file_header(bytes)
    }

    /// Whether the first event is marked as a log file header, by at least two of its marker, type and hook identifier.
    #[inline]
    pub(crate) fn is_marked(bytes: &[u8]) -> bool {
        let Some([_, _, ty, marker, _, _, hook @ ..]) = bytes.get(BUFFER_HEADER..).and_then(<[u8]>::first_chunk::<8>) else {
            return false;
        };
        let marks = [matches!(ty, 1 | 2), *marker == 0xC0, u16::from_le_bytes(*hook) == HOOK_ID::WMI_LOG_TYPE_HEADER.0];
        marks.into_iter().filter(|is_right| *is_right).count() > 1
    }

    /// The start of a file with a repaired header of the first event; `None` unless the data of the event is a log file header.
    #[cold]
    pub(crate) fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
        if !Self::is_log_file_header(bytes) {
            return None;
        }
        let mut bytes = bytes.to_vec();
        let event = bytes.get_mut(BUFFER_HEADER..)?;
        // PointerSize confirms the width.
        event[2] = HeaderType::System64 as u8;
        event[3] = 0xC0;
        event[6..8].copy_from_slice(&HOOK_ID::WMI_LOG_TYPE_HEADER.0.to_le_bytes());
        let size = usize::from(u16::from_le_bytes([event[4], event[5]]));
        if !(SYSTEM + size_of::<LogFileHeader32>()..=event.len()).contains(&size) {
            let size = Self::size(event)?;
            event[4..6].copy_from_slice(&size.to_le_bytes());
        }
        Some(bytes)
    }

    /// The size of the event: its header, the members, and the two names.
    fn size(event: &[u8]) -> Option<u16> {
        let short: LogFileHeader32 = view(event.get(SYSTEM..)?.get(..size_of::<LogFileHeader32>())?);
        let header = if short.PointerSize() == 4 { size_of::<LogFileHeader32>() } else { size_of::<LogFileHeader64>() };
        let mut units = event.get(SYSTEM + header..)?.chunks_exact(2);
        let names = [(); 2].map(|()| units.by_ref().take_while(|unit| **unit != [0, 0]).count() + 1);
        u16::try_from(SYSTEM + header + 2 * names.iter().sum::<usize>()).ok()
    }

    /// Whether the data of the event is a log file header, and the buffer header is valid.
    #[cold]
    fn is_log_file_header(bytes: &[u8]) -> bool {
        let Some(header) = bytes.get(BUFFER_HEADER + SYSTEM..Self::START).map(view::<LogFileHeader32>) else { return false };
        // Both widths have the same members up to the addresses of the names.
        let version = header.VersionDetail();
        let generation = Generation::from_version(version.MajorVersion.into(), version.MinorVersion.into());
        let first = BufferHeader::read(generation, bytes);
        let is_plausible = first.is_some_and(|first| first.is_plausible(generation, header.BufferSize, true, true));
        // Only members with the same offset in both widths are checked, up to PointerSize.
        is_plausible
            && matches!((version.MajorVersion, version.MinorVersion), (5, 0..=2) | (6, 0..=4) | (10, 0))
            && (FIRST_BUILD..1 << 20).contains(&header.ProviderVersion)
            && (1..=MAX_PROCESSORS).contains(&header.NumberOfProcessors)
            && matches!(header.PointerSize(), 4 | 8)
    }

    /// Numbers of lost events and of lost buffers in the sessions of these files. The header of each part of a session states what the session
    /// lost so far, so files with the same logger name, start and boot count once, with the largest numbers.
    pub fn lost<'l>(logs: impl IntoIterator<Item = &'l Self>) -> (u64, u64) {
        let mut sessions: BTreeMap<_, (u32, u32)> = BTreeMap::new();
        for log in logs {
            let session = (&log.logger_name, log.start_time, log.start_stamp, log.boot_time);
            let (events, buffers) = sessions.entry(session).or_default();
            (*events, *buffers) = ((*events).max(log.events_lost), (*buffers).max(log.buffers_lost));
        }
        sessions.values().fold((0, 0), |(events, buffers), lost| (events + u64::from(lost.0), buffers + u64::from(lost.1)))
    }

    /// PointerSize in the log file header.
    pub(crate) fn stated_pointer_size(event: &Event<'_>) -> Option<u32> {
        let short: LogFileHeader32 = view(event.payload().get(..size_of::<LogFileHeader32>())?);
        Some(short.PointerSize())
    }

    /// A header for files of a producer: a performance counter of 10 MHz, one processor, buffers of 64 KiB, no names.
    pub fn new(producer: &Producer) -> Self {
        let [major, minor, build] = producer.build.number;
        let mut event: SYSTEM_TRACE_HEADER = zero();
        event.set_Version(2);
        Self {
            buffer_size: 1 << 16,
            version: [major as u8, minor as u8, 1, 5],
            build,
            processors: 1,
            end_time: 0,
            timer_resolution: 156_250,
            maximum_file_size: 0,
            mode: 0,
            buffers_written: 0,
            start_buffers: 1,
            pointer_size: producer.pointer_size(),
            events_lost: 0,
            cpu_mhz: 0,
            logger_name_address: 0,
            file_name_address: 0,
            time_zone: zero(),
            padding: 0,
            boot_time: 0,
            perf_frequency: 10_000_000,
            start_time: 0,
            clock: ClockType::PerfCounter.value(),
            buffers_lost: 0,
            start_stamp: 0,
            event,
            logger_name: String::new(),
            file_name: String::new(),
        }
    }

    /// The payload that [`read`](Self::read) decodes.
    pub fn payload(&self) -> Vec<u8> {
        macro_rules! write {
            ($header:ty, $pointer:expr) => {{
                let mut header: $header = zero();
                header.BufferSize = self.buffer_size;
                let mut version = header.VersionDetail();
                [version.MajorVersion, version.MinorVersion, version.SubVersion, version.SubMinorVersion] = self.version;
                header.set_VersionDetail(version);
                header.ProviderVersion = self.build;
                header.NumberOfProcessors = self.processors;
                header.EndTime = large(self.end_time);
                header.TimerResolution = self.timer_resolution;
                header.MaximumFileSize = self.maximum_file_size;
                header.LogFileMode.0 = self.mode;
                header.BuffersWritten = self.buffers_written;
                header.set_StartBuffers(self.start_buffers);
                header.set_PointerSize(self.pointer_size);
                header.set_EventsLost(self.events_lost);
                header.set_CpuSpeedInMHz(self.cpu_mhz);
                header.LoggerName = $pointer(self.logger_name_address as _);
                header.LogFileName = $pointer(self.file_name_address as _);
                header.TimeZone = self.time_zone;
                header.BootTime = large(self.boot_time);
                header.PerfFreq = large(self.perf_frequency);
                header.StartTime = large(self.start_time);
                header.ReservedFlags.0 = self.clock;
                header.BuffersLost = self.buffers_lost;
                let mut bytes = bytes_of(&header).to_vec();
                let at = core::mem::offset_of!($header, BootTime) - 4;
                bytes[at..at + 4].copy_from_slice(&self.padding.to_le_bytes());
                bytes
            }};
        }
        let mut bytes = match self.pointer_size {
            8 => write!(LogFileHeader64, etw_layouts::runtime::Ptr64),
            _ => write!(LogFileHeader32, etw_layouts::runtime::Ptr32),
        };
        for name in [&self.logger_name, &self.file_name] {
            bytes.extend(name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        }
        bytes
    }

    /// Form of the version-dependent headers.
    pub fn generation(&self) -> Generation {
        Generation::from_version(self.version[0].into(), self.version[1].into())
    }

    /// The clock of the time stamps. An invalid value is treated as the performance counter.
    pub fn clock_type(&self) -> ClockType {
        ClockType::from_value(self.clock).unwrap_or(ClockType::PerfCounter)
    }

    /// Whether the header states a valid clock.
    pub fn has_clock(&self) -> bool {
        ClockType::from_value(self.clock).is_some()
    }

    /// Whether the header states the rate of its clock; otherwise 10 MHz is assumed.
    pub fn has_clock_rate(&self) -> bool {
        match self.clock_type() {
            ClockType::PerfCounter => self.perf_frequency > 0,
            ClockType::CpuCycle => self.cpu_mhz > 0,
            ClockType::SystemTime => true,
        }
    }

    /// Whether the header states any property of its clock. Otherwise the file was made of buffers whose log file header is missing
    /// ([`carve`](crate::carve)), and its events have no times.
    #[inline]
    pub fn states_times(&self) -> bool {
        self.has_clock() || self.start_time != 0 || self.perf_frequency != 0 || self.cpu_mhz != 0
    }

    /// A header for files whose clock and times are unknown: [`states_times`](Self::states_times) is false.
    pub fn without_times(producer: &Producer) -> Self {
        Self { clock: 0, perf_frequency: 0, timer_resolution: 0, ..Self::new(producer) }
    }

    /// Whether the first time stamp is plausible for the clock. With the system time clock, it equals the start time. The other two clocks
    /// count from boot: their time stamp is implausible if it is 0, or if it fits only the rate of the other clock.
    pub fn has_stamp_of_clock(&self) -> bool {
        let (clock, uptime) = (self.clock_type(), self.start_time.saturating_sub(self.boot_time));
        let is_system_time = self.start_stamp.abs_diff(self.start_time) <= DAY.unsigned_abs();
        let fits = |clock, has_rate| {
            let own = Clock::new(clock, 0, 0, self.perf_frequency, self.cpu_mhz).system_time(self.start_stamp);
            has_rate && own.abs_diff(uptime) <= uptime.unsigned_abs() / 16
        };
        let counter = || fits(ClockType::PerfCounter, self.perf_frequency > 0);
        let cycles = || fits(ClockType::CpuCycle, self.cpu_mhz > 0);
        // If the rates are the same, both clocks give the same times.
        let is_same = self.to_clock() == Clock::new(ClockType::SystemTime, self.start_time, self.start_stamp, 0, 0);
        match clock {
            _ if self.start_time <= 0 => true,
            ClockType::SystemTime => is_system_time,
            _ if is_system_time => is_same,
            _ if self.boot_time <= 0 || uptime < MINUTE => true,
            _ if self.start_stamp == 0 => false,
            ClockType::PerfCounter => counter() || !cycles(),
            ClockType::CpuCycle => cycles() || !counter(),
        }
    }

    /// The rate of the clock, in Hz; `None` if the header does not state it.
    pub fn clock_frequency(&self) -> Option<i64> {
        match self.clock_type() {
            ClockType::PerfCounter => Some(self.perf_frequency),
            ClockType::CpuCycle => Some(i64::from(self.cpu_mhz) * 1_000_000),
            ClockType::SystemTime => Some(SECOND),
        }
        .filter(|frequency| *frequency > 0)
    }

    /// Time that the thread of an event has run in kernel mode and in user mode so far, in units of 100 ns: its [ticks](Event::thread_ticks), of
    /// which each has the resolution of the timer. `None` if the header has no such times, as in private sessions, or the resolution is not stated.
    #[inline]
    pub fn thread_times(&self, event: &Event<'_>) -> Option<(u64, u64)> {
        let private = LOG_FILE_MODE::EVENT_TRACE_PRIVATE_LOGGER_MODE.0 | LOG_FILE_MODE::EVENT_TRACE_PRIVATE_IN_PROC.0;
        if self.timer_resolution == 0 || self.mode & private != 0 {
            return None;
        }
        let time = |ticks: u32| u64::from(ticks) * u64::from(self.timer_resolution);
        event.thread_ticks().map(|(kernel, user)| (time(kernel), time(user)))
    }

    /// The clock that converts time stamps to system time.
    pub fn to_clock(&self) -> Clock {
        if !self.states_times() {
            return Clock::UNKNOWN;
        }
        Clock::new(self.clock_type(), self.start_time, self.start_stamp, self.perf_frequency, self.cpu_mhz)
    }
}

/// One minute, in units of 100 ns. In the first minute after boot, the clocks cannot be distinguished.
const MINUTE: i64 = 60 * 10_000_000;

/// Terminated UTF-16 strings; the last one may lack its terminator.
fn names(bytes: &[u8]) -> impl Iterator<Item = String> {
    let units: Vec<u16> = bytes.chunks_exact(2).map(view).collect();
    let names: Vec<_> = units.split(|unit| *unit == 0).take(2).map(String::from_utf16_lossy).collect();
    names.into_iter()
}
